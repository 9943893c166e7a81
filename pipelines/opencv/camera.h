#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pipelines/core/source.h"
#include "pipelines/opencv/capture_device.h"

/// Live cameras: Video4Linux through OpenCV's videoio, read in a thread, with a deadline.
namespace equalux {

struct CameraOptions {
  int number = 0;  ///< N of /dev/videoN
  int width = 0;   ///< pixels; 0 = the largest up to 1920x1080 that reaches the frame rate
  int height = 0;  ///< pixels; 0 with width 0
  double fps = 0;  ///< frames per second; 0 = 30 if the camera has it
  /// Camera controls to set when it is opened, name and value; see v4l2_controls.h.
  std::vector<std::pair<std::string, std::string>> controls{};
  /// Time after which a camera that gives no frame counts as stalled.
  std::chrono::milliseconds deadline{5000};
};

/// Makes a live source of a camera's frames: its own YUYV, UYVY, NV12 or GREY if the filters take
/// it, BGR otherwise. If frames arrive faster than read() takes them, the newest is kept and the
/// others are counted in dropped_before. Timestamps are times of arrival, the first is 0.
///
/// open() throws Error(no_input) at once where /dev/videoN is missing, Error(unavailable) where it
/// is busy, forbidden or no camera, Error(usage) for a size that the camera does not have. read()
/// throws Error(bad_input) where the camera stalls, is unplugged or changes its frames' size.
/// cancel() takes effect at once, whatever the camera's driver is waiting for.
[[nodiscard]] std::unique_ptr<Source> make_camera_source(const CameraOptions& options);

/// Makes a camera source of any device; `name` is for messages.
[[nodiscard]] std::unique_ptr<Source> make_camera_source(std::unique_ptr<CaptureDevice> device,
                                                         std::string name,
                                                         std::chrono::milliseconds deadline);

/// A Video4Linux node.
struct CameraInfo {
  int number = 0;
  std::string node;       ///< "/dev/video0"
  std::string name;       ///< from the driver; empty = unknown
  bool captures = false;  ///< gives pictures: not a metadata node or an output
  std::string trouble;    ///< why it could not be queried; empty = it could
};

/// Lists all nodes, by number. The folders are arguments for tests.
[[nodiscard]] std::vector<CameraInfo> list_cameras(
    const std::string& device_folder = "/dev",
    const std::string& class_folder = "/sys/class/video4linux");

}  // namespace equalux
