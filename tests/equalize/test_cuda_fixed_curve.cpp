// Curves that are kept, on a GPU: the same sums and the same bytes as on the CPU.
#include <string>

#include <equalux/curve.h>
#include <equalux/filter.h>
#include <gtest/gtest.h>

#include "tests/support/backend_pair.h"
#include "tests/support/device/device_test.h"

namespace equalux {
namespace {

using CudaFixedCurve = test::DeviceTest;

using Pair = test::BackendPair<EqualizeParams>;

EqualizeParams calm() {
  EqualizeParams params;
  params.strength = 0.8;
  params.clip_limit = 3;
  params.max_gain = 6;
  params.floor = 0.5;
  params.temporal_ms = 1000;
  return params;
}

EqualizeParams fixed(const ToneCurve& curve) {
  EqualizeParams params;
  params.space = curve.space;
  params.curve = curve;
  return params;
}

test::PairOptions collecting(std::uint32_t seed) {
  test::PairOptions options;
  options.seed = seed;
  options.collects = true;
  return options;
}

TEST_F(CudaFixedCurve, SumsAndFramesInEveryFormatAndSpace) {
  for (const Space space : {Space::value, Space::luma, Space::lightness}) {
    for (EqualizeParams params : {EqualizeParams{}, calm()}) {
      params.space = space;
      for (int f = 0; f < kPixelFormatCount; ++f) {
        const auto format = static_cast<PixelFormat>(f);
        if (!make_cpu_filter(params, {1})->accepts(format)) continue;
        SCOPED_TRACE(std::string(enum_name(space)) + " " + std::string(to_string(format)));
        for (const ColorRange range : {ColorRange::limited, ColorRange::full}) {
          const ImageDesc desc{format, 131, 67, ColorMatrix::bt601, range};
          Pair own(params, desc, collecting(3));
          own.expect_same(9);
          const CurveSum sum = own.curve_sum();
          EXPECT_EQ(sum.form.frames, 9U);
          Pair(fixed(sum.mean()), desc).expect_same(4);
        }
      }
    }
  }
}

TEST_F(CudaFixedCurve, SumsWithEveryScalerBinCountAndRegion) {
  for (const Scaler scaler : {Scaler::max_abs, Scaler::min_max, Scaler::min_max_nonzero}) {
    for (const int bins : {0, 2, 100, 65536}) {
      SCOPED_TRACE(bins);
      EqualizeParams params;
      params.scaler = scaler;
      params.bins = bins;
      Pair(params, {PixelFormat::i420, 131, 67}, collecting(1)).expect_same(30);
      Pair(params, {PixelFormat::p010_10le, 131, 67}, collecting(2)).expect_same(12);
      params.region = "10%,20%,40%,40%";
      Pair(params, {PixelFormat::bgr, 131, 67}, collecting(4)).expect_same(12);
    }
  }
}

TEST_F(CudaFixedCurve, FitsFramesOfOtherDepthAndRange) {
  for (const ColorRange range : {ColorRange::limited, ColorRange::full}) {
    Pair own(calm(), {PixelFormat::nv12, 96, 64, ColorMatrix::bt709, range}, collecting(5));
    own.expect_same(20);
    const EqualizeParams kept = fixed(own.curve_sum().mean());
    for (int f = 0; f < kPixelFormatCount; ++f) {
      const auto format = static_cast<PixelFormat>(f);
      if (traits(format).model == ColorModel::real) continue;
      SCOPED_TRACE(std::string(to_string(format)));
      for (const ColorRange other : {ColorRange::limited, ColorRange::full}) {
        for (const auto& [width, height] : {std::pair{1, 1}, {3, 2}, {258, 37}}) {
          Pair(kept, {format, width, height, ColorMatrix::bt709, other}).expect_same(2);
        }
      }
    }
  }
}

TEST_F(CudaFixedCurve, ComesAndGoesWhileFramesRun) {
  for (const auto& [format, space] : {std::pair{PixelFormat::bgr, Space::value},
                                      {PixelFormat::nv12, Space::value},
                                      {PixelFormat::p010_10le, Space::value},
                                      {PixelFormat::rgb48_le, Space::value},
                                      {PixelFormat::bgr, Space::lightness}}) {
    EqualizeParams own = calm();
    own.space = space;
    Pair pair(own, {format, 161, 90}, collecting(6));
    pair.expect_same(12);
    const EqualizeParams kept = fixed(pair.curve_sum().mean());
    pair.update(kept);
    pair.expect_same(8);
    pair.update(own);
    pair.expect_same(12);
    EqualizeParams plain;
    plain.space = space;
    pair.update(plain);
    pair.expect_same(5);
    pair.update(kept);
    pair.reset();
    pair.expect_same(3);
  }
}

}  // namespace
}  // namespace equalux
