#include "src/cpu/equalize/saturated_rows.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "src/cpu/common/stores.h"
#include "src/cpu/equalize/fused/gain_tables.h"
#include "src/equalize/tone/tone_curve.h"
#include "src/equalize/tone/tone_limits.h"

namespace equalux {
namespace {

using Channels = std::array<std::int32_t, 3>;

/// Scale for channels of 8 bits. For f with q = kOne, c' is a multiple of 1 / (v 2^30), so that it
/// is on a half or at least 2^-39 from it; double precision is off by less than 2^-43.
class ByteScale {
 public:
  explicit ByteScale(const SaturatedGains& gains) : gains_(gains) {}

  std::int32_t operator()(saturation::Factor f, std::int32_t v, std::int32_t c) const {
    if (f.q != static_cast<std::int32_t>(saturation::kOne) && c < v)
      return saturation::scaled(gains_.levels[static_cast<std::size_t>(v)], tone::kCurveBits, f, v,
                                c);
    if (c >= v) f = saturation::kUnchanged;
    const auto part = static_cast<double>(static_cast<std::int32_t>(saturation::part(f, v, c)));
    return static_cast<std::int32_t>(part * gains_.scales[static_cast<std::size_t>(v)] +
                                     kHalfOrMore);
  }

 private:
  const SaturatedGains& gains_;
};

/// Scale for channels of more bits.
class WordScale {
 public:
  explicit WordScale(const SaturatedCurve& curve) : curve_(curve) {}

  std::int32_t operator()(saturation::Factor f, std::int32_t v, std::int32_t c) const {
    return saturation::scaled(curve_.levels[v], kDeepCurveBits, f, v, c);
  }

