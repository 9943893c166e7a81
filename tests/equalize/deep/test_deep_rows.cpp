#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "src/cpu/common/simd_targets.h"
#include "src/cpu/equalize/deep/deep_rows.h"
#include "src/equalize/saturation.h"
#include "tests/equalize/deep/deep_reference.h"
#include "tests/equalize/level_counts.h"
#include "tests/support/long_counts.h"
#include "tests/support/media/test_images.h"
#include "tests/support/own_loops.h"

namespace equalux {
namespace {

using Bytes = std::vector<std::uint8_t>;

enum class Codes { noise, smooth, ends, below_black };
constexpr Codes kAllCodes[]{Codes::noise, Codes::smooth, Codes::ends, Codes::below_black};

/// Words with codes of a kind, and noise in the bits that are not read.
Bytes words_of(const DeepSamples& form, Codes kind, std::size_t n, std::mt19937& random) {
  Bytes bytes(2 * n);
  const auto most = static_cast<std::uint32_t>(form.most);
  const std::uint32_t from = static_cast<std::uint32_t>(random()) % (most / 2);
  for (std::size_t i = 0; i < n; ++i) {
    const auto r = static_cast<std::uint32_t>(random());
    std::uint32_t code = r & most;
    if (kind == Codes::smooth) code = from + static_cast<std::uint32_t>(i) * most / 4096 + r % 9;
    if (kind == Codes::ends) code = r % 2 == 0 ? r / 2 % 3 : most - r / 2 % 3;
    if (kind == Codes::below_black) code = r % (most / 12);
    code = std::min(code, most);
    const std::uint32_t unused = 0xFFFFu & ~(most << form.shift);
    const std::uint32_t word = code << form.shift | (static_cast<std::uint32_t>(random()) & unused);
    bytes[2 * i] = static_cast<std::uint8_t>(word & 255);
    bytes[2 * i + 1] = static_cast<std::uint8_t>(word >> 8);
  }
  return bytes;
}

enum class Curve { identity, random, steep, halves, eighths };
constexpr Curve kAllCurves[]{Curve::identity, Curve::random, Curve::steep, Curve::halves,
                             Curve::eighths};

/// Gains of a curve for two targets.
struct TwoGains {
  DeepGains tested, plain;

  TwoGains(const DeepSamples& form, Curve kind, const DeepRows& loops, std::mt19937& random) {
    tested.resize(form);
    const auto most = static_cast<std::uint32_t>(form.weights.luma_max);
    const std::uint64_t highest = std::uint64_t{most} << kDeepCurveBits;
    for (std::uint32_t v = 0; v <= most; ++v) {
      std::uint64_t level = std::uint64_t{v} << kDeepCurveBits;
      if (kind == Curve::random) level = random() % (highest + 1);
      if (kind == Curve::steep) level = highest - random() % 3;
      // Gains of 1/2, 3/2, 5/2: every odd code is half-way between two.
      if (kind == Curve::halves) level = level / 2 * (1 + 2 * (random() % 3));
      if (kind == Curve::eighths) level = (level >> 3) * (random() % 24);
      tested.curve[v] = static_cast<std::uint32_t>(std::min(level, highest));
    }
    plain = tested;
    const std::vector<std::uint32_t> all(most + 1, 1);
    loops.make_gains(form, all, tested);
    scalar_deep_rows().make_gains(form, all, plain);
    make_gray_words(form, tested);
    plain.words = tested.words;
  }
};

/// k of every level: one of all, times 256, or at kOfEach another of each.
constexpr int kOfEach = -1;
constexpr int kAllFactors[]{0, 95, 128, 384, 512, 1024, 4096, kOfEach};

DeepSaturation saturation_of(const DeepSamples& form, ColorModel model, int factor,
                             const std::vector<std::uint32_t>& levels, std::mt19937& random) {
  DeepSaturation saturation;
  saturation.resize(form);
  std::vector<std::uint32_t> coarse(coarse_max(form) + 1, static_cast<std::uint32_t>(factor));
  if (factor == kOfEach) {
    for (std::uint32_t& each : coarse)
      each = static_cast<std::uint32_t>(random()) % (saturation::kMost + 1);
  }
  saturation.set_factors(form, coarse.data());
  make_lines(form, model, std::vector<std::uint32_t>(levels.size(), 1), levels, saturation);
  return saturation;
}

/// Memory from a boundary of 64 bytes on, or one byte past it, with a margin on both sides.
class Guarded {
 public:
  Guarded(std::size_t bytes, bool aligned) : memory_(bytes + 2 * kMargin, 0xA5), bytes_(bytes) {
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data()) + 64;
    first_ = 64 + (64 - address % 64) % 64 + (aligned ? 0 : 1);
  }
  std::uint8_t* data() { return memory_.data() + first_; }
  Bytes bytes() { return {data(), data() + bytes_}; }
  bool margin_intact() {
    return std::all_of(memory_.begin(), memory_.begin() + static_cast<std::ptrdiff_t>(first_),
                       [](std::uint8_t b) { return b == 0xA5; }) &&
           std::all_of(data() + bytes_, memory_.data() + memory_.size(),
                       [](std::uint8_t b) { return b == 0xA5; });
  }

