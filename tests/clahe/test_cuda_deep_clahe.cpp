// Adaptive equalization of more than 8 bits on a GPU: the same bytes as on the CPU, frame after
// frame.
#include <random>
#include <string>

#include <equalux/clahe.h>
#include <gtest/gtest.h>

#include "src/clahe/tile_grid.h"
#include "tests/equalize/deep/deep_reference.h"
#include "tests/support/backend_pair.h"
#include "tests/support/calm_params.h"
#include "tests/support/device/device_filter.h"
#include "tests/support/device/device_image.h"
#include "tests/support/device/device_test.h"
#include "tests/support/test_images.h"

namespace equalux {
namespace {

using test::Content;
using test::DeviceImage;

using CudaDeepClahe = test::DeviceTest;

/// Parameters with so many tiles, or as many as the frame has cells for.
ClaheParams some_tiles(int x, int y, const ImageDesc& desc) {
  const CellCount cells = cells_of(desc);
  ClaheParams params;
  params.tiles_x = std::min(x, cells.columns);
  params.tiles_y = std::min(y, cells.rows);
  return params;
}

void expect_same_deep(const ClaheParams& params, const ImageDesc& desc, Content content,
                      const test::FilterLayout& layout = {},
                      FieldOrder order = FieldOrder::progressive) {
  SCOPED_TRACE("tiles " + std::to_string(params.tiles_x) + "," + std::to_string(params.tiles_y));
  const auto cpu = make_cpu_filter(params, {1});
  const auto cuda = make_cuda_filter(params);
  test::expect_same_frames(*cpu, *cuda, desc, content, layout, 3, order);
}

TEST_F(CudaDeepClahe, EveryFormatContentAndRange) {
  for (const PixelFormat format : test::deep_formats()) {
    for (const Content content : test::all_contents()) {
      for (const ColorRange range : {ColorRange::limited, ColorRange::full}) {
        const ImageDesc desc{format, 336, 122, ColorMatrix::bt601, range};
        expect_same_deep({}, desc, content, {{0, 0, true}, {0, 0, true}});
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
        expect_same_deep(some_tiles(3, 2, desc), desc, Content::natural, layouts[i], order);
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
        expect_same_deep(some_tiles(x, y, desc), desc, Content::natural);
      }
    }
  }
  const ImageDesc tiny{PixelFormat::i420_10le, 33, 31};
  expect_same_deep(some_tiles(16, 16, tiny), tiny, Content::noise);
}

TEST_F(CudaDeepClahe, WithoutLimits) {
  for (const PixelFormat format :
       {PixelFormat::rgb48_le, PixelFormat::gray16_le, PixelFormat::i420_12le}) {
    for (const Scaler scaler : {Scaler::max_abs, Scaler::min_max, Scaler::min_max_nonzero}) {
      const ImageDesc desc{format, 192, 128};
      ClaheParams params = some_tiles(4, 4, desc);
      params.curve.clip_limit = 0;
      params.curve.scaler = scaler;
      for (const Content content : test::all_contents())
        expect_same_deep(params, desc, content);
    }
  }
}

/// Tiles whose counts are split over blocks.
TEST_F(CudaDeepClahe, LargeFrames) {
  for (const PixelFormat format : {PixelFormat::rgb48_le, PixelFormat::p010_10le}) {
    for (const auto& [x, y] : {std::pair{8, 8}, {1, 1}, {16, 16}}) {
      const ImageDesc desc{format, 3840, 2160};
      expect_same_deep(some_tiles(x, y, desc), desc, Content::natural);
    }
  }
  const ImageDesc wide{PixelFormat::gray16_le, 65535, 67};
  expect_same_deep(some_tiles(2, 1, wide), wide, Content::noise);
  const ImageDesc high{PixelFormat::bgr48_le, 67, 65535};
  expect_same_deep(some_tiles(1, 2, high), high, Content::noise);
}

TEST_F(CudaDeepClahe, WorksInPlace) {
  for (const PixelFormat format : test::deep_formats()) {
    for (const int offset : {0, 1}) {
      const ImageDesc desc{format, 643, 94};
      const auto cpu = make_cpu_filter(ClaheParams{}, {1});
      const auto cuda = make_cuda_filter(ClaheParams{});
      cpu->configure(desc);
      cuda->configure(desc);
      Image image(desc);
      test::fill(image.view(), Content::natural, 11);
      DeviceImage device(desc, {offset, 0, offset == 0});
      device.upload(image.view());
      FrameContext context;
      for (int i = 0; i < 2; ++i) {
        cpu->submit(image.view(), image.view(), context);
        cuda->submit(device.view(), device.view(), context);
      }
      EXPECT_EQ(test::count_differences(image.view(), device.download().view()), 0U)
          << to_string(format) << " offset " << offset;
    }
  }
}

using Pair = test::BackendPair<ClaheParams>;

ClaheParams calm_tiles() {
  ClaheParams params;
  params.tiles_x = 5;
  params.tiles_y = 4;
  params.curve = test::calm_params();
  return params;
}

TEST_F(CudaDeepClahe, StreamsSavedRestoredAndReset) {
  for (const PixelFormat format : {PixelFormat::rgb48_le, PixelFormat::p010_10le}) {
    Pair pair(calm_tiles(), {format, 321, 181});
    pair.expect_same(70);
    pair.restore(calm_tiles());
    pair.expect_same(40);
    ClaheParams other = calm_tiles();
    other.curve.strength = 0.4;
    other.curve.clip_limit = 6;
    other.curve.scaler = Scaler::min_max;
    pair.update(other);
    pair.expect_same(20);
    other.curve = ClaheParams::default_curve();
    pair.update(other);
    pair.expect_same(5);
    pair.update(calm_tiles());
    pair.expect_same(20);
    pair.reset();
    pair.expect_same(30);
  }
}

TEST_F(CudaDeepClahe, RandomOptionsOnRandomStreams) {
  std::mt19937 random(17);
  const auto uniform = [&](double least, double most) {
    return std::uniform_real_distribution<>(least, most)(random);
  };
  const std::vector<PixelFormat> formats = test::deep_formats();
  for (int i = 0; i < 40; ++i) {
    SCOPED_TRACE(i);
    const PixelFormat format = formats[random() % formats.size()];
    const int width = 1 + static_cast<int>(random() % 300);
    const int height = 1 + static_cast<int>(random() % 60);
    const auto range = static_cast<ColorRange>(random() % 2);
    const ImageDesc desc{format, width, height, ColorMatrix::bt2020, range};
    const int tiles = 1 + static_cast<int>(random() % kMostTiles);
    ClaheParams params = some_tiles(tiles, 1 + static_cast<int>(random() % kMostTiles), desc);
    EqualizeParams& curve = params.curve;
    curve.scaler = static_cast<Scaler>(random() % 3);
    curve.strength = random() % 3 == 0 ? 1 : uniform(0, 1);
    curve.clip_limit = random() % 3 == 0 ? 0 : uniform(1, 12);
    curve.floor = random() % 2 == 0 ? 0 : uniform(0, 40);
    curve.ceiling = random() % 2 == 0 ? 100 : uniform(60, 100);
    curve.max_gain = random() % 2 == 0 ? 0 : uniform(1, 20);
    curve.min_gain = random() % 2 == 0 ? 0 : uniform(0, 1);
    curve.temporal_ms = random() % 3 == 0 ? 0 : uniform(20, 5000);
    Pair(params, desc, {static_cast<std::uint32_t>(i + 1)}).expect_same(20);
  }
}

}  // namespace
}  // namespace equalux
