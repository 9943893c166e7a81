#pragma once

#include <algorithm>
#include <random>
#include <string>

#include <equalux/clahe.h>
#include <gtest/gtest.h>

#include "src/clahe/tile_grid.h"
#include "tests/support/backend_pair.h"
#include "tests/support/calm_params.h"
#include "tests/support/device/device_filter.h"
#include "tests/support/device/device_image.h"
#include "tests/support/drawn_params.h"
#include "tests/support/media/test_images.h"

/// What tests of clahe on a GPU ask of it at every depth: the CPU's bytes.
namespace equalux::test {

using ClahePair = BackendPair<ClaheParams>;

/// Parameters with so many tiles, or as many as the frame has cells for.
inline ClaheParams tiles_for(const ImageDesc& desc, int x, int y) {
  const CellCount cells = cells_of(desc);
  ClaheParams params;
  params.tiles_x = std::min(x, cells.columns);
  params.tiles_y = std::min(y, cells.rows);
  return params;
}

/// Tiles with every limit of the curve, over time.
inline ClaheParams calm_tiles() {
  ClaheParams params;
  params.tiles_x = 5;
  params.tiles_y = 4;
  params.curve = calm_params();
  return params;
}

/// Tiles, limits and saturation of every kind, some of them over time.
inline ClaheParams random_tiles(std::mt19937& random, const ImageDesc& desc) {
  const int x = 1 + static_cast<int>(random() % kMostTiles);
  ClaheParams params = tiles_for(desc, x, 1 + static_cast<int>(random() % kMostTiles));
  EqualizeParams& curve = params.curve;
  curve = drawn_curve(random);
  curve.temporal_ms = random() % 3 == 0 ? 0 : drawn_between(random, 20, 5000);
  if (random() % 2 == 0)
    curve.saturation = random() % 2 == 0 ? kAutoSaturation : drawn_between(random, 0, 4);
  if (curve.saturation == kAutoSaturation) curve.saturation_max = drawn_between(random, 1, 4);
  return params;
}

inline void expect_same_tiles(const ClaheParams& params, const ImageDesc& desc, Content content,
                              const FilterLayout& layout = {},
                              FieldOrder order = FieldOrder::progressive) {
  SCOPED_TRACE("tiles " + std::to_string(params.tiles_x) + "," + std::to_string(params.tiles_y));
  const auto cpu = make_cpu_filter(params, {1});
  const auto cuda = make_cuda_filter(params);
  expect_same_frames(*cpu, *cuda, desc, content, layout, 3, order);
}

/// A frame that is filtered in place, twice, from `offset` bytes beyond an aligned address.
inline void expect_same_in_place(const ImageDesc& desc, int offset,
                                 const ClaheParams& params = {}) {
  const auto cpu = make_cpu_filter(params, {1});
  const auto cuda = make_cuda_filter(params);
  cpu->configure(desc);
  cuda->configure(desc);
  Image image(desc);
  fill(image.view(), Content::natural, 11);
  DeviceImage device(desc, {offset, 0, offset == 0});
  device.upload(image.view());
  FrameContext context;
  for (int i = 0; i < 2; ++i) {
    cpu->submit(image.view(), image.view(), context);
    cuda->submit(device.view(), device.view(), context);
  }
  EXPECT_EQ(count_differences(image.view(), device.download().view()), 0U)
      << to_string(desc.format) << " offset " << offset;
}

/// A stream that is resumed, takes other parameters and is reset; `frames` before the first of it.
inline void expect_same_stream(const ImageDesc& desc, int frames) {
  ClahePair pair(calm_tiles(), desc);
  pair.expect_same(frames);
  pair.restore(calm_tiles());
  pair.expect_same(frames / 2);
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
  pair.expect_same(frames / 2);
}

/// Saturation behind tiles over time, and of each frame for itself, with limits and without.
inline void expect_same_saturated(PixelFormat format) {
  for (const ColorRange range : {ColorRange::limited, ColorRange::full}) {
    for (const double k : {0.37109375, 2.5, kAutoSaturation}) {
      for (const FieldOrder order : {FieldOrder::progressive, FieldOrder::top_first}) {
        SCOPED_TRACE(std::string(to_string(format)) + " times " + std::to_string(k));
        ClaheParams params = calm_tiles();
        params.curve.saturation = k;
        const ImageDesc desc{format, 131, 67, ColorMatrix::bt709, range};
        ClahePair(params, desc, {3, fill_moving, {}, order}).expect_same(4);
        ClahePair(params, desc, {3, fill_moving, DeviceLayout{6, 22, false, true}, order})
            .expect_same(4);
        params.curve.temporal_ms = params.curve.brighten_ms = params.curve.darken_ms = 0;
        ClahePair(params, desc, {3, fill_moving, {}, order}).expect_same(2);
        params.curve = EqualizeParams{};
        params.curve.saturation = k;
        ClahePair(params, {format, 128, 64, ColorMatrix::bt601, range}).expect_same(2);
      }
    }
  }
}

/// A stream without a past whose saturation is changed between frames.
inline void expect_same_of_numbers_in_turn(const ImageDesc& desc) {
  SCOPED_TRACE(to_string(desc.format));
  ClaheParams params = tiles_for(desc, 4, 3);
  ClahePair pair(params, desc);
  for (const double k : {1.0, 1.5, 0.5, kAutoSaturation, 0.5, 1.0, 0.5, kAutoSaturation}) {
    params.curve.saturation = k;
    pair.update(params);
    pair.expect_same(3);
  }
}

/// A stream whose saturation is changed and eased in, resumed, and reset.
inline void expect_same_saturated_stream(const ImageDesc& desc) {
  SCOPED_TRACE(to_string(desc.format));
  ClahePair pair(calm_tiles(), desc);
  pair.expect_same(5);
  ClaheParams other = calm_tiles();
  other.curve.saturation = kAutoSaturation;
  other.curve.saturation_max = 4;
  pair.update(other);
  pair.expect_same(20);
  pair.restore(calm_tiles());
  pair.expect_same(20);
  other = calm_tiles();
  other.curve.saturation = 0.5;
  pair.update(other);
  pair.expect_same(20);
  pair.reset();
  pair.expect_same(5);
}

}  // namespace equalux::test