 private:
  static constexpr std::size_t kMargin = 192;
  Bytes memory_;
  std::size_t bytes_;
  std::size_t first_ = 0;
};

constexpr std::size_t kWidths[]{1,  2,  3,  4,  7,  8,  9,  15,  16,  17,  23,  31,
                                32, 33, 47, 63, 64, 65, 95, 130, 511, 512, 1027};

/// Counts of v that a target makes.
template <typename Count>
std::vector<std::uint32_t> counts_of(const DeepSamples& form, const Count& count) {
  const auto levels = static_cast<std::size_t>(form.weights.luma_max) + 1;
  test::LevelCounts counts(levels);
  count(counts.counters());
  return counts.take_sums();
}

struct DeepCase {
  const DeepRows& loops;
  ImageDesc desc;
  DeepSamples form = deep_samples(desc);
  bool luma_alone = false;  ///< is v, which saturation is not for
};

void expect_alike_packed(const DeepCase& c, std::size_t n, Codes codes, const TwoGains& gains,
                         const DeepSaturation& saturation, std::mt19937& random) {
  const RgbLayout pixel = rgb_layout(c.desc.format);
  const bool gray = pixel.step == 2;
  const std::size_t bytes = n * static_cast<std::size_t>(pixel.step);
  const Bytes in = words_of(c.form, codes, bytes / 2, random);
  const auto count = [&](const DeepRows& k) {
    return counts_of(c.form, [&](const DeepCounters& counters) {
      gray ? k.count_gray(c.form, in.data(), n, counters)
           : k.count_rgb(c.form, pixel, in.data(), n, counters);
    });
  };
  EXPECT_EQ(count(c.loops), count(scalar_deep_rows()));
  const auto apply = [&](const DeepRows& k, const DeepGains& g, Guarded& out) {
    gray ? k.apply_gray(c.form, g, Stores::streaming, in.data(), n, out.data())
         : k.apply_rgb(c.form, pixel, g, Stores::streaming, in.data(), n, out.data());
    k.flush_stores();
    EXPECT_TRUE(out.margin_intact());
    return out.bytes();
  };
  Guarded expected(bytes, true);
  const Bytes wanted = apply(scalar_deep_rows(), gains.plain, expected);
  for (const bool aligned : {true, false}) {
    Guarded out(bytes, aligned);
    EXPECT_EQ(apply(c.loops, gains.tested, out), wanted);
  }
  if (gray) return;
  const auto saturate = [&](const DeepRows& k, Stores stores, bool aligned) {
    Guarded out(bytes, aligned);
    k.saturate_rgb(c.form, pixel, gains.plain, saturation, stores, in.data(), n, out.data());
    k.flush_stores();
    EXPECT_TRUE(out.margin_intact());
    return out.bytes();
  };
  const Bytes saturated = saturate(scalar_deep_rows(), Stores::cached, true);
  EXPECT_EQ(saturate(c.loops, Stores::streaming, true), saturated);
  EXPECT_EQ(saturate(c.loops, Stores::streaming, false), saturated);
}

/// Results of a row of YCbCr, plane after plane.
struct YuvResult {
  Guarded luma[2];
  Guarded chroma[2];

