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

/// floor(n / divisor), at most 255, for 0 <= n < 2^31 (2^32 for shifts): n >> shift, or
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

/// One direction of a separable kernel: size weights, the first like the last and so on.
struct SymmetricWeights {
  const std::int32_t* weights = nullptr;
  int size = 1;
};

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
/// behind them and may be unaligned; `out` overlaps none. All targets give the same bytes.
struct ConvolveKernels {
  std::string_view target;

  void (*short_taps)(const ShortTaps& taps, const std::uint8_t* const* rows, const RowOut& to);
  void (*long_taps)(const LongTaps& taps, const std::uint8_t* const* rows, const RowOut& to);
  /// sums[x] = sum over j of weight j · rows[j][x] for x < n, a multiple of kConvolveBytes.
  void (*column_sums)(const SymmetricWeights& column, const std::uint8_t* const* rows,
                      std::size_t n, std::uint32_t* sums);
  /// The sums of the row below, of columns whose weights are 1: sums[x] += entering[x] -
  /// leaving[x].
  void (*slide_sums)(const std::uint8_t* entering, const std::uint8_t* leaving, std::size_t n,
                     std::uint32_t* sums);
  /// From sums that reach size / 2 steps before and behind the row: their sum by `row`'s weights,
  /// plus bias, divided.
  void (*row_sums)(const SymmetricWeights& row, std::ptrdiff_t step, std::uint32_t bias,
                   const LongDivision& division, const std::uint32_t* sums, const RowOut& to);
  /// Makes a thread's streaming stores visible; called once after its last row.
  void (*flush_stores)();
};

/// Plain C++, for machines without a known SIMD target and as the reference of the others.
[[nodiscard]] const ConvolveKernels& scalar_convolve_kernels();
/// Those of the target that row_kernels() chose.
[[nodiscard]] const ConvolveKernels& convolve_kernels();
/// Every target that this build holds and this machine runs, best first, plain C++ last.
[[nodiscard]] std::vector<ConvolveKernels> all_convolve_kernels();

/// For divisors of 1 to 65535.
[[nodiscard]] ShortDivision short_division(std::uint32_t divisor);
/// For divisors of 1 to 2^31 - 1.
[[nodiscard]] LongDivision long_division(std::uint32_t divisor);

}  // namespace equalux
