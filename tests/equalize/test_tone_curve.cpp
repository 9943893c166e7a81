#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "src/cpu/equalize/fused/gain_tables.h"
#include "src/equalize/deep_curve.h"
#include "src/equalize/tone/tone_curve.h"
#include "tests/equalize/wide.h"
#include "tests/support/long_counts.h"

namespace equalux {
namespace {

using test::Wide;

/// round(c gain), halves up, from the fraction itself.
int exact(int c, const GainFraction& gain) {
  const Wide num = 2 * static_cast<Wide>(c) * gain.numerator + gain.denominator;
  return static_cast<int>(num / (2 * static_cast<Wide>(gain.denominator)));
}

int by_float(int c, float gain) {
  return static_cast<int>(std::fma(static_cast<float>(c), gain, 0.5f));
}
/// How the vectors round: to whole numbers by the addition of 2^23.
int by_addition(int c, float gain) {
  return static_cast<int>(std::fma(static_cast<float>(c), gain, 8388608.0f) - 8388608.0f);
}
/// How vectors round on machines without fused multiply-add.
int by_two_roundings(int c, float gain) {
  volatile float product = static_cast<float>(c) * gain;
  return static_cast<int>(product + 8388608.0f - 8388608.0f);
}

/// How the vectors multiply by a whole number: two products of 16 bits and their sum.
int by_words(int c, std::uint32_t gain) {
  const int sum = c * static_cast<int>(gain >> 16) + ((c * static_cast<int>(gain & 0xFFFF)) >> 16);
  constexpr int kRest = kFixedGainBits - 16;
  return (sum + (1 << (kRest - 1))) >> kRest;
}

void expect_all(const GainFraction& gain, int v, int max_c) {
  const float g = float_gain(gain, max_c);
  const GainBounds bounds = gain_bounds(gain);
  const std::uint32_t fixed =
      fixed_gain(safe_gain(gain, bounds, scalar_fused_rows().first_parted(bounds, max_c)));
  const std::uint64_t g48 = gain_48(gain);
  for (int c = 0; c <= max_c; ++c) {
    const int want = exact(c, gain);
    ASSERT_EQ(scale_exact(c, g48), want) << "c " << c << " v " << v;
    ASSERT_EQ(by_float(c, g), want)
        << "c " << c << " v " << v << " gain " << gain.numerator << "/" << gain.denominator;
    ASSERT_EQ(by_addition(c, g), want) << "c " << c << " v " << v;
    ASSERT_EQ(by_two_roundings(c, g), want) << "c " << c << " v " << v;
    ASSERT_EQ(by_words(c, fixed), want) << "c " << c << " v " << v;
  }
}

TEST(ToneCurve, BinsRoundHalvesUp) {
  for (const std::int64_t m : {255, 219}) {
    for (const std::int64_t n : {2, 3, 100, 255, 256, 257, 1000, 65536}) {
      for (std::int64_t v = 0; v <= m; ++v) {
        const std::int64_t doubled = 2 * (n - 1) * v;  // 2 M times the real bin
        const std::int64_t b = bin_of(v, n, m);
        EXPECT_LE(2 * m * b - m, doubled);
        EXPECT_GT(2 * m * b + m, doubled);
      }
      EXPECT_EQ(bin_of(0, n, m), 0);
      EXPECT_EQ(bin_of(m, n, m), n - 1);
    }
  }
}

/// Random gains, with every v and the largest pixel counts among them.
TEST(ToneCurve, FloatAnd48BitGainsAreExact) {
  std::mt19937_64 random(3);
  const int rounds = test::wants_every_count() ? 2000 : 60;
  for (int round = 0; round < rounds; ++round) {
    const std::uint64_t span = round % 3 == 0 ? kMaxPixels : 1 + random() % kMaxPixels;
    for (const std::uint32_t m : {255u, 219u}) {
      for (std::uint32_t v = 1; v <= m; ++v) {
        const CurveScale scale{0, span};
        const std::uint64_t cdf = random() % (span + 1);
        const int max_c = static_cast<int>(v == m ? (m == 255 ? 255 : 239) : v);
        expect_all(gain_fraction(scale, cdf, v, m), static_cast<int>(v), max_c);
        if (HasFatalFailure()) return;
      }
    }
  }
}

/// Gains on, just below and just above the fractions where a result changes.
TEST(ToneCurve, GainsAtTheEdgesAreExact) {
  std::mt19937_64 random(5);
  for (int v = 1; v <= 255; ++v) {
    for (int trial = 0; trial < 40; ++trial) {
      const auto c = 1 + static_cast<std::uint64_t>(random() % static_cast<unsigned>(v));
      const std::uint64_t most = 255 * c / static_cast<unsigned>(v);
      const std::uint64_t k = most == 0 ? 0 : random() % most;
      const std::uint64_t scale = kMaxPixels / 4;
      for (const int nudge : {-1, 0, 1}) {
        // (2k + 1) / 2c, with a denominator near the largest there is.
        const GainFraction gain{(2 * k + 1) * scale + static_cast<std::uint64_t>(nudge + 1) - 1,
                                2 * c * scale};
        expect_all(gain, v, v);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(ToneCurve, SyntheticHistogramAtThePixelBound) {
  ValueHistogram counts{};
  std::mt19937_64 random(9);
  std::uint64_t left = kMaxPixels;
  for (std::size_t v = 0; v < 255; ++v) {
    counts[v] = static_cast<std::uint32_t>(random() % (left / 16 + 1));
    left -= counts[v];
  }
  counts[255] = static_cast<std::uint32_t>(left);
  for (const Scaler scaler : {Scaler::max_abs, Scaler::min_max, Scaler::min_max_nonzero}) {
    GainTables gains;
    make_gains(counts, scaler, 256, 255, 255, fused_rows(), gains);
    const std::uint64_t offset = scaler == Scaler::max_abs ? 0 : counts[0];
    std::uint64_t cdf = counts[0];
    for (std::size_t v = 1; v < 256; ++v) {
      cdf += counts[v];
      const GainFraction gain{255 * (cdf - offset), v * (kMaxPixels - offset)};
      for (int c = 0; c <= static_cast<int>(v); ++c) {
        ASSERT_EQ(by_addition(c, gains.gain[v]), exact(c, gain));
        ASSERT_EQ(scale_exact(c, gains.gain48[v]), exact(c, gain));
      }
    }
  }
}

TEST(ToneCurve, OneColourAndEmptyDenominatorsAreTheIdentity) {
  ValueHistogram counts{};
  counts[0] = 1000;
  GainTables gains;
  make_gains(counts, Scaler::min_max, 256, 255, 255, fused_rows(), gains);
  EXPECT_EQ(gains.gain48[0], std::uint64_t{1} << 48);
  counts = {};
  counts[77] = 1000;
  make_gains(counts, Scaler::min_max_nonzero, 256, 255, 255, fused_rows(), gains);
  EXPECT_EQ(gains.gain[77], 1.0f);
  make_gains(counts, Scaler::max_abs, 256, 255, 255, fused_rows(), gains);
  EXPECT_EQ(by_addition(77, gains.gain[77]), 255);
}

/// Quotients by an inverse, at sums where the exact one is whole, half and just beside, and the
/// largest there are.
TEST(DeepCurveLevel, NeedsNoDivision) {
  std::mt19937_64 random(13);
  for (int round = 0; round < 200'000; ++round) {
    const std::uint64_t span = round % 4 == 0 ? kMaxPixels : 1 + random() % kMaxPixels;
    const CurveScale scale{random() % 3 == 0 ? random() % 1000 : 0, span};
    const std::uint32_t most = std::array{1023u, 876u, 4095u, 65535u, 56064u}[random() % 5];
    const std::uint64_t level = random() % ((std::uint64_t{most} << kDeepCurveBits) + 1);
    // The cumulative sum whose level is about this one.
    const std::uint64_t near = level * span / most >> kDeepCurveBits;
    const std::uint64_t cdf = scale.offset + std::min(near + random() % 3, span);
    const double half_inverse = 0.5 / static_cast<double>(span);
    ASSERT_EQ(deep_curve_level(scale, cdf, 5, most, half_inverse),
              deep_curve_level(scale, cdf, 5, most))
        << cdf << " of " << span << ", M " << most;
  }
  EXPECT_EQ(deep_curve_level({0, 0}, 7, 5, 1023, 0.0), 5u << kDeepCurveBits);
}

TEST(LastOfBin, IsTheLargestLevelWithThatBin) {
  for (const std::int32_t most : {219, 255}) {
    for (const int bins : {2, 3, 64, 100, 219, 220, 255, 256, 257, 1000, 65536}) {
      const auto last = last_levels_of_bins(bins, most);
      for (std::int32_t v = 0; v <= most; ++v) {
        std::int32_t end = v;
        while (end < most && bin_of(end + 1, bins, most) == bin_of(v, bins, most))
          ++end;
        ASSERT_EQ(last[static_cast<std::size_t>(v)], end) << v << " of " << bins << " bins";
      }
    }
  }
  EXPECT_EQ(last_levels_of_bins(0, 255), last_levels_of_bins(256, 255));
}

}  // namespace
}  // namespace equalux
