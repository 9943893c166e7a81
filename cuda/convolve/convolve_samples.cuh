#pragma once

#include <cstdint>

#include "cuda/convolve/convolve.h"

/// Loads from a plane where positions may lie outside it.
namespace equalux::cuda {

/// Loads the byte of channel `channel` at pixel (x, y), either of which may be outside.
__device__ __forceinline__ std::uint8_t sample(const BytePlane& plane, Outside outside, int x,
                                               int y, int channel) {
  const int column = border_index(x, plane.width, outside.border);
  const int row = border_index(y, plane.rows, outside.border);
  if (column < 0 || row < 0) return outside.value;
  return plane.in[row * plane.in_stride + column * plane.step + channel];
}

/// Copies `rows` rows of `pixels` pixels, from pixel (x, y) on, into a block's shared memory
/// without gaps. All threads of the block take part.
template <int kStep>
__device__ void load_tile(std::uint8_t* tile, const BytePlane& plane, Outside outside, int x, int y,
                          int pixels, int rows) {
  const int row_bytes = pixels * kStep;
  const int thread = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
  const int threads = static_cast<int>(blockDim.x * blockDim.y);
  const bool inside = x >= 0 && y >= 0 && x + pixels <= plane.width && y + rows <= plane.rows;
  const std::uint8_t* first = plane.in + y * plane.in_stride + x * kStep;
  for (int i = thread; i < rows * row_bytes; i += threads) {
    const int row = i / row_bytes;
    const int at = i - row * row_bytes;
    tile[i] = inside ? first[row * plane.in_stride + at]
                     : sample(plane, outside, x + at / kStep, y + row, at % kStep);
  }
}

}  // namespace equalux::cuda
