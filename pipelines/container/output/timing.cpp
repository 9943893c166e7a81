#include "pipelines/container/output/timing.h"

#include <algorithm>
#include <numeric>

namespace equalux {
namespace {

constexpr int kLeastTimescale = 90'000;
// Finest timescale: composition offsets have 32 bits, which with finer ticks could not hold
// seconds.
constexpr int kFinestTimescale = 10'000'000;
constexpr int kFinestMovieTimescale = 100'000'000;

int timescale_for(std::int64_t ticks) {
  if (ticks <= 0 || ticks > kFinestTimescale) return kLeastTimescale;
  const auto unit = static_cast<int>(ticks);
  return unit * std::max(1, (kLeastTimescale + unit - 1) / unit);
}

}  // namespace

AVRational video_time_base(ContainerKind kind, AVRational input_base, Rational frame_rate) {
  if (!is_iso(kind)) return {1, 1000};
  const bool has_input = input_base.num > 0 && input_base.den > 0;
  return {1, timescale_for(has_input ? input_base.den : frame_rate.num)};
}

int movie_timescale_for(int so_far, AVRational base, std::int64_t start) {
  if (start == AV_NOPTS_VALUE || start <= 0) return so_far;
  // Computes start * num / den seconds in lowest terms; the denominator must divide the timescale.
  const std::int64_t needed =
      base.den / std::gcd(start % base.den * base.num, std::int64_t{base.den});
  const std::int64_t both = std::lcm<std::int64_t, std::int64_t>(so_far, needed);
  return both <= kFinestMovieTimescale ? static_cast<int>(both) : so_far;
}

std::int64_t rescale(std::int64_t time, AVRational from, AVRational to) {
  return av_rescale_q_rnd(time, from, to,
                          static_cast<AVRounding>(AV_ROUND_NEAR_INF | AV_ROUND_PASS_MINMAX));
}

void MonotonicDts::fix(AVPacket& packet) {
  if (packet.pts == AV_NOPTS_VALUE) packet.pts = packet.dts;
  if (packet.dts == AV_NOPTS_VALUE) packet.dts = packet.pts;
  const bool first = last_ == std::numeric_limits<std::int64_t>::min();
  const std::int64_t least = first ? packet.dts : last_ + step_;
  if (packet.dts == AV_NOPTS_VALUE) packet.dts = packet.pts = first ? 0 : least;
  packet.dts = std::min(packet.dts, packet.pts);
  if (!first) packet.dts = std::max(packet.dts, least);
  packet.pts = std::max(packet.pts, packet.dts);
  last_ = packet.dts;
}

}  // namespace equalux
