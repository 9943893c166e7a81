// The arithmetic with which a GPU changes saturation beside saturation::scaled(), over all pixels.
#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "src/equalize/fixed_curve.h"
#include "src/equalize/saturated_codes.h"
#include "src/equalize/saturation.h"
#include "src/equalize/tone/tone_limits.h"
#include "tests/support/long_counts.h"

namespace equalux {
namespace {

using saturation::kOne;

constexpr std::uint32_t kUnit = 1U << tone::kCurveBits;

struct NamedCurve {
  std::string name;
  CurveTable levels{};
};

/// Curves W up to M: where everything is a multiple of a 256th, steep ones, and ones of any levels.
std::vector<NamedCurve> curves_up_to(std::uint32_t most) {
  std::vector<NamedCurve> curves{{"identity"}, {"white"}, {"black"}, {"a half"}, {"two thirds"}};
  for (std::uint32_t v = 0; v <= most; ++v) {
    curves[0].levels[v] = v * kUnit;
    curves[1].levels[v] = v == 0 ? 0 : most * kUnit;
    curves[2].levels[v] = v;
    curves[3].levels[v] = v * kUnit / 2;
    curves[4].levels[v] = v * kUnit / 3 * 2;
  }
  std::mt19937 random(4);
  for (int i = 0; i < 4; ++i) {
    NamedCurve curve{"seed " + std::to_string(i)};
    for (std::uint32_t v = 0; v <= most; ++v) {
      const auto any = static_cast<std::uint32_t>(random() % (std::uint64_t{most} * kUnit + 1));
      const auto bend = static_cast<std::uint32_t>(random() % 2);
      curve.levels[v] = i == 0 ? any : any / (most + 1) + v * (kUnit - kUnit / 32 * bend);
      if (curve.levels[v] > most * kUnit) curve.levels[v] = most * kUnit;
    }
    curves.push_back(curve);
  }
  return curves;
}

const std::vector<std::uint32_t> kFactors{
    0, 1, 95, 200, 255, 256, 257, 300, 384, 512, 777, 1024, saturation::kMost};

/// What a line says of a code, and how many it leaves open.
struct CodeCounts {
  int wrong = 0;
  int open = 0;  ///< of those with f = k
  int all = 0;
};

/// A code of a pixel by lines, as the fused kernel has it.
void check_code(std::uint32_t k, std::uint32_t level, std::uint32_t v, std::uint32_t m,
                std::uint32_t c, CodeCounts& counts) {
  saturation::Line line = saturation::line_of(k, level, v, 1.0 / v);
  const bool limited = saturation::is_limited(line, v - m);
  counts.wrong += limited != (k > kOne && k * (v - m) > kOne * v) ? 1 : 0;
  if (limited) {
    const std::uint32_t inverse = saturation::limited_inverse(v - m);
    line = saturation::limited_line(saturation::limited_slope(level, inverse), m);
  } else {
    line = saturation::free_line(line);
  }
  counts.all += limited ? 0 : 1;
  const std::uint32_t value = saturation::line_value(line, c);
  const auto of_v = static_cast<std::int32_t>(v);
  const auto of_c = static_cast<std::int32_t>(c);
  const saturation::Factor f = saturation::factor_of(k, of_v, of_v - static_cast<std::int32_t>(m));
  const std::int32_t expected = saturation::scaled(level, tone::kCurveBits, f, of_v, of_c);
  auto code = static_cast<std::int32_t>(saturation::whole_of_line(value));
  if (!saturation::is_sure(saturation::fraction_of_line(value))) {
    counts.open += limited ? 0 : 1;
    code = saturation::scaled_above(code, level, tone::kCurveBits, f, of_v, of_c);
  }
  counts.wrong += code != expected ? 1 : 0;
}

void expect_lines(std::uint32_t most, test::EveryNth& fourth) {
  for (const NamedCurve& curve : curves_up_to(most)) {
    for (const std::uint32_t k : kFactors) {
      if (fourth.skips()) continue;
      SCOPED_TRACE(curve.name + ", k " + std::to_string(k) + "/256");
      CodeCounts counts;
      for (std::uint32_t v = 1; v <= most; ++v) {
        const std::uint32_t level = curve.levels[v];
        for (std::uint32_t m = 0; m <= v; ++m) {
          // All codes of a pixel that is not limited lie on one line, whatever m is.
          const bool limited = k * (v - m) > kOne * v;
          const std::uint32_t step = limited || m == 0 ? 1 : std::max(v - m, 1U);
          for (std::uint32_t c = m; c <= v; c += step)
            check_code(k, level, v, m, c, counts);
        }
      }
      EXPECT_EQ(counts.wrong, 0);
      // Halves of the identity are exact, although k is such that there are many.
      if (curve.name == "identity") {
        EXPECT_EQ(counts.open, 0);
      }
      if (curve.name == "seed 0") {
        EXPECT_LE(counts.open, 2 + counts.all / 2000);
      }
    }
  }
}

TEST(SaturatedCodes, LinesOfEveryPixel) {
  test::EveryNth fourth(4);
  expect_lines(255, fourth);
  expect_lines(219, fourth);
}

}  // namespace
}  // namespace equalux
