#include <algorithm>
#include <cstdint>

#include "cuda/hessian/hessian.h"
#include "src/format/layout.h"

namespace equalux::cuda {
namespace {

int blocks_for(int count, int each) {
  return (count + each - 1) / each;
}

}  // namespace

LevelSource LevelSource::of(const ConstImageView& in, HessianChannel channel) {
  const FormatTraits& t = traits(in.desc.format);
  LevelSource source;
  source.first = in.data[0];
  source.stride = in.stride[0];
  source.columns = in.desc.width;
  source.rows = in.desc.height;
  source.step = t.step[0];
  source.real = t.model == ColorModel::real;
  if (t.model == ColorModel::rgb) {
    const RgbLayout layout = rgb_layout(in.desc.format);
    const auto at = [](int byte, std::uint32_t weight) { return weight << (8 * byte); };
    switch (channel) {
      case HessianChannel::red:
        source.weights = at(layout.r, 1);
        break;
      case HessianChannel::green:
        source.weights = at(layout.g, 1);
        break;
      case HessianChannel::blue:
        source.weights = at(layout.b, 1);
        break;
      case HessianChannel::value:
        source.largest = true;
        source.weights = at(layout.r, 255) | at(layout.g, 255) | at(layout.b, 255);
        break;
      default:  // luma_of_rgb()
        source.weights = at(layout.r, 77) | at(layout.g, 150) | at(layout.b, 29);
        source.bias = 128;
        source.shift = 8;
        break;
    }
  }
  source.words = (reinterpret_cast<std::uintptr_t>(source.first) |
                  static_cast<std::uintptr_t>(source.stride)) %
                     4 ==
                 0;
  return source;
}

ScaleWeights ScaleWeights::of(const HessianWeights& weights) {
  ScaleWeights scale{};
  scale.radius = weights.radius;
  std::copy(weights.smooth.begin(), weights.smooth.end(), scale.smooth);
  std::copy(weights.slope.begin(), weights.slope.end(), scale.slope);
  std::copy(weights.curve.begin(), weights.curve.end(), scale.curve);
  return scale;
}

std::size_t TileShape::shared_bytes() const {
  const int level_rows = levels ? rows + 2 * reach : 0;
  const int floats = (level_rows + 3 * band) * columns() + result_planes * band * width;
  return static_cast<std::size_t>(floats) * sizeof(float);
}

dim3 TileShape::grid(int frame_width, int frame_height) const {
  return dim3(static_cast<unsigned>(blocks_for(frame_width, width)),
              static_cast<unsigned>(blocks_for(frame_height, rows)));
}

TileShape tile_shape(int reach, int result_planes, std::size_t most, int width, int height,
                     const LaunchDevice& device) {
  TileShape shape;
  shape.reach = reach;
  shape.left = blocks_for(reach, 4) * 4;
  shape.result_planes = result_planes;
  const auto tiles = [&] {
    return blocks_for(width, shape.width) * blocks_for(height, shape.rows);
  };
  const auto halve = [&shape] {
    shape.rows /= 2;
    shape.band = std::min(shape.band, shape.rows);
  };
  while (shape.rows > 16 && tiles() < device.multiprocessors)
    halve();
  while (shape.shared_bytes() > most && shape.rows > kTileStep)
    halve();
  while (shape.shared_bytes() > most && shape.width > 32)
    shape.width /= 2;
  // Levels that do not fit into shared memory are read through the caches.
  if (shape.shared_bytes() > most) {
    shape.levels = false;
    shape.width = 128;
    while (shape.shared_bytes() > most && shape.width > 32)
      shape.width /= 2;
  }
  return shape;
}

}  // namespace equalux::cuda
