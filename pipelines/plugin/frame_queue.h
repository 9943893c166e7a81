#pragma once

#include <cstdint>
#include <deque>
#include <memory>

#include <gst/video/video.h>

#include "pipelines/core/frame_pool.h"
#include "pipelines/core/processor.h"
#include "pipelines/gstreamer/gst_common.h"
#include "pipelines/plugin/area_filter.h"

/// Queue of buffers that pass through a processor.
namespace equalux::gst {

/// Properties of a frame beside its buffer.
struct FrameFacts : FramePlace {
  std::uint64_t dropped_before = 0;
};

/// A finished buffer, and its times if it was filtered.
struct FinishedFrame {
  BufferPtr buffer;
  bool filtered = false;
  std::uint64_t index = 0;
  std::int64_t pts_ns = 0;
  FrameTimings timings;
};

/// Buffers of one size, format and kind of memory, in order. Those in flight stay mapped. One
/// thread at a time; where the processor works in a CUDA context of its own, that must be current
/// in every call.
class FrameQueue {
 public:
  /// Makes room for `depth` frames between push() and pop(), and one more. Buffers are mapped as
  /// `in_info` and `out_info` describe, in the way of their memory. Throws what
  /// configuring the filter throws.
  FrameQueue(const GstVideoInfo& in_info, const GstVideoInfo& out_info, const ImageDesc& desc,
             AreaProcessor processor, std::size_t depth, MapMode mode);
  /// Waits for buffers in flight, and drops them.
  ~FrameQueue();
  FrameQueue(const FrameQueue&) = delete;
  FrameQueue& operator=(const FrameQueue&) = delete;

  /// Filters `in` into `out`; with `in` null `out` is filtered in place, which requires that every
  /// pixel is filtered and the filter can do that. Throws where a buffer cannot be mapped or the
  /// device fails; the queue can then only be destroyed.
  void push(BufferPtr in, BufferPtr out, const FrameAreas& areas, const FrameFacts& facts);
  /// Adds a buffer that is passed on unchanged, in its turn.
  void pass(BufferPtr buffer);
  /// Returns the oldest buffer, once it is finished; an empty one where there is none. Throws as
  /// push() does.
  FinishedFrame pop();

  [[nodiscard]] std::size_t size() const { return jobs_.size(); }
  /// Size and format of input frames.
  [[nodiscard]] const ImageDesc& desc() const { return desc_; }
  [[nodiscard]] AreaFilter& filter() { return *processor_.filter; }
  [[nodiscard]] const Processor& processor() const { return *processor_.processor; }

 private:
  struct Job;
  void collect_oldest();

  GstVideoInfo in_info_;
  GstVideoInfo out_info_;
  ImageDesc desc_;
  ImageDesc out_desc_;
  MapMode mode_;
  FramePool frames_;  // borrowed memory; must outlive the processor
  AreaProcessor processor_;
  std::deque<std::unique_ptr<Job>> jobs_;
  std::size_t under_way_ = 0;
};

}  // namespace equalux::gst
