#pragma once

#include <optional>
#include <string>

#include "pipelines/live/reconnecting_source.h"
#include "pipelines/opencv/camera.h"

/// Which camera it is, whatever number it has: numbers change when cameras are plugged in again.
namespace equalux {

/// What stays of a camera when it is unplugged and plugged in again.
struct CameraIdentity {
  std::string serial;  ///< USB's "vendor:product:serial"; empty = it has none
  std::string port;    ///< the bus and connector it hangs on, as sysfs names it; empty = no device
  std::string name;    ///< as the driver gives it
  std::string index;   ///< which of the device's nodes, "0", "1" ...
};

/// The identity of /dev/videoN, by sysfs. The folder is an argument for the tests.
[[nodiscard]] CameraIdentity identify_camera(
    int number, const std::string& class_folder = "/sys/class/video4linux");

/// The number that the camera has now: the node with its serial; of cameras without one, the node
/// of that name on the same port, or else the only one of that name. Nothing where it is not there.
[[nodiscard]] std::optional<int> find_camera(
    const CameraIdentity& identity, const std::string& class_folder = "/sys/class/video4linux");

/// A factory for make_reconnecting_source(): the camera of that number first, and then wherever the
/// same one is found again. Throws Error(no_input) where it is not.
[[nodiscard]] SourceFactory camera_factory(const CameraOptions& options);

}  // namespace equalux
