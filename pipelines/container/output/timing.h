#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "pipelines/container/av_handles.h"
#include "pipelines/container/output/stream_plan.h"

/// Time bases in which the input's timestamps stay what they are.
namespace equalux {

/// The video's ticks: for mp4 and mov a multiple of the input's (`input_base` = {0, 1} where there
/// is none; then of the frame rate's) and at least 90,000 a second; for Matroska its millisecond.
[[nodiscard]] AVRational video_time_base(ContainerKind kind, AVRational input_base,
                                         Rational frame_rate);

/// The movie timescale in which a track that starts at `start` ticks of `base` starts exactly, on
/// top of `so_far`; `so_far` itself where that would be out of hand.
[[nodiscard]] int movie_timescale_for(int so_far, AVRational base, std::int64_t start);

/// `time` in another base; AV_NOPTS_VALUE stays what it is.
[[nodiscard]] std::int64_t rescale(std::int64_t time, AVRational from, AVRational to);

/// Makes decoding times increase by `step` ticks at least and never pass their presentation times,
/// as far as rounding or the input broke that.
class MonotonicDts {
 public:
  explicit MonotonicDts(std::int64_t step = 1) : step_(step) {}
  void fix(AVPacket& packet);

 private:
  std::int64_t step_;
  std::int64_t last_ = std::numeric_limits<std::int64_t>::min();
};

}  // namespace equalux
