#pragma once

#include <memory>

#include <equalux/image.h>

#include "pipelines/core/source.h"

/// What a camera source needs of a camera, so that tests can stand in for one.
namespace equalux {

struct CaptureFormat {
  ImageDesc desc;
  Rational frame_rate{0, 1};  ///< 0/1 = unknown
};

/// All calls come from one thread, and any of them may wait for ever.
class CaptureDevice {
 public:
  virtual ~CaptureDevice() = default;

  /// Starts the camera in a format that `accepts` takes. Throws Error.
  virtual CaptureFormat open(const FormatPredicate& accepts) = 0;

  /// Waits for the next frame and copies it to `to`, which has open's desc. False where the camera
  /// gives no more; throws Error(bad_input) where the frame has another size.
  virtual bool read(const ImageView& to) = 0;
};

struct CameraOptions;

/// OpenCV's Video4Linux capture of /dev/videoN. Its frames' sizes are checked one by one.
[[nodiscard]] std::unique_ptr<CaptureDevice> make_v4l2_device(const CameraOptions& options);

}  // namespace equalux
