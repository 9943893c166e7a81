#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/cpu/clahe/tile_rows.h"
#include "src/cpu/common/stores.h"
#include "src/equalize/tone_curve.h"
#include "src/format/layout.h"

/// The fused chain's inner loops over one row (or one row of chroma with its one or two rows of
/// luma), compiled for every SIMD target and chosen once.
namespace equalux {

struct SaturatedGains;

/// Counts of v, 0 to 255.
using ValueHistogram = std::array<std::uint32_t, 256>;

/// Counts of two neighbouring values by first + 256 (second - first mod 256): neighbours resemble
/// each other, so that the counters a picture needs lie together and stay in the first-level cache.
/// The last 128 count nothing. They keep the tables behind each other from having the same pair 4
/// KiB times a whole number apart, where a load waits for stores that are none of its business.
using PairHistogram = std::array<std::uint32_t, 65536 + 128>;

/// Frames with at least so many pixels a thread are counted in pairs: half the increments, for half
/// a mebibyte of counters that has to be folded at the end.
inline constexpr std::size_t kPairsFrom = std::size_t{1} << 19;

/// Histograms that a thread counts into in turn, so that on a flat image an increment does not
/// always wait for the one before it.
using SingleTables = std::array<ValueHistogram, 8>;
using PairTables = std::array<PairHistogram, 2>;

/// Where a thread counts: in `pairs`, and what is left over in `single`; without pairs all there.
struct Counters {
  SingleTables& single;
  PairTables* pairs;
};

/// Fraction bits of GainTables::fixed in equalization of luma: c gain is below 2^13 there.
inline constexpr int kLumaGainBits = 18;

/// Fraction bits of SaturatedGains::word_gains, with those of what they are multiplied with.
inline constexpr int kSaturatedWordBits = 23;

/// Gains of one frame by v, in the forms that the loops read. v = 0 has gain 1.
struct GainTables {
  alignas(64) std::array<float, 256> gain;                ///< float_gain()
  alignas(64) std::array<std::uint8_t, 1024> gain_bytes;  ///< the floats' bytes 0, 1, 2, 3 by v
  alignas(64) std::array<std::uint64_t, 256> fixed;       ///< fixed_gain() or luma's, times 2^32
  std::array<std::uint64_t, 256> gain48;                  ///< gain_48()
  /// What a gray sample becomes, and how the bits of that differ from those 16 levels before; of
  /// the first 16 levels of each half it is the same.
  alignas(64) std::array<std::uint8_t, 256> gray;
  alignas(64) std::array<std::uint8_t, 256> gray_steps;

  /// Fills gray_steps.
  void step_gray() {
    for (std::size_t v = 0; v < 256; ++v)
      gray_steps[v] = static_cast<std::uint8_t>(gray[v] ^ (v % 128 < 16 ? 0 : gray[v - 16]));
  }
};

/// What channels of a level become, on a straight line by how far they lie under v.
struct ChannelLine {
  double at_value, step;
};

/// Which saturation is changed by SaturatedGains::word_lines: that of levels with a k each, or any.
enum class WordLines : std::uint8_t { never, of_levels, always };

/// The least and the most of some words.
struct WordRange {
  std::uint32_t least, most;
};

/// A level whose numbers in single precision are to be tried.
struct SaturatedLevel {
  std::int32_t v;         ///< above 0
  std::int32_t factor;    ///< k, in 1 / saturation::kOne
  double scale;           ///< W / (v 2^30), as SaturatedGains::scales has it
  ChannelLine low, high;  ///< between which lies what those numbers make of a channel
};

/// One target's loops. `n` counts pixels; in and out rows are the same or do not overlap; nothing
/// outside them is read or written. All targets give the same bytes.
struct FusedRows {
  std::string_view target;

