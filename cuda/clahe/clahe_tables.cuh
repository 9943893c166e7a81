#pragma once

#include <cstdint>

#include "cuda/clahe/clahe.h"
#include "src/clahe/tile_curves.h"

/// The gains of one line of cells, as tables in a block's shared memory.
namespace equalux::cuda {

/// Block size: a block makes the tables of one line, which then serve thousands of pixels. Blocks
/// are small, so that many of them wait for memory at the same time.
inline constexpr int kLineThreads = 128;

/// Tables of floats for the gains of a line: for each tile column 512 mix_rows() + 1 of each level,
/// from which one fused multiply-add interpolates gain_numerator(), and gain_inverse() of each
/// value. All are whole numbers below 2^24, or such numbers times a power of two, so that floats
/// hold them exactly.
struct LineTables {
  const std::uint8_t* tables;
  const float* inverse;

  /// Looks up the gain of a value; `four_v` is 4 times the value, which is the byte offset in a
  /// table.
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

/// Interpolates the curves above and below a line, four levels per thread. The last table is
/// written twice, since gain() reads the table to the right even where its weight is 0.
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

/// Computes a.low b.first + a.high b.second + c, from the signed halves of a word and bytes 0 and 1
/// of b (dot_low()) or 2 and 3 (dot_high()), in one instruction.
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

/// Tables of words for the gains of a line, for formats with word_tables(): for each tile column
/// and level twice mix_rows() in the lower half, and in the upper half how much more that is for
/// the tile to the right; and the same inverses as LineTables. One look-up serves both tiles.
struct WordTables {
  const std::uint8_t* tables;
  const float* inverse;

  /// Looks up the gain of a value; `four_v` is 4 times the value, which is the byte offset in a
  /// table.
  [[nodiscard]] __device__ __forceinline__ float gain(std::uint32_t four_v, ColumnMix mix) const {
    const std::uint32_t levels =
        *reinterpret_cast<const std::uint32_t*>(tables + ((mix & 0xFFFFU) | four_v));
    // Base of a float whose last mantissa bit stands for 1, with gain_numerator() in its mantissa.
    constexpr std::uint32_t kOne = 0x4B000001;  // 2^23 + 1
    const std::int32_t sum = dot_high(levels, mix, __byte_perm(levels, kOne, 0x7104));
    const float inverse_of_v =
        *reinterpret_cast<const float*>(reinterpret_cast<const std::uint8_t*>(inverse) + four_v);
    return (__int_as_float(sum) - 0x1p23F) * inverse_of_v;
  }
};

/// Interpolates the curves above and below a line: a thread has four neighbouring levels and walks
/// from tile to tile; right of the last tile the last one is repeated. Calls `asked` once the first
/// curves have been requested, so that loads which `asked` issues do not delay them.
template <typename Asked>
__device__ __forceinline__ void mix_word_tables(const ClaheFrame& f, const LineMix& line,
                                                std::uint32_t* tables, const Asked& asked) {
  constexpr int kVectors = 64;  // of four levels each
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
  // Computes 256 mix_rows(), whose lowest byte the caller drops, from the level above in the low
  // half and the one below in the high half.
  const auto mixed = [&](std::uint32_t pair) {
    pair -= pair << 16;  // the level above, and how much more the one below is
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

/// Loads the ColumnMix of kMixVector neighbouring columns.
__device__ __forceinline__ void load_mixes(const ColumnMix* from, ColumnMix* mix) {
  const uint4 v = __ldg(reinterpret_cast<const uint4*>(from));
  mix[0] = v.x;
  mix[1] = v.y;
  mix[2] = v.z;
  mix[3] = v.w;
}

}  // namespace equalux::cuda
