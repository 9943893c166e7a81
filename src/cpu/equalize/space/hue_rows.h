#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

/// at_same_hue() of hue_math.h over rows of colours, compiled for every SIMD target and chosen
/// once.
namespace equalux {

/// One target's loop. All targets give the same bits.
struct HueRows {
  std::string_view target;

  /// n colours of linear light, 0 to 1, in place, becoming rounded_light(); `gain` is the
  /// luminance's. Up to kRowSlack floats behind the last are read and written.
  void (*map)(float* red, float* green, float* blue, const float* gain, std::size_t n);
};

/// Plain C++, the reference of the others.
[[nodiscard]] const HueRows& scalar_hue_rows();
/// The loops of the target that the CPU backend runs (cpu_simd_target()).
[[nodiscard]] const HueRows& hue_rows();
/// Every target that this build holds and this machine runs, best first, plain C++ last.
[[nodiscard]] std::vector<HueRows> all_hue_rows();

}  // namespace equalux
