// Adaptive equalization on a GPU: the same bytes as on the CPU, frame after frame.
#include <random>
#include <string>

#include <equalux/clahe.h>
#include <gtest/gtest.h>

#include "src/clahe/tile_grid.h"
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
using test::DeviceLayout;

using CudaClahe = test::DeviceTest;

/// Parameters with so many tiles, or as many as the frame has cells for.
ClaheParams with_tiles(int x, int y, const ImageDesc& desc) {
  const CellCount cells = cells_of(desc);
  ClaheParams params;
  params.tiles_x = std::min(x, cells.columns);
  params.tiles_y = std::min(y, cells.rows);
  return params;
}

void expect_same(const ClaheParams& params, const ImageDesc& desc, Content content,
                 const test::FilterLayout& layout = {},
                 FieldOrder order = FieldOrder::progressive) {
  SCOPED_TRACE("tiles " + std::to_string(params.tiles_x) + "," + std::to_string(params.tiles_y));
  const auto cpu = make_cpu_filter(params, {1});
  const auto cuda = make_cuda_filter(params);
  test::expect_same_frames(*cpu, *cuda, desc, content, layout, 3, order);
}

TEST_F(CudaClahe, EveryFormatContentAndRange) {
  for (const PixelFormat format : test::byte_formats()) {
    for (const Content content : test::all_contents()) {
      for (const ColorRange range : {ColorRange::limited, ColorRange::full}) {
        const ImageDesc desc{format, 336, 122, ColorMatrix::bt601, range};
        expect_same({}, desc, content, {{0, 0, true}, {0, 0, true}});
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
        expect_same(with_tiles(3, 2, desc), desc, Content::natural, layouts[i], order);
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
        expect_same(with_tiles(x, y, desc), desc, Content::natural, {{0, 0, true}, {0, 0, true}});
      }
    }
  }
  const ImageDesc tiny{PixelFormat::i420, 33, 31};
  expect_same(with_tiles(16, 16, tiny), tiny, Content::noise);
}

/// Tiles whose pixels are a multiple of 512 have many curve levels on a half.
TEST_F(CudaClahe, WithoutLimits) {
  for (const PixelFormat format : {PixelFormat::bgr, PixelFormat::gray8, PixelFormat::i420}) {
    for (const Scaler scaler : {Scaler::max_abs, Scaler::min_max, Scaler::min_max_nonzero}) {
      const ImageDesc desc{format, 192, 128};
      ClaheParams params = with_tiles(4, 4, desc);
      params.curve.clip_limit = 0;
      params.curve.scaler = scaler;
      for (const Content content : test::all_contents())
        expect_same(params, desc, content, {{0, 0, true}, {0, 0, true}});
    }
  }
}

/// Tiles whose counts are split over blocks, and threads that empty their counters on the way.
TEST_F(CudaClahe, LargeFrames) {
  for (const PixelFormat format : {PixelFormat::bgr, PixelFormat::nv12, PixelFormat::bgra}) {
    for (const auto& [x, y] : {std::pair{8, 8}, {1, 1}, {16, 16}}) {
      const ImageDesc desc{format, 3840, 2160};
      expect_same(with_tiles(x, y, desc), desc, Content::natural);
      expect_same(with_tiles(x, y, desc), desc, Content::single_bin);
    }
  }
  const ImageDesc wide{PixelFormat::gray8, 65535, 67};
  expect_same(with_tiles(2, 1, wide), wide, Content::noise);
  const ImageDesc high{PixelFormat::bgr, 67, 65535};
  expect_same(with_tiles(1, 2, high), high, Content::noise);
}

