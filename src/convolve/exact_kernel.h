#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <equalux/convolve.h>

/// Convolution kernel in whole numbers, so that every backend rounds alike.
namespace equalux {

/// Kernel with out = clamp(floor((S + bias) / divisor), 0, 255), S = sum of weights · samples, all
/// in whole numbers.
///
/// |S + bias| stays below 2^31 for any samples; if `separable` all weights are positive and S +
/// bias stays below 2^32.
struct ExactKernel {
  int size = 1;                       ///< odd; the kernel is size x size
  std::vector<std::int32_t> weights;  ///< size · size, row by row, not flipped; empty if separable
  /// True for a box, whose weights of row and column are all 1 and whose divisor is size²; and for
  /// a Gaussian, whose row and column are equal, symmetric and sum to 2^12 each, with divisor 2^24.
  /// The bias is half the divisor. S = sum over j of column[j] · (sum over i of row[i] · in).
  bool separable = false;
  std::vector<std::int32_t> row;     ///< size weights, sum below 2^13
  std::vector<std::int32_t> column;  ///< size weights, sum below 2^13
  std::int64_t divisor = 1;          ///< 1 to 2^31 - 1
  std::int64_t bias = 0;             ///< offset · divisor + divisor / 2, rounded down

  [[nodiscard]] int radius() const { return size / 2; }
};

/// Returns the kernel of valid parameters. A Gaussian's weights are rounded to multiples of 2^-12
/// that sum to 1 in each direction; decimals are scaled by a power of ten.
[[nodiscard]] ExactKernel exact_kernel(const ConvolveParams& params);

/// Lists every rule that the kernel's numbers break, one clause each; exact_kernel() may be called
/// if it is empty.
[[nodiscard]] std::vector<std::string> kernel_violations(const ConvolveParams& params);

/// Returns the index into n samples for position i, at any distance outside; -1 for the constant.
[[nodiscard]] constexpr int border_index(int i, int n, Border border) {
  if (i >= 0 && i < n) return i;
  if (border == Border::constant) return -1;
  if (border == Border::replicate || n == 1) return i < 0 ? 0 : n - 1;
  const int period = 2 * (n - 1);
  const int folded = (i % period + period) % period;
  return folded < n ? folded : period - folded;
}

}  // namespace equalux
