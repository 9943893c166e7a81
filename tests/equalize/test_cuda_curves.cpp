// Curves with limits and over time on a GPU: the same bytes as on the CPU, frame after frame.
#include <random>
#include <string>

#include <equalux/error.h>
#include <equalux/filter.h>
#include <gtest/gtest.h>

#include "tests/equalize/deep/deep_reference.h"
#include "tests/support/backend_pair.h"
#include "tests/support/calm_params.h"
#include "tests/support/device/device_test.h"
#include "tests/support/drawn_params.h"

namespace equalux {
namespace {

using CudaCurves = test::DeviceTest;

using Pair = test::BackendPair<EqualizeParams>;

using test::calm_params;

// Short enough for the sanitizers: every kernel that makes a curve, through cuts, fades and rare
// frames.
TEST_F(CudaCurves, AFewFramesOfEachKernel) {
  EqualizeParams limits = calm_params();
  limits.temporal_ms = limits.brighten_ms = 0;
  EqualizeParams follows = calm_params();
  follows.strength = kAutoStrength;
  follows.min_gain = kAutoMinGain;
  const auto hasty = [](const ImageView& view, int number, std::uint32_t seed) {
    test::fill_moving(view, 9 * number, seed);
  };
  for (const PixelFormat format :
       {PixelFormat::bgr, PixelFormat::nv12, PixelFormat::p010_10le, PixelFormat::rgb48_le}) {
    SCOPED_TRACE(to_string(format));
    Pair(calm_params(), {format, 161, 91}, {1, hasty}).expect_same(16);
    Pair(limits, {format, 161, 91}).expect_same(2);
    Pair(follows, {format, 161, 91}, {1, hasty}).expect_same(8);
  }
  EqualizeParams stretched = calm_params();
  stretched.stretch = 5;
  for (const PixelFormat format : {PixelFormat::nv12, PixelFormat::p010_10le}) {
    SCOPED_TRACE(to_string(format));
    Pair(stretched, {format, 161, 91}, {1, hasty}).expect_same(8);
  }
  for (const Space space : {Space::luma, Space::lightness}) {
    SCOPED_TRACE(enum_name(space));
    EqualizeParams params = calm_params();
    params.space = space;
    Pair(params, {PixelFormat::bgr, 161, 91}, {1, hasty}).expect_same(16);
    params.stretch = 3;
    Pair(params, {PixelFormat::bgr, 161, 91}, {1, hasty}).expect_same(8);
  }
}

TEST_F(CudaCurves, EveryOptionAloneAndTogether) {
  const auto with = [](auto set) {
    EqualizeParams params;
    set(params);
    return params;
  };
  const std::vector<EqualizeParams> all{
      with([](EqualizeParams& p) { p.strength = 0; }),
      with([](EqualizeParams& p) { p.strength = 0.37; }),
      with([](EqualizeParams& p) { p.clip_limit = 1; }),
      with([](EqualizeParams& p) { p.clip_limit = 2.5; }),
      with([](EqualizeParams& p) { p.clip_limit = 255; }),
      with([](EqualizeParams& p) { p.floor = 2; }),
      with([](EqualizeParams& p) { p.ceiling = 90; }),
      with([](EqualizeParams& p) { p.stretch = 1.7; }),
      with([](EqualizeParams& p) { p.stretch = 16; }),
      with([](EqualizeParams& p) {
        p.stretch = 6;
        p.strength = 0.2;
        p.floor = 0.5;
        p.ceiling = 99;
        p.clip_limit = 2;
        p.temporal_ms = 400;
      }),
      with([](EqualizeParams& p) {
        p.stretch = 4;
        p.strength = kAutoStrength;
        p.min_gain = kAutoMinGain;
        p.temporal_ms = 900;
      }),
      with([](EqualizeParams& p) { p.max_gain = 1.5; }),
      with([](EqualizeParams& p) { p.min_gain = 0.9; }),
      with([](EqualizeParams& p) { p.min_gain = kAutoMinGain; }),
      with([](EqualizeParams& p) { p.strength = kAutoStrength; }),
      with([](EqualizeParams& p) { p.temporal_ms = 700; }),
      with([](EqualizeParams& p) { p.temporal_ms = kMaxTemporalMs; }),
      calm_params()};
  for (std::size_t i = 0; i < all.size(); ++i) {
    SCOPED_TRACE(i);
    for (const PixelFormat format : {PixelFormat::bgr, PixelFormat::nv12, PixelFormat::gray8}) {
      Pair(all[i], {format, 161, 91}).expect_same(45);
    }
  }
}

TEST_F(CudaCurves, EveryFormatScalerAndBinCount) {
  for (int f = 0; f < kPixelFormatCount; ++f) {
    const auto format = static_cast<PixelFormat>(f);
    if (traits(format).model == ColorModel::real) continue;
    for (const ColorRange range : {ColorRange::limited, ColorRange::full}) {
      Pair(calm_params(), {format, 131, 67, ColorMatrix::bt601, range}).expect_same(12);
    }
  }
  for (const Scaler scaler : {Scaler::max_abs, Scaler::min_max, Scaler::min_max_nonzero}) {
    for (const int bins : {2, 3, 100, 255, 257, 65536}) {
      SCOPED_TRACE(bins);
      EqualizeParams params = calm_params();
      params.scaler = scaler;
      params.bins = bins;
      Pair(params, {PixelFormat::i420, 131, 67}).expect_same(8);
      params.temporal_ms = params.brighten_ms = 0;
      params.floor = 0;
      Pair(params, {PixelFormat::rgba, 131, 67}).expect_same(8);
    }
  }
}

TEST_F(CudaCurves, RandomOptionsOnRandomStreams) {
  std::mt19937 random(11);
  for (int i = 0; i < 40; ++i) {
    SCOPED_TRACE(i);
    EqualizeParams params = test::drawn_curve(random);
    params.bins = random() % 2 == 0 ? 0 : static_cast<int>(2 + random() % 400);
    params.stretch = random() % 2 == 0 ? 1 : test::drawn_between(random, 1, 16);
    params.temporal_ms = random() % 4 == 0 ? 0 : test::drawn_between(random, 20, 5000);
    if (params.temporal_ms != 0 && random() % 2 != 0)
      params.darken_ms = test::drawn_between(random, 20, 5000);
    const auto format = static_cast<PixelFormat>(random() % 17);
    const int width = 1 + static_cast<int>(random() % 200);
    const int height = 1 + static_cast<int>(random() % 60);
    Pair(params, {format, width, height}, {static_cast<std::uint32_t>(i + 1)}).expect_same(30);
  }
}

TEST_F(CudaCurves, FiveHundredFramesRestoredUpdatedAndReset) {
  Pair pair(calm_params(), {PixelFormat::bgr, 321, 181});
  pair.expect_same(230);
  pair.restore(calm_params());
  pair.expect_same(70);
  EqualizeParams other = calm_params();
  other.strength = 0.4;
  other.clip_limit = 0;
  other.bins = 64;
  pair.update(other);
  pair.expect_same(60);
  other.temporal_ms = other.brighten_ms = 0;
  pair.update(other);
  pair.expect_same(20);
  pair.update(calm_params());
  pair.expect_same(60);
  pair.update({});
  pair.expect_same(10);
  pair.update(calm_params());
  pair.reset();
  pair.expect_same(50);
}

TEST_F(CudaCurves, RandomOptionsOnDeepStreams) {
  std::mt19937 random(23);
  const auto uniform = [&](double least, double most) {
    return std::uniform_real_distribution<>(least, most)(random);
  };
  const std::vector<PixelFormat> formats = test::deep_formats();
  for (int i = 0; i < 40; ++i) {
    SCOPED_TRACE(i);
    EqualizeParams params;
    params.scaler = static_cast<Scaler>(random() % 3);
    params.bins = random() % 2 == 0 ? 0 : static_cast<int>(2 + random() % 2000);
    params.strength = uniform(0, 1);
    params.clip_limit = random() % 3 == 0 ? 0 : uniform(1, 12);
    params.floor = random() % 2 == 0 ? 0 : uniform(0, 40);
    params.ceiling = random() % 2 == 0 ? 100 : uniform(60, 100);
    params.stretch = random() % 2 == 0 ? 1 : uniform(1, 16);
    params.max_gain = random() % 2 == 0 ? 0 : uniform(1, 20);
    params.min_gain = random() % 2 == 0 ? 0 : uniform(0, 1);
    params.temporal_ms = random() % 4 == 0 ? 0 : uniform(20, 5000);
    const PixelFormat format = formats[random() % formats.size()];
    const int width = 1 + static_cast<int>(random() % 200);
    const int height = 1 + static_cast<int>(random() % 60);
    const auto range = random() % 2 == 0 ? ColorRange::limited : ColorRange::full;
    Pair(params, {format, width, height, ColorMatrix::bt709, range},
         {static_cast<std::uint32_t>(i + 1)})
        .expect_same(30);
  }
}

TEST_F(CudaCurves, DeepFramesRestoredUpdatedAndReset) {
  for (const PixelFormat format : {PixelFormat::p010_10le, PixelFormat::rgb48_le}) {
    Pair pair(calm_params(), {format, 321, 181});
    pair.expect_same(130);
    pair.restore(calm_params());
    pair.expect_same(70);
    EqualizeParams other = calm_params();
    other.strength = 0.4;
    other.clip_limit = 0;
    other.bins = 64;
    pair.update(other);
    pair.expect_same(40);
    pair.update({});
    pair.expect_same(10);
    pair.update(calm_params());
    pair.reset();
    pair.expect_same(50);
  }
}

TEST_F(CudaCurves, EverySpaceAndFormat) {
  for (const Space space : {Space::luma, Space::lightness}) {
    EqualizeParams shaped = calm_params();
    shaped.space = space;
    EqualizeParams plain;
    plain.space = space;
    plain.bins = 77;
    for (int f = 0; f < kPixelFormatCount; ++f) {
      const auto format = static_cast<PixelFormat>(f);
      if (!make_cpu_filter(plain, {1})->accepts(format)) continue;
      SCOPED_TRACE(std::string(enum_name(space)) + " " + std::string(to_string(format)));
      for (const ColorRange range : {ColorRange::limited, ColorRange::full}) {
        for (const auto& [width, height] : {std::pair{131, 67}, {64, 40}, {1, 1}, {3, 2}}) {
          Pair(shaped, {format, width, height, ColorMatrix::bt601, range}).expect_same(8);
          Pair(plain, {format, width, height, ColorMatrix::bt709, range}).expect_same(3);
        }
      }
    }
  }
}

TEST_F(CudaCurves, SpacesRestoredUpdatedAndReset) {
  for (const Space space : {Space::luma, Space::lightness}) {
    EqualizeParams params = calm_params();
    params.space = space;
    Pair pair(params, {PixelFormat::bgr, 321, 181});
    pair.expect_same(130);
    pair.restore(params);
    pair.expect_same(50);
    EqualizeParams other = params;
    other.strength = 0.4;
    other.bins = 64;
    pair.update(other);
    pair.expect_same(30);
    pair.reset();
    pair.expect_same(20);
  }
}

}  // namespace
}  // namespace equalux
