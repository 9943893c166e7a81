#pragma once

#include <cstdint>

#include "cuda/hessian/hessian.h"

namespace equalux::cuda {

/// Writes the classes of pixels x to x + 3 of row y, as far as they exist; x is a multiple of 4.
__device__ __forceinline__ void store_classes(const DeviceClasses& out, int x, int y,
                                              const std::uint8_t (&classes)[4]) {
  std::uint8_t* to = out.first + static_cast<std::ptrdiff_t>(y) * out.width + x;
  if (out.width % 4 == 0) {
    *reinterpret_cast<uchar4*>(to) = {classes[0], classes[1], classes[2], classes[3]};
    return;
  }
#pragma unroll
  for (int v = 0; v < 4; ++v) {
    if (x + v < out.width) to[v] = classes[v];
  }
}

}  // namespace equalux::cuda
