// How a GPU decides what single precision leaves open of saturation, beside the definition.
#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "src/equalize/fixed_curve.h"
#include "src/equalize/saturation.h"
#include "src/equalize/tone/tone_limits.h"
#include "tests/support/long_counts.h"

namespace equalux {
namespace {

struct ScaledCurve {
  std::string name;
  CurveTable levels{};
};

/// Curves W by v: the identity and halves of it, of which many results lie on a half, white, black,
/// and ones of any levels.
std::vector<ScaledCurve> curves() {
  std::vector<ScaledCurve> all{{"identity"}, {"halves"}, {"white"}, {"black"}, {"any"}};
  std::mt19937 random(4);
  for (std::uint32_t v = 0; v < 256; ++v) {
    all[0].levels[v] = tone::unchanged(v);
    all[1].levels[v] = tone::unchanged(v) / 2;
    all[2].levels[v] = tone::unchanged(255);
    all[3].levels[v] = 0;
    all[4].levels[v] =
        static_cast<std::uint32_t>(random() % (std::uint64_t{tone::unchanged(255)} + 1));
  }
  return all;
}

/// What c becomes, in units of 1 / (2 d) for the d of its denominator.
struct Twice {
  std::int64_t n;
  std::int64_t d;
};
Twice twice_of(std::uint32_t level, saturation::Factor f, std::int32_t v, std::int32_t c) {
  if (c >= v) f = saturation::kUnchanged;
  return {2 * std::int64_t{level} * saturation::part(f, v, c), (std::int64_t{f.q} * v)
                                                                   << tone::kCurveBits};
}

/// The whole number below what is found in single precision, off by `num` / 2^14 of a code.
std::int32_t whole_below(const Twice& x, std::int64_t num) {
  const std::int64_t n = x.n + ((2 * x.d) >> 14) * num;
  const std::int64_t d = 2 * x.d;
  return static_cast<std::int32_t>(n >= 0 ? n / d : -((-n + d - 1) / d));
}

TEST(ScaledAbove, EveryPixelEqualsTheDefinition) {
  // 2^-13 and nearly a half of a code to either side.
  constexpr std::array<std::int64_t, 5> kErrors{-8191, -2, 0, 2, 8191};
  std::int64_t halves = 0;
  std::int64_t limited = 0;
  test::EveryNth third(3);
  for (const ScaledCurve& curve : curves()) {
    for (const std::uint32_t k : {0U, 95U, 255U, 257U, 384U, 777U, saturation::kMost}) {
      if (third.skips()) continue;
      SCOPED_TRACE(curve.name + ", k " + std::to_string(k) + "/256");
      int wrong = 0;
      for (std::int32_t v = 1; v < 256; ++v) {
        const std::uint32_t level = curve.levels[static_cast<std::size_t>(v)];
        bool has_line = false;
        // Least channels below black, as codes of YCbCr may have, too.
        for (std::int32_t m = -3; m <= v; m += m < 0 ? 3 : 1) {
          const saturation::Factor f = saturation::factor_of(k, v, v - m);
          const bool is_limited = f.q != static_cast<std::int32_t>(saturation::kOne);
          limited += is_limited ? 1 : 0;
          // With f = k the least m has the codes of all others.
          const bool is_line = f.p == static_cast<std::int32_t>(k);
          if (is_line && has_line) continue;
          has_line = has_line || (is_line && m >= 0);
          // Up to luma over a v that was clamped.
          const std::int32_t most = m <= 0 ? 255 : v;
          for (std::int32_t c = m < 0 ? 0 : m; c <= most; ++c) {
            const std::int32_t expected = saturation::scaled(level, tone::kCurveBits, f, v, c);
            const Twice x = twice_of(level, f, v, c);
            if (x.n < 0) continue;  // no channel: below the least of a pixel with this k
            halves += x.n % x.d == 0 && x.n / x.d % 2 == 1 ? 1 : 0;
            // Counted, as an expectation for each takes four times as long.
            for (const std::int64_t error : kErrors) {
              const std::int32_t low = whole_below(x, error);
              wrong += saturation::scaled_above(low, level, tone::kCurveBits, f, v, c) == expected
                           ? 0
                           : 1;
            }
          }
        }
      }
      EXPECT_EQ(wrong, 0);
    }
  }
  EXPECT_GT(halves, 10'000);
  EXPECT_GT(limited, 10'000);
}

}  // namespace
}  // namespace equalux