  /// Count v of rows with one, three or four bytes a pixel; `color` is the first colour byte of the
  /// four. Meanwhile as many bytes from `ahead` on are brought into the caches.
  void (*count_gray)(const std::uint8_t* in, std::size_t n, const std::uint8_t* ahead,
                     const Counters& counters);
  void (*count_rgb3)(const std::uint8_t* in, std::size_t n, const std::uint8_t* ahead,
                     const Counters& counters);
  void (*count_rgb4)(const std::uint8_t* in, std::size_t n, int color, const std::uint8_t* ahead,
                     const Counters& counters);
  /// One of the three, by how a pixel lies.
  void count_pixels(const RgbLayout& at, const std::uint8_t* in, std::size_t n,
                    const std::uint8_t* ahead, const Counters& counters) const {
    if (at.step == 1) return count_gray(in, n, ahead, counters);
    if (at.step == 3) return count_rgb3(in, n, ahead, counters);
    count_rgb4(in, n, at.first(), ahead, counters);
  }
  /// Counts rgb_luma() of three or four bytes a pixel.
  void (*count_luma)(const RgbLayout& at, const std::uint8_t* in, std::size_t n,
                     const std::uint8_t* ahead, const Counters& counters);
  /// Counts v of every luma sample of row 0, and of row 1 (4:2:0 only).
  void (*count_yuv)(Sampling sampling, const YuvWeights& weights, const YuvRowIn& in, std::size_t n,
                    const YuvRowIn& ahead, const Counters& counters);
  /// Adds what was counted to `counts` and clears it.
  void (*fold)(const Counters& counters, ValueHistogram& counts);

  void (*apply_gray)(const GainTables& gains, Stores stores, const std::uint8_t* in, std::size_t n,
                     std::uint8_t* out);
  void (*apply_rgb3)(const GainTables& gains, Stores stores, const std::uint8_t* in, std::size_t n,
                     std::uint8_t* out);
  void (*apply_rgb4)(const GainTables& gains, Stores stores, const std::uint8_t* in, std::size_t n,
                     int color, std::uint8_t* out);
  /// By rgb_luma(), of three or four bytes a pixel, with gains of luma.
  void (*apply_luma)(const GainTables& gains, Stores stores, const RgbLayout& at,
                     const std::uint8_t* in, std::size_t n, std::uint8_t* out);
  void (*apply_yuv)(Sampling sampling, const YuvWeights& weights, const GainTables& gains,
                    Stores stores, const YuvRowIn& in, std::size_t n, const YuvRowOut& out);
  /// The same with saturation changed, of three or four bytes a pixel.
  void (*saturate_rgb)(const SaturatedGains& gains, Stores stores, const RgbLayout& at,
                       const std::uint8_t* in, std::size_t n, std::uint8_t* out);
  /// `gain48` is gain_48() by v.
  void (*saturate_yuv)(const SaturatedGains& gains, const std::uint64_t* gain48, Sampling sampling,
                       const YuvWeights& weights, Stores stores, const YuvRowIn& in, std::size_t n,
                       const YuvRowOut& out);
  /// Makes a thread's streaming stores visible; called once after its last row.
  void (*flush_stores)();

  /// The first c of 1 .. max_c that parted() says of, or 0.
  std::int32_t (*first_parted)(const GainBounds& bounds, std::int32_t max_c);

  /// Whether every channel 0 to v becomes what it should anywhere between the two lines.
  bool (*saturates_exactly)(const SaturatedLevel& level);
  /// The least and the most of at - i step modulo 2^32, of 0 <= i < n; n is 1 at least.
  WordRange (*word_range)(std::uint32_t at, std::uint32_t step, std::int32_t n);
  /// Where saturate_rgb() takes SaturatedGains::word_lines, and of which pixels, by the bytes of
  /// one, it rather takes word_gains; 0 = of none.
  WordLines word_lines;
  int word_gains_step;

  /// Pairs to planes and back: a[i] = in[2i], b[i] = in[2i + 1] for i < n.
  void (*split)(const std::uint8_t* in, std::size_t n, std::uint8_t* a, std::uint8_t* b);
  void (*merge)(const std::uint8_t* a, const std::uint8_t* b, std::size_t n, std::uint8_t* out);

  /// The loops of adaptive equalization.
  TileRows tiles;
};

/// Plain C++, for machines without a known SIMD target and as the reference of the others.
[[nodiscard]] const FusedRows& scalar_fused_rows();
/// The best target of this machine. The environment variable EQUALUX_SIMD names another one.
[[nodiscard]] const FusedRows& fused_rows();
/// Every target that this build holds and this machine runs, best first, plain C++ last.
[[nodiscard]] std::vector<FusedRows> all_fused_rows();

}  // namespace equalux
