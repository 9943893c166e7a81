#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include <gst/video/video.h>

#include "pipelines/core/frame.h"
#include "pipelines/gstreamer/gst_common.h"

/// Lends a decoder's pictures to our frames without a copy.
namespace equalux::gst {

/// Keeps mapped buffers alive until their frames return to their pool, which may be after the
/// source is gone. Thread-safe.
class SampleLeases : public std::enable_shared_from_this<SampleLeases> {
 public:
  /// With the flags of CUDA memory in `mode`, frames are on the device.
  [[nodiscard]] static std::shared_ptr<SampleLeases> make(std::size_t expected, MapMode mode = {});

  /// Points frame.image at the buffer's picture of `desc`, and frame.alpha at a plane of
  /// transparency, if there is one. Returns false where it cannot be mapped.
  [[nodiscard]] bool lend(GstBuffer* buffer, const GstVideoInfo& info, const ImageDesc& desc,
                          Frame& frame);

 private:
  struct Lease {
    GstVideoFrame mapped{};
    std::shared_ptr<SampleLeases> owner;  // set while lent
  };
  explicit SampleLeases(MapMode mode) : mode_(mode) {}
  static void release(void* lease);
  Lease* take();

  MapMode mode_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Lease>> all_;
  std::vector<Lease*> free_;
};

}  // namespace equalux::gst
