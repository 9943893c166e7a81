#pragma once

#include <cstdint>

/// Arithmetic of 3 x 3 kernels on four bytes at once.
namespace equalux::cuda {

/// The rows of a kernel as signed bytes, the left tap in the lowest byte; the highest byte is 0.
struct TapRows {
  std::uint32_t top = 0;
  std::uint32_t middle = 0;
  std::uint32_t bottom = 0;
};

/// Computes sum + the products of four unsigned bytes and four signed bytes, in one instruction.
__device__ __forceinline__ std::int32_t multiply_add(std::uint32_t bytes, std::uint32_t taps,
                                                     std::int32_t sum) {
  std::int32_t result;
  asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(result) : "r"(bytes), "r"(taps), "r"(sum));
  return result;
}

/// Gathers, for each of the four bytes of `own`, its left neighbour, itself and its right neighbour
/// into the three low bytes of a word. The fourth byte is undefined, since its tap is 0.
template <int kStep>
__device__ __forceinline__ void gather(std::uint32_t left, std::uint32_t own, std::uint32_t right,
                                       std::uint32_t (&taps)[4]) {
  if constexpr (kStep == 1) {
    taps[0] = __byte_perm(left, own, 0x6543);
    taps[1] = own;
    taps[2] = own >> 8;
    taps[3] = __byte_perm(own, right, 0x5432);
  } else if constexpr (kStep == 3) {
    const std::uint32_t sides =
        __byte_perm(left, right, 0x5432);  // left 2, left 3, right 0, right 1
    taps[0] = __byte_perm(left, own, 0x7741);
    taps[1] = __byte_perm(sides, own, 0x2250);
    taps[2] = __byte_perm(sides, own, 0x3361);
    taps[3] = __byte_perm(own, right, 0x6630);
  } else {
    const std::uint32_t low = __byte_perm(left, own, 0x5140);   // left 0, own 0, left 1, own 1
    const std::uint32_t high = __byte_perm(left, own, 0x7362);  // left 2, own 2, left 3, own 3
    taps[0] = __byte_perm(low, right, 0x4410);
    taps[1] = __byte_perm(low, right, 0x5532);
    taps[2] = __byte_perm(high, right, 0x6610);
    taps[3] = __byte_perm(high, right, 0x7732);
  }
}

/// Ways from sums to levels; the host chooses the cheapest way that a kernel allows.
enum class Finish {
  plain,   ///< divisor 1: the sum, clamped
  scaled,  ///< weights · 256 / divisor fit signed bytes, results within 0..255: a sum's second byte
  top,     ///< results within 0..255, divisor at most 256: the highest byte of a product
  any,
};

/// Returns the number whose product with n has floor(n / divisor) in its highest byte. That is
/// exact for a divisor of at most 256 and n below 256 times the divisor.
inline std::uint32_t top_byte_multiplier(std::int64_t divisor) {
  return static_cast<std::uint32_t>(((1 << 24) + divisor - 1) / divisor);
}

/// Clamps four levels to 0..255 and packs them; level[0] becomes the lowest byte.
__device__ __forceinline__ std::uint32_t pack_clamped(const std::int32_t (&level)[4]) {
  std::uint32_t high;
  std::uint32_t all;
  asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;"
      : "=r"(high)
      : "r"(level[3]), "r"(level[2]), "r"(0));
  asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;"
      : "=r"(all)
      : "r"(level[1]), "r"(level[0]), "r"(high));
  return all;
}

/// Packs byte kByte of four sums.
template <int kByte>
__device__ __forceinline__ std::uint32_t pack_byte(const std::int32_t (&sum)[4]) {
  constexpr unsigned kPair = static_cast<unsigned>((4 + kByte) << 4 | kByte);
  const auto low =
      __byte_perm(static_cast<std::uint32_t>(sum[0]), static_cast<std::uint32_t>(sum[1]), kPair);
  const auto high =
      __byte_perm(static_cast<std::uint32_t>(sum[2]), static_cast<std::uint32_t>(sum[3]), kPair);
  return __byte_perm(low, high, 0x5410);
}

}  // namespace equalux::cuda
