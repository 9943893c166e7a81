#include "src/cpu/equalize/fused/gain_tables.h"

#include <algorithm>
#include <cstring>

#include "src/equalize/tone/tone_curve.h"
#include "src/equalize/tone/tone_limits.h"

namespace equalux {
namespace {

void fill_with_ones(int fixed_bits, GainTables& gains) {
  gains.gain.fill(1.0f);
  gains.fixed.fill(std::uint64_t{1} << (32 + fixed_bits));
  gains.gain48.fill(std::uint64_t{1} << 48);
}

/// Derives gain_bytes, gray and gray_steps.
void finish(GainTables& gains) {
  for (std::size_t v = 0; v < 256; ++v) {
    std::array<std::uint8_t, 4> bytes;
    std::memcpy(bytes.data(), &gains.gain[v], 4);
    for (std::size_t b = 0; b < 4; ++b)
      gains.gain_bytes[256 * b + v] = bytes[b];
    gains.gray[v] =
        static_cast<std::uint8_t>(scale_exact(static_cast<std::int32_t>(v), gains.gain48[v]));
  }
  gains.step_gray();
}

/// Makes all tables; fraction_of(v) is the exact gain of a level.
template <typename FractionOf>
void fill_gains(const ValueHistogram& present, std::int32_t max_value, std::int32_t max_code,
                const FusedRows& loops, GainTables& gains, const FractionOf& fraction_of) {
  const auto levels = static_cast<std::size_t>(max_value) + 1;
  fill_with_ones(kFixedGainBits, gains);
  for (std::size_t v = 1; v < levels; ++v) {
    if (present[v] == 0) continue;
    const GainFraction gain = fraction_of(v);
    // Only at M can a luma code be larger than its v, which was clamped there.
    const std::int32_t most = v + 1 == levels ? max_code : static_cast<std::int32_t>(v);
    const GainBounds bounds = gain_bounds(gain);
    const double safe = safe_gain(gain, bounds, loops.first_parted(bounds, most));
    gains.gain[v] = static_cast<float>(safe);
    gains.fixed[v] = std::uint64_t{fixed_gain(safe)} << 32;
    gains.gain48[v] = gain_48(gain);
  }
  finish(gains);
}

/// Bounds of a gain of luma, and the largest code whose product must be exact: the first one that
/// becomes white. Codes above it saturate at white too.
///
/// The margin m is more than half of a gain's last bit. A result changes where the gain is
/// a fraction (2k + 1) / (2c) with c <= 255 and c <= 254.5 / gain + 1. Two of these are more than 3
/// m apart: at most one lies between the bounds, and none within m beyond either.
struct LumaBounds {
  GainBounds gain;
  std::int32_t most;
};

LumaBounds luma_bounds(const GainFraction& gain) {
  const double exact = static_cast<double>(gain.numerator) / static_cast<double>(gain.denominator);
  const double margin = 1.25 / (2 << kLumaGainBits) * std::max(exact, 1.0);
  const double low = exact - margin;
  const bool reaches_white = 255 * low >= 254.5;
  return {{exact, low, exact + margin},
          reaches_white ? static_cast<std::int32_t>(std::min(255.0, 254.5 / low + 1)) : 255};
}

}  // namespace

void make_gains(const ValueHistogram& counts, Scaler scaler, int bins, std::int32_t max_value,
                std::int32_t max_code, const FusedRows& loops, GainTables& gains) {
  make_gains(counts, counts, scaler, bins, max_value, max_code, loops, gains);
}

void make_gains(const ValueHistogram& present, const ValueHistogram& counts, Scaler scaler,
                int bins, std::int32_t max_value, std::int32_t max_code, const FusedRows& loops,
                GainTables& gains) {
  const auto levels = static_cast<std::size_t>(max_value) + 1;
  // cdf[v] is the cumulative histogram up to the end of v's bin.
  std::array<std::uint64_t, 256> cdf{};
  std::uint64_t sum = 0;
  std::uint64_t first_bin = 0;
  std::uint64_t first_nonempty = 0;
  for (std::size_t v = 0; v < levels;) {
    const std::int64_t bin = bin_of(static_cast<std::int64_t>(v), bins, max_value);
    std::size_t end = v;
    std::uint64_t in_bin = 0;
    while (end < levels && bin_of(static_cast<std::int64_t>(end), bins, max_value) == bin) {
      in_bin += counts[end++];
    }
    sum += in_bin;
    if (bin == 0) first_bin = in_bin;
    if (first_nonempty == 0) first_nonempty = in_bin;
    std::fill(cdf.begin() + static_cast<std::ptrdiff_t>(v),
              cdf.begin() + static_cast<std::ptrdiff_t>(end), sum);
    v = end;
  }
  const CurveScale scale = curve_scale(scaler, first_bin, first_nonempty, sum);
  fill_gains(present, max_value, max_code, loops, gains, [&](std::size_t v) {
    return gain_fraction(scale, cdf[v], static_cast<std::uint32_t>(v),
                         static_cast<std::uint32_t>(max_value));
  });
}

void make_gains(const ValueHistogram& counts, const std::array<std::uint32_t, 256>& curve,
                std::int32_t max_value, std::int32_t max_code, const FusedRows& loops,
                GainTables& gains) {
  fill_gains(counts, max_value, max_code, loops, gains, [&](std::size_t v) {
    return tone::gain_fraction(static_cast<std::uint32_t>(v), curve[v]);
  });
}

void make_gain48(const std::array<std::uint32_t, 256>& curve, std::int32_t max_value,
                 GainTables& gains) {
  gains.gain48.fill(std::uint64_t{1} << 48);
  for (std::uint32_t v = 1; v <= static_cast<std::uint32_t>(max_value); ++v)
    gains.gain48[v] = gain_48(tone::gain_fraction(v, curve[v]));
}

void make_luma_gains(const ValueHistogram& counts, const std::array<std::uint32_t, 256>& curve,
                     const FusedRows& loops, GainTables& gains) {
  fill_with_ones(kLumaGainBits, gains);
  for (std::uint32_t v = 1; v < 256; ++v) {
    if (counts[v] == 0) continue;
    const GainFraction gain = tone::gain_fraction(v, curve[v]);
    const LumaBounds bounds = luma_bounds(gain);
    const double safe = safe_gain(gain, bounds.gain, loops.first_parted(bounds.gain, bounds.most));
    gains.gain[v] = static_cast<float>(safe);
    gains.fixed[v] = static_cast<std::uint64_t>(safe * (1 << kLumaGainBits) + 0.5) << 32;
    gains.gain48[v] = gain_48(gain);
  }
  finish(gains);
}

}  // namespace equalux
