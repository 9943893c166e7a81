#pragma once

#include <cstdint>

#include "cuda/device/chunk_copy.cuh"

/// Products of small matrices of bytes on the tensor cores, and the moves between their fragments.
///
/// Lane l holds row or column g = l / 4 and places 4t to 4t + 3 of it, with t = l % 4, as PTX
/// defines for mma.m16n8k16 and mma.m16n8k32 on bytes. Before compute capability 8.0 the same
/// products are made by mma.m8n8k16, whose fragments are parts of these.
namespace equalux::cuda {

/// Four sums of a 16 x 8 matrix: row g at columns 2t and 2t + 1, then row g + 8 at the same
/// columns. They wrap modulo 2^32.
using Sums = std::int32_t[4];

/// Computes sums += A B, with A of 16 x 16 bytes and B of 16 x 8. `a0` is row g of A, `a1` row g +
/// 8, `b` column g of B. With kSigned, bytes of A are signed; those of B never are.
template <bool kSigned = false>
__device__ __forceinline__ void multiply_16(Sums& sums, std::uint32_t a0, std::uint32_t a1,
                                            std::uint32_t b) {
#if __CUDA_ARCH__ >= 800
#define EQUALUX_MMA_16(type)                                       \
  asm("mma.sync.aligned.m16n8k16.row.col.s32." type                \
      ".u8.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "                 \
      "{%0, %1, %2, %3};"                                          \
      : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3]) \
      : "r"(a0), "r"(a1), "r"(b))
#else
#define EQUALUX_MMA_16(type)                                                                 \
  asm("mma.sync.aligned.m8n8k16.row.col.s32." type ".u8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};" \
      : "+r"(sums[0]), "+r"(sums[1])                                                         \
      : "r"(a0), "r"(b));                                                                    \
  asm("mma.sync.aligned.m8n8k16.row.col.s32." type ".u8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};" \
      : "+r"(sums[2]), "+r"(sums[3])                                                         \
      : "r"(a1), "r"(b))
#endif
  if constexpr (kSigned) {
    EQUALUX_MMA_16("s8");
  } else {
    EQUALUX_MMA_16("u8");
  }
#undef EQUALUX_MMA_16
}

/// Computes sums += A B with A of 16 x 32 bytes and B of 32 x 8: two operands of multiply_16()
/// after each other.
template <bool kSigned = false>
__device__ __forceinline__ void multiply_32(Sums& sums, const std::uint32_t (&first)[2],
                                            const std::uint32_t (&second)[2], std::uint32_t b0,
                                            std::uint32_t b1) {
#if __CUDA_ARCH__ >= 800
#define EQUALUX_MMA_32(type)                                       \
  asm("mma.sync.aligned.m16n8k32.row.col.s32." type                \
      ".u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "               \
      "{%8, %9}, {%0, %1, %2, %3};"                                \
      : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3]) \
      : "r"(first[0]), "r"(first[1]), "r"(second[0]), "r"(second[1]), "r"(b0), "r"(b1))
  if constexpr (kSigned) {
    EQUALUX_MMA_32("s8");
  } else {
    EQUALUX_MMA_32("u8");
  }
#undef EQUALUX_MMA_32
#else
  multiply_16<kSigned>(sums, first[0], first[1], b0);
  multiply_16<kSigned>(sums, second[0], second[1], b1);
#endif
}

/// Computes sums += A B with kCount blocks of 16 places each.
template <int kCount, bool kSigned = false>
__device__ __forceinline__ void multiply(Sums& sums, const std::uint32_t (&a)[kCount][2],
                                         const std::uint32_t* b) {
#pragma unroll
  for (int k = 0; k + 1 < kCount; k += 2)
    multiply_32<kSigned>(sums, a[k], a[k + 1], b[k], b[k + 1]);
  if constexpr (kCount % 2 == 1)
    multiply_16<kSigned>(sums, a[kCount - 1][0], a[kCount - 1][1], b[kCount - 1]);
}

/// Multiplies sums by 256, the step of Horner's rule between bytes.
__device__ __forceinline__ void shift_up(Sums& sums) {
#pragma unroll
  for (std::int32_t& sum : sums)
    sum = static_cast<std::int32_t>(static_cast<std::uint32_t>(sum) << 8);
}

/// Returns the number of registers that load_blocks() fills for `count` blocks.
constexpr int loaded_blocks(int count) {
  return count % 4 == 3 ? count + 1 : count;
}

/// Loads kCount neighbouring blocks of 16 bytes of each of eight rows that are `pitch` bytes apart:
/// lane l gets bytes 4t to 4t + 3 of row g of each block. Three blocks are loaded as four. `rows`
/// is in shared memory, aligned to 16 bytes; free of bank conflicts where the pitch is an odd
/// number of 16 bytes.
template <int kCount>
__device__ __forceinline__ void load_blocks(std::uint32_t (&blocks)[loaded_blocks(kCount)],
                                            const std::uint8_t* rows, int pitch, int lane) {
  constexpr int kFours = (kCount + 1) / 4;
  static_assert(kCount % 2 == 1);
  const std::uint32_t own = shared_address(rows) + static_cast<std::uint32_t>(lane % 8 * pitch);
#pragma unroll
  for (int i = 0; i < kFours; ++i) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(blocks[4 * i]), "=r"(blocks[4 * i + 1]), "=r"(blocks[4 * i + 2]),
                   "=r"(blocks[4 * i + 3])
                 : "r"(own + static_cast<std::uint32_t>((4 * i + lane / 8) * 16))
                 : "memory");
  }
  if constexpr (kCount % 4 == 1) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
                 : "=r"(blocks[kCount - 1])
                 : "r"(own + static_cast<std::uint32_t>((kCount - 1) * 16))
                 : "memory");
  }
}

/// Transposes 8 x 8 pairs of bytes: a lane passes columns 2t and 2t + 1 of row g, and gets rows 2t
/// and 2t + 1 of column g.
__device__ __forceinline__ std::uint32_t transpose_pairs(std::uint32_t pairs) {
  std::uint32_t result;
  asm("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(result) : "r"(pairs));
  return result;
}

/// Makes the rows of a banded matrix by a block's threads, as many bands as weights have bytes:
/// place i has the weight of the pixel i - `zero` bytes from a result, or 0. `weights` are of
/// `size` pixels of `step` bytes, the middle one at distance 0.
template <int kThreads, int kPlanes, int kBand>
__device__ __forceinline__ void make_bands(const std::int16_t* weights, int size, int step,
                                           int zero, std::uint8_t (&bands)[kPlanes][kBand]) {
  for (int i = static_cast<int>(threadIdx.x); i < kBand; i += kThreads) {
    const int distance = i - zero;
    const int tap = distance / step + size / 2;
    const bool counts = distance % step == 0 && tap >= 0 && tap < size;
    const int weight = counts ? weights[tap] : 0;
#pragma unroll
    for (int plane = 0; plane < kPlanes; ++plane)
      bands[plane][i] = static_cast<std::uint8_t>(weight >> (8 * plane));
  }
}

/// Loads four bytes of a band from `at` on, which need not be aligned.
__device__ __forceinline__ std::uint32_t band_word(const std::uint8_t* band, int at) {
  return static_cast<std::uint32_t>(band[at]) | static_cast<std::uint32_t>(band[at + 1]) << 8 |
         static_cast<std::uint32_t>(band[at + 2]) << 16 |
         static_cast<std::uint32_t>(band[at + 3]) << 24;
}

}  // namespace equalux::cuda