 private:
  const SaturatedCurve& curve_;
};

/// New channels of a pixel, each by scale(f, v, c).
template <typename Scale>
Channels saturated(const std::uint16_t* factors, const Channels& c, const Scale& scale) {
  const std::int32_t v = std::max({c[0], c[1], c[2]});
  const std::int32_t below = v - std::min({c[0], c[1], c[2]});
  const saturation::Factor f = saturation::factor_of(factors[v], v, below);
  return {scale(f, v, c[0]), scale(f, v, c[1]), scale(f, v, c[2])};
}

/// New luma of one sample, and its contribution to the sum of its chroma sample.
struct LumaResult {
  std::int32_t luma;
  std::int64_t share;
};

/// Largest and least channel of a chroma sample, relative to its luma.
struct Spread {
  std::int32_t above;  ///< largest channel less luma
  std::int32_t least;  ///< least channel less luma, 0 or less
};

/// Scales luma. `share_of(v)` is the share of a gain in the sum of chroma, and `one` that of gain
/// 1.
template <typename Scale, typename ShareOf>
LumaResult saturated_luma(const std::uint16_t* factors, const YuvWeights& weights,
                          std::int32_t most, std::int32_t code, const Spread& spread,
                          std::int64_t one, const Scale& scale, const ShareOf& share_of) {
  const std::int32_t y = code - weights.luma_offset;
  const std::int32_t v = y < 0 ? 0 : yuv_value(weights, code, spread.above);
  const saturation::Factor f = saturation::factor_of(factors[v], v, v - (y + spread.least));
  if (y < 0) return {code, saturation::scaled_share(one, f)};
  const std::int32_t luma = weights.luma_offset + scale(f, v, y);
  return {std::min(luma, most),
          saturation::scaled_share(v == 0 ? one : share_of(static_cast<std::size_t>(v)), f)};
}

}  // namespace

void make_saturated(const saturation::Rule& rule, const CurveTable& curve, int max_value,
                    SaturatedGains& gains) {
  const auto most = static_cast<std::uint32_t>(max_value);
  gains.levels = curve;
  for (std::uint32_t v = 0; v <= most; ++v)
    gains.factors[v] =
        static_cast<std::uint16_t>(saturation::factor_at(rule, curve.data(), v, most));
  gains.scales.fill(1.0 / saturation::kOne);  // black stays black
  constexpr double kUnit = 1.0 / (std::int64_t{saturation::kOne} << tone::kCurveBits);
  for (std::size_t v = 1; v < gains.scales.size(); ++v)
    gains.scales[v] = gains.levels[v] * kUnit / static_cast<double>(v);
}

namespace {

/// Exact line of a level: channels become floor(at_value - d slope) for d from 0 to `last`, beyond
/// which S would pass 1.
struct ExactLine {
  std::uint32_t v;
  std::int64_t at_value;  ///< W + 1/2, in units of 2^-32
  std::int32_t last;
};

/// Fractional parts of the results of a level, in units of 2^-32: `parts` with a rounded slope, by
/// which they are less than `doubt` off.
struct LevelParts {
  ExactLine line;
  std::uint64_t slope;
  WordRange parts;
  std::int64_t doubt;
};

LevelParts parts_of(const SaturatedGains& gains, std::uint32_t v, const FusedRows& loops) {
  const std::uint32_t level = gains.levels[v];
  const std::uint32_t factor = gains.factors[v];
  const std::uint64_t product = 4 * std::uint64_t{factor} * level;  // k W, in 2^-32
  const std::uint64_t slope = (product + v / 2) / v;
  const ExactLine line{
      v, (std::int64_t{level} << (32 - tone::kCurveBits)) + (std::int64_t{1} << 31),
      static_cast<std::int32_t>(saturation::kOne * v / std::max(factor, saturation::kOne))};
  // The slope is at most half of 2^-32 off.
  return {line, slope,
          loops.word_range(static_cast<std::uint32_t>(line.at_value),
                           static_cast<std::uint32_t>(slope), line.last + 1),
          slope * v == product ? 0 : line.last / 2 + 1};
}

/// Returns true if no result of a level changes where its line is off by up to `error` W. False
/// may be wrong. A line that ends at 0 stays there beyond its end, whatever its error.
bool surely_exact(const SaturatedGains& gains, std::size_t v, double error,
                  const FusedRows& loops) {
  constexpr std::int64_t kWhole32 = std::int64_t{1} << 32;
  const LevelParts level = parts_of(gains, static_cast<std::uint32_t>(v), loops);
  const std::int64_t doubt =
      level.doubt + static_cast<std::int64_t>(error * static_cast<double>(level.line.at_value)) + 1;
  return level.parts.least >= doubt && level.parts.most + doubt < kWhole32;
}

/// Bound of the relative error of one rounding in single precision, a little enlarged.
constexpr double kRoundedOnce = 0x1.1p-24;

/// Float that fits, near the exact number, or NaN: results may lie too close to a half on both
/// sides.
struct NearNumber {
  float number = std::numeric_limits<float>::quiet_NaN();
  int steps = 0;
};
template <typename Fits>
NearNumber nearest_number(float exact, const Fits& fits) {
  float up = exact;
  float down = exact;
  for (int steps = 0; steps < 4; ++steps) {
    for (const float number : {up, down}) {
      if (fits(number)) return {number, steps};
    }
    up = std::nextafter(up, 512.0f);
    down = std::nextafter(down, 0.0f);
  }
  return {};
}

SaturatedLevel level_of(const SaturatedGains& gains, std::size_t v) {
  return {static_cast<std::int32_t>(v), gains.factors[v], gains.scales[v], {}, {}};
}

/// g with which channels become g (v - k d), where that product is rounded once, as g is.
NearNumber gain_of(const SaturatedGains& gains, std::size_t v, const FusedRows& loops) {
  SaturatedLevel level = level_of(gains, v);
  const auto nearest = static_cast<float>(level.scale * saturation::kOne);
  if (surely_exact(gains, v, 3 * kRoundedOnce, loops)) return {nearest, 0};
  return nearest_number(nearest, [&](float gain) {
    const auto line = [&](double of_gain) {
      return ChannelLine{of_gain * level.v, of_gain * level.factor / saturation::kOne};
    };
    level.low = line(static_cast<double>(gain) * (1 - kRoundedOnce));
    level.high = line(static_cast<double>(gain) * (1 + kRoundedOnce));
    return loops.saturates_exactly(level);
  });
}

/// W / 2^22 with which channels become that less slope d. Both the product and the difference may
/// be rounded, as W and the slope are; all of these errors are relative to W.
NearNumber value_of(const SaturatedGains& gains, std::size_t v, float slope,
                    const FusedRows& loops) {
  SaturatedLevel level = level_of(gains, v);
  const auto nearest = static_cast<float>(level.scale * saturation::kOne * level.v);
  if (surely_exact(gains, v, 4 * kRoundedOnce, loops)) return {nearest, 0};
  return nearest_number(nearest, [&](float value) {
    const double doubt = static_cast<double>(value) * kRoundedOnce;
    level.low = {static_cast<double>(value) - doubt, static_cast<double>(slope)};
    level.high = {static_cast<double>(value) + doubt, static_cast<double>(slope)};
    return loops.saturates_exactly(level);
  });
}

/// Returns true where the slope of a level's line is exact, so that SaturatedGains::inexact is 0
/// for it; v is above 0.
bool has_exact_slope(std::uint32_t level, std::uint32_t factor, std::uint32_t v) {
  const std::uint64_t product = std::uint64_t{factor} * level;  // at most 2^40
  const std::uint64_t unit = std::uint64_t{v} << tone::kCurveBits;
  if (product % unit != 0) return false;
  const auto share = static_cast<std::int64_t>(gain_48(tone::gain_fraction(v, level)) >> 8);
  const saturation::Factor f{static_cast<std::int32_t>(factor),
                             static_cast<std::int32_t>(saturation::kOne)};
  return saturation::scaled_share(share, f) == static_cast<std::int64_t>(product / unit) << 32;
}

std::uint32_t bits_of(float x) {
  return std::bit_cast<std::uint32_t>(x);
}

void put_number(SaturatedGains::Numbers& numbers, std::size_t v, float number) {
  numbers.number[v] = number;
  for (std::size_t b = 0; b < 4; ++b)
    numbers.bytes[256 * b + v] = static_cast<std::uint8_t>(bits_of(number) >> (8 * b));
}

/// Levels of a frame, 0 to M, that have pixels.
struct PresentLevels {
  const ValueHistogram& present;
  std::size_t last;

