#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/cpu/clahe/tile_rows.h"
#include "src/cpu/common/stores.h"
#include "src/equalize/tone/tone_curve.h"
#include "src/format/layout.h"

/// Inner loops of the fused chain over one row, or over one row of chroma with its one or two rows
/// of luma. They are compiled for every SIMD target and chosen once.
namespace equalux {

struct SaturatedGains;

/// Histogram of v, 0 to 255.
using ValueHistogram = std::array<std::uint32_t, 256>;

/// Histogram of pairs of neighbouring values, indexed by first + 256 (second - first mod 256).
/// Neighbours resemble each other, so that the counters a picture uses lie close together and stay
/// in the L1 cache. The last 128 entries are padding: without them the same pair in two tables
/// would be a multiple of 4 KiB apart, where a load waits for an unrelated store (4K aliasing).
using PairHistogram = std::array<std::uint32_t, 65536 + 128>;

/// Pixels per thread from which frames are counted in pairs: half the increments, for 512 KiB of
/// counters to be folded at the end.
inline constexpr std::size_t kPairsFrom = std::size_t{1} << 19;

/// Histograms that a thread increments in turn, so that on a flat image an increment does not wait
/// for the one before (store-to-load forwarding).
using SingleTables = std::array<ValueHistogram, 8>;
using PairTables = std::array<PairHistogram, 2>;

/// Counters of one thread: pairs go to `pairs`, the rest to `single`; without `pairs` all to
/// `single`.
struct Counters {
  SingleTables& single;
  PairTables* pairs;
};

/// Fractional bits of GainTables::fixed for luma of RGB, where c gain is below 2^13.
inline constexpr int kLumaGainBits = 18;

/// Fractional bits of SaturatedGains::word_gains and the factors they are multiplied with,
/// together.
inline constexpr int kSaturatedWordBits = 23;

/// Gains of one frame by v, in the forms that the loops read. v = 0 has gain 1.
struct GainTables {
  alignas(64) std::array<float, 256> gain;  ///< float_gain()
  /// Bytes 0, 1, 2, 3 of the floats, 256 each.
  alignas(64) std::array<std::uint8_t, 1024> gain_bytes;
  alignas(64) std::array<std::uint64_t, 256> fixed;  ///< fixed_gain(), or luma's, times 2^32
  std::array<std::uint64_t, 256> gain48;             ///< gain_48()
  /// Output for gray samples, and the XOR of each with the output 16 levels lower. In the first 16
  /// entries of each half, gray_steps is the output itself.
  alignas(64) std::array<std::uint8_t, 256> gray;
  alignas(64) std::array<std::uint8_t, 256> gray_steps;

  /// Fills gray_steps.
  void step_gray() {
    for (std::size_t v = 0; v < 256; ++v)
      gray_steps[v] = static_cast<std::uint8_t>(gray[v] ^ (v % 128 < 16 ? 0 : gray[v - 16]));
  }
};

/// Line of a channel's result: at_value - step (v - c).
struct ChannelLine {
  double at_value, step;
};

/// Use of SaturatedGains::word_lines: never, for levels with a k each, or always.
enum class WordLines : std::uint8_t { never, of_levels, always };

/// Range of unsigned words.
struct WordRange {
  std::uint32_t least, most;
};

/// Level whose gains in single precision are tested.
struct SaturatedLevel {
  std::int32_t v;         ///< above 0
  std::int32_t factor;    ///< k, in units of 1 / saturation::kOne
  double scale;           ///< W / (v 2^30), as SaturatedGains::scales
  ChannelLine low, high;  ///< bounds of what those gains make of a channel
};

/// Loops of one target. `n` counts pixels; input and output rows are the same memory or do not
/// overlap; nothing outside them is read or written. All targets give the same bytes.
struct FusedRows {
  std::string_view target;

