#pragma once

#include <cstdint>
#include <deque>
#include <memory>

#include <gst/video/video.h>

#include "pipelines/core/frame_pool.h"
#include "pipelines/core/processor.h"
#include "pipelines/gstreamer/gst_common.h"
#include "pipelines/plugin/area_filter.h"

/// Buffers on their way through a processor.
namespace equalux::gst {

/// What is known of a frame beside its buffer.
struct FrameFacts {
  std::uint64_t index = 0;
  std::int64_t pts_ns = 0;
  bool discontinuity = false;
  FieldOrder field_order = FieldOrder::progressive;
  std::uint64_t dropped_before = 0;
};

/// A buffer that has been through, and what it cost where it was filtered.
struct FinishedFrame {
  BufferPtr buffer;
  bool filtered = false;
  std::uint64_t index = 0;
  std::int64_t pts_ns = 0;
  FrameTimings timings;
};

/// Buffers of one size, format and kind of memory; they come out in the order they went in. What is
/// under way holds its buffers mapped. One thread at a time; where the processor works in a CUDA
/// context of its own, that is current in every call.
class FrameQueue {
 public:
  /// Room for `depth` frames between push() and pop(), and one more. Buffers are mapped as
  /// `in_info` and `out_info` say, with `map_flags` beside reading and writing. Throws what
  /// configuring the filter throws.
  FrameQueue(const GstVideoInfo& in_info, const GstVideoInfo& out_info, const ImageDesc& desc,
             AreaProcessor processor, std::size_t depth, unsigned map_flags);
  /// Waits for what is under way, and drops it.
  ~FrameQueue();
  FrameQueue(const FrameQueue&) = delete;
  FrameQueue& operator=(const FrameQueue&) = delete;

  /// Filters `in` into `out`; one and the same, for which `in` is null, where every pixel is
  /// filtered and the filter works in place. Throws where a buffer cannot be mapped or the device
  /// fails; the queue can then only be destroyed.
  void push(BufferPtr in, BufferPtr out, const FrameAreas& areas, const FrameFacts& facts);
  /// A buffer that goes on untouched, in its turn.
  void pass(BufferPtr buffer);
  /// The oldest, once it is finished; an empty buffer where there is none. Throws as push() does.
  FinishedFrame pop();

  [[nodiscard]] std::size_t size() const { return jobs_.size(); }
  /// Size and format of the frames that go in.
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
  unsigned map_flags_;
  FramePool frames_;  // borrowed memory; outlives the processor's use of them
  AreaProcessor processor_;
  std::deque<std::unique_ptr<Job>> jobs_;
  std::size_t under_way_ = 0;
};

}  // namespace equalux::gst