  YuvResult(DeepChroma kind, std::size_t n, bool aligned)
      : luma{{2 * n, aligned}, {2 * n, aligned}},
        chroma{{chroma_bytes(kind, n), aligned}, {chroma_bytes(kind, n), aligned}} {}
  static std::size_t chroma_bytes(DeepChroma kind, std::size_t n) {
    if (kind == DeepChroma::each) return 2 * n;
    return (n + 1) / 2 * (kind == DeepChroma::pairs ? 4 : 2);
  }
  std::vector<Bytes> planes() {
    for (Guarded* each : {&luma[0], &luma[1], &chroma[0], &chroma[1]})
      EXPECT_TRUE(each->margin_intact());
    return {luma[0].bytes(), luma[1].bytes(), chroma[0].bytes(), chroma[1].bytes()};
  }
};

void expect_alike_yuv(const DeepCase& c, int rows, std::size_t n, Codes codes,
                      const TwoGains& gains, const DeepSaturation& saturation,
                      std::mt19937& random) {
  const DeepChroma kind = deep_chroma_of(traits(c.desc.format));
  const DeepYuvForm form{c.form, kind, rows};
  const std::size_t chroma_words = YuvResult::chroma_bytes(kind, n) / 2;
  const Bytes luma[2] = {words_of(c.form, codes, n, random), words_of(c.form, codes, n, random)};
  const Bytes cb = words_of(c.form, codes, chroma_words, random);
  const Bytes cr = words_of(c.form, codes, chroma_words, random);
  const bool pairs = kind == DeepChroma::pairs;
  const std::uint8_t* second = rows == 2 ? luma[1].data() : luma[0].data();
  const YuvRowIn in{{luma[0].data(), second}, cb.data(), pairs ? cb.data() + 2 : cr.data()};
  const auto count = [&](const DeepRows& k) {
    return counts_of(c.form,
                     [&](const DeepCounters& counters) { k.count_yuv(form, in, n, counters); });
  };
  EXPECT_EQ(count(c.loops), count(scalar_deep_rows()));
  const auto result_of = [&](const DeepRows& k, bool aligned, const auto& run) {
    YuvResult out(kind, n, aligned);
    run({{out.luma[0].data(), rows == 2 ? out.luma[1].data() : out.luma[0].data()},
         out.chroma[0].data(),
         pairs ? out.chroma[0].data() + 2 : out.chroma[1].data()});
    k.flush_stores();
    return out.planes();
  };
  const auto apply = [&](const DeepRows& k, const DeepGains& g, bool aligned) {
    return result_of(k, aligned, [&](const YuvRowOut& out) {
      k.apply_yuv(form, g, Stores::streaming, in, n, out);
    });
  };
  const std::vector<Bytes> wanted = apply(scalar_deep_rows(), gains.plain, true);
  for (const bool aligned : {true, false})
    EXPECT_EQ(apply(c.loops, gains.tested, aligned), wanted);
  if (c.luma_alone) return;
  const auto saturate = [&](const DeepRows& k, Stores stores, bool aligned) {
    return result_of(k, aligned, [&](const YuvRowOut& out) {
      k.saturate_yuv(form, gains.plain, saturation, stores, in, n, out);
    });
  };
  const std::vector<Bytes> saturated = saturate(scalar_deep_rows(), Stores::cached, true);
  EXPECT_EQ(saturate(c.loops, Stores::streaming, true), saturated);
  EXPECT_EQ(saturate(c.loops, Stores::streaming, false), saturated);
}

void expect_alike(const DeepCase& c, test::EveryNth& third, std::mt19937& random) {
  for (const Curve curve : kAllCurves) {
    if (third.skips()) continue;
    const TwoGains gains(c.form, curve, c.loops, random);
    std::vector<DeepSaturation> saturations;
    for (const int factor : kAllFactors) {
      saturations.push_back(
          saturation_of(c.form, traits(c.desc.format).model, factor, gains.plain.curve, random));
    }
    for (const std::size_t n : kWidths) {
      const Codes codes = kAllCodes[random() % std::size(kAllCodes)];
      const std::size_t which = random() % saturations.size();
      const DeepSaturation& saturation = saturations[which];
      SCOPED_TRACE("curve " + std::to_string(static_cast<int>(curve)) + " codes " +
                   std::to_string(static_cast<int>(codes)) + " width " + std::to_string(n) +
                   " saturation " + std::to_string(kAllFactors[which]));
      if (traits(c.desc.format).model != ColorModel::yuv) {
        expect_alike_packed(c, n, codes, gains, saturation, random);
      } else {
        expect_alike_yuv(c, 1, n, codes, gains, saturation, random);
        if (sampling_of(c.desc.format) == Sampling::s420)
          expect_alike_yuv(c, 2, n, codes, gains, saturation, random);
      }
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST(DeepRows, EveryTargetGivesTheBytesOfPlainCpp) {
  std::mt19937 random(5);
  test::EveryNth third(3);
  for (const DeepRows& loops : all_deep_rows()) {
    for (const PixelFormat format : test::deep_formats()) {
      for (const ColorRange range : {ColorRange::limited, ColorRange::full}) {
        for (const ColorMatrix matrix : {ColorMatrix::bt601, ColorMatrix::bt2020}) {
          // A sample has each range with a matrix of its own.
          const bool sampled = (range == ColorRange::full) == (matrix == ColorMatrix::bt2020);
          if (!test::wants_every_count() && !sampled) continue;
          const DeepCase c{loops, {format, 1, 1, matrix, range}};
          SCOPED_TRACE(std::string(loops.target) + " " + test::describe(c.desc, {}));
          expect_alike(c, third, random);
          if (HasFailure()) return;
        }
      }
    }
  }
}

/// Luma alone as v: chroma may be far from the middle where v is 1.
TEST(DeepRows, EveryTargetInTheSpaceOfLuma) {
  std::mt19937 random(6);
  test::EveryNth third(3);
  for (const DeepRows& loops : all_deep_rows()) {
    for (const PixelFormat format : test::deep_formats()) {
      if (traits(format).model != ColorModel::yuv) continue;
      SCOPED_TRACE(std::string(loops.target) + " " + std::string(to_string(format)));
      const ImageDesc desc{format, 1, 1, ColorMatrix::bt709, ColorRange::full};
      expect_alike({loops, desc, deep_samples(desc, Space::luma), true}, third, random);
      if (HasFailure()) return;
    }
  }
}

/// Sums that grow by about `most / values`, up to `most`.
std::vector<std::uint32_t> rising_sums(std::size_t values, std::uint32_t most,
                                       std::mt19937& random) {
  std::vector<std::uint32_t> sums(values);
  for (std::uint32_t& sum : sums)
    sum = static_cast<std::uint32_t>(random()) % most + 1;
  std::sort(sums.begin(), sums.end());
  sums.back() = most;
  return sums;
}

/// Totals that divide 2^15 M put many quotients on a half.
TEST(DeepRows, EveryTargetMakesTheSameCurve) {
  std::mt19937 random(8);
  for (const DeepRows& loops : all_deep_rows()) {
    for (const std::uint32_t max_value : {876u, 1023u, 3504u, 4095u, 56064u, 65535u}) {
      for (const std::uint32_t total : {1u, 7u, 64u, 5040u, 65536u, 1u << 20, 2'073'600u,
                                        33'177'600u, (1u << 30) + 1, 1u << 31}) {
        const std::vector<std::uint32_t> sums = rising_sums(max_value + 1, total, random);
        for (const std::uint32_t offset : {0u, sums[0], sums[max_value / 2], total}) {
          const CurveScale scale{offset, total - offset};
          std::vector<std::uint32_t> got = sums;
          std::vector<std::uint32_t> wanted = sums;
          loops.curve_levels(scale, max_value, got.data());
          scalar_deep_rows().curve_levels(scale, max_value, wanted.data());
          ASSERT_EQ(got, wanted) << loops.target << " M " << max_value << " total " << total
                                 << " offset " << offset;
        }
      }
    }
  }
}

/// What the other tests compare is what they say: each target has loops of its own.
TEST(DeepRows, EveryTargetOfThisMachineIsTested) {
  std::vector<std::string_view> targets;
  std::set<decltype(DeepRows::apply_yuv)> own;
  std::set<decltype(DeepRows::saturate_yuv)> saturating;
  for (const DeepRows& loops : all_deep_rows()) {
    targets.push_back(loops.target);
    own.insert(loops.apply_yuv);
    saturating.insert(loops.saturate_yuv);
  }
  EXPECT_EQ(targets, simd_targets());
  EXPECT_EQ(own.size(), test::count_own_loops());
  EXPECT_EQ(saturating.size(), test::count_own_loops());
  EXPECT_EQ(deep_rows().target, simd_target());
}

/// A gain of the vectors makes of every code what the exact one makes of it, as fast variants
/// multiply: rounded once or twice, to nearest.
void expect_same_scaling(std::uint32_t level, std::uint32_t v, std::int32_t depth, std::int32_t c) {
  const double gain = deep_scaled_gain(level, v, depth);
  const double code = std::ldexp(static_cast<double>(c), -deep_share_bits(depth));
  const std::int32_t wanted = deep_scaled(c, deep_gain(level, v, depth), depth);
  constexpr double kTwo52 = 4503599627370496.0;
  EXPECT_EQ(static_cast<std::int32_t>(std::fma(code, gain, kTwo52) - kTwo52), wanted)
      << "W " << level << " v " << v << " depth " << depth << " code " << c;
  const volatile double product = code * gain;
  EXPECT_EQ(static_cast<std::int32_t>((product + kTwo52) - kTwo52), wanted)
      << "W " << level << " v " << v << " depth " << depth << " code " << c;
}

TEST(DeepGains, ScaledOnesRoundEveryCodeAsTheExactOnes) {
  std::mt19937 random(7);
  for (const std::int32_t depth : {10, 12, 16}) {
    const std::uint32_t most = (1u << depth) - 1;
    for (int i = 0; i < 300000; ++i) {
      const auto r = static_cast<std::uint32_t>(random());
      const std::uint32_t v = 1 + (i % 3 == 0 ? r % std::min(most, 50u) : r % most);
      const auto c = static_cast<std::int32_t>(random() % (v + 1));
      std::uint32_t level = static_cast<std::uint32_t>(random()) % ((most << kDeepCurveBits) + 1);
      if (i % 2 == 0 && c > 0) {
        // The level at which the code's result is nearest to a half, and its neighbours.
        const auto half = 2 * (random() % most) + 1;
        const std::uint64_t near =
            (half * v << (kDeepCurveBits - 1)) / static_cast<std::uint32_t>(c) + random() % 3;
        level = static_cast<std::uint32_t>(
            std::min<std::uint64_t>(near == 0 ? 0 : near - 1, most << kDeepCurveBits));
      }
      expect_same_scaling(level, v, depth, c);
      if (depth <= 12) {
        EXPECT_EQ(static_cast<std::int64_t>(std::floor(deep_scaled_gain(level, v, depth))),
                  deep_gain_share(deep_gain(level, v, depth)));
      }
      if (HasFailure()) return;
    }
  }
}

/// Up to 12 bits every v, with the curves that an even histogram makes, and every code there is.
TEST(DeepGains, EveryCodeOfTenBits) {
  constexpr std::uint32_t kMost = 1023;
  for (std::uint32_t v = 1; v <= kMost; ++v) {
    for (const std::uint32_t level :
         {v << kDeepCurveBits, v << (kDeepCurveBits - 1), kMost << kDeepCurveBits,
          (v * 3) << (kDeepCurveBits - 2), (kMost << kDeepCurveBits) / v}) {
      for (std::uint32_t c = 0; c <= v; ++c)
        expect_same_scaling(level, v, 10, static_cast<std::int32_t>(c));
      if (HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace equalux
