#pragma once

#include <optional>
#include <string>

#include "pipelines/live/reconnecting_source.h"
#include "pipelines/opencv/camera.h"

/// Identification of a camera independent of its number, which changes when it is plugged in again.
namespace equalux {

/// Properties of a camera that stay when it is unplugged and plugged in again.
struct CameraIdentity {
  std::string serial;  ///< USB's "vendor:product:serial"; empty = it has none
  std::string port;    ///< bus and connector, as sysfs names them; empty = no device
  std::string name;    ///< from the driver
  std::string index;   ///< which of the device's nodes, "0", "1" ...
};

/// Reads the identity of /dev/videoN from sysfs. The folder is an argument for tests.
[[nodiscard]] CameraIdentity identify_camera(
    int number, const std::string& class_folder = "/sys/class/video4linux");

/// Returns the camera's present number: the node with its serial; for cameras without one, the node
/// of that name on the same port, or else the only one of that name. Nothing where it is not there.
[[nodiscard]] std::optional<int> find_camera(
    const CameraIdentity& identity, const std::string& class_folder = "/sys/class/video4linux");

/// Makes a factory for make_reconnecting_source(): the camera of that number first, and later
/// wherever the same camera is found again. The factory throws Error(no_input) where it is not.
[[nodiscard]] SourceFactory camera_factory(const CameraOptions& options);

}  // namespace equalux
