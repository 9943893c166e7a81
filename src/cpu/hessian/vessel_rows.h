#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

/// Rows of eigenvalues to rows of measures and classes, compiled for every SIMD target and chosen
/// once. vessel_math.h has the formulas.
namespace equalux {

/// Loops of one target over n pixels. Float rows need kRowSlack floats behind the last pixel, which
/// are read and written; byte rows have no padding. All targets give the same bits.
struct VesselRows {
  std::string_view target;

  /// best = max(best, ridge_strength()).
  void (*add_ridge)(float sign, const float* second, std::size_t n, float* best);
  /// best = max(best, frangi_measure()); `gain` comes from contrast_gains().
  void (*add_frangi)(float sign, const float* first, const float* second, const float* gain,
                     std::size_t n, float* best);
  /// contrast_gain() of local means.
  void (*contrast_gains)(const float* light, std::size_t n, float* gain);
  /// measure · gain, in place.
  void (*scale)(const float* gain, std::size_t n, float* measure);
  /// within_line(), in place.
  void (*keep_within)(float sign, const float* light, const float* own_level, std::size_t n,
                      float* measure);

  /// vessel_class(), heat_level() and shape_class().
  void (*classify)(const float* measure, float low, float high, std::size_t n, std::uint8_t* out);
  void (*heat)(const float* measure, float full, std::size_t n, std::uint8_t* out);
  void (*shapes)(const float* first, const float* second, float threshold, float line_ratio,
                 float blob_ratio, std::size_t n, std::uint8_t* out);
};

/// Returns the plain C++ loops, for machines without a SIMD target that has fma, and as reference
/// of the others.
[[nodiscard]] const VesselRows& scalar_vessel_rows();
/// Returns the loops of the target that the CPU backend runs (cpu_simd_target()), or plain C++.
[[nodiscard]] const VesselRows& vessel_rows();
/// Returns every target that this build has and this machine runs, best first, plain C++ last.
[[nodiscard]] std::vector<VesselRows> all_vessel_rows();

}  // namespace equalux
