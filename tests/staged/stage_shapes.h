#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "cuda/runtime/launch_shape.h"

/// Launch shapes that every stage of the staged chain is tested with, and floats bit for bit.
namespace equalux::test {

using cuda::LaunchShape;

inline constexpr int kPixelsPerThread[] = {1, 2, 4, 8};

inline std::vector<std::uint32_t> bits_of(const std::vector<float>& values) {
  std::vector<std::uint32_t> bits;
  bits.reserve(values.size());
  for (const float value : values)
    bits.push_back(std::bit_cast<std::uint32_t>(value));
  return bits;
}

inline std::string text(const dim3& d) {
  return std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z);
}
inline std::string text(const LaunchShape& shape) {
  return "grid " + text(shape.grid) + " block " + text(shape.block) + " pixels per thread " +
         std::to_string(shape.pixels_per_thread);
}

inline std::vector<LaunchShape> all_shapes() {
  std::vector<LaunchShape> shapes;
  for (const dim3& grid : {dim3{1, 1, 1}, dim3{8, 8, 1}, dim3{7, 3, 2}, dim3{1024, 1, 1}}) {
    for (const dim3& block :
         {dim3{1, 1, 1}, dim3{8, 4, 1}, dim3{8, 8, 4}, dim3{256, 1, 1}, dim3{33, 1, 1}}) {
      shapes.push_back({grid, block, 1});
    }
  }
  shapes.push_back({dim3{2, 1, 1}, dim3{1024, 1, 1}, 1});
  return shapes;
}

inline std::vector<LaunchShape> some_shapes() {
  return {{dim3{1, 1, 1}, dim3{1, 1, 1}, 1},
          {dim3{7, 3, 2}, dim3{8, 8, 4}, 1},
          {dim3{24, 1, 1}, dim3{256, 1, 1}, 1},
          {dim3{3, 1, 1}, dim3{33, 1, 1}, 1},
          {dim3{2, 1, 1}, dim3{1024, 1, 1}, 1}};
}

inline LaunchShape with(LaunchShape shape, int pixels_per_thread) {
  shape.pixels_per_thread = pixels_per_thread;
  return shape;
}

}  // namespace equalux::test
