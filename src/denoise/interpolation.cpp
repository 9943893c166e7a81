#include "src/denoise/interpolation.h"

#include <cmath>
#include <numbers>

namespace equalux::denoise {
namespace {

double sinc(double x) {
  if (x == 0) return 1;
  return std::sin(std::numbers::pi * x) / (std::numbers::pi * x);
}

Taps make_taps(int phase) {
  double weights[kTaps];
  double sum = 0;
  for (int i = 0; i < kTaps; ++i) {
    const double x = i - 2 - static_cast<double>(phase) / kPhases;
    weights[i] = std::abs(x) < 3 ? sinc(x) * sinc(x / 3) : 0;
    sum += weights[i];
  }
  Taps taps{};
  int rest = kOne;
  for (std::size_t i = 0; i < kTaps; ++i) {
    taps[i] = static_cast<std::int16_t>(std::lround(kOne * weights[i] / sum));
    rest -= taps[i];
  }
  // The weights must add up to 1, for flat areas to stay: the largest tap takes the rounding error.
  taps[phase < kPhases / 2 ? 2 : 3] =
      static_cast<std::int16_t>(taps[phase < kPhases / 2 ? 2 : 3] + rest);
  return taps;
}

}  // namespace

const std::array<Taps, kPhases>& all_taps() {
  static const std::array<Taps, kPhases> all = [] {
    std::array<Taps, kPhases> list{};
    for (int phase = 1; phase < kPhases; ++phase)
      list[static_cast<std::size_t>(phase)] = make_taps(phase);
    return list;
  }();
  return all;
}

const Taps& taps_of(int phase) {
  return all_taps()[static_cast<std::size_t>(phase)];
}

}  // namespace equalux::denoise
