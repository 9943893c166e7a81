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

/// a.low b.first + a.high b.second + c, of a word's signed halves and bytes 0 and 1 or 2 and 3.
__device__ __forceinline__ std::int32_t dot_low(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  std::int32_t sum;
  asm("dp2a.lo.s32.u32 %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(b), "r"(c));
  return sum;
}
__device__ __forceinline__ std::int32_t dot_high(std::uint32_t a, std::uint32_t b,
                                                 std::uint32_t c) {
  std::int32_t sum;
  asm("dp2a.hi.s32.u32 %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(b), "r"(c));
  return sum;
}

/// The same of formats with word_tables(): for each tile column a table of words, a level each:
/// twice what mix_rows() gives in the lower half, and how much more the tile to the right has in
/// the upper one; and the same inverses.
struct WordTables {
  const std::uint8_t* tables;
  const float* inverse;

  /// The gain of value v, given times 4.
  [[nodiscard]] __device__ __forceinline__ float gain(std::uint32_t four_v, ColumnMix mix) const {
    const std::uint32_t levels =
        *reinterpret_cast<const std::uint32_t*>(tables + ((mix & 0xFFFFU) | four_v));
    // gain_numerator() as the fraction of a float whose last place stands for 1.
    constexpr std::uint32_t kOne = 0x4B000001;  // 2^23 + 1
    const std::int32_t sum = dot_high(levels, mix, __byte_perm(levels, kOne, 0x7104));
    const float inverse_of_v =
        *reinterpret_cast<const float*>(reinterpret_cast<const std::uint8_t*>(inverse) + four_v);
    return (__int_as_float(sum) - 0x1p23F) * inverse_of_v;
  }
};

/// Mixes the curves above and below a line: a thread has four neighbouring levels, and walks from
/// tile to tile. Right of the last tile there is the last tile. Calls `asked` when the first curves
/// have been asked for: what it asks for keeps none of them waiting.
template <typename Asked>
__device__ __forceinline__ void mix_word_tables(const ClaheFrame& f, const LineMix& line,
                                                std::uint32_t* tables, const Asked& asked) {
  constexpr int kVectors = 64;  // of four levels
  constexpr int kParts = kLineThreads / kVectors;
  constexpr int kAtOnce = 4;
  const int vector = static_cast<int>(threadIdx.x) % kVectors;
  const int part = static_cast<int>(threadIdx.x) / kVectors;
  const int first = part * f.tiles_x / kParts;
  const int end = (part + 1) * f.tiles_x / kParts;
  const auto row = [&](int tile_row) {
    return reinterpret_cast<const uint2*>(f.levels) + tile_row * f.tiles_x * kVectors + vector;
  };
  const uint2* above = row(line.above);
  const uint2* below = row(line.below);
  const std::uint32_t weight = std::uint32_t{line.weight} << 8;
  // 256 mix_rows() and what it drops.
  const auto mixed = [&](std::uint32_t pair) {
    pair -= pair << 16;  // the level above, and how much more that below is
    return static_cast<std::uint32_t>(dot_low(pair, weight, __byte_perm(pair, 0x80, 0x5104)));
  };
  struct Four {
    std::uint32_t level[4];
  };
  const auto mixed_four = [&](const uint2& a, const uint2& b) {
    return Four{{mixed(__byte_perm(a.x, b.x, 0x5410)), mixed(__byte_perm(a.x, b.x, 0x7632)),
                 mixed(__byte_perm(a.y, b.y, 0x5410)), mixed(__byte_perm(a.y, b.y, 0x7632))}};
  };
  uint2 a[kAtOnce];
  uint2 b[kAtOnce];
  const auto ask = [&](int tile) {
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const int right = min(tile + i + 1, f.tiles_x - 1) * kVectors;
      a[i] = __ldcg(above + right);
      b[i] = __ldcg(below + right);
    }
  };
  const uint2 first_above = __ldcg(above + first * kVectors);
  const uint2 first_below = __ldcg(below + first * kVectors);
  ask(first);
  asked();
  Four left = mixed_four(first_above, first_below);
#pragma unroll 1
  for (int tile = first; tile < end; tile += kAtOnce) {
    if (tile > first) ask(tile);
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const Four right = mixed_four(a[i], b[i]);
      std::uint32_t words[4];
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const std::uint32_t both = __byte_perm(left.level[k], right.level[k], 0x6521);
        words[k] = 2 * both - (both << 17);
      }
      if (tile + i < end) {
        reinterpret_cast<uint4*>(tables)[(tile + i) * kVectors + vector] =
            uint4{words[0], words[1], words[2], words[3]};
      }
      left = right;
    }
  }
}

/// The mixes of kMixVector neighbouring columns, from where the first one's is.
__device__ __forceinline__ void load_mixes(const ColumnMix* from, ColumnMix (&mix)[kMixVector]) {
  const uint4 v = __ldg(reinterpret_cast<const uint4*>(from));
  mix[0] = v.x;
  mix[1] = v.y;
  mix[2] = v.z;
  mix[3] = v.w;
}

}  // namespace equalux::cuda
