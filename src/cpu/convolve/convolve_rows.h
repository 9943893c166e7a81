#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "src/cpu/common/stores.h"

/// Convolution's inner loops over one row of bytes, compiled for every SIMD target and chosen once.
/// Frames' edges are their caller's business.
namespace equalux {

/// Loops take this many bytes at a time: the longest vector of all targets.
inline constexpr std::size_t kConvolveBytes = 64;

/// `bytes` as a multiple of kConvolveBytes.
constexpr std::size_t convolve_bytes_down(std::size_t bytes) {
  return bytes / kConvolveBytes * kConvolveBytes;
}
constexpr std::size_t convolve_bytes_up(std::size_t bytes) {
  return convolve_bytes_down(bytes + kConvolveBytes - 1);
}

/// A sample that counts: of row `row` (0 to size - 1 from the top), `offset` bytes from the sample
/// whose result is wanted.
struct Tap {
  int row = 0;
  std::ptrdiff_t offset = 0;
  std::int32_t weight = 0;
};

/// floor(n / divisor) for 0 <= n < 2^15: n >> shift, or high half of n · multiplier, >> shift.
struct ShortDivision {
  std::uint16_t multiplier = 0;  ///< 0 = shift alone
  int shift = 0;
};

/// floor(n / divisor), at most 255, for 0 <= n < 2^31: n >> shift, or
/// floor(n · inverse) and one more where the remainder says so.
struct LongDivision {
  int shift = -1;  ///< -1 = no power of two
  std::uint32_t divisor = 1;
  float inverse = 1;      ///< a little below 1 / divisor: never one too many
  std::int32_t most = 0;  ///< dividends above this give 255 too
};

/// Taps whose sums fit 16 bits. Their count is even; those of positive and those of negative weight
/// each sum to at most 128, so that no product of two taps leaves 16 bits.
struct ShortTaps {
  std::vector<Tap> taps;
  std::int16_t bias = 0;
  ShortDivision division;
};

/// Taps whose sums fit 32 bits. Their count is even.
struct LongTaps {
  std::vector<Tap> taps;
  std::int32_t bias = 0;
  bool short_weights = false;  ///< each fits 16 bits
  LongDivision division;
};

/// Gaussians up to this radius have loops of their own, in which all is unrolled.
inline constexpr int kUnrolledRadius = 3;

/// One direction of a Gaussian.
struct GaussianWeights {
  int radius = 0;
  std::vector<std::int32_t> half;  ///< from the middle on, and one 0 more
  /// From this distance on weights are so small that 16 bits hold the sum of their products, with
  /// kGaussianHalf. Those before make pairs, where need be with the 0.
  int small = 1;
  /// What multiplies the samples at a distance, as it stands in vectors: of odd distances before
  /// `small` the weights of two, 16 bits each, from there on the weight four times, as bytes. At 0
  /// the middle's and 1.
  std::vector<std::uint32_t> factors;
};

/// Sums along a row carry half of a Gaussian's one, 2^12, so that sums of both directions carry
/// half of 2^24.
inline constexpr std::int32_t kGaussianHalf = 2048;
/// Bytes more on the left that a box's sums along a row read.
inline constexpr std::size_t kBoxReach = 16;

/// A row of results. n is a multiple of kConvolveBytes.
struct RowOut {
  std::uint8_t* out = nullptr;
  std::size_t n = 0;
  Stores stores = Stores::cached;
  /// Where not null: kConvolveBytes bytes, 255 where the byte of `centre` is copied, 0 elsewhere.
  const std::uint8_t* copied = nullptr;
  const std::uint8_t* centre = nullptr;
};

/// One target's loops. Rows are read from the first tap's offset before them to the last one's
/// behind them and may be unaligned; sums begin on kConvolveBytes; `out` overlaps none. All targets
/// give the same bytes.
struct ConvolveRows {
  std::string_view target;

  void (*short_taps)(const ShortTaps& taps, const std::uint8_t* const* rows, const RowOut& to);
  void (*long_taps)(const LongTaps& taps, const std::uint8_t* const* rows, const RowOut& to);

  /// `gaussian`: n sums along a row, a multiple of kConvolveBytes, whose samples lie `step` bytes
  /// beside each other, plus kGaussianHalf. Where in `sums` each goes is the target's business, and
  /// the same in every row. Read is one sample more to each side than sums need.
  void (*weigh_row)(const GaussianWeights& weights, std::ptrdiff_t step,
                    const std::uint8_t* samples, std::size_t n, std::uint32_t* sums);
  /// Columns begin to end - 1 of two rows of results, below each other, of sums from radius rows
  /// above the first to radius rows below the second.
  void (*weigh_columns)(const GaussianWeights& weights, const std::uint32_t* const* rows,
                        std::size_t begin, std::size_t end, const RowOut& first,
                        const RowOut& below);

  /// `box`: n sums of `size` bytes that lie `step` bytes beside each other.
  void (*box_row)(int size, std::ptrdiff_t step, const std::uint8_t* samples, std::size_t n,
                  std::uint16_t* sums);
  /// Adds a row to to.n sums over size * size bytes and takes one away; then the row of their
  /// means, unless to.out is null. `sums` begin with 0 and belong to the target.
  void (*box_columns)(int size, const std::uint16_t* entering, const std::uint16_t* leaving,
                      std::uint32_t* sums, const RowOut& to);

  /// Makes a thread's streaming stores visible; called once after its last row.
  void (*flush_stores)();
};

/// Plain C++, for machines without a known SIMD target and as the reference of the others.
[[nodiscard]] const ConvolveRows& scalar_convolve_rows();
/// Those of the target that fused_rows() chose.
[[nodiscard]] const ConvolveRows& convolve_rows();
/// Every target that this build holds and this machine runs, best first, plain C++ last.
[[nodiscard]] std::vector<ConvolveRows> all_convolve_rows();

/// Of weights that sum to 2^12, the first like the last and so on, without those at the ends that
/// are 0.
[[nodiscard]] GaussianWeights gaussian_weights(const std::vector<std::int32_t>& all);
/// The multiplication that divides by a divisor of 1 to 65535.
[[nodiscard]] ShortDivision short_division(std::uint32_t divisor);
/// The multiplication that divides by a divisor of 1 to 2^31 - 1.
[[nodiscard]] LongDivision long_division(std::uint32_t divisor);

}  // namespace equalux