  [[nodiscard]] bool has(std::size_t v) const { return v <= last && present[v] != 0; }
};

/// Makes gains for a common k. Returns false where a level has none.
bool make_gains_of_levels(const PresentLevels& levels, const FusedRows& loops,
                          SaturatedGains& gains) {
  gains.factor = static_cast<float>(gains.factors[0]) / saturation::kOne;
  for (std::size_t v = 0; v < 256; ++v) {
    NearNumber gain{1, 0};
    if (v > 0 && levels.has(v)) gain = gain_of(gains, v, loops);
    if (std::isnan(gain.number)) return false;
    gains.close = gains.close && gain.steps < 2;
    put_number(gains.gain, v, gain.number);
    gains.gain_bits[v] = std::uint64_t{bits_of(gain.number)} << 32;
  }
  return true;
}

void make_lines_of_levels(const PresentLevels& levels, const FusedRows& loops,
                          SaturatedGains& gains) {
  for (std::size_t v = 0; v < 256; ++v) {
    const std::uint16_t factor = gains.factors[std::min(v, levels.last)];
    const double k = static_cast<double>(factor) / saturation::kOne;
    auto slope = static_cast<float>(k);
    NearNumber value{0, 0};
    if (v > 0 && levels.has(v)) {
      slope = static_cast<float>(gains.scales[v] * factor);
      value = value_of(gains, v, slope, loops);
      gains.undone = gains.undone || std::isnan(value.number);
    }
    gains.close = gains.close && value.steps < 2;
    put_number(gains.value, v, value.number);
    put_number(gains.slope, v, slope);
    gains.lines[v] = bits_of(value.number) | std::uint64_t{bits_of(slope)} << 32;
  }
}

}  // namespace

namespace {

/// 65536 / k for 16-bit products: rounded up if that lets no level pass its limit, so that pixels
/// exactly on a limit are not taken for ones beyond it.
std::uint16_t limit_share_of(std::uint32_t k) {
  if (k <= saturation::kOne) return 0xFFFF;
  constexpr std::uint32_t kNumerator = 65536 * saturation::kOne;
  const std::uint32_t up = (kNumerator + k - 1) / k;
  for (std::uint32_t v = 0; v < 256; ++v) {
    if (v * up / 65536 > saturation::kOne * v / k)
      return static_cast<std::uint16_t>(kNumerator / k);
  }
  return static_cast<std::uint16_t>(up);
}

}  // namespace

void make_vectors(const ValueHistogram& present, std::int32_t max_value, std::int32_t max_code,
                  const FusedRows& loops, SaturatedGains& gains) {
  gains.uniform = true;
  gains.exact = true;
  gains.undone = false;
  gains.close = true;
  gains.inexact.fill(0);
  gains.most_held = 0;
  const PresentLevels levels{present, static_cast<std::size_t>(max_value)};
  std::uint32_t most = saturation::kOne;
  for (std::size_t v = 0; v < 256; ++v) {
    const std::uint32_t factor = gains.factors[std::min(v, levels.last)];
    gains.uniform = gains.uniform && factor == gains.factors[0];
    const std::uint32_t k = std::max<std::uint32_t>(factor, saturation::kOne);
    gains.free_below[v] = static_cast<std::uint8_t>(saturation::kOne * v / k);
    if (!levels.has(v)) continue;
    most = std::max(most, k);
    gains.most_held = std::max(gains.most_held, static_cast<std::uint8_t>(v - gains.free_below[v]));
    if (v == 0) continue;
    const bool exact =
        has_exact_slope(gains.levels[v], gains.factors[v], static_cast<std::uint32_t>(v));
    gains.inexact[v] = exact ? 0 : 1;
    gains.exact = gains.exact && exact;
  }
  gains.ends = levels.has(0) || levels.has(levels.last);
  gains.uniform = gains.uniform && make_gains_of_levels(levels, loops, gains);
  if (!gains.uniform) make_lines_of_levels(levels, loops, gains);
  gains.white_gain = float_gain(
      {gains.levels[levels.last], std::uint64_t{levels.last} << tone::kCurveBits}, max_code);
  gains.limits = gains.undone || most > saturation::kOne;
  gains.limit_share = limit_share_of(most);
  gains.most_factor = static_cast<std::uint16_t>(most);
}

namespace {

bool of_one_factor(const SaturatedGains& gains) {
  return std::all_of(gains.factors.begin(), gains.factors.end(),
                     [&](std::uint16_t each) { return each == gains.factors[0]; });
}

}  // namespace

bool make_word_gains(const ValueHistogram& present, const FusedRows& loops, SaturatedGains& gains) {
  gains.has_words = false;
  if (loops.word_gains_step == 0) return false;
  const std::uint32_t k = gains.factors[0];
  int bits = 0;
  while (bits < kMostWordBits && (k << bits) % saturation::kOne != 0)
    ++bits;
  if (!of_one_factor(gains) || (k << bits) % saturation::kOne != 0) return false;
  const auto share = static_cast<std::int32_t>((k << bits) / saturation::kOne);  // at most 16
  gains.word_weights = static_cast<std::int16_t>(share * 256 + (((1 << bits) - share) & 255));
  // Margin of more than half of a gain's last bit. With `bits` fractional bits, results change
  // where gains are fractions (2n + 1) / (2c) with c <= 255 * 2^bits, which are more than 6 margins
  // apart.
  constexpr double kMargin = 1.25 / (2 << kSaturatedWordBits);
  gains.word_gains.fill(std::uint64_t{1} << (32 + kSaturatedWordBits - bits));
  for (std::uint32_t v = 1; v < 256; ++v) {
    if (present[v] == 0) continue;
    const GainFraction gain{gains.levels[v], std::uint64_t{v} << (tone::kCurveBits + bits)};
    const double exact =
        static_cast<double>(gain.numerator) / static_cast<double>(gain.denominator);
    const GainBounds bounds{exact, exact - kMargin, exact + kMargin};
    const double safe =
        safe_gain(gain, bounds, loops.first_parted(bounds, static_cast<std::int32_t>(v << bits)));
    gains.word_gains[v] = static_cast<std::uint64_t>(
                              std::max(safe, 0.0) * (std::int64_t{1} << kSaturatedWordBits) + 0.5)
                          << 32;
  }
  gains.has_words = true;
  gains.limits = k > saturation::kOne;
  return !gains.limits;
}

namespace {

/// Range by which a line of some slope may be shifted, in units of 2^-32, with all results still
/// exact: from `low` to just below `high`.
struct LineRoom {
  std::int64_t low, high;
};

/// Packs an entry of LineTables in the first order: low halves of b and A, and both halves of a
/// slope.
std::uint64_t word_line(std::uint64_t start, std::uint64_t at_start, std::uint64_t slope24) {
  return (start & 0xFFFF) | (at_start & 0xFFFF) << 16 | (slope24 >> 16 & 0xFFFF) << 32 |
         (slope24 & 0xFFFF) << 48;
}

/// Entry of a line with a slope of 24 fractional bits within this range, or 0. At v the line is A
/// 2^16 + (v + b) slope24, in units of 2^-24. A alone reaches every 256th of a level; b, of which
/// seven bits are free, refines that to 2^-15 where the slope is odd.
std::uint64_t fitting_line(const ExactLine& line, std::uint64_t slope24, const LineRoom& room) {
  const std::int64_t most = (line.at_value + room.high - 1) >> 8;
  const std::int64_t least = (line.at_value + room.low + 255) >> 8;
  if (most < least) return 0;
  const auto width = static_cast<std::uint64_t>(most - least);
  // b is chosen so that a channel `last` below v comes to an odd multiple of 256, and channels
  // further below have bit 8 clear.
  const std::uint64_t first = 256 - (line.v - static_cast<std::uint32_t>(line.last));
  for (std::uint64_t b = first; b + 255 < 65536; b += 512) {
    const std::uint64_t at_start = static_cast<std::uint64_t>(most) - (line.v + b) * slope24;
    if ((at_start & 0xFFFF) <= width) return word_line(b, at_start >> 16, slope24);
  }
  return 0;
}

/// Exact results of a level by distance d below v, up to the last of the line.
using LineResults = std::array<std::int32_t, 256>;
LineResults exact_results(const ExactLine& line, const SaturatedLevel& level) {
  LineResults results;
  for (std::int32_t d = 0; d <= line.last; ++d) {
    const auto part = static_cast<double>(256 * level.v - level.factor * d);
    results[static_cast<std::size_t>(d)] =
        static_cast<std::int32_t>(part * level.scale + kHalfOrMore);
  }
  return results;
}
/// Range of shifts that these results leave to a line of this slope.
LineRoom exact_room(const ExactLine& line, const LineResults& results, std::uint64_t slope24) {
  LineRoom room{std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()};
  for (std::int32_t d = 0; d <= line.last; ++d) {
    const std::int64_t from = (std::int64_t{results[static_cast<std::size_t>(d)]} << 32) +
                              static_cast<std::int64_t>(slope24 << 8) * d - line.at_value;
    room.low = std::max(room.low, from);
    room.high = std::min(room.high, from + (std::int64_t{1} << 32));
  }
  return room;
}

/// Entry of level v, or 0 where none was found.
std::uint64_t word_line_of(const SaturatedGains& gains, std::uint32_t v, const FusedRows& loops) {
  const auto [line, slope, parts, doubt] = parts_of(gains, v, loops);
  const std::uint64_t nearest = (slope + 128) >> 8;
  // Quick test: if the error of the slope cannot carry a result over a whole number, the fractional
  // parts give the range directly.
  constexpr std::int64_t kWhole32 = std::int64_t{1} << 32;
  if (parts.least >= doubt && parts.most + doubt < kWhole32) {
    const std::int64_t beyond =
        (static_cast<std::int64_t>(nearest << 8) - static_cast<std::int64_t>(slope)) * line.last;
    const LineRoom room{std::max<std::int64_t>(beyond, 0) - parts.least,
                        std::min<std::int64_t>(beyond, 0) - parts.most + kWhole32};
    const std::uint64_t entry = fitting_line(line, nearest, room);
    if (entry != 0) return entry;
  }
  const LineResults results = exact_results(line, level_of(gains, v));
  for (const std::int64_t off : {0, 1, -1, 2, -2, 3, -3}) {
    const std::int64_t slope24 = static_cast<std::int64_t>(nearest) + off;
    if (slope24 < 0) continue;
    const auto each = static_cast<std::uint64_t>(slope24);
    const std::uint64_t entry = fitting_line(line, each, exact_room(line, results, each));
    if (entry != 0) return entry;
  }
  return 0;
}

}  // namespace

bool make_word_lines(const ValueHistogram& present, const FusedRows& loops, SaturatedGains& gains) {
  gains.has_word_lines = false;
  if (loops.word_lines == WordLines::never) return false;
  auto& lines = gains.word_lines.order;
  lines[0].fill(word_line(256, 0, 0));  // black stays black
  std::uint32_t most = gains.factors[0];
  for (std::uint32_t v = 1; v < 256; ++v) {
    if (present[v] == 0) continue;
    most = std::max<std::uint32_t>(most, gains.factors[v]);
    lines[0][v] = word_line_of(gains, v, loops);
    if (lines[0][v] == 0) return false;
  }
  for (std::size_t v = 0; v < 256; ++v) {
    constexpr std::uint64_t kOddWords = 0xFFFF0000FFFF0000;
    const std::uint64_t line = lines[0][v];
    lines[1][v] = (line << 16 & kOddWords) | (line & kOddWords) >> 16;
    lines[2][v] = std::rotl(line, 32);
    lines[3][v] = std::rotl(lines[1][v], 32);
  }
  gains.has_word_lines = true;
  gains.limits = most > saturation::kOne;
  return !gains.limits;
}

bool make_words(const ValueHistogram& present, int step, const FusedRows& loops,
                SaturatedGains& gains) {
  gains.has_words = false;
  gains.has_word_lines = false;
  if (loops.word_gains_step == step) {
    const bool enough = make_word_gains(present, loops, gains);
    if (gains.has_words) return enough;
  }
  if (loops.word_lines == WordLines::of_levels && of_one_factor(gains)) return false;
  return make_word_lines(present, loops, gains);
}

void make_saturated_frame(const saturation::Rule& rule, const CurveTable& curve,
                          const ValueHistogram& present, std::int32_t max_value,
                          std::int32_t max_code, int step, const FusedRows& loops,
                          SaturatedGains& gains, GainTables* chroma) {
  make_saturated(rule, curve, max_value, gains);
  if (chroma == nullptr && make_words(present, step, loops, gains)) return;
  make_vectors(present, max_value, max_code, loops, gains);
  if (chroma != nullptr) make_gain48(curve, max_value, *chroma);
}

void saturate_rgb(const SaturatedGains& gains, const RgbLayout& at, const std::uint8_t* in,
                  std::size_t n, std::uint8_t* out) {
  const ByteScale scale(gains);
  for (std::size_t x = 0; x < n; ++x, in += at.step, out += at.step) {
    const Channels c = saturated(gains.factors.data(), {in[at.r], in[at.g], in[at.b]}, scale);
    if (at.alpha >= 0) out[at.alpha] = in[at.alpha];
    out[at.r] = byte_of(c[0]);
    out[at.g] = byte_of(c[1]);
    out[at.b] = byte_of(c[2]);
  }
}

void saturate_yuv(const SaturatedGains& gains, const std::uint64_t* gain48, Sampling sampling,
                  const YuvWeights& weights, const YuvRowIn& in, std::size_t n,
                  const YuvRowOut& out) {
  const auto columns = static_cast<std::size_t>(cell_columns(sampling));
  const auto rows = static_cast<std::size_t>(cell_rows(sampling));
  const auto share_of = [gain48](std::size_t v) {
    return static_cast<std::int64_t>(gain48[v] >> 8);
  };
  const ByteScale scale(gains);
  constexpr std::int64_t kShareOfOne = std::int64_t{1} << 40;
  for (std::size_t first = 0, c = 0; first < n; first += columns, ++c) {
    const std::int32_t cb = in.cb[c];
    const std::int32_t cr = in.cr[c];
    const Spread spread{value_above_luma(weights, cb, cr),
                        saturation::least_above_luma(weights, cb - 128, cr - 128)};
    const std::size_t end = std::min(first + columns, n);
    std::int64_t sum = 0;
    int count = 0;
    std::array<std::array<std::uint8_t, 2>, 2> luma{};
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t x = first; x < end; ++x, ++count) {
        const LumaResult result = saturated_luma(gains.factors.data(), weights, 255, in.luma[r][x],
                                                 spread, kShareOfOne, scale, share_of);
        luma[r][x - first] = byte_of(result.luma);
        sum += result.share;
      }
    }
    // Stored at the end, as luma[0] and luma[1] may be the same row, and `in` and `out` the same
    // memory.
    for (std::size_t r = 0; r < rows; ++r)
      std::copy_n(luma[r].begin(), end - first, out.luma[r] + first);
    out.cb[c] = byte_of(scale_chroma_exact(cb, static_cast<std::uint64_t>(sum), count));
    out.cr[c] = byte_of(scale_chroma_exact(cr, static_cast<std::uint64_t>(sum), count));
  }
}

