#pragma once

#include <cstdint>

#include "cuda/convolve/convolve.h"

/// Copies of the planes that a filter does not change, by warps of the filter's own launch.
namespace equalux::cuda {

/// Copies 512 bytes, from byte `begin` on, of each of `count` rows: a lane has 16 bytes, so that
/// accesses are coalesced. Four rows are loaded before the first is stored, which overlaps their
/// latencies. Rows of both planes are numbered one after another.
__device__ __forceinline__ void copy_rows(const PlaneCopies& copies, int begin, int lane, int first,
                                          int count) {
  constexpr int kAtOnce = 4;
  const int x = begin + lane * 16;
  for (int y = first; y < first + count; y += kAtOnce) {
    uint4 values[kAtOnce];
#pragma unroll
    for (int pass = 0; pass < 2; ++pass) {
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        const bool second = y + i >= copies.plane[0].rows;
        const BytePlane& plane = copies.plane[second ? 1 : 0];
        const int row = second ? y + i - copies.plane[0].rows : y + i;
        if (y + i >= first + count || row >= plane.rows || x >= plane.width) continue;
        const std::uint8_t* from = plane.in + row * plane.in_stride + x;
        std::uint8_t* to = plane.out + row * plane.out_stride + x;
        if (copies.aligned && x + 16 <= plane.width) {
          if (pass == 0) values[i] = __ldcs(reinterpret_cast<const uint4*>(from));
          if (pass == 1) __stcs(reinterpret_cast<uint4*>(to), values[i]);
        } else if (pass == 1) {
          for (int b = 0; b < min(16, plane.width - x); ++b)
            to[b] = from[b];
        }
      }
    }
  }
}

}  // namespace equalux::cuda
