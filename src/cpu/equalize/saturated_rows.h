#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "src/cpu/equalize/fused/fused_rows.h"
#include "src/equalize/deep_curve.h"
#include "src/equalize/fixed_curve.h"
#include "src/equalize/saturation.h"
#include "src/format/layout.h"

/// Rows of the fused and the deep chain with changed saturation, in plain C++: the scalar
/// counterparts of apply_rgb and apply_yuv of FusedRows and DeepRows, by which the vector loops
/// also redo doubtful pixels. They are used where some k is not 1. `n` counts pixels; rows lie as
/// in FusedRows.
namespace equalux {

/// Table of four words for each v, in four orders: in order i, word j is at place j ^ i.
using LineTable = std::array<std::uint64_t, 256>;
struct LineTables {
  alignas(64) std::array<LineTable, 4> order;
};

/// Tables of a frame of 8 bits by v, for scalar and vector loops.
struct SaturatedGains {
  std::array<std::uint16_t, 256> factors{};  ///< k, in units of 1 / saturation::kOne
  CurveTable levels{};                       ///< W of 0 to M, with tone::kCurveBits
  /// Factor of saturation::part(): W / (v 2^30).
  std::array<double, 256> scales{};

  /// Table in single precision.
  struct Numbers {
    alignas(64) std::array<float, 256> number{};
    /// Bytes 0, 1, 2, 3 of the floats, 256 each.
    alignas(64) std::array<std::uint8_t, 1024> bytes{};
  };
  /// Tables of the vector loops, filled by make_vectors(). Where all levels have the same k, a
  /// channel v - d becomes g (v - k d), and only gain, gain_bits and factor are filled.
  Numbers gain;  ///< g = W / (v 2^22), or a number near it; 1 of black
  alignas(64) std::array<std::uint64_t, 256> gain_bits{};  ///< bits of gain times 2^32
  float factor = 1;                                        ///< k
  /// Otherwise a channel v - d becomes value - slope d. A level for which no pair of floats gives
  /// exact results has a NaN as its value, and the plain loops redo its pixels.
  Numbers value;  ///< W / 2^22, or a number near it
  Numbers slope;  ///< k W / (v 2^22); k of black
  /// Bits of value, with those of slope above them.
  alignas(64) std::array<std::uint64_t, 256> lines{};
  /// Gain of luma at or above white, which is scaled without saturation.
  float white_gain = 1;
  /// All gains or values are at most one float from the nearest to the exact one.
  bool close = true;
  /// 0 where k W / (v 2^22) is a whole multiple of 1 / 256 and equals the contribution of luma to a
  /// sum of chroma. Such sums are not rounded, so that what comes near a half is on it.
  std::array<std::uint8_t, 256> inexact{};
  bool exact = false;   ///< inexact is 0 of all levels
  bool uniform = true;  ///< all levels have the same k, and each has a gain
  bool limits = false;  ///< some k is above 1, so that S may reach 1, or a level must be redone
  bool undone = false;  ///< some level must be redone
  /// Some pixels are black or white; else no v was clamped. Luma below black may be present even if
  /// this is false, as colours may lift its v above black.
  bool ends = true;
  /// Largest distance of the least channel below v for which f is k. Not valid for levels that are
  /// redone.
  alignas(64) std::array<std::uint8_t, 256> free_below{};
  /// free_below over v for the largest k, times 65536, or a little less; 65535 where no k is above
  /// 1.
  std::uint16_t limit_share = 0xFFFF;
  /// Largest v - free_below of the present levels.
  std::uint8_t most_held = 0;
  std::uint16_t most_factor = saturation::kOne;  ///< largest k, at least 1

