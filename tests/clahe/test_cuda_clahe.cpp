// Adaptive equalization on a GPU: the same bytes as on the CPU, frame after frame.
#include <random>
#include <string>

#include <equalux/clahe.h>
#include <gtest/gtest.h>

#include "tests/clahe/cuda_tiles.h"
#include "tests/support/device/device_test.h"
#include "tests/support/media/test_images.h"

namespace equalux {
namespace {

using test::ClahePair;
using test::Content;

using CudaClahe = test::DeviceTest;

TEST_F(CudaClahe, EveryFormatContentAndRange) {
  for (const PixelFormat format : test::byte_formats()) {
    for (const Content content : test::all_contents()) {
      for (const ColorRange range : {ColorRange::limited, ColorRange::full}) {
        const ImageDesc desc{format, 336, 122, ColorMatrix::bt601, range};
        test::expect_same_tiles({}, desc, content, {{0, 0, true}, {0, 0, true}});
      }
    }
  }
}

TEST_F(CudaClahe, EverySizeOffsetStrideAndFieldOrder) {
  const std::vector<std::pair<int, int>> sizes{{1, 1},   {1, 9},    {9, 1},   {2, 2},
                                               {3, 3},   {5, 6},    {31, 17}, {64, 4},
                                               {65, 10}, {513, 11}, {1537, 6}};
  const std::vector<test::FilterLayout> layouts{{{0, 0, true}, {0, 0, true}},
                                                {{0, 48, true}, {0, 16, true}},
                                                {{1, 3}, {7, 5}},
                                                {{16, 0, true, true}, {32, 0, true, true}},
                                                {{0, 0, true}, {3, 1}}};
  for (const PixelFormat format : test::byte_formats()) {
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

TEST_F(CudaClahe, EveryTileCount) {
  for (int x = 1; x <= kMostTiles; ++x) {
    const int y = 1 + (x * 5) % kMostTiles;
    for (const PixelFormat format : {PixelFormat::bgr, PixelFormat::gray8, PixelFormat::xrgb,
                                     PixelFormat::nv12, PixelFormat::uyvy, PixelFormat::y444}) {
      for (const int width : {640, 643}) {
        const ImageDesc desc{format, width, 119};
        test::expect_same_tiles(test::tiles_for(desc, x, y), desc, Content::natural,
                                {{0, 0, true}, {0, 0, true}});
      }
    }
  }
  const ImageDesc tiny{PixelFormat::i420, 33, 31};
  test::expect_same_tiles(test::tiles_for(tiny, 16, 16), tiny, Content::noise);
}

/// Tiles whose pixels are a multiple of 512 have many curve levels on a half.
TEST_F(CudaClahe, WithoutLimits) {
  for (const PixelFormat format : {PixelFormat::bgr, PixelFormat::gray8, PixelFormat::i420}) {
    for (const Scaler scaler : {Scaler::max_abs, Scaler::min_max, Scaler::min_max_nonzero}) {
      const ImageDesc desc{format, 192, 128};
      ClaheParams params = test::tiles_for(desc, 4, 4);
      params.curve.clip_limit = 0;
      params.curve.scaler = scaler;
      for (const Content content : test::all_contents())
        test::expect_same_tiles(params, desc, content, {{0, 0, true}, {0, 0, true}});
    }
  }
}

/// Tiles whose counts are split over blocks, and threads that empty their counters on the way.
TEST_F(CudaClahe, LargeFrames) {
  for (const PixelFormat format : {PixelFormat::bgr, PixelFormat::nv12, PixelFormat::bgra}) {
    for (const auto& [x, y] : {std::pair{8, 8}, {1, 1}, {16, 16}}) {
      const ImageDesc desc{format, 3840, 2160};
      test::expect_same_tiles(test::tiles_for(desc, x, y), desc, Content::natural);
      test::expect_same_tiles(test::tiles_for(desc, x, y), desc, Content::single_bin);
    }
  }
  const ImageDesc wide{PixelFormat::gray8, 65535, 67};
  test::expect_same_tiles(test::tiles_for(wide, 2, 1), wide, Content::noise);
  const ImageDesc high{PixelFormat::bgr, 67, 65535};
  test::expect_same_tiles(test::tiles_for(high, 1, 2), high, Content::noise);
}

/// Lines beyond those that are scaled while curves are still being made.
TEST_F(CudaClahe, MoreLinesThanStartAtOnce) {
  for (const PixelFormat format : {PixelFormat::bgr, PixelFormat::gray8}) {
    for (const auto& [x, y] : {std::pair{2, 3}, {16, 5}}) {
      const ImageDesc desc{format, 68, 4000};
      test::expect_same_tiles(test::tiles_for(desc, x, y), desc, Content::noise,
                              {{0, 0, true}, {0, 0, true}});
    }
  }
}

TEST_F(CudaClahe, WorksInPlace) {
  for (const PixelFormat format : test::byte_formats()) {
    for (const int offset : {0, 1})
      test::expect_same_in_place({format, 1283, 94}, offset);
  }
}

TEST_F(CudaClahe, StreamsSavedRestoredAndReset) {
  for (const PixelFormat format : {PixelFormat::bgr, PixelFormat::nv12})
    test::expect_same_stream({format, 321, 181}, 130);
}

TEST_F(CudaClahe, EveryFormatOverTime) {
  for (const PixelFormat format : test::byte_formats()) {
    for (const ColorRange range : {ColorRange::limited, ColorRange::full})
      ClahePair(test::calm_tiles(), {format, 131, 67, ColorMatrix::bt709, range}).expect_same(12);
  }
}

TEST_F(CudaClahe, SaturationBehindTiles) {
  for (const PixelFormat format : test::byte_formats())
    test::expect_same_saturated(format);
}

TEST_F(CudaClahe, SaturationOfNumbersInTurn) {
  for (const PixelFormat format : {PixelFormat::bgr, PixelFormat::nv12})
    test::expect_same_of_numbers_in_turn({format, 161, 91});
}

TEST_F(CudaClahe, SaturationRestoredUpdatedAndReset) {
  for (const PixelFormat format : {PixelFormat::bgr, PixelFormat::nv12})
    test::expect_same_saturated_stream({format, 161, 91});
}

TEST_F(CudaClahe, RandomOptionsOnRandomStreams) {
  std::mt19937 random(17);
  for (int i = 0; i < 40; ++i) {
    SCOPED_TRACE(i);
    const auto format = static_cast<PixelFormat>(random() % 17);
    const int width = 1 + static_cast<int>(random() % 300);
    const int height = 1 + static_cast<int>(random() % 60);
    const ImageDesc desc{format, width, height};
    const ClaheParams params = test::random_tiles(random, desc);
    ClahePair(params, desc, {static_cast<std::uint32_t>(i + 1)}).expect_same(30);
  }
}

}  // namespace
}  // namespace equalux
