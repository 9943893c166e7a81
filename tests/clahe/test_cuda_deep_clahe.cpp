// Adaptive equalization of more than 8 bits on a GPU: the same bytes as on the CPU, frame after
// frame.
#include <random>
#include <string>

#include <equalux/clahe.h>
#include <gtest/gtest.h>

#include "tests/clahe/cuda_tiles.h"
#include "tests/equalize/deep/deep_reference.h"
#include "tests/support/device/device_test.h"
#include "tests/support/media/test_images.h"

namespace equalux {
namespace {

using test::ClahePair;
using test::Content;

using CudaDeepClahe = test::DeviceTest;

TEST_F(CudaDeepClahe, EveryFormatContentAndRange) {
  for (const PixelFormat format : test::deep_formats()) {
    for (const Content content : test::all_contents()) {
      for (const ColorRange range : {ColorRange::limited, ColorRange::full}) {
        const ImageDesc desc{format, 336, 122, ColorMatrix::bt601, range};
        test::expect_same_tiles({}, desc, content, {{0, 0, true}, {0, 0, true}});
      }
    }
  }
}

TEST_F(CudaDeepClahe, EverySizeOffsetStrideAndFieldOrder) {
  const std::vector<std::pair<int, int>> sizes{{1, 1}, {1, 9},   {9, 1},   {2, 2},
                                               {5, 6}, {31, 17}, {65, 10}, {1537, 6}};
  const std::vector<test::FilterLayout> layouts{{{0, 0, true}, {0, 0, true}},
                                                {{1, 3}, {7, 5}},
                                                {{16, 0, true, true}, {32, 0, true, true}},
                                                {{0, 0, true}, {2, 2}}};
  for (const PixelFormat format : test::deep_formats()) {
    for (const auto& [width, height] : sizes) {
      const ImageDesc desc{format, width, height};
      for (std::size_t i = 0; i < layouts.size(); ++i) {
        const FieldOrder order = i % 2 == 0 ? FieldOrder::progressive : FieldOrder::bottom_first;
        test::expect_same_tiles(test::tiles_for(desc, 3, 2), desc, Content::natural, layouts[i],
                                order);
      }
    }
  }
}

TEST_F(CudaDeepClahe, EveryTileCount) {
  for (int x = 1; x <= kMostTiles; ++x) {
    const int y = 1 + (x * 5) % kMostTiles;
    for (const PixelFormat format : {PixelFormat::gray16_le, PixelFormat::bgr48_le,
                                     PixelFormat::p010_10le, PixelFormat::y444_12le}) {
      for (const int width : {640, 643}) {
        const ImageDesc desc{format, width, 119};
        test::expect_same_tiles(test::tiles_for(desc, x, y), desc, Content::natural);
      }
    }
  }
  const ImageDesc tiny{PixelFormat::i420_10le, 33, 31};
  test::expect_same_tiles(test::tiles_for(tiny, 16, 16), tiny, Content::noise);
}

TEST_F(CudaDeepClahe, WithoutLimits) {
  for (const PixelFormat format :
       {PixelFormat::rgb48_le, PixelFormat::gray16_le, PixelFormat::i420_12le}) {
    for (const Scaler scaler : {Scaler::max_abs, Scaler::min_max, Scaler::min_max_nonzero}) {
      const ImageDesc desc{format, 192, 128};
      ClaheParams params = test::tiles_for(desc, 4, 4);
      params.curve.clip_limit = 0;
      params.curve.scaler = scaler;
      for (const Content content : test::all_contents())
        test::expect_same_tiles(params, desc, content);
    }
  }
}

/// Tiles whose counts are split over blocks.
TEST_F(CudaDeepClahe, LargeFrames) {
  for (const PixelFormat format : {PixelFormat::rgb48_le, PixelFormat::p010_10le}) {
    for (const auto& [x, y] : {std::pair{8, 8}, {1, 1}, {16, 16}}) {
      const ImageDesc desc{format, 3840, 2160};
      test::expect_same_tiles(test::tiles_for(desc, x, y), desc, Content::natural);
    }
  }
  const ImageDesc wide{PixelFormat::gray16_le, 65535, 67};
  test::expect_same_tiles(test::tiles_for(wide, 2, 1), wide, Content::noise);
  const ImageDesc high{PixelFormat::bgr48_le, 67, 65535};
  test::expect_same_tiles(test::tiles_for(high, 1, 2), high, Content::noise);
}

TEST_F(CudaDeepClahe, WorksInPlace) {
  for (const PixelFormat format : test::deep_formats()) {
    for (const int offset : {0, 1})
      test::expect_same_in_place({format, 643, 94}, offset);
  }
}

TEST_F(CudaDeepClahe, StreamsSavedRestoredAndReset) {
  for (const PixelFormat format : {PixelFormat::rgb48_le, PixelFormat::p010_10le})
    test::expect_same_stream({format, 321, 181}, 70);
}

TEST_F(CudaDeepClahe, SaturationBehindTiles) {
  for (const PixelFormat format : test::deep_formats())
    test::expect_same_saturated(format);
}

TEST_F(CudaDeepClahe, SaturationOfAnyFactorAndSize) {
  for (const auto& [width, height] : {std::pair{1, 1}, {3, 2}, {131, 45}}) {
    for (const PixelFormat format : test::deep_formats()) {
      for (const double k : {0.0, 1.5, 4.0, kAutoSaturation}) {
        const ImageDesc desc{format, width, height, ColorMatrix::bt2020};
        ClaheParams params = test::tiles_for(desc, 3, 2);
        params.curve.saturation = k;
        if (k == kAutoSaturation) params.curve.saturation_max = 4;
        SCOPED_TRACE("times " + std::to_string(k));
        test::expect_same_tiles(params, desc, Content::noise);
      }
    }
  }
}

TEST_F(CudaDeepClahe, SaturationInPlace) {
  ClaheParams params;
  params.curve.saturation = kAutoSaturation;
  for (const PixelFormat format : test::deep_formats()) {
    for (const int offset : {0, 1})
      test::expect_same_in_place({format, 643, 94}, offset, params);
  }
}

TEST_F(CudaDeepClahe, SaturationOfNumbersInTurn) {
  for (const PixelFormat format : {PixelFormat::rgb48_le, PixelFormat::p010_10le})
    test::expect_same_of_numbers_in_turn({format, 161, 91});
}

TEST_F(CudaDeepClahe, SaturationRestoredUpdatedAndReset) {
  for (const PixelFormat format :
       {PixelFormat::rgb48_le, PixelFormat::p010_10le, PixelFormat::y444_16le})
    test::expect_same_saturated_stream({format, 161, 91});
}

TEST_F(CudaDeepClahe, RandomOptionsOnRandomStreams) {
  std::mt19937 random(17);
  const std::vector<PixelFormat> formats = test::deep_formats();
  for (int i = 0; i < 40; ++i) {
    SCOPED_TRACE(i);
    const PixelFormat format = formats[random() % formats.size()];
    const int width = 1 + static_cast<int>(random() % 300);
    const int height = 1 + static_cast<int>(random() % 60);
    const auto range = static_cast<ColorRange>(random() % 2);
    const ImageDesc desc{format, width, height, ColorMatrix::bt2020, range};
    const ClaheParams params = test::random_tiles(random, desc);
    ClahePair(params, desc, {static_cast<std::uint32_t>(i + 1)}).expect_same(20);
  }
}

}  // namespace
}  // namespace equalux
