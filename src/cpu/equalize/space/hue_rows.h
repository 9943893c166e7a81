#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

/// at_same_hue() of hue_math.h over rows of colours, compiled for every SIMD target and chosen
/// once.
namespace equalux {

/// Loop of one target. All targets give the same bits.
struct HueRows {
  std::string_view target;

  /// Maps n colours of linear light, 0 to 1, in place, to rounded_light(); `gain` is that of
  /// luminance. Reads and writes up to kRowSlack floats behind the last.
  void (*map)(float* red, float* green, float* blue, const float* gain, std::size_t n);
};

/// Returns the plain C++ loop, the reference of the others.
[[nodiscard]] const HueRows& scalar_hue_rows();
/// Returns the loop of the target that the CPU backend runs (cpu_simd_target()).
[[nodiscard]] const HueRows& hue_rows();
/// Returns every target that this build has and this machine runs, best first, plain C++ last.
[[nodiscard]] std::vector<HueRows> all_hue_rows();

}  // namespace equalux
