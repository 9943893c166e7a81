// Saturation times a factor, in every format of colour, beside its definition in rationals.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <random>
#include <string>
#include <vector>

#include <equalux/error.h>
#include <equalux/filter.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/common/log.h"
#include "src/cpu/equalize/curve_maker.h"
#include "src/cpu/equalize/fused/fused_rows.h"
#include "src/cpu/equalize/fused/gain_tables.h"
#include "src/cpu/equalize/saturated_rows.h"
#include "src/equalize/deep_curve.h"
#include "src/format/layout.h"
#include "tests/equalize/saturation/saturated_params.h"
#include "tests/equalize/saturation/saturation_definition.h"
#include "tests/equalize/wide.h"
#include "tests/support/long_counts.h"
#include "tests/support/media/moving_frames.h"
#include "tests/support/media/test_images.h"

namespace equalux {
namespace {

using test::colour_forms;
using Frame = test::FrameCodes;
using Definition = test::SaturationDefinition;
using test::factors_of;
using test::floor_div;
using test::Levels;
using test::shaped;
using test::Wide;

using Counted = std::function<bool(int x, int y)>;

/// What every v of a frame becomes: the curve of its histogram, which has tests of its own, and k.
/// Only pixels of which `counts_at` is true are counted, or all where it is empty.
Levels levels_of(const EqualizeParams& params, const ImageDesc& desc, const Frame& in,
                 bool interlaced, const Counted& counts_at = {}) {
  const bool deep = has_deep_samples(desc.format);
  const Definition counted(desc, interlaced, {});
  const int shift = traits(desc.format).depth - 8;
  ValueHistogram counts{};
  for (int y = 0; y < desc.height; ++y) {
    for (int x = 0; x < desc.width; ++x) {
      if (counts_at && !counts_at(x, y)) continue;
      const auto v = static_cast<std::size_t>(counted.extremes(in, x, y).counted);
      ++counts[v >> shift];
    }
  }
  CurveMaker maker;
  maker.configure(counted.most_value() >> shift);
  maker.set_bins(params.bins == 0 ? 256 : params.bins);
  tone::Control control(params);
  const CurveTable& curve = maker.make(counts, control.next({}));
  const Wide last = counted.most_value() >> shift;
  const std::vector<Wide> factors = factors_of(params, curve, last);
  Levels levels;
  for (int v = 0; v <= counted.most_value(); ++v) {
    levels.values.push_back(
        deep ? deep_level_between(deep_samples(desc), curve.data(), static_cast<std::uint32_t>(v))
             : curve[static_cast<std::size_t>(v)]);
    // On the straight line from the coarse level at or below v to the next.
    const Wide most = counted.most_value();
    const auto below = static_cast<std::size_t>(v * last / most);
    const Wide beyond = v * last % most;
    const Wide next = factors[std::min(below + 1, static_cast<std::size_t>(last))];
    const Wide sum = factors[below] * (most - beyond) + next * beyond;
    levels.factors.push_back(floor_div(2 * sum + most, 2 * most));
  }
  return levels;
}

TEST(Saturation, EveryByteEqualsTheDefinition) {
  test::EveryNth fifth(5);
  for (const ImageDesc& desc : colour_forms(61, 23)) {
    for (const double k : {0.0, 0.37109375, 1.5, 2.5, 4.0, kAutoSaturation}) {
      for (const bool steep : {false, true}) {
        for (const test::Content content : {test::Content::natural, test::Content::noise}) {
          if (fifth.skips()) continue;
          SCOPED_TRACE(test::describe(desc, content) + " times " + std::to_string(k) +
                       (steep ? ", steep" : ""));
          const EqualizeParams params = shaped(k, steep);
          Image in(desc);
          test::fill(in.view(), content, 11);
          test::PaddedImage out(desc, 37, true, 1);
          const auto filter = make_cpu_filter(params, {2});
          filter->configure(desc);
          FrameContext context;
          filter->submit(in.view(), out.view(), context);
          const Frame frame{in.view()};
          Image expected(desc);
          copy_image(in.view(), expected.view());  // half of a last pair stays
          Definition(desc, false, levels_of(params, desc, frame, false))
              .write(frame, expected.view());
          ASSERT_EQ(test::count_differences(expected.view(), out.view()), 0U);
          ASSERT_TRUE(out.padding_intact());
          // In place, by one thread.
          const auto alone = make_cpu_filter(params, {1});
          alone->configure(desc);
          alone->submit(in.view(), in.view(), context);
          ASSERT_EQ(test::count_differences(expected.view(), in.view()), 0U);
        }
      }
    }
  }
}

TEST(Saturation, FieldsHaveTheirOwnChroma) {
  for (const PixelFormat format : {PixelFormat::i420, PixelFormat::nv12, PixelFormat::p010_10le}) {
    for (const int height : {22, 24, 27}) {
      const ImageDesc desc{format, 40, height, ColorMatrix::bt709, ColorRange::limited};
      const EqualizeParams params = shaped(2, true);
      Image in(desc);
      test::fill(in.view(), test::Content::noise, 3);
      Image out(desc);
      const auto filter = make_cpu_filter(params, {1});
      filter->configure(desc);
      FrameContext context;
      context.field_order = FieldOrder::top_first;
      filter->submit(in.view(), out.view(), context);
      const Frame frame{in.view()};
      Image expected(desc);
      Definition(desc, true, levels_of(params, desc, frame, true)).write(frame, expected.view());
      ASSERT_EQ(test::count_differences(expected.view(), out.view()), 0U)
          << to_string(format) << " of " << height;
    }
  }
}

TEST(Saturation, HoldsForAllPixelsWhateverCounts) {
  for (const PixelFormat format : {PixelFormat::bgra, PixelFormat::nv12, PixelFormat::yuy2}) {
    const ImageDesc desc{format, 90, 50};
    EqualizeParams params = shaped(1.75, true);
    params.region = "8,4,30,20";
    Image in(desc);
    test::fill(in.view(), test::Content::natural, 6);
    Image out(desc);
    const auto filter = make_cpu_filter(params, {1});
    filter->configure(desc);
    FrameContext context;
    filter->submit(in.view(), out.view(), context);
    const Frame frame{in.view()};
    Image expected(desc);
    const auto inside = [](int x, int y) { return x >= 8 && x < 38 && y >= 4 && y < 24; };
    Definition(desc, false, levels_of(params, desc, frame, false, inside))
        .write(frame, expected.view());
    EXPECT_EQ(test::count_differences(expected.view(), out.view()), 0U) << to_string(format);
    EXPECT_NE(levels_of(params, desc, frame, false, inside), levels_of(params, desc, frame, false));
  }
}

/// At 1 the rows are those without saturation, luma below black and over white too.
TEST(Saturation, OneIsNoChange) {
  for (const ImageDesc& desc : colour_forms(53, 1)) {
    if (has_deep_samples(desc.format) || traits(desc.format).planes == 2) continue;
    if (traits(desc.format).model == ColorModel::yuv && traits(desc.format).planes != 3) continue;
    Image in(desc);
    test::fill(in.view(), test::Content::noise, 8);
    const int most =
        traits(desc.format).model == ColorModel::yuv && desc.range == ColorRange::limited ? 219
                                                                                          : 255;
    ValueHistogram all;
    all.fill(1);
    CurveTable curve{};
    for (std::size_t v = 0; v <= static_cast<std::size_t>(most); ++v)
      curve[v] = static_cast<std::uint32_t>(std::min<double>(most, 1.7 * static_cast<double>(v)) *
                                            (1 << tone::kCurveBits));
    const FusedRows& loops = scalar_fused_rows();
    GainTables gains;
    make_gains(all, curve, most, most == 219 ? 239 : 255, loops, gains);
    SaturatedGains same;
    make_saturated({}, curve, most, same);
    Image wanted(desc);
    Image out(desc);
    if (traits(desc.format).model == ColorModel::yuv) {
      const auto row = [](const auto& view) {
        return YuvRow<std::remove_pointer_t<decltype(view.row(0, 0))>>{
            {view.row(0, 0), view.row(0, 0)}, view.row(1, 0), view.row(2, 0)};
      };
      const ConstImageView from = in.view();
      const YuvWeights weights = yuv_weights(desc.matrix, desc.range);
      const Sampling sampling = sampling_of(desc.format);
      loops.apply_yuv(sampling, weights, gains, Stores::cached, row(from), 53, row(wanted.view()));
      saturate_yuv(same, gains.gain48.data(), sampling, weights, row(from), 53, row(out.view()));
    } else {
      const RgbLayout at = rgb_layout(desc.format);
      if (at.step == 3) {
        loops.apply_rgb3(gains, Stores::cached, in.view().row(0, 0), 53, wanted.view().row(0, 0));
      } else {
        loops.apply_rgb4(gains, Stores::cached, in.view().row(0, 0), 53, at.first(),
                         wanted.view().row(0, 0));
      }
      saturate_rgb(same, at, in.view().row(0, 0), 53, out.view().row(0, 0));
    }
    EXPECT_EQ(test::count_differences(wanted.view(), out.view()), 0U) << to_string(desc.format);
  }
}

/// Levels of a curve of 256 or 220 values, by name of its shape.
CurveTable shaped_curve(std::string_view shape, int most) {
  CurveTable curve{};
  for (int v = 0; v <= most; ++v) {
    const double x = static_cast<double>(v) / most;
    const double y = shape == "identity" ? x
                     : shape == "half"   ? x / 2
                     : shape == "root"   ? std::sqrt(x)
                     : shape == "veil"   ? std::max(x - 0.3, 0.0) / 0.7
                                         : std::min(6.3 * x, 1.0);
    curve[static_cast<std::size_t>(v)] = static_cast<std::uint32_t>(y * most * (1 << 22) + 0.5);
  }
  return curve;
}

/// Factors of all levels alike, or each its own.
void set_factors(SaturatedGains& gains, int factor) {
  for (std::uint32_t v = 0; v < 256; ++v)
    gains.factors[v] = static_cast<std::uint16_t>(factor >= 0 ? static_cast<std::uint32_t>(factor)
                                                              : (256 + 37 * v) % 1025);
}

/// Every v, every middle channel and every least one, in each place, by every target.
TEST(Saturation, VectorsEqualTheFormulaForEveryPixel) {
  std::vector<std::uint8_t> pixels;
  for (int v = 0; v < 256; ++v) {
    // Of pairs, all with v of the most interesting size; of the others every third.
    for (int m = 0; m <= v; m += v % 16 == 15 ? 1 : 3) {
      for (int c = m; c <= v; ++c) {
        const std::array<int, 3> channels{v, c, m};
        for (std::size_t i = 0; i < 3; ++i)
          pixels.push_back(
              static_cast<std::uint8_t>(channels[(i + static_cast<std::size_t>(c)) % 3]));
      }
    }
  }
  const std::size_t n = pixels.size() / 3;
  ValueHistogram all;
  all.fill(1);
  test::EveryNth third(3);
  for (const char* shape : {"identity", "half", "root", "veil", "steep"}) {
    const CurveTable curve = shaped_curve(shape, 255);
    for (const int factor : {0, 95, 128, 192, 320, 384, 640, 1024, -1}) {
      if (third.skips()) continue;
      SaturatedGains gains;
      make_saturated({}, curve, 255, gains);
      set_factors(gains, factor);
      std::vector<std::uint8_t> expected(pixels.size());
      for (std::size_t i = 0; i < pixels.size(); i += 3) {
        const auto [least, most] = std::minmax({pixels[i], pixels[i + 1], pixels[i + 2]});
        const saturation::Factor f = saturation::factor_of(gains.factors[most], most, most - least);
        for (std::size_t c = i; c < i + 3; ++c)
          expected[c] = static_cast<std::uint8_t>(
              saturation::scaled(curve[most], tone::kCurveBits, f, most, pixels[c]));
      }
      for (const FusedRows& loops : all_fused_rows()) {
        make_vectors(all, 255, 255, loops, gains);
        gains.has_words = false;
        gains.has_word_lines = false;
        const auto expect_results = [&](std::string_view gains_of) {
          std::vector<std::uint8_t> out(pixels.size());
          loops.saturate_rgb(gains, Stores::cached, rgb_layout(PixelFormat::bgr), pixels.data(), n,
                             out.data());
          EXPECT_EQ(out, expected) << shape << " times " << factor << " by " << loops.target
                                   << ", gains of " << gains_of;
        };
        expect_results("floats");
        make_word_gains(all, loops, gains);
        EXPECT_EQ(gains.has_words, loops.word_gains_step == 3 && factor >= 0 && factor % 64 == 0);
        if (gains.has_words) expect_results("words");
        gains.has_words = false;
        make_word_lines(all, loops, gains);
        EXPECT_EQ(gains.has_word_lines, loops.word_lines != WordLines::never);
        if (gains.has_word_lines) expect_results("lines");
      }
    }
  }
}

/// Lines of words that are all searched for by exact results, as they are where what results leave
/// over is too near to nothing or to one.
TEST(Saturation, LinesOfWordsByExactResults) {
  ValueHistogram all;
  all.fill(1);
  std::vector<std::uint8_t> pixels;
  for (int v = 0; v < 256; ++v) {
    for (int c = 0; c <= v; ++c) {
      for (const int channel : {v, c, std::min(c + 3, v)})
        pixels.push_back(static_cast<std::uint8_t>(channel));
    }
  }
  const std::size_t n = pixels.size() / 3;
  for (const char* shape : {"identity", "root", "steep"}) {
    for (const int factor : {128, 401, -1}) {
      SaturatedGains gains;
      make_saturated({}, shaped_curve(shape, 255), 255, gains);
      set_factors(gains, factor);
      std::vector<std::uint8_t> expected(pixels.size());
      saturate_rgb(gains, rgb_layout(PixelFormat::rgb), pixels.data(), n, expected.data());
      for (FusedRows loops : all_fused_rows()) {
        if (loops.word_lines == WordLines::never) continue;
        loops.word_range = [](std::uint32_t, std::uint32_t, std::int32_t) {
          return WordRange{0, 0xFFFFFFFF};
        };
        make_word_lines(all, loops, gains);
        EXPECT_TRUE(gains.has_word_lines);
        make_vectors(all, 255, 255, loops, gains);
        std::vector<std::uint8_t> out(pixels.size());
        loops.saturate_rgb(gains, Stores::cached, rgb_layout(PixelFormat::rgb), pixels.data(), n,
                           out.data());
        EXPECT_EQ(out, expected) << shape << " times " << factor << " by " << loops.target;
      }
    }
  }
}

/// A level for which no line of words was found: its frame is left to other loops.
TEST(Saturation, FramesWithoutALineOfWords) {
  constexpr std::size_t kLevel = 194;
  CurveTable curve = shaped_curve("half", 255);
  curve[kLevel] = 269U << 21;  // 134.5
  ValueHistogram all;
  all.fill(1);
  SaturatedGains gains;
  make_saturated({}, curve, 255, gains);
  set_factors(gains, 211);
  std::vector<std::uint8_t> pixels;
  for (std::size_t c = 0; c <= kLevel; ++c) {
    for (const std::size_t channel : {kLevel, c, kLevel - c})
      pixels.push_back(static_cast<std::uint8_t>(channel));
  }
  const std::size_t n = pixels.size() / 3;
  std::vector<std::uint8_t> expected(pixels.size());
  saturate_rgb(gains, rgb_layout(PixelFormat::rgb), pixels.data(), n, expected.data());
  for (const FusedRows& loops : all_fused_rows()) {
    EXPECT_FALSE(make_word_lines(all, loops, gains));
    EXPECT_FALSE(gains.has_word_lines);
    make_vectors(all, 255, 255, loops, gains);
    std::vector<std::uint8_t> out(pixels.size());
    loops.saturate_rgb(gains, Stores::cached, rgb_layout(PixelFormat::rgb), pixels.data(), n,
                       out.data());
    EXPECT_EQ(out, expected) << loops.target;
  }
}

TEST(Saturation, LeastAndMostOfSteppedWordsByEveryTarget) {
  std::uint32_t random = 5;
  for (std::int32_t n = 1; n <= 256; ++n) {
    random = random * 1664525 + 1013904223;
    const std::uint32_t at = random;
    random = random * 1664525 + 1013904223;
    const WordRange wanted = scalar_fused_rows().word_range(at, random, n);
    for (const FusedRows& loops : all_fused_rows()) {
      const WordRange range = loops.word_range(at, random, n);
      EXPECT_EQ(range.least, wanted.least) << n << " by " << loops.target;
      EXPECT_EQ(range.most, wanted.most) << n << " by " << loops.target;
    }
  }
}

/// Pale pixels, and here and there strong ones, where S comes to 1 and other loops take over: into
/// other rows and into the same ones, by every target.
TEST(Saturation, RowsWithAFewStrongColoursInEveryPlace) {
  constexpr std::size_t kWidth = 2000;
  ValueHistogram all;
  all.fill(1);
  const CurveTable curve = shaped_curve("root", 255);
  for (const PixelFormat format : {PixelFormat::bgr, PixelFormat::bgrx, PixelFormat::xrgb}) {
    const RgbLayout at = rgb_layout(format);
    const auto step = static_cast<std::size_t>(at.step);
    alignas(64) std::array<std::uint8_t, 4 * kWidth> pixels{};
    for (std::size_t x = 0; x < kWidth; ++x) {
      for (std::size_t b = 0; b < step; ++b)
        pixels[step * x + b] = static_cast<std::uint8_t>(90 + x % 120 + (7 * x + 11 * b) % 9);
      if (x % 333 == 300) pixels[step * x + static_cast<std::size_t>(at.g)] = 3;
    }
    for (const int factor : {128, 320, 512, -1}) {
      SaturatedGains gains;
      make_saturated({}, curve, 255, gains);
      set_factors(gains, factor);
      alignas(64) std::array<std::uint8_t, 4 * kWidth> expected{};
      saturate_rgb(gains, at, pixels.data(), kWidth, expected.data());
      for (const FusedRows& loops : all_fused_rows()) {
        make_vectors(all, 255, 255, loops, gains);
        make_words(all, at.step, loops, gains);
        for (const Stores stores : {Stores::cached, Stores::streaming}) {
          alignas(64) std::array<std::uint8_t, 4 * kWidth> out{};
          loops.saturate_rgb(gains, stores, at, pixels.data(), kWidth, out.data());
          loops.flush_stores();
          EXPECT_EQ(out, expected)
              << to_string(format) << " times " << factor << " by " << loops.target;
        }
        alignas(64) std::array<std::uint8_t, 4 * kWidth> same = pixels;
        loops.saturate_rgb(gains, Stores::cached, at, same.data(), kWidth, same.data());
        EXPECT_EQ(same, expected) << to_string(format) << " times " << factor << " in place by "
                                  << loops.target;
      }
    }
  }
}

/// Levels with a k each, a vector of pixels at a time: all that S = 1 leaves alone, and among pale
/// ones a single one of each level that is just at S = 1 or just past it, by every target.
TEST(Saturation, VectorsWithAPixelAtTheLimit) {
  constexpr std::size_t kSpan = 64;
  ValueHistogram all;
  all.fill(1);
  for (const char* shape : {"identity", "half", "root", "veil", "steep"}) {
    SaturatedGains gains;
    make_saturated({}, shaped_curve(shape, 255), 255, gains);
    set_factors(gains, -1);
    // The three channels of pixels, vector after vector.
    std::vector<std::array<int, 3>> pixels;
    const auto free_of = [&](int v) {
      const int k = gains.factors[static_cast<std::size_t>(v)];
      return k <= 256 ? v : 256 * v / k;
    };
    for (int v = 0; v < 256; ++v) {
      for (int below = 0; below <= free_of(v); below += below + 5 < free_of(v) ? 5 : 1)
        pixels.push_back({v, v - below / 3, v - below});
    }
    while (pixels.size() % kSpan != 0)
      pixels.push_back({9, 9, 9});
    for (int v = 1; v < 256; ++v) {
      for (int past = 0; past < 2; ++past) {
        const int below = std::min(free_of(v) + past, v);
        for (std::size_t i = 0; i < kSpan; ++i) {
          const bool here = i == static_cast<std::size_t>(37 * v) % kSpan;
          pixels.push_back(here ? std::array{v, v - below / 2, v - below} : std::array{v, v, v});
        }
      }
    }
    for (const PixelFormat format : {PixelFormat::bgr, PixelFormat::bgrx, PixelFormat::xrgb}) {
      const RgbLayout at = rgb_layout(format);
      const auto step = static_cast<std::size_t>(at.step);
      std::vector<std::uint8_t> in(step * pixels.size(), 77);
      for (std::size_t i = 0; i < pixels.size(); ++i) {
        for (std::size_t c = 0; c < 3; ++c)
          in[step * i + static_cast<std::size_t>(at.first()) + (c + i) % 3] =
              static_cast<std::uint8_t>(pixels[i][c]);
      }
      std::vector<std::uint8_t> expected(in.size());
      saturate_rgb(gains, at, in.data(), pixels.size(), expected.data());
      for (const FusedRows& loops : all_fused_rows()) {
        make_vectors(all, 255, 255, loops, gains);
        for (const bool by_words : {false, true}) {
          gains.has_word_lines = false;
          if (by_words) make_word_lines(all, loops, gains);
          EXPECT_EQ(gains.has_word_lines, by_words && loops.word_lines != WordLines::never);
          std::vector<std::uint8_t> out(in.size());
          for (std::size_t i = 0; i < in.size(); i += step * kSpan)
            loops.saturate_rgb(gains, Stores::cached, at, in.data() + i, kSpan, out.data() + i);
          EXPECT_EQ(out, expected) << shape << ' ' << to_string(format) << " by " << loops.target;
        }
      }
    }
  }
}

using CodeRows = std::array<std::vector<std::uint8_t>, 4>;

/// Two rows of luma, one of Cb and one of Cr: code(luma, column, random number) of each sample.
template <typename Code>
CodeRows drawn_rows(std::size_t width, std::uint32_t seed, Code code) {
  CodeRows rows;
  std::uint32_t state = seed;
  for (auto& row : rows) {
    for (std::size_t i = 0; i < width; ++i) {
      state = state * 1664525 + 1013904223;
      row.push_back(static_cast<std::uint8_t>(code(&row < &rows[2], i, std::size_t{state})));
    }
  }
  return rows;
}

/// All codes; much of it near gray, where S does not come to 1.
CodeRows rows_of_all_kinds(std::size_t width) {
  return drawn_rows(width, 7, [](bool luma, std::size_t i, std::size_t random) {
    return luma || i % 3 == 0 ? random >> 24 : 120 + random % 17;
  });
}

/// As in pictures: colours that grow from pale to strong along the row, dark and light in turns,
/// and black in which nothing else is.
CodeRows rows_like_pictures(std::size_t width) {
  return drawn_rows(width, 11, [](bool luma, std::size_t i, std::size_t random) {
    const std::size_t noise = random >> 24;
    const std::size_t strongest = 1 + i / 16;
    const bool black = i / 128 % 5 == 4;
    if (luma) return black ? noise % 17 : 16 + i / 64 * 41 % 170 + noise % 30;
    return 128 + noise % (2 * strongest + 1) - strongest;
  });
}

/// Stretches of columns with one thing in them each: luma about black and about white, some of it
/// past them, colours that are pale, strong, and stronger than RGB has them, in dark, middle and
/// light.
CodeRows rows_at_borders(std::size_t width) {
  struct Kind {
    std::size_t luma, spread, strongest;
  };
  static constexpr std::array<Kind, 10> kKinds{{{8, 18, 6},
                                                {14, 8, 0},
                                                {16, 24, 40},
                                                {0, 12, 127},
                                                {60, 60, 50},
                                                {90, 110, 4},
                                                {222, 16, 12},
                                                {234, 22, 3},
                                                {200, 56, 60},
                                                {180, 60, 20}}};
  return drawn_rows(width, 5, [](bool luma, std::size_t i, std::size_t random) {
    const std::size_t noise = random >> 16;
    const Kind& kind = kKinds[i / 96 % kKinds.size()];
    return luma ? kind.luma + noise % kind.spread
                : 128 + noise % (2 * kind.strongest + 1) - kind.strongest;
  });
}

/// Luma about black under colours that lift every v above that of black.
CodeRows rows_below_black(std::size_t width) {
  return drawn_rows(width, 13, [](bool luma, std::size_t i, std::size_t random) {
    const std::size_t noise = random >> 16;
    const bool dark = i / 32 % 3 == 0;
    if (luma) return (dark ? 14 : 30) + noise % 5;
    return 120 + noise % 3;
  });
}

/// Pale and strong colours, with neither black nor white among their values.
CodeRows rows_in_the_middle(std::size_t width) {
  return drawn_rows(width, 3, [](bool luma, std::size_t i, std::size_t random) {
    const std::size_t noise = random >> 16;
    const std::size_t strongest = 1 + i / 64 * 7 % 40;
    return luma ? 50 + i / 160 * 29 % 90 + noise % 12
                : 128 + noise % (2 * strongest + 1) - strongest;
  });
}

constexpr std::uint32_t kLevelWithoutAGain = 115;

/// The loops of a target, by which no level is sure to be exact before all its results are
/// compared.
FusedRows unsure(FusedRows loops) {
  loops.word_range = [](std::uint32_t, std::uint32_t, std::int32_t) {
    return WordRange{0, 0xFFFFFFFF};
  };
  return loops;
}

/// Fractional parts of results tell of most levels that the nearest floats are exact; the tables
/// are those of a comparison of all results.
TEST(Saturation, LevelsThatAreSurelyExactAreExact) {
  ValueHistogram all;
  all.fill(1);
  for (const char* shape : {"identity", "half", "root", "veil", "steep"}) {
    for (const int factor : {0, 64, 95, 128, 192, 320, 384, 512, 640, 768, 1024, -1}) {
      SaturatedGains gains;
      make_saturated({}, shaped_curve(shape, 255), 255, gains);
      set_factors(gains, factor);
      SaturatedGains compared = gains;
      make_vectors(all, 255, 255, unsure(scalar_fused_rows()), compared);
      for (const FusedRows& loops : all_fused_rows()) {
        SCOPED_TRACE(std::string(loops.target) + " " + shape + " " + std::to_string(factor));
        make_vectors(all, 255, 255, loops, gains);
        EXPECT_EQ(gains.uniform, compared.uniform);
        EXPECT_EQ(gains.undone, compared.undone);
        EXPECT_EQ(gains.close, compared.close);
        EXPECT_EQ(gains.gain_bits, compared.gain_bits);
        EXPECT_EQ(gains.lines, compared.lines);
      }
    }
  }
}

/// Pixels of a level of `curve` that has no gain, and of others.
void expect_plain_rows_beside_a_level(const CurveTable& curve, bool has_line) {
  constexpr std::uint32_t kLevel = kLevelWithoutAGain;
  SaturatedGains gains;
  make_saturated({}, curve, 255, gains);
  set_factors(gains, 17);
  ValueHistogram all;
  all.fill(1);
  constexpr std::size_t kPixels = 512;
  std::vector<std::uint8_t> pixels;
  for (std::size_t i = 0; i < 3 * kPixels; ++i)
    pixels.push_back(static_cast<std::uint8_t>(i / 3 % 5 == 0 ? kLevel - i % 3 * 20 : 7 * i % 110));
  std::vector<std::uint8_t> expected(pixels.size());
  const RgbLayout at = rgb_layout(PixelFormat::bgr);
  saturate_rgb(gains, at, pixels.data(), kPixels, expected.data());
  GainTables plain;
  make_gain48(curve, 255, plain);
  const YuvWeights weights = yuv_weights(ColorMatrix::bt709, ColorRange::full);
  const std::vector<std::uint8_t> gray(kPixels, 128);
  const YuvRowIn in{{pixels.data(), pixels.data() + kPixels}, gray.data(), gray.data()};
  CodeRows expected_rows;
  expected_rows.fill(std::vector<std::uint8_t>(kPixels));
  const auto to = [](CodeRows& rows) {
    return YuvRowOut{{rows[0].data(), rows[1].data()}, rows[2].data(), rows[3].data()};
  };
  saturate_yuv(gains, plain.gain48.data(), Sampling::s420, weights, in, kPixels, to(expected_rows));
  for (FusedRows loops : all_fused_rows()) {
    loops = unsure(loops);
    if (has_line) {
      loops.saturates_exactly = [](const SaturatedLevel& level) {
        const bool gain = level.low.step != level.high.step;
        return (level.v != kLevelWithoutAGain || !gain) &&
               scalar_fused_rows().saturates_exactly(level);
      };
    }
    make_vectors(all, 255, 255, loops, gains);
    EXPECT_FALSE(gains.uniform);
    EXPECT_EQ(gains.undone, !has_line);
    std::vector<std::uint8_t> out(pixels.size());
    loops.saturate_rgb(gains, Stores::cached, at, pixels.data(), kPixels, out.data());
    EXPECT_EQ(out, expected) << loops.target;
    CodeRows rows;
    rows.fill(std::vector<std::uint8_t>(kPixels));
    loops.saturate_yuv(gains, plain.gain48.data(), Sampling::s420, weights, Stores::cached, in,
                       kPixels, to(rows));
    EXPECT_EQ(rows, expected_rows) << loops.target;
  }
}

/// A level whose products no gain of single precision rounds as the exact one, nor a value and a
/// slope, is redone, and pixels beside it are not touched by that.
TEST(Saturation, LevelsWithoutAGainLeaveTheirNeighboursAlone) {
  CurveTable curve = shaped_curve("identity", 255);
  curve[kLevelWithoutAGain] = 500929806;
  expect_plain_rows_beside_a_level(curve, false);
}

/// Without a gain, but with a value and a slope, it is not: all levels are taken by those.
TEST(Saturation, LevelsWithoutAGainMayHaveALine) {
  expect_plain_rows_beside_a_level(shaped_curve("root", 255), true);
}

/// Luma and chroma of all kinds, those that no RGB has too, by every target.
TEST(Saturation, VectorsEqualThePlainRowsInYcbcr) {
  constexpr std::size_t kWidth = 1021;
  constexpr std::size_t kMiddle = 3;  // from here on without black and white
  const std::array<CodeRows, 5> pictures{rows_of_all_kinds(kWidth), rows_like_pictures(kWidth),
                                         rows_at_borders(kWidth), rows_in_the_middle(kWidth),
                                         rows_below_black(kWidth)};
  ValueHistogram all;
  all.fill(1);
  for (const ColorRange range : {ColorRange::limited, ColorRange::full}) {
    const YuvWeights weights = yuv_weights(ColorMatrix::bt709, range);
    for (const char* shape : {"identity", "half", "root", "veil", "steep"}) {
      const CurveTable curve = shaped_curve(shape, weights.luma_max);
      for (const int factor : {0, 64, 95, 128, 192, 320, 384, 512, 640, 768, 1024, -1}) {
        SaturatedGains gains;
        make_saturated({}, curve, weights.luma_max, gains);
        set_factors(gains, factor);
        GainTables plain;
        make_gains(all, curve, weights.luma_max, 255 - weights.luma_offset, scalar_fused_rows(),
                   plain);
        for (std::size_t p = 0; p < pictures.size(); ++p) {
          const CodeRows& rows = pictures[p];
          const YuvRowIn in{{rows[0].data(), rows[1].data()}, rows[2].data(), rows[3].data()};
          for (const Sampling sampling : {Sampling::s420, Sampling::s422, Sampling::s444}) {
            const auto result_of = [&](const auto& run) {
              CodeRows out;
              out.fill(std::vector<std::uint8_t>(kWidth));
              run({{out[0].data(), out[1].data()}, out[2].data(), out[3].data()});
              return out;
            };
            const auto expected = result_of([&](const YuvRowOut& out) {
              saturate_yuv(gains, plain.gain48.data(), sampling, weights, in, kWidth, out);
            });
            ValueHistogram present = all;
            if (p >= kMiddle) present[0] = present[static_cast<std::size_t>(weights.luma_max)] = 0;
            for (const FusedRows& loops : all_fused_rows()) {
              make_vectors(present, weights.luma_max, 255 - weights.luma_offset, loops, gains);
              EXPECT_EQ(gains.ends, p < kMiddle);
              EXPECT_EQ(result_of([&](const YuvRowOut& out) {
                          loops.saturate_yuv(gains, plain.gain48.data(), sampling, weights,
                                             Stores::cached, in, kWidth, out);
                        }),
                        expected)
                  << shape << " times " << factor << " of picture " << p << " by " << loops.target;
            }
          }
        }
      }
    }
  }
}

/// Every luma under colours all over the plane, and every v with them, by every target.
TEST(Saturation, VectorsEqualThePlainRowsForEveryLuma) {
  constexpr int kStep = 11;
  CodeRows rows;
  for (int cb = 1; cb < 256; cb += kStep) {
    for (int cr = 3; cr < 256; cr += kStep) {
      // Two neighbours share a chroma sample in 4:2:2.
      for (int luma = 0; luma < 256; ++luma) {
        rows[0].push_back(static_cast<std::uint8_t>(luma));
        rows[1].push_back(static_cast<std::uint8_t>(255 - luma));
        rows[2].push_back(static_cast<std::uint8_t>(cb));
        rows[3].push_back(static_cast<std::uint8_t>(cr));
      }
    }
  }
  const std::size_t width = rows[0].size();
  const YuvRowIn in{{rows[0].data(), rows[1].data()}, rows[2].data(), rows[3].data()};
  ValueHistogram all;
  all.fill(1);
  test::EveryNth fourth(4);
  for (const ColorRange range : {ColorRange::limited, ColorRange::full}) {
    for (const ColorMatrix matrix : {ColorMatrix::bt601, ColorMatrix::bt2020}) {
      const YuvWeights weights = yuv_weights(matrix, range);
      for (const char* shape : {"identity", "root", "veil"}) {
        for (const int factor : {128, 320, 512, 1024, -1}) {
          if (fourth.skips()) continue;
          const CurveTable curve = shaped_curve(shape, weights.luma_max);
          SaturatedGains gains;
          make_saturated({}, curve, weights.luma_max, gains);
          set_factors(gains, factor);
          GainTables plain;
          make_gain48(curve, weights.luma_max, plain);
          CodeRows expected;
          expected.fill(std::vector<std::uint8_t>(width));
          CodeRows out = expected;
          saturate_yuv(gains, plain.gain48.data(), Sampling::s422, weights, in, width,
                       {{expected[0].data(), nullptr}, expected[2].data(), expected[3].data()});
          for (const FusedRows& loops : all_fused_rows()) {
            make_vectors(all, weights.luma_max, 255 - weights.luma_offset, loops, gains);
            loops.saturate_yuv(gains, plain.gain48.data(), Sampling::s422, weights, Stores::cached,
                               in, width, {{out[0].data(), nullptr}, out[2].data(), out[3].data()});
            EXPECT_EQ(out, expected) << shape << " times " << factor << " by " << loops.target;
          }
        }
      }
    }
  }
}

/// Changes two rows by the plain loops and by every target, and expects the same codes. `present`
/// are the values that the frame has.
void expect_every_target_alike(const CodeRows& rows, const YuvWeights& weights, int factor,
                               const ValueHistogram& present,
                               std::initializer_list<Sampling> samplings) {
  const std::size_t width = rows[0].size();
  const YuvRowIn in{{rows[0].data(), rows[1].data()}, rows[2].data(), rows[3].data()};
  const CurveTable curve = shaped_curve("root", weights.luma_max);
  SaturatedGains gains;
  make_saturated({}, curve, weights.luma_max, gains);
  set_factors(gains, factor);
  GainTables plain;
  make_gain48(curve, weights.luma_max, plain);
  const bool ends = present[0] != 0 || present[static_cast<std::size_t>(weights.luma_max)] != 0;
  for (const Sampling sampling : samplings) {
    CodeRows expected;
    for (std::size_t i = 0; i < rows.size(); ++i)
      expected[i].resize(rows[i].size());
    CodeRows out = expected;
    const auto to = [](CodeRows& to_rows) {
      return YuvRowOut{
          {to_rows[0].data(), to_rows[1].data()}, to_rows[2].data(), to_rows[3].data()};
    };
    saturate_yuv(gains, plain.gain48.data(), sampling, weights, in, width, to(expected));
    for (const FusedRows& loops : all_fused_rows()) {
      make_vectors(present, weights.luma_max, 255 - weights.luma_offset, loops, gains);
      ASSERT_EQ(gains.ends, ends);
      loops.saturate_yuv(gains, plain.gain48.data(), sampling, weights, Stores::cached, in, width,
                         to(out));
      EXPECT_TRUE(out == expected) << "times " << factor << " by " << loops.target;
    }
  }
}

/// All colours of every matrix and range, under one luma of their neighbourhood each, by every
/// target: what is computed of a colour alone, also by products of 16 bits, is right.
TEST(Saturation, VectorsEqualThePlainRowsForEveryColour) {
  ValueHistogram all;
  all.fill(1);
  test::EveryNth fourth(4);
  for (const ColorMatrix matrix : {ColorMatrix::bt601, ColorMatrix::bt709, ColorMatrix::bt2020}) {
    for (const ColorRange range : {ColorRange::limited, ColorRange::full}) {
      const YuvWeights weights = yuv_weights(matrix, range);
      CodeRows rows;
      for (int cb = 0; cb < 256; ++cb) {
        for (int cr = 0; cr < 256; ++cr) {
          rows[2].push_back(static_cast<std::uint8_t>(cb));
          rows[3].push_back(static_cast<std::uint8_t>(cr));
          for (int x = 0; x < 2; ++x) {
            rows[0].push_back(
                static_cast<std::uint8_t>(16 + (cb / 8 * 7 + cr / 16 * 13) % 160 + x));
            rows[1].push_back(rows[0].back());
          }
        }
      }
      for (const int factor : {320, 512, -1}) {
        if (fourth.skips()) continue;
        expect_every_target_alike(rows, weights, factor, all, {Sampling::s420, Sampling::s422});
      }
    }
  }
}

/// Whole vectors of one colour each whose luma is below black and whose v is not, without black and
/// white anywhere, by every target.
TEST(Saturation, VectorsOfOneColourBelowBlack) {
  constexpr std::size_t kColumns = 64;
  ValueHistogram present;
  present.fill(1);
  const YuvWeights weights = yuv_weights(ColorMatrix::bt601, ColorRange::limited);
  present[0] = present[static_cast<std::size_t>(weights.luma_max)] = 0;
  test::EveryNth fifth(5);
  CodeRows rows;
  for (int cb = 0; cb < 256; ++cb) {
    for (int cr = 0; cr < 256; ++cr) {
      const int above = value_above_luma(weights, cb, cr);
      const int luma = weights.luma_offset - 1 - (cb + cr) % 3;
      const int v = luma - weights.luma_offset + above;
      if (v < 1 || v >= weights.luma_max) continue;
      // All of the weakest colours, and a third of the others.
      if (above > 8 && (cb + 2 * cr) % 3 != 0) continue;
      if (fifth.skips()) continue;
      for (std::size_t x = 0; x < kColumns; ++x) {
        rows[0].push_back(static_cast<std::uint8_t>(luma));
        rows[1].push_back(static_cast<std::uint8_t>(luma));
        rows[2].push_back(static_cast<std::uint8_t>(cb));
        rows[3].push_back(static_cast<std::uint8_t>(cr));
      }
    }
  }
  ASSERT_GT(rows[0].size(), 100 * kColumns);
  for (const int factor : {128, 320, 1024, -1}) {
    expect_every_target_alike(rows, weights, factor, present,
                              {Sampling::s420, Sampling::s422, Sampling::s444});
  }
}

/// Whole vectors of one strong colour each whose v is just that of white or a little less, by every
/// target. The least of their channels may lie more than a byte below.
TEST(Saturation, VectorsOfStrongColoursAboutWhite) {
  constexpr int kStep = 9;
  constexpr std::size_t kColumns = 64;
  ValueHistogram all;
  all.fill(1);
  for (const ColorRange range : {ColorRange::limited, ColorRange::full}) {
    const YuvWeights weights = yuv_weights(ColorMatrix::bt709, range);
    CodeRows rows;
    for (int cb = 4; cb < 256; cb += kStep) {
      for (int cr = 4; cr < 256; cr += kStep) {
        const int above = value_above_luma(weights, cb, cr);
        const int luma =
            weights.luma_offset + std::max(weights.luma_max - above - (cb + cr) / kStep % 3, 0);
        for (std::size_t x = 0; x < kColumns; ++x) {
          rows[0].push_back(static_cast<std::uint8_t>(luma));
          rows[1].push_back(static_cast<std::uint8_t>(luma));
          rows[2].push_back(static_cast<std::uint8_t>(cb));
          rows[3].push_back(static_cast<std::uint8_t>(cr));
        }
      }
    }
    for (const int factor : {320, 1024, -1}) {
      expect_every_target_alike(rows, weights, factor, all,
                                {Sampling::s420, Sampling::s422, Sampling::s444});
    }
  }
}

/// A level that has no gain in single precision is redone, the grey pixels too: here none has one.
TEST(Saturation, LevelsWithoutAGainAreRedone) {
  ValueHistogram all;
  all.fill(1);
  std::vector<std::uint8_t> pixels;
  for (int i = 0; i < 3 * 1024; ++i)
    pixels.push_back(static_cast<std::uint8_t>(i / 12 + (i % 12 < 6 ? 0 : i % 5)));
  SaturatedGains gains;
  make_saturated({384, saturation::kOne}, shaped_curve("root", 255), 255, gains);
  const RgbLayout at = rgb_layout(PixelFormat::bgr);
  std::vector<std::uint8_t> expected(pixels.size());
  saturate_rgb(gains, at, pixels.data(), pixels.size() / 3, expected.data());
  for (FusedRows loops : all_fused_rows()) {
    loops.saturates_exactly = [](const SaturatedLevel&) { return false; };
    make_vectors(all, 255, 255, loops, gains);
    std::vector<std::uint8_t> out(pixels.size());
    loops.saturate_rgb(gains, Stores::cached, at, pixels.data(), pixels.size() / 3, out.data());
    EXPECT_EQ(out, expected) << loops.target;
  }
}

/// Where every odd chroma sample lies on a half and none is redone: no limit serves. White alone
/// has such a gain in the second curve.
TEST(Saturation, HalvesOfChromaGoUp) {
  constexpr std::size_t kWidth = 512;
  const YuvWeights weights = yuv_weights(ColorMatrix::bt709, ColorRange::full);
  std::array<std::vector<std::uint8_t>, 4> rows;
  for (std::size_t i = 0; i < kWidth; ++i) {
    rows[0].push_back(static_cast<std::uint8_t>(i % 3 == 0 ? 255 : 150 + i % 90));
    rows[1].push_back(static_cast<std::uint8_t>(i % 5 == 0 ? 255 : 160 + i % 80));
    rows[2].push_back(static_cast<std::uint8_t>(120 + i % 17));
    rows[3].push_back(static_cast<std::uint8_t>(121 + i % 15));
  }
  const YuvRowIn in{{rows[0].data(), rows[1].data()}, rows[2].data(), rows[3].data()};
  ValueHistogram all;
  all.fill(1);
  for (const char* shape : {"identity", "root"}) {
    const CurveTable curve = shaped_curve(shape, 255);
    SaturatedGains gains;
    make_saturated({384, saturation::kOne}, curve, 255, gains);
    GainTables plain;
    make_gains(all, curve, 255, 255, scalar_fused_rows(), plain);
    for (const FusedRows& loops : all_fused_rows()) {
      make_vectors(all, 255, 255, loops, gains);
      EXPECT_EQ(gains.exact, std::string_view(shape) == "identity");
      EXPECT_EQ(gains.inexact[255], 0);
      for (const Sampling sampling : {Sampling::s420, Sampling::s422, Sampling::s444}) {
        std::array<std::vector<std::uint8_t>, 4> wanted;
        wanted.fill(std::vector<std::uint8_t>(kWidth));
        std::array<std::vector<std::uint8_t>, 4> out = wanted;
        saturate_yuv(gains, plain.gain48.data(), sampling, weights, in, kWidth,
                     {{wanted[0].data(), wanted[1].data()}, wanted[2].data(), wanted[3].data()});
        loops.saturate_yuv(gains, plain.gain48.data(), sampling, weights, Stores::cached, in,
                           kWidth, {{out[0].data(), out[1].data()}, out[2].data(), out[3].data()});
        EXPECT_EQ(out, wanted) << shape << " by " << loops.target;
      }
    }
  }
}

TEST(Saturation, GrayHasNoneAndThatIsSaid) {
  std::vector<std::string> said;
  logger().send_to([&said](LogLevel, std::string_view line) { said.emplace_back(line); });
  for (const PixelFormat format : {PixelFormat::gray8, PixelFormat::gray16_le}) {
    const ImageDesc desc{format, 64, 32};
    Image in(desc);
    test::fill(in.view(), test::Content::natural, 2);
    std::array<Image, 2> out{Image(desc), Image(desc)};
    for (std::size_t i = 0; i < 2; ++i) {
      const auto filter = make_cpu_filter(shaped(i == 0 ? 1 : 3, true), {1});
      filter->configure(desc);
      FrameContext context;
      filter->submit(in.view(), out[i].view(), context);
    }
    EXPECT_EQ(test::count_differences(out[0].view(), out[1].view()), 0U);
  }
  logger().send_to(nullptr);
  EXPECT_THAT(said, ::testing::ElementsAre(
                        "saturation 3 changes nothing: frames of gray8 have no colour",
                        "saturation 3 changes nothing: frames of gray16_le have no colour"));
}

/// One stream of moving pictures.
struct ColourStream {
  explicit ColourStream(const EqualizeParams& params)
      : filter(make_cpu_filter(params, {1})), in(kDesc), out(kDesc) {
    filter->configure(kDesc);
  }
  Image& step(int number) {
    test::fill_moving(in.view(), number);
    FrameContext context = test::moving_context(number);
    filter->submit(in.view(), out.view(), context);
    return out;
  }
  static constexpr ImageDesc kDesc{PixelFormat::i420, 96, 64};
  std::unique_ptr<Filter> filter;
  Image in;
  Image out;
};

EqualizeParams over_time(double saturation) {
  EqualizeParams params = shaped(saturation, true);
  params.temporal_ms = 400;
  return params;
}

TEST(Saturation, ChangesAreEasedIn) {
  ColourStream from_the_start(over_time(3));
  ColourStream changed(over_time(1));
  ColourStream never(over_time(1));
  for (int number = 0; number < 60; ++number) {
    if (number == 20) {
      ASSERT_TRUE(changed.filter->update({{"saturation", "3"}}));
    }
    from_the_start.step(number);
    changed.step(number);
    never.step(number);
    const std::size_t to_old = test::count_differences(changed.out.view(), never.out.view());
    const std::size_t to_new =
        test::count_differences(changed.out.view(), from_the_start.out.view());
    if (number < 20) {
      EXPECT_EQ(to_old, 0U) << number;
    }
    if (number == 21) {
      EXPECT_NE(to_old, 0U);
      EXPECT_NE(to_new, 0U);
    }
    if (number > 55) {
      EXPECT_EQ(to_new, 0U) << number;
    }
  }
}

TEST(Saturation, IsPartOfTheState) {
  ColourStream stream(over_time(1));
  for (int number = 0; number < 8; ++number)
    stream.step(number);
  // On its way from 1 to 3.
  ASSERT_TRUE(stream.filter->update({{"saturation", "3"}}));
  stream.step(8);
  ColourStream resumed(over_time(3));
  resumed.filter->load(stream.filter->save());
  for (int number = 9; number < 14; ++number) {
    stream.step(number);
    resumed.step(number);
    ASSERT_EQ(test::count_differences(stream.out.view(), resumed.out.view()), 0U) << number;
  }
}

/// The word has one spelling, and parameters tell it.
TEST(Saturation, AutoIsAWord) {
  EqualizeParams params;
  set_option(params, "saturation", "auto");
  EXPECT_EQ(params.saturation, kAutoSaturation);
  EXPECT_EQ(option_text(params, "saturation"), "auto");
  EXPECT_THROW(set_option(params, "saturation", "-1"), Error);
  EXPECT_THROW(set_option(params, "saturation", "Auto"), Error);
  const Option* option = find_option(equalize_options(), "saturation");
  EXPECT_EQ(option_range(*option), "0 to 4, or auto");
}

/// A straight curve that takes an even veil off takes S back to what it was: k is 1 / (1 - veil's
/// share of v).
TEST(Saturation, AutoUndoesAnEvenVeil) {
  constexpr int kVeil = 100;
  CurveTable curve{};
  for (int v = 0; v < 256; ++v)
    curve[static_cast<std::size_t>(v)] =
        static_cast<std::uint32_t>(std::max(v - kVeil, 0) * 255.0 / (255 - kVeil) * 4194304);
  const saturation::Rule rule{256, 1024};
  for (std::uint32_t v = kVeil + 40; v <= 239; ++v) {
    const double wanted = v / (v - static_cast<double>(kVeil));
    EXPECT_NEAR(saturation::factor_at(rule, curve.data(), v, 255), 256 * wanted, 0.51) << v;
  }
  // Nothing that stays as dark, or gets no contrast, loses colour.
  for (std::uint32_t v = 0; v < kVeil - 16; ++v)
    EXPECT_EQ(saturation::factor_at(rule, curve.data(), v, 255), 256U) << v;
  // A photograph that only lacks light keeps its S.
  for (std::uint32_t v = 0; v < 256; ++v)
    curve[v] = std::min(4 * v, 255U) << 22;
  for (std::uint32_t v = 0; v < 64 - 16; ++v)
    EXPECT_EQ(saturation::factor_at(rule, curve.data(), v, 255), 256U) << v;
}

/// k of a level by steps from level to level and division of whole numbers.
std::uint32_t slow_factor(const saturation::Rule& rule, const CurveTable& curve, std::uint32_t v,
                          std::uint32_t most) {
  std::uint32_t low = v < saturation::kReach ? 0 : v - saturation::kReach;
  std::uint32_t high = std::min(v + saturation::kReach, most);
  while (low < v && curve[low + 1] == 0)
    ++low;
  while (high > v && curve[high - 1] == curve[most])
    --high;
  std::uint64_t contrast = 0;
  if (curve[v] != 0 && curve[high] > curve[low]) {
    const std::uint64_t rise = std::uint64_t{256} * v * (curve[high] - curve[low]);
    const std::uint64_t run = std::uint64_t{high - low} * curve[v];
    contrast = (2 * rise + run) / (2 * run);
  }
  const std::uint64_t gained = std::clamp<std::uint64_t>(contrast, 256, rule.most);
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>((rule.factor * gained + 128) / 256, saturation::kMost));
}

/// Both ways to know a curve's ends, and the quotient in single precision, on curves with any
/// number of black and white levels, steps, and levels next to 0.
TEST(Saturation, AutoIsThatOfItsDefinition) {
  std::mt19937 random(24);
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  for (int number = 0; number < 4000; ++number) {
    const std::uint32_t most = number % 2 == 0 ? 255 : 219;
    const std::uint32_t top = most << 22;
    CurveTable curve{};
    for (std::uint32_t v = 0; v <= most; ++v) {
      const std::uint32_t kind = static_cast<std::uint32_t>(number) % 5;
      curve[v] = kind == 0   ? below(top + 1)
                 : kind == 1 ? below(most + 1) << 22
                 : kind == 2 ? (below(4) == 0 ? below(top + 1) : 0)
                 : kind == 3 ? (below(4) == 0 ? below(top + 1) : top)
                             : below(300);
    }
    std::sort(curve.begin(), curve.begin() + most + 1);
    std::uint32_t blacks = 0;
    std::uint32_t whites = 0;
    for (std::uint32_t v = 0; v <= most; ++v) {
      blacks += curve[v] == 0 ? 1 : 0;
      whites += curve[v] == curve[most] ? 1 : 0;
    }
    const saturation::Ends ends = saturation::ends_of(blacks, whites, most);
    const saturation::Rule rule{number % 3 == 0 ? 256U : 400U, number % 7 == 0 ? 1024U : 4096U};
    for (std::uint32_t v = 0; v <= most; ++v) {
      const std::uint32_t expected = slow_factor(rule, curve, v, most);
      ASSERT_EQ(saturation::factor_at(rule, curve.data(), v, most), expected) << number << ' ' << v;
      ASSERT_EQ(saturation::factor_at(rule, curve.data(), ends, v), expected) << number << ' ' << v;
    }
  }
}

std::string fault_in(const EqualizeParams& params) {
  try {
    validate(params, Backend::cpu);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Saturation, WhatItCannotBeIsSaid) {
  using ::testing::HasSubstr;
  EqualizeParams params;
  params.saturation = 4.1;
  EXPECT_THAT(fault_in(params), HasSubstr("saturation is 4.1, must be 0 to 4, or auto"));
  params.saturation = -2;
  EXPECT_THAT(fault_in(params), HasSubstr("saturation is -2, must be 0 to 4, or auto"));
  params.saturation = 2;
  params.saturation_max = 3;
  EXPECT_THAT(fault_in(params),
              HasSubstr("saturation-max is 3 without saturation auto, must stand with it"));
  params.saturation = kAutoSaturation;
  EXPECT_EQ(fault_in(params), "");
  params.saturation_max = 0.9;
  EXPECT_THAT(fault_in(params), HasSubstr("saturation-max is 0.9, must be 1 to 16"));
  params.saturation_max = 2.5;
  params.chain = Chain::staged;
  EXPECT_THAT(fault_in(params), HasSubstr("chain is staged, must be fused with"));
}

}  // namespace
}  // namespace equalux
