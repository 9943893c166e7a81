#pragma once

#include <cstdint>

#include "cuda/clahe/clahe.h"
#include "src/clahe/tile_curves.h"

/// The gains of one line of cells, in a block's shared memory.
namespace equalux::cuda {

/// A block has a line, so that its tables serve some thousand pixels. Small blocks: many of them
/// wait for memory side by side.
inline constexpr int kLineThreads = 128;

/// What the gains of a line are made from, in shared memory: for each tile column a table of
/// 512 mix_rows() + 1, from which one fused multiply-add makes gain_numerator(); and
/// gain_inverse(). All are whole numbers below 2^24, or scaled by powers of two, so that floats
/// hold them exactly.
struct LineTables {
  const std::uint8_t* tables;
  const float* inverse;

  /// The gain of value v, given times 4.
  [[nodiscard]] __device__ __forceinline__ float gain(std::uint32_t four_v, ColumnMix mix) const {
    const auto* level = reinterpret_cast<const float*>(tables + ((mix & 0xFFFFU) | four_v));
    const float left = level[0];
    const float right = level[kTileTableBytes / 4];
    const float of_right = __uint_as_float(mix & 0xFFFF0000U);
    const float inverse_of_v =
        *reinterpret_cast<const float*>(reinterpret_cast<const std::uint8_t*>(inverse) + four_v);
    return __fmaf_rn(right - left, of_right, left) * inverse_of_v;
  }
};

/// Mixes the curves above and below a line, four levels a thread. A table more repeats the last:
/// where there is one tile column, what is right of it has no part but is read.
__device__ __forceinline__ void mix_tables(const ClaheFrame& f, const LineMix& line,
                                           float* tables) {
  const auto row = [&](int tile_row) {
    return reinterpret_cast<const uint2*>(f.levels) + tile_row * f.tiles_x * 64;
  };
  const uint2* above = row(line.above);
  const uint2* below = row(line.below);
  const int weight = line.weight;
  const auto mixed = [&](std::uint32_t a, std::uint32_t b) {
    const int level = tiles::mix_rows(static_cast<int>(a), static_cast<int>(b), weight);
    return static_cast<float>(2 * tiles::kFullWeight * level + 1);
  };
  for (int i = static_cast<int>(threadIdx.x); i < 64 * f.tiles_x; i += kLineThreads) {
    const uint2 a = __ldcg(above + i);
    const uint2 b = __ldcg(below + i);
    const float4 four{mixed(a.x & 0xFFFFU, b.x & 0xFFFFU), mixed(a.x >> 16, b.x >> 16),
                      mixed(a.y & 0xFFFFU, b.y & 0xFFFFU), mixed(a.y >> 16, b.y >> 16)};
    reinterpret_cast<float4*>(tables)[i] = four;
    if (i >= 64 * (f.tiles_x - 1)) reinterpret_cast<float4*>(tables)[i + 64] = four;
  }
}

/// The mixes of four neighbouring columns, the first a whole multiple of four.
__device__ __forceinline__ void load_mixes(const ColumnMix* from, ColumnMix (&mix)[4]) {
  const uint4 v = __ldg(reinterpret_cast<const uint4*>(from));
  mix[0] = v.x;
  mix[1] = v.y;
  mix[2] = v.z;
  mix[3] = v.w;
}

}  // namespace equalux::cuda
