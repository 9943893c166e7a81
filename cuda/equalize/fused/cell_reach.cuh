#pragma once

#include <cstdint>

#include "cuda/device/yuv_cells.cuh"
#include "cuda/equalize/fused/fused_params.h"

/// Which channels the chroma of a cell gives beside its luma.
namespace equalux::cuda {

/// Where the largest and the least channel of a cell lie against luma, in the lowest bits of
/// kIntegerBase; the least lies at 0 or below.
struct CellReach {
  std::uint32_t most;
  std::uint32_t least;
};

/// As value_above_luma() and least_above_luma(), for chroma that is divided by the samples of a
/// cell and weights that are made for that. All sums are multiples of 2^-16 below 2^8, which single
/// precision holds exactly.
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
