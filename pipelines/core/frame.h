#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <equalux/filter.h>
#include <equalux/image.h>

/// A frame on its way from source to sink: its pixels, its place in time, and what it cost.
namespace equalux {

using Clock = std::chrono::steady_clock;

[[nodiscard]] inline double milliseconds(Clock::duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

/// What a frame cost, in milliseconds. An empty optional was not measured, which is not 0.
struct FrameTimings {
  std::optional<double> capture_ms;   ///< decoding or reading it, in the source's thread
  std::optional<double> queue_ms;     ///< waiting for the processor
  std::optional<double> upload_ms;    ///< host to device
  std::vector<StageTime> stages;      ///< the filters' stages, in order
  std::optional<double> download_ms;  ///< device to host
  std::optional<double> sink_ms;      ///< showing, encoding or writing it
  std::optional<double> latency_ms;   ///< from captured to through the sink
  std::uint64_t dropped_before = 0;   ///< frames dropped since the frame before this one
  std::uint64_t reconnects = 0;       ///< how often its live source was opened again before it
  bool late = false;  ///< live: from captured to through the sink took longer than a frame's time

  void clear() {
    stages.clear();  // Keeps its capacity: nothing is allocated for the next frame.
    capture_ms = queue_ms = upload_ms = download_ms = sink_ms = latency_ms = std::nullopt;
    dropped_before = reconnects = 0;
    late = false;
  }
};

class FramePool;
struct Frame;

/// Gives a frame back to its pool.
struct ReturnFrame {
  void operator()(Frame* frame) const noexcept;
};
/// A frame out of a pool; returning it is the destructor's work.
using FramePtr = std::unique_ptr<Frame, ReturnFrame>;

/// One frame. Owned by one stage of the pipeline at a time, so it needs no lock.
struct Frame {
  ConstImageView image;    ///< what the next stage reads: `pixels`, or memory that `lease` keeps
  ImageView target;        ///< where a processor writes its result: as `image`
  bool on_device = false;  ///< `image` is in the memory of Processor::frame_device()
  /// Transparency beside a YCbCr `image`, of alpha_desc(): `alpha_pixels`, or memory that `lease`
  /// keeps. Without memory where there is none. On the host; filters do not see it.
  ConstImageView alpha;

  std::uint64_t index = 0;       ///< in its stream, from 0; dropped frames count
  std::int64_t pts_ns = 0;       ///< presentation timestamp
  std::int64_t duration_ns = 0;  ///< 0 = unknown
  bool discontinuity = false;
  FieldOrder field_order = FieldOrder::progressive;
  /// A picture in place of one that a live source did not give.
  bool placeholder = false;
  /// Passes untouched where the filters keep size and format.
  bool unfiltered = false;
  /// A frame's place in time alone: nobody wanted to see it, and its pixels are nobody's.
  bool unseen = false;

  Clock::time_point captured;  ///< when the source had it
  FrameTimings timings;

  /// Processor::save() behind this frame, where a checkpoint follows it.
  std::optional<std::string> state;

  FramePtr original;  ///< the unfiltered frame, where the sink asked to see it too

  /// The pool's memory for this frame. Empty in a pool of frames that only borrow.
  Image pixels;
  /// The pool's memory for what a processor's result takes over as its `alpha`; see
  /// FramePool::add_alpha().
  Image alpha_pixels;
  /// Keeps borrowed memory alive (a decoder's buffer); called once when the frame goes back.
  void (*release)(void*) = nullptr;
  void* lease = nullptr;

  FramePool* pool = nullptr;

  [[nodiscard]] bool has_alpha_plane() const { return alpha.data[0] != nullptr; }
};

}  // namespace equalux
