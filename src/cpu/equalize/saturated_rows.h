#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "src/cpu/equalize/fused/fused_rows.h"
#include "src/equalize/deep_curve.h"
#include "src/equalize/fixed_curve.h"
#include "src/equalize/saturation.h"
#include "src/format/layout.h"

/// Rows of the fused and of the deep chain where saturation is changed too: plain C++, one channel
/// after the other, which is what the vector loops of both redo doubtful pixels by.
/// Counterparts of apply_rgb and apply_yuv of FusedRows and DeepRows, which serve wherever k is 1
/// at every level; `n` counts pixels, and rows lie as there.
namespace equalux {

/// Four words by v: in order i, word j stands in place j ^ i.
using LineTable = std::array<std::uint64_t, 256>;
struct LineTables {
  alignas(64) std::array<LineTable, 4> order;
};

/// What a frame's pixels of 8 bits become.
struct SaturatedGains {
  std::array<std::uint16_t, 256> factors{};  ///< k by v, in 1 / saturation::kOne
  CurveTable levels{};                       ///< W by v, 0 to M, with tone::kCurveBits
  /// What saturation::part() is multiplied with, by v: W / (v 2^30).
  std::array<double, 256> scales{};

  /// Single precision by v.
  struct Numbers {
    alignas(64) std::array<float, 256> number{};
    alignas(64) std::array<std::uint8_t, 1024> bytes{};  ///< their bytes 0, 1, 2, 3 by v
  };
  /// What vectors read, made by make_vectors(). Where one k serves all levels a channel v - d
  /// becomes g (v - k d), and only these are made:
  Numbers gain;                                            ///< W / (v 2^22), or near it; 1 of black
  alignas(64) std::array<std::uint64_t, 256> gain_bits{};  ///< their bits times 2^32
  float factor = 1;                                        ///< k
  /// Else it becomes W / 2^22 - s d. A level for which no two numbers do that is redone by the
  /// plain loops: its value is not a number.
  Numbers value;                                       ///< W / 2^22, or near it
  Numbers slope;                                       ///< s = k W / (v 2^22); k of black
  alignas(64) std::array<std::uint64_t, 256> lines{};  ///< a value's bits, and a slope's above them
  /// Of luma at or above white, which becomes what it becomes without saturation.
  float white_gain = 1;
  bool close = true;  ///< no gain or value is more than one step from the nearest to the exact one
  /// 0 where k W / (v 2^22) is a whole multiple of 1 / 256, and what luma adds to a sum of chroma
  /// is just that: such sums have no rounding, and what comes near a half is on it.
  std::array<std::uint8_t, 256> inexact{};
  bool exact = false;   ///< that is so of every level
  bool uniform = true;  ///< k is the same at every level, each of which has a gain
  bool limits = false;  ///< some k is above 1, so that S may reach 1, or a level is to be redone
  bool undone = false;  ///< a level is to be redone
  /// Black or white have pixels; where neither does no v was clamped. Luma below black may be there
  /// all the same, with colours that lift its v.
  bool ends = true;
  /// How far the least channel may lie below v for f to be k, by v; of levels that are not to be
  /// redone.
  alignas(64) std::array<std::uint8_t, 256> free_below{};
  /// That over v at the largest k, times 65536, or a little less; all but white's where no k is
  /// above 1.
  std::uint16_t limit_share = 0xFFFF;
  /// No level's free_below is more than that below v.
  std::uint8_t most_held = 0;
  std::uint16_t most_factor = saturation::kOne;  ///< the largest k, or 1

  /// Of packed RGB: b, A and the upper and the lower half of a slope with 24 fraction bits. A
  /// channel c becomes A + (c + b) slope / 65536, modulo 65536 and over 256, rounded down twice,
  /// where bit 8 of c + b is set; where it is not, S would pass 1.
  LineTables word_lines{};
  bool has_word_lines = false;  ///< those are there
  /// Of packed RGB whose k is the same at every level and has at most kMostWordBits behind the
  /// point: gains times 2^(32 + kSaturatedWordBits), less those bits, and the weights of v and of a
  /// channel in v - k (v - c) times 2 to their power, in the lower and the upper byte.
  alignas(64) std::array<std::uint64_t, 256> word_gains{};
  std::int16_t word_weights = 0;
  bool has_words = false;  ///< those are there
};
/// The gains of a curve, W by v, 0 to M. Black stays black.
void make_saturated(const saturation::Rule& rule, const CurveTable& curve, int max_value,
                    SaturatedGains& gains);
/// Makes what vectors read of what make_saturated() made, for the values that are in `present`.
/// `max_code` is the largest luma code above black.
void make_vectors(const ValueHistogram& present, std::int32_t max_value, std::int32_t max_code,
                  const FusedRows& loops, SaturatedGains& gains);

/// What word_gains are made for.
inline constexpr int kMostWordBits = 2;
/// Make those, or word_lines, after make_saturated(), where the loops take them and there are some,
/// and tell whether they are all that is needed: where `limits` is set they are not.
bool make_word_gains(const ValueHistogram& present, const FusedRows& loops, SaturatedGains& gains);
bool make_word_lines(const ValueHistogram& present, const FusedRows& loops, SaturatedGains& gains);
/// Makes one of both, for pixels of packed RGB that lie `step` bytes apart.
bool make_words(const ValueHistogram& present, int step, const FusedRows& loops,
                SaturatedGains& gains);

/// Makes all that FusedRows reads of a frame's saturated pixels: of packed RGB whose pixels lie
/// `step` bytes apart, or of YCbCr with the gain48 of `chroma`, which is null of RGB.
void make_saturated_frame(const saturation::Rule& rule, const CurveTable& curve,
                          const ValueHistogram& present, std::int32_t max_value,
                          std::int32_t max_code, int step, const FusedRows& loops,
                          SaturatedGains& gains, GainTables* chroma);

/// Added before rounding down: in double precision halves are never missed by it, and nothing else
/// is taken for one.
inline constexpr double kHalfOrMore = 0.5 + 0x1p-41;

/// Packed RGB of 8 bits.
void saturate_rgb(const SaturatedGains& gains, const RgbLayout& at, const std::uint8_t* in,
                  std::size_t n, std::uint8_t* out);
/// YCbCr of 8 bits; `gain48` is gain_48() by v.
void saturate_yuv(const SaturatedGains& gains, const std::uint64_t* gain48, Sampling sampling,
                  const YuvWeights& weights, const YuvRowIn& in, std::size_t n,
                  const YuvRowOut& out);

/// What pixels of more bits become.
struct SaturatedCurve {
  const std::uint16_t* factors;  ///< k by v, 0 to M, in 1 / saturation::kOne
  const std::uint32_t* levels;   ///< W by v, 0 to M, with kDeepCurveBits; black stays black
};

/// Packed RGB of more bits.
void saturate_deep_rgb(const SaturatedCurve& curve, const DeepSamples& form, const RgbLayout& at,
                       const std::uint8_t* in, std::size_t n, std::uint8_t* out);
/// Luma that a chroma sample covers in a line.
struct DeepCells {
  int rows;                 ///< 1 or 2
  int columns;              ///< 1 or 2
  std::size_t chroma_step;  ///< bytes from a chroma sample to the next
};
/// YCbCr of more bits.
void saturate_deep_yuv(const SaturatedCurve& curve, const DeepSamples& form, const DeepCells& cells,
                       const YuvRowIn& in, std::size_t n, const YuvRowOut& out);

}  // namespace equalux
