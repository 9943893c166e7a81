#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "src/cpu/common/stores.h"

/// Inner loops of convolution over one row of bytes, compiled for every SIMD target and chosen
/// once. The caller handles the frame's edges.
namespace equalux {

/// Bytes that loops process at a time, the longest vector of all targets.
inline constexpr std::size_t kConvolveBytes = 64;

/// Rounds `bytes` down and up to a multiple of kConvolveBytes.
constexpr std::size_t convolve_bytes_down(std::size_t bytes) {
  return bytes / kConvolveBytes * kConvolveBytes;
}
constexpr std::size_t convolve_bytes_up(std::size_t bytes) {
  return convolve_bytes_down(bytes + kConvolveBytes - 1);
}

/// Tap of a kernel: a sample in row `row`, 0 to size - 1 from the top, `offset` bytes from the
/// sample whose result is computed.
struct Tap {
  int row = 0;
  std::ptrdiff_t offset = 0;
  std::int32_t weight = 0;
};

/// Division floor(n / divisor) for 0 <= n < 2^15: n >> shift, or (high word of n · multiplier) >>
/// shift.
struct ShortDivision {
  std::uint16_t multiplier = 0;  ///< 0 = shift only
  int shift = 0;
};

/// Division floor(n / divisor), at most 255, for 0 <= n < 2^31: n >> shift, or floor(n · inverse),
/// plus one where the remainder demands it.
struct LongDivision {
  int shift = -1;  ///< -1 = the divisor is no power of two
  std::uint32_t divisor = 1;
  float inverse = 1;      ///< a little below 1 / divisor, so that quotients are never too large
  std::int32_t most = 0;  ///< larger dividends give 255 too
};

/// Taps whose sums fit in 16 bits. Their number is even; those of positive and of negative weight
/// each sum to at most 128, so that the products of two taps fit in 16 bits.
struct ShortTaps {
  std::vector<Tap> taps;
  std::int16_t bias = 0;
  ShortDivision division;
};

/// Taps whose sums fit in 32 bits. Their number is even.
struct LongTaps {
  std::vector<Tap> taps;
  std::int32_t bias = 0;
  bool short_weights = false;  ///< all weights fit in 16 bits
  LongDivision division;
};

/// Largest radius of Gaussians with an unrolled loop of their own.
inline constexpr int kUnrolledRadius = 3;

/// Weights of a Gaussian in one direction.
struct GaussianWeights {
  int radius = 0;
  std::vector<std::int32_t> half;  ///< from the centre on, with a 0 appended
  /// Distance from which weights are so small that the sum of their products, with kGaussianHalf,
  /// fits in 16 bits. Weights before it are paired, the last one with the 0 if need be.
  int small = 1;
  /// Multipliers as vectors hold them: for odd distances before `small` two 16-bit weights; from
  /// `small` on the weight as four equal bytes; at 0 the centre's weight and 1.
  std::vector<std::uint32_t> factors;
};

/// Rounding offset of sums along a row: half of 2^12, so that sums over both directions have half
/// of 2^24.
inline constexpr std::int32_t kGaussianHalf = 2048;
/// Extra bytes on the left that a box's sums along a row read.
inline constexpr std::size_t kBoxReach = 16;

/// Row of results. n is a multiple of kConvolveBytes.
struct RowOut {
  std::uint8_t* out = nullptr;
  std::size_t n = 0;
  Stores stores = Stores::cached;
  /// Mask of kConvolveBytes bytes, 255 where the byte of `centre` is copied, else 0; null = none.
  const std::uint8_t* copied = nullptr;
  const std::uint8_t* centre = nullptr;
};

/// Loops of one target. They read rows from the first tap's offset before to the last one's behind;
/// rows may have any alignment, sums are aligned to kConvolveBytes, and `out` overlaps no input.
/// All targets give the same bytes.
struct ConvolveRows {
  std::string_view target;

  void (*short_taps)(const ShortTaps& taps, const std::uint8_t* const* rows, const RowOut& to);
  void (*long_taps)(const LongTaps& taps, const std::uint8_t* const* rows, const RowOut& to);

  /// Gaussian along a row: n sums, a multiple of kConvolveBytes, over samples `step` bytes apart,
  /// plus kGaussianHalf. Their order in `sums` is up to the target, and the same in every row.
  /// Reads one sample more on each side than sums need.
  void (*weigh_row)(const GaussianWeights& weights, std::ptrdiff_t step,
                    const std::uint8_t* samples, std::size_t n, std::uint32_t* sums);
  /// Gaussian down columns begin to end - 1: two adjacent rows of results, from the sums of radius
  /// rows above the first to radius rows below the second.
  void (*weigh_columns)(const GaussianWeights& weights, const std::uint32_t* const* rows,
                        std::size_t begin, std::size_t end, const RowOut& first,
                        const RowOut& below);

  /// Box along a row: n sums of `size` bytes that are `step` bytes apart.
  void (*box_row)(int size, std::ptrdiff_t step, const std::uint8_t* samples, std::size_t n,
                  std::uint16_t* sums);
  /// Box down columns: adds the entering row to to.n sums over size * size bytes and subtracts the
  /// leaving one; then writes their means, unless to.out is null. `sums` begin with 0; their order
  /// is up to the target.
  void (*box_columns)(int size, const std::uint16_t* entering, const std::uint16_t* leaving,
                      std::uint32_t* sums, const RowOut& to);

  /// Fences a thread's streaming stores. Call it once after the thread's last row.
  void (*flush_stores)();
};

/// Returns the plain C++ loops, for machines without a known SIMD target and as reference of the
/// others.
[[nodiscard]] const ConvolveRows& scalar_convolve_rows();
/// Returns the loops of the target that fused_rows() chose.
[[nodiscard]] const ConvolveRows& convolve_rows();
/// Returns every target that this build has and this machine runs, best first, plain C++ last.
[[nodiscard]] std::vector<ConvolveRows> all_convolve_rows();

/// Makes the weights of one direction from symmetric ones that sum to 2^12; zeros at the ends are
/// dropped.
[[nodiscard]] GaussianWeights gaussian_weights(const std::vector<std::int32_t>& all);
/// Returns the division by a divisor of 1 to 65535.
[[nodiscard]] ShortDivision short_division(std::uint32_t divisor);
/// Returns the division by a divisor of 1 to 2^31 - 1.
[[nodiscard]] LongDivision long_division(std::uint32_t divisor);

}  // namespace equalux
