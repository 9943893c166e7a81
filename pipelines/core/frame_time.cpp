#include "pipelines/core/frame_time.h"

namespace equalux {
namespace {

__extension__ typedef __int128 Wide;  // A product of two 64-bit times does not fit 64 bits.

constexpr Wide kNanoseconds = 1'000'000'000;

std::int64_t divide_rounded(Wide numerator, Wide denominator) {
  const Wide doubled = 2 * numerator + denominator;
  Wide quotient = doubled / (2 * denominator);
  if (doubled < 0 && quotient * 2 * denominator != doubled) --quotient;
  return static_cast<std::int64_t>(quotient);
}

}  // namespace

std::int64_t frame_time_ns(std::uint64_t index, Rational rate) {
  if (rate.num <= 0 || rate.den <= 0) return 0;
  return divide_rounded(static_cast<Wide>(index) * kNanoseconds * rate.den, rate.num);
}

std::int64_t ticks_from_ns(std::int64_t time_ns, Rational time_base) {
  return divide_rounded(static_cast<Wide>(time_ns) * time_base.den, kNanoseconds * time_base.num);
}

}  // namespace equalux
