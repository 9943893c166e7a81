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

/// Milliseconds that a frame took in each stage. An empty optional was not measured, which is not
/// 0.
struct FrameTimings {
  std::optional<double> capture_ms;   ///< decoding or reading, in the source's thread
  std::optional<double> queue_ms;     ///< waiting for the processor
  std::optional<double> upload_ms;    ///< host to device
  std::vector<StageTime> stages;      ///< of the filters, in order
  std::optional<double> download_ms;  ///< device to host
  std::optional<double> sink_ms;      ///< showing, encoding or writing
  std::optional<double> latency_ms;   ///< from captured until the sink is done
  std::uint64_t dropped_before = 0;   ///< frames dropped since the previous frame
  std::uint64_t reconnects = 0;  ///< how often the live source was opened again before this frame
  bool late = false;             ///< live: latency exceeded the duration of a frame

  void clear() {
    stages.clear();  // Keeps its capacity, so that the next frame allocates nothing.
    capture_ms = queue_ms = upload_ms = download_ms = sink_ms = latency_ms = std::nullopt;
    dropped_before = reconnects = 0;
    late = false;
  }
};

class FramePool;
struct Frame;

/// Deleter that returns a frame to its pool.
struct ReturnFrame {
  void operator()(Frame* frame) const noexcept;
};
/// A frame from a pool; its destructor returns it.
using FramePtr = std::unique_ptr<Frame, ReturnFrame>;

/// Place of a frame in its stream, and what it stands for. A result has those of its frame.
struct FramePlace {
  std::uint64_t index = 0;       ///< number in its stream, from 0; dropped frames count
  std::int64_t pts_ns = 0;       ///< presentation timestamp
  std::int64_t duration_ns = 0;  ///< 0 = unknown
  bool discontinuity = false;
  FieldOrder field_order = FieldOrder::progressive;
  /// True for a picture that replaces one which a live source did not deliver.
  bool placeholder = false;
  /// True where the frame passes unchanged, if the filters keep size and format.
  bool unfiltered = false;
  Clock::time_point captured;  ///< when the source received it
};

/// One frame. Owned by one stage of the pipeline at a time, so it needs no lock.
struct Frame : FramePlace {
  ConstImageView image;    ///< input of the next stage: `pixels`, or memory that `lease` keeps
  ImageView target;        ///< output of a processor: memory as for `image`
  bool on_device = false;  ///< `image` is in the memory of Processor::frame_device()
  /// Transparency beside a YCbCr `image`, in the format of alpha_desc(): `alpha_pixels`, or memory
  /// that `lease` keeps; no memory where there is none. On the host; filters do not see it.
  ConstImageView alpha;

  /// True for a frame that only marks a place in time: nobody wanted to see it, so its pixels are
  /// undefined.
  bool unseen = false;

  FrameTimings timings;

  /// Result of Processor::save() after this frame, if a checkpoint follows it.
  std::optional<std::string> state;

  FramePtr original;  ///< the unfiltered frame, if the sink asked to see it, too

  /// The pool's memory for this frame. Empty in a pool of frames that only borrow memory.
  Image pixels;
  /// The pool's memory for the `alpha` that a processor's result copies from its input; see
  /// FramePool::add_alpha().
  Image alpha_pixels;
  /// Releases borrowed memory (a decoder's buffer); called once when the frame returns to its pool.
  void (*release)(void*) = nullptr;
  void* lease = nullptr;

  FramePool* pool = nullptr;

  [[nodiscard]] FramePlace& place() { return *this; }
  [[nodiscard]] bool has_alpha_plane() const { return alpha.data[0] != nullptr; }
};

}  // namespace equalux
