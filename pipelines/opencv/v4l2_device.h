#pragma once

#include <memory>

#include "pipelines/opencv/camera.h"

/// The real camera behind a CaptureDevice.
namespace equalux {

/// OpenCV's Video4Linux capture of /dev/videoN. Its frames' sizes are checked one by one.
[[nodiscard]] std::unique_ptr<CaptureDevice> make_v4l2_device(const CameraOptions& options);

}  // namespace equalux
