#pragma once

#include <memory>

#include <equalux/image.h>

#include "pipelines/core/source.h"

/// Interface of a camera, so that tests can replace one.
namespace equalux {

struct CaptureFormat {
  ImageDesc desc;
  Rational frame_rate{0, 1};  ///< 0/1 = unknown
};

/// A camera. All calls come from one thread, and any of them may block for ever.
class CaptureDevice {
 public:
  virtual ~CaptureDevice() = default;

  /// Starts the camera in a format that `accepts` takes. Throws Error.
  virtual CaptureFormat open(const FormatPredicate& accepts) = 0;

  /// Waits for the next frame and copies it to `to`, which has open()'s desc. Returns false where
  /// no more frames come; throws Error(bad_input) where the frame has another size.
  virtual bool read(const ImageView& to) = 0;
};

struct CameraOptions;

/// Makes OpenCV's Video4Linux capture of /dev/videoN. The size of each frame is checked.
[[nodiscard]] std::unique_ptr<CaptureDevice> make_v4l2_device(const CameraOptions& options);

}  // namespace equalux
