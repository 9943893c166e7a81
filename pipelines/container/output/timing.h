#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "pipelines/container/av_handles.h"
#include "pipelines/container/output/stream_plan.h"

/// Time bases that represent the input's timestamps exactly.
namespace equalux {

/// Returns the time base of the video: for mp4 and mov a multiple of the input's (of the frame
/// rate's where `input_base` = {0, 1}, which means none) with at least 90,000 ticks per second; for
/// Matroska its millisecond.
[[nodiscard]] AVRational video_time_base(ContainerKind kind, AVRational input_base,
                                         Rational frame_rate);

/// Returns the movie timescale in which a track starting at `start` ticks of `base` starts exactly,
/// and which still serves `so_far`; `so_far` itself where the timescale would become too fine.
[[nodiscard]] int movie_timescale_for(int so_far, AVRational base, std::int64_t start);

/// Converts `time` to another base; AV_NOPTS_VALUE stays as it is.
[[nodiscard]] std::int64_t rescale(std::int64_t time, AVRational from, AVRational to);

/// Makes decoding times increase by at least `step` ticks and never exceed presentation times,
/// where rounding or the input violated that.
class MonotonicDts {
 public:
  explicit MonotonicDts(std::int64_t step = 1) : step_(step) {}
  void fix(AVPacket& packet);

 private:
  std::int64_t step_;
  std::int64_t last_ = std::numeric_limits<std::int64_t>::min();
};

}  // namespace equalux
