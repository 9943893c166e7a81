#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pixel_math.h"

/// The fused chain's inner loops over one row (or one row of chroma with its one or two rows of
/// luma), compiled for every SIMD target and chosen once.
namespace equalux {

/// Counts of v, 0 to 255.
using ValueHistogram = std::array<std::uint32_t, 256>;

/// Counts of two neighbouring values, first + 256 second.
using PairHistogram = std::array<std::uint32_t, 65536>;

/// Gains of one frame by v, in the forms that the loops read. v = 0 has gain 1.
struct GainTables {
  alignas(64) std::array<float, 256> gain;              ///< float_gain()
  alignas(64) std::array<std::uint8_t, 1024> gain_bytes;///< the floats' bytes 0, 1, 2, 3 by v
  std::array<std::uint64_t, 256> gain48;                ///< gain_48()
};

/// A row of chroma with the luma it covers. For 4:2:0 luma[1] is the second row, equal to luma[0]
/// where there is none; otherwise it is not read. Planes are tight within the row.
template <typename Byte>
struct YuvRow {
  std::array<Byte*, 2> luma;
  Byte* cb;
  Byte* cr;
};
using YuvRowIn = YuvRow<const std::uint8_t>;
using YuvRowOut = YuvRow<std::uint8_t>;

/// How a row's result is stored. Streaming bypasses the caches, which saves reading what is about
/// to be overwritten; kernels fall back to cached stores where a row is not aligned.
enum class Stores : std::uint8_t { cached, streaming };

/// How luma and chroma sit in a row kernel.
enum class YuvLayout : std::uint8_t { s420, s422, s444 };

/// One target's loops. `n` counts pixels; in and out rows are the same or do not overlap; nothing
/// outside them is read or written. All targets give the same bytes.
struct RowKernels {
  std::string_view target;

  /// v of rows with three, or four, bytes a pixel; `color` is the first colour byte of the four.
  void (*value_rgb3)(const std::uint8_t* in, std::size_t n, std::uint8_t* v);
  void (*value_rgb4)(const std::uint8_t* in, std::size_t n, int color, std::uint8_t* v);
  /// v of every luma sample of row 0 to v[0], of row 1 (4:2:0 only) to v[1].
  void (*value_yuv)(YuvLayout layout, const YuvWeights& weights, const YuvRowIn& in,
                    std::size_t n, const std::array<std::uint8_t*, 2>& v);

  void (*apply_gray)(const GainTables& gains, Stores stores, const std::uint8_t* in,
                     std::size_t n, std::uint8_t* out);
  void (*apply_rgb3)(const GainTables& gains, Stores stores, const std::uint8_t* in,
                     std::size_t n, std::uint8_t* out);
  void (*apply_rgb4)(const GainTables& gains, Stores stores, const std::uint8_t* in,
                     std::size_t n, int color, std::uint8_t* out);
  void (*apply_yuv)(YuvLayout layout, const YuvWeights& weights, const GainTables& gains,
                    Stores stores, const YuvRowIn& in, std::size_t n, const YuvRowOut& out);
  /// Makes a thread's streaming stores visible; called once after its last row.
  void (*flush_stores)();

  /// Adds both values of every pair to `counts` and clears the pairs.
  void (*fold_pairs)(PairHistogram& pairs, ValueHistogram& counts);

  /// Pairs to planes and back: a[i] = in[2i], b[i] = in[2i + 1] for i < n.
  void (*split)(const std::uint8_t* in, std::size_t n, std::uint8_t* a, std::uint8_t* b);
  void (*merge)(const std::uint8_t* a, const std::uint8_t* b, std::size_t n, std::uint8_t* out);
};

/// Plain C++, for machines without a known SIMD target and as the reference of the others.
[[nodiscard]] const RowKernels& scalar_row_kernels();
/// The best target of this machine. The environment variable EQUALUX_SIMD names another one.
[[nodiscard]] const RowKernels& row_kernels();
/// Every target that this build holds and this machine runs, best first, plain C++ last.
[[nodiscard]] std::vector<RowKernels> all_row_kernels();

}  // namespace equalux