TEST_F(CudaClahe, WorksInPlace) {
  for (const PixelFormat format : test::byte_formats()) {
    for (const int offset : {0, 1}) {
      const ImageDesc desc{format, 1283, 94};
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

ClaheParams calm() {
  ClaheParams params;
  params.tiles_x = 5;
  params.tiles_y = 4;
  params.curve = test::calm_params();
  return params;
}

TEST_F(CudaClahe, StreamsSavedRestoredAndReset) {
  for (const PixelFormat format : {PixelFormat::bgr, PixelFormat::nv12}) {
    Pair pair(calm(), {format, 321, 181});
    pair.expect_same(130);
    pair.restore(calm());
    pair.expect_same(70);
    ClaheParams other = calm();
    other.curve.strength = 0.4;
    other.curve.clip_limit = 6;
    other.curve.scaler = Scaler::min_max;
    pair.update(other);
    pair.expect_same(20);
    other.curve = ClaheParams::default_curve();
    pair.update(other);
    pair.expect_same(5);
    pair.update(calm());
    pair.expect_same(20);
    pair.reset();
    pair.expect_same(50);
  }
}

TEST_F(CudaClahe, EveryFormatOverTime) {
  for (const PixelFormat format : test::byte_formats()) {
    for (const ColorRange range : {ColorRange::limited, ColorRange::full})
      Pair(calm(), {format, 131, 67, ColorMatrix::bt709, range}).expect_same(12);
  }
}

TEST_F(CudaClahe, SaturationBehindTiles) {
  for (const PixelFormat format : test::byte_formats()) {
    for (const ColorRange range : {ColorRange::limited, ColorRange::full}) {
      for (const double k : {0.37109375, 2.5, kAutoSaturation}) {
        for (const FieldOrder order : {FieldOrder::progressive, FieldOrder::top_first}) {
          SCOPED_TRACE(std::string(to_string(format)) + " times " + std::to_string(k));
          ClaheParams params = calm();
          params.curve.saturation = k;
          const ImageDesc desc{format, 131, 67, ColorMatrix::bt709, range};
          Pair(params, desc, {3, test::fill_moving, {}, order}).expect_same(4);
          Pair(params, desc, {3, test::fill_moving, DeviceLayout{6, 22, false, true}, order})
              .expect_same(4);
          // Each frame for itself, and without limits.
          params.curve.temporal_ms = params.curve.brighten_ms = params.curve.darken_ms = 0;
          Pair(params, desc, {3, test::fill_moving, {}, order}).expect_same(2);
          params.curve = EqualizeParams{};
          params.curve.saturation = k;
          Pair(params, {format, 128, 64, ColorMatrix::bt601, range}).expect_same(2);
        }
      }
    }
  }
}

TEST_F(CudaClahe, SaturationRestoredUpdatedAndReset) {
  for (const PixelFormat format : {PixelFormat::bgr, PixelFormat::nv12}) {
    Pair pair(calm(), {format, 161, 91});
    pair.expect_same(5);
    ClaheParams other = calm();
    other.curve.saturation = kAutoSaturation;
    other.curve.saturation_max = 4;
    pair.update(other);
    pair.expect_same(20);
    pair.restore(calm());
    pair.expect_same(20);
    other = calm();
    other.curve.saturation = 0.5;
    pair.update(other);
    pair.expect_same(20);
    pair.reset();
    pair.expect_same(5);
  }
}

TEST_F(CudaClahe, RandomOptionsOnRandomStreams) {
  std::mt19937 random(17);
  const auto uniform = [&](double least, double most) {
    return std::uniform_real_distribution<>(least, most)(random);
  };
  for (int i = 0; i < 40; ++i) {
    SCOPED_TRACE(i);
    const auto format = static_cast<PixelFormat>(random() % 17);
    const int width = 1 + static_cast<int>(random() % 300);
    const int height = 1 + static_cast<int>(random() % 60);
    const ImageDesc desc{format, width, height};
    const int tiles = 1 + static_cast<int>(random() % kMostTiles);
    ClaheParams params = with_tiles(tiles, 1 + static_cast<int>(random() % kMostTiles), desc);
    EqualizeParams& curve = params.curve;
    curve.scaler = static_cast<Scaler>(random() % 3);
    curve.strength = random() % 3 == 0 ? 1 : uniform(0, 1);
    curve.clip_limit = random() % 3 == 0 ? 0 : uniform(1, 12);
    curve.floor = random() % 2 == 0 ? 0 : uniform(0, 40);
    curve.ceiling = random() % 2 == 0 ? 100 : uniform(60, 100);
    curve.max_gain = random() % 2 == 0 ? 0 : uniform(1, 20);
    curve.min_gain = random() % 2 == 0 ? 0 : uniform(0, 1);
    curve.temporal_ms = random() % 3 == 0 ? 0 : uniform(20, 5000);
    if (random() % 2 == 0) curve.saturation = random() % 2 == 0 ? kAutoSaturation : uniform(0, 4);
    Pair(params, desc, {static_cast<std::uint32_t>(i + 1)}).expect_same(30);
  }
}

}  // namespace
}  // namespace equalux