  /// Counts v of rows of one, three or four bytes a pixel; `color` is the first colour byte of
  /// four. Prefetches as many bytes from `ahead` on.
  void (*count_gray)(const std::uint8_t* in, std::size_t n, const std::uint8_t* ahead,
                     const Counters& counters);
  void (*count_rgb3)(const std::uint8_t* in, std::size_t n, const std::uint8_t* ahead,
                     const Counters& counters);
  void (*count_rgb4)(const std::uint8_t* in, std::size_t n, int color, const std::uint8_t* ahead,
                     const Counters& counters);
  /// Chooses one of the three by the layout of a pixel.
  void count_pixels(const RgbLayout& at, const std::uint8_t* in, std::size_t n,
                    const std::uint8_t* ahead, const Counters& counters) const {
    if (at.step == 1) return count_gray(in, n, ahead, counters);
    if (at.step == 3) return count_rgb3(in, n, ahead, counters);
    count_rgb4(in, n, at.first(), ahead, counters);
  }
  /// Counts rgb_luma() of three or four bytes a pixel.
  void (*count_luma)(const RgbLayout& at, const std::uint8_t* in, std::size_t n,
                     const std::uint8_t* ahead, const Counters& counters);
  /// Counts v of every luma sample of row 0 and, in 4:2:0, of row 1.
  void (*count_yuv)(Sampling sampling, const YuvWeights& weights, const YuvRowIn& in, std::size_t n,
                    const YuvRowIn& ahead, const Counters& counters);
  /// Adds the counters to `counts` and clears them.
  void (*fold)(const Counters& counters, ValueHistogram& counts);

  void (*apply_gray)(const GainTables& gains, Stores stores, const std::uint8_t* in, std::size_t n,
                     std::uint8_t* out);
  void (*apply_rgb3)(const GainTables& gains, Stores stores, const std::uint8_t* in, std::size_t n,
                     std::uint8_t* out);
  void (*apply_rgb4)(const GainTables& gains, Stores stores, const std::uint8_t* in, std::size_t n,
                     int color, std::uint8_t* out);
  /// Scales pixels of three or four bytes by the gain of their rgb_luma(), saturating at 255.
  void (*apply_luma)(const GainTables& gains, Stores stores, const RgbLayout& at,
                     const std::uint8_t* in, std::size_t n, std::uint8_t* out);
  void (*apply_yuv)(Sampling sampling, const YuvWeights& weights, const GainTables& gains,
                    Stores stores, const YuvRowIn& in, std::size_t n, const YuvRowOut& out);
  /// Scales pixels of three or four bytes and changes their saturation.
  void (*saturate_rgb)(const SaturatedGains& gains, Stores stores, const RgbLayout& at,
                       const std::uint8_t* in, std::size_t n, std::uint8_t* out);
  /// Scales YCbCr and changes its saturation; `gain48` is gain_48() by v.
  void (*saturate_yuv)(const SaturatedGains& gains, const std::uint64_t* gain48, Sampling sampling,
                       const YuvWeights& weights, Stores stores, const YuvRowIn& in, std::size_t n,
                       const YuvRowOut& out);
  /// Fences a thread's streaming stores. Call it once after the thread's last row.
  void (*flush_stores)();

  /// Returns the first c of 1 .. max_c for which parted() is true, or 0.
  std::int32_t (*first_parted)(const GainBounds& bounds, std::int32_t max_c);

  /// Returns true where every channel 0 to v becomes the exact result anywhere between the two
  /// lines.
  bool (*saturates_exactly)(const SaturatedLevel& level);
  /// Returns the least and largest of at - i step modulo 2^32, for 0 <= i < n; n is at least 1.
  WordRange (*word_range)(std::uint32_t at, std::uint32_t step, std::int32_t n);
  /// Cases in which saturate_rgb() uses SaturatedGains::word_lines, and the bytes of a pixel for
  /// which it uses word_gains instead, 0 = none.
  WordLines word_lines;
  int word_gains_step;

  /// Deinterleaves and interleaves pairs: a[i] = in[2i], b[i] = in[2i + 1] for i < n.
  void (*split)(const std::uint8_t* in, std::size_t n, std::uint8_t* a, std::uint8_t* b);
  void (*merge)(const std::uint8_t* a, const std::uint8_t* b, std::size_t n, std::uint8_t* out);

  /// Loops of adaptive equalization.
  TileRows tiles;
};

/// Returns the plain C++ loops, for machines without a known SIMD target and as reference of the
/// others.
[[nodiscard]] const FusedRows& scalar_fused_rows();
/// Returns the best target of this machine. The environment variable EQUALUX_SIMD names another
/// one.
[[nodiscard]] const FusedRows& fused_rows();
/// Returns every target that this build has and this machine runs, best first, plain C++ last.
[[nodiscard]] std::vector<FusedRows> all_fused_rows();

}  // namespace equalux
