#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <equalux/convolve.h>

/// A convolution kernel as whole numbers, so that every backend rounds alike.
namespace equalux {

/// out = clamp(floor((S + bias) / divisor), 0, 255), S = sum of weights · samples, in whole
/// numbers.
///
/// |S + bias| stays below 2^31 for any samples, unless `separable`: there all weights are positive
/// and S + bias stays below 2^32.
struct ExactKernel {
  int size = 1;                       ///< odd; the kernel is size x size
  std::vector<std::int32_t> weights;  ///< size · size, row after row, applied unflipped; empty
                                      ///< where separable
  /// A box: all weights of row and column are 1, the divisor is size². Or a Gaussian: row and
  /// column are the same, symmetric, and sum to 2^12 each, the divisor is 2^24. The bias is half a
  /// divisor.
  bool separable = false;         ///< S = sum over j of column[j] · (sum over i of row[i] · in)
  std::vector<std::int32_t> row;  ///< size weights; sum below 2^13
  std::vector<std::int32_t> column;  ///< size weights; sum below 2^13
  std::int64_t divisor = 1;          ///< 1 to 2^31 - 1
  std::int64_t bias = 0;             ///< offset · divisor + divisor / 2, rounded down

  [[nodiscard]] int radius() const { return size / 2; }
};

/// The kernel that the parameters name, which must be valid. A Gaussian's weights are rounded to
/// multiples of 2^-12 that sum to 1 in each direction; decimals are scaled by a power of ten.
[[nodiscard]] ExactKernel exact_kernel(const ConvolveParams& params);

/// Every rule that the numbers of the kernel break, one clause each; exact_kernel() may be called
/// where there are none.
[[nodiscard]] std::vector<std::string> kernel_violations(const ConvolveParams& params);

/// Index into n samples of the one that stands for position i, which may be outside by any
/// distance; -1 where that is the constant.
[[nodiscard]] constexpr int border_index(int i, int n, Border border) {
  if (i >= 0 && i < n) return i;
  if (border == Border::constant) return -1;
  if (border == Border::replicate || n == 1) return i < 0 ? 0 : n - 1;
  const int period = 2 * (n - 1);
  const int folded = (i % period + period) % period;
  return folded < n ? folded : period - folded;
}

}  // namespace equalux