void saturate_deep_rgb(const SaturatedCurve& curve, const DeepSamples& form, const RgbLayout& at,
                       const std::uint8_t* in, std::size_t n, std::uint8_t* out) {
  const WordScale scale(curve);
  for (std::size_t x = 0; x < n; ++x, in += at.step, out += at.step) {
    const Channels c =
        saturated(curve.factors,
                  {deep_code(form, load_word(in + at.r)), deep_code(form, load_word(in + at.g)),
                   deep_code(form, load_word(in + at.b))},
                  scale);
    if (at.alpha >= 0) std::memmove(out + at.alpha, in + at.alpha, 2);
    store_word(out + at.r, deep_word(form, c[0]));
    store_word(out + at.g, deep_word(form, c[1]));
    store_word(out + at.b, deep_word(form, c[2]));
  }
}

void saturate_deep_yuv(const SaturatedCurve& curve, const DeepSamples& form, const DeepCells& cells,
                       const YuvRowIn& in, std::size_t n, const YuvRowOut& out) {
  const auto share_of = [&curve, &form](std::size_t v) {
    return deep_gain_share(deep_gain(curve.levels[v], static_cast<std::uint32_t>(v), form.depth));
  };
  const WordScale scale(curve);
  const std::int64_t one = deep_gain_share(deep_gain_one(form.depth));
  const auto columns = static_cast<std::size_t>(cells.columns);
  for (std::size_t first = 0, c = 0; first < n; first += columns, c += cells.chroma_step) {
    const std::int32_t u = deep_code(form, load_word(in.cb + c)) - form.chroma_middle;
    const std::int32_t w = deep_code(form, load_word(in.cr + c)) - form.chroma_middle;
    const Spread spread{deep_value_above_luma(form.weights, u, w),
                        saturation::least_above_luma(form.weights, u, w)};
    const std::size_t end = std::min(first + columns, n);
    std::int64_t sum = 0;
    // A cell with one row of luma has rows = 1.
    for (std::size_t r = 0; r < static_cast<std::size_t>(cells.rows); ++r) {
      for (std::size_t x = first; x < end; ++x) {
        const LumaResult result = saturated_luma(curve.factors, form.weights, form.most,
                                                 deep_code(form, load_word(in.luma[r] + 2 * x)),
                                                 spread, one, scale, share_of);
        store_word(out.luma[r] + 2 * x, deep_word(form, result.luma));
        sum += result.share;
      }
    }
    const auto count = static_cast<int>(end - first) * cells.rows;
    const int count_log2 = count == 4 ? 2 : count - 1;
    store_word(out.cb + c, deep_word(form, deep_scaled_chroma(form, u, sum, count_log2)));
    store_word(out.cr + c, deep_word(form, deep_scaled_chroma(form, w, sum, count_log2)));
  }
}

}  // namespace equalux