  /// Lines of packed RGB: words b, A, and upper and lower half of a slope with 24 fractional bits.
  /// A channel c becomes (A + (c + b) slope / 65536 mod 65536) / 256, rounded down twice, if bit 8
  /// of c + b is set; otherwise S would pass 1.
  LineTables word_lines{};
  bool has_word_lines = false;  ///< word_lines is filled
  /// Gains of packed RGB with the same k at every level, which has at most kMostWordBits fractional
  /// bits: gain times 2^(32 + kSaturatedWordBits), less those bits. word_weights holds the weights
  /// of v and of a channel in v - k (v - c), times 2 to those bits, in its low and high byte.
  alignas(64) std::array<std::uint64_t, 256> word_gains{};
  std::int16_t word_weights = 0;
  bool has_words = false;  ///< word_gains is filled
};
/// Makes the scalar tables of a curve, W of 0 to M. Black stays black.
void make_saturated(const saturation::Rule& rule, const CurveTable& curve, int max_value,
                    SaturatedGains& gains);
/// Makes the vector tables from those of make_saturated(), for the levels in `present`. `max_code`
/// is the largest luma code above black.
void make_vectors(const ValueHistogram& present, std::int32_t max_value, std::int32_t max_code,
                  const FusedRows& loops, SaturatedGains& gains);

/// Most fractional bits of k for word_gains.
inline constexpr int kMostWordBits = 2;
/// Fill word_gains or word_lines after make_saturated(), if the loops use them and they exist. They
/// return true if no other table is needed; where `limits` is set, others are.
bool make_word_gains(const ValueHistogram& present, const FusedRows& loops, SaturatedGains& gains);
bool make_word_lines(const ValueHistogram& present, const FusedRows& loops, SaturatedGains& gains);
/// Makes word_gains or word_lines, for packed RGB with `step` bytes a pixel.
bool make_words(const ValueHistogram& present, int step, const FusedRows& loops,
                SaturatedGains& gains);

/// Makes all tables that FusedRows needs for a frame: of packed RGB with `step` bytes a pixel, or
/// of YCbCr with the gain48 of `chroma`, which is null for RGB.
void make_saturated_frame(const saturation::Rule& rule, const CurveTable& curve,
                          const ValueHistogram& present, std::int32_t max_value,
                          std::int32_t max_code, int step, const FusedRows& loops,
                          SaturatedGains& gains, GainTables* chroma);

/// Rounding offset in double precision: a little over 1/2, so that rounding errors never lose a
/// half, and no other number is taken for one.
inline constexpr double kHalfOrMore = 0.5 + 0x1p-41;

/// Scales packed RGB of 8 bits.
void saturate_rgb(const SaturatedGains& gains, const RgbLayout& at, const std::uint8_t* in,
                  std::size_t n, std::uint8_t* out);
/// Scales YCbCr of 8 bits; `gain48` is gain_48() by v.
void saturate_yuv(const SaturatedGains& gains, const std::uint64_t* gain48, Sampling sampling,
                  const YuvWeights& weights, const YuvRowIn& in, std::size_t n,
                  const YuvRowOut& out);

/// Curve and saturation for more than 8 bits.
struct SaturatedCurve {
  const std::uint16_t* factors;  ///< k by v, 0 to M, in units of 1 / saturation::kOne
  const std::uint32_t* levels;   ///< W by v, 0 to M, with kDeepCurveBits; black stays black
};

/// Scales packed RGB of more than 8 bits.
void saturate_deep_rgb(const SaturatedCurve& curve, const DeepSamples& form, const RgbLayout& at,
                       const std::uint8_t* in, std::size_t n, std::uint8_t* out);
/// Luma samples that a chroma sample covers in a line.
struct DeepCells {
  int rows;                 ///< 1 or 2
  int columns;              ///< 1 or 2
  std::size_t chroma_step;  ///< bytes from one chroma sample to the next
};
/// Scales YCbCr of more than 8 bits.
void saturate_deep_yuv(const SaturatedCurve& curve, const DeepSamples& form, const DeepCells& cells,
                       const YuvRowIn& in, std::size_t n, const YuvRowOut& out);

}  // namespace equalux
