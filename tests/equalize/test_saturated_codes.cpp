// The arithmetic with which a GPU changes saturation beside saturation::scaled(), over all pixels.
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "src/equalize/fixed_curve.h"
#include "src/equalize/saturated_codes.h"
#include "src/equalize/saturation.h"
#include "src/equalize/tone_limits.h"

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

const std::vector<std::uint32_t> kFactors{0, 1, 95, 200, 255, 256, 257, 300, 384, 512, 777, 1024};

/// What a line says of a code, and how many it leaves open.
struct Counts {
  int wrong = 0;
  int open = 0;  ///< of those with f = k
  int all = 0;
};

/// A code of a pixel by lines, as the fused kernel has it.
void check_code(std::uint32_t k, std::uint32_t level, std::int32_t v, std::int32_t m,
                std::int32_t c, Counts& counts) {
  const auto line =
      saturation::line_of(k, level, static_cast<std::uint32_t>(v), v == 0 ? 0 : 1.0 / v);
  const saturation::Factor f = saturation::factor_of(k, v, v - m);
  std::uint32_t value = saturation::line_value(line, static_cast<std::uint32_t>(c));
  const bool limited = saturation::is_limited(line.base, v - m);
  const bool goes_over =
      k > kOne && k * static_cast<std::uint32_t>(v - m) > kOne * static_cast<std::uint32_t>(v);
  counts.wrong += limited != goes_over ? 1 : 0;
  if (limited || c > v) {
    const std::int32_t base = c > v || m < 0 ? 0 : m;
    const std::uint32_t inverse = saturation::limited_inverse(static_cast<std::uint32_t>(v - base));
    value = saturation::limited_value(saturation::limited_slope(level, inverse),
                                      static_cast<std::uint32_t>(c - base));
  }
  const bool of_line = !limited && c <= v;
  counts.all += of_line ? 1 : 0;
  const std::int32_t expected = saturation::scaled(level, tone::kCurveBits, f, v, c);
  auto code = static_cast<std::int32_t>(saturation::whole_of_line(value));
  if (!saturation::is_sure(saturation::fraction_of_line(value))) {
    counts.open += of_line ? 1 : 0;
    code = saturation::scaled_above(code, level, tone::kCurveBits, f, v, c);
  }
  counts.wrong += code != expected ? 1 : 0;
}

void expect_lines(std::uint32_t most) {
  for (const NamedCurve& curve : curves_up_to(most)) {
    for (const std::uint32_t k : kFactors) {
      SCOPED_TRACE(curve.name + ", k " + std::to_string(k) + "/256");
      Counts counts;
      for (std::int32_t v = 1; v <= static_cast<std::int32_t>(most); ++v) {
        const std::uint32_t level = curve.levels[static_cast<std::size_t>(v)];
        for (std::int32_t m = -3; m <= v; m += m < 0 ? 3 : 1) {
          // All codes of a pixel that is not limited lie on one line, whatever m is.
          const bool limited = saturation::factor_of(k, v, v - m).q != static_cast<int>(kOne);
          const std::int32_t step = limited || m <= 0 ? 1 : (v - m > 1 ? v - m : 1);
          for (std::int32_t c = m < 0 ? 0 : m; c <= v; c += step)
            check_code(k, level, v, m, c, counts);
        }
        // Luma over a value that was clamped.
        if (v == static_cast<std::int32_t>(most)) {
          for (std::int32_t c = v + 1; c <= 239; ++c)
            check_code(k, level, v, 0, c, counts);
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
  expect_lines(255);
  expect_lines(219);
}

}  // namespace
}  // namespace equalux
