#pragma once

#include <cstdint>

#include "cuda/equalize/fused/fused_params.h"
#include "cuda/equalize/fused/yuv_cells.cuh"

/// Channels of a cell relative to its luma, which follow from its chroma alone.
namespace equalux::cuda {

/// Offsets of a cell's largest and least channel to its luma, as the lowest bits of floats at
/// kIntegerBase. The least one is 0 or below.
struct CellReach {
  std::uint32_t most;
  std::uint32_t least;
};

/// Computes value_above_luma() and least_above_luma() once for a whole cell. `u` and `w` are chroma
/// divided by the samples of a cell, for which the weights `k` make up. Exact: all sums are
/// multiples of 2^-16 below 2^8, which single precision holds.
__device__ __forceinline__ CellReach reach_of(const YuvFloats& k, float u, float w) {
  const float red = __fmaf_rn(w, k.red_w, 0.5f);
  const float green = __fmaf_rn(u, k.minus_green_u, __fmaf_rn(w, k.minus_green_w, 0.5f));
  const float blue = __fmaf_rn(u, k.blue_u, 0.5f);
  const int red_floor = __float_as_int(__fadd_rd(red, kIntegerBase));
  const int green_floor = __float_as_int(__fadd_rd(green, kIntegerBase));
  const int blue_floor = __float_as_int(__fadd_rd(blue, kIntegerBase));
  return {static_cast<std::uint32_t>(__vimax3_s32(red_floor, green_floor, blue_floor)),
          static_cast<std::uint32_t>(__vimin3_s32(red_floor, green_floor, blue_floor))};
}

}  // namespace equalux::cuda
