#pragma once

#include <cstdint>

#include "cuda/device/packed_frame.h"
#include "src/format/pixel_math.h"

/// Loads and stores of packed pixels of kStep bytes, one by one or in groups.
namespace equalux::cuda {

/// Loads a pixel of any alignment; its first byte in memory becomes the lowest byte of the word.
template <int kStep>
__device__ __forceinline__ std::uint32_t load_pixel(const std::uint8_t* from) {
  std::uint32_t word = 0;
#pragma unroll
  for (int i = 0; i < kStep; ++i)
    word |= static_cast<std::uint32_t>(from[i]) << (8 * i);
  return word;
}

template <int kStep>
__device__ __forceinline__ void store_pixel(std::uint8_t* to, std::uint32_t word) {
#pragma unroll
  for (int i = 0; i < kStep; ++i)
    to[i] = static_cast<std::uint8_t>(word >> (8 * i));
}

/// kGroup pixels in the words that they occupy in memory.
template <int kStep>
struct alignas(4 * (kStep == 4 ? 4 : 1)) PixelGroup {
  std::uint32_t words[kStep];

  /// Extracts pixel k; bytes above its kStep are undefined.
  [[nodiscard]] __device__ __forceinline__ std::uint32_t pixel(int k) const {
    if constexpr (kStep == 4) return words[k];
    if constexpr (kStep == 1) return words[0] >> (8 * k);
    if constexpr (kStep == 3) {
      if (k == 0) return words[0];
      if (k == 1) return __byte_perm(words[0], words[1], 0x6543);
      if (k == 2) return __byte_perm(words[1], words[2], 0x5432);
      return words[2] >> 8;
    }
  }

  /// Packs four pixels into a group; their bytes above kStep are ignored.
  static __device__ __forceinline__ PixelGroup of(const std::uint32_t (&p)[kGroup]) {
    if constexpr (kStep == 4) return {{p[0], p[1], p[2], p[3]}};
    if constexpr (kStep == 3) {
      return {{__byte_perm(p[0], p[1], 0x4210), __byte_perm(p[1], p[2], 0x5421),
               __byte_perm(p[2], p[3], 0x6542)}};
    }
    if constexpr (kStep == 1) {
      return {
          {__byte_perm(__byte_perm(p[0], p[1], 0x0040), __byte_perm(p[2], p[3], 0x0040), 0x5410)}};
    }
  }
};

/// Loads a group in one access of 16 bytes or in kStep words; `from` is aligned as takes_groups()
/// requires.
template <int kStep>
__device__ __forceinline__ PixelGroup<kStep> load_group(const std::uint8_t* from) {
  PixelGroup<kStep> group;
  if constexpr (kStep == 4) {
    *reinterpret_cast<uint4*>(group.words) = *reinterpret_cast<const uint4*>(from);
  } else {
    const auto* words = reinterpret_cast<const std::uint32_t*>(from);
#pragma unroll
    for (int i = 0; i < kStep; ++i)
      group.words[i] = words[i];
  }
  return group;
}

template <int kStep>
__device__ __forceinline__ void store_group(std::uint8_t* to, const PixelGroup<kStep>& group) {
  if constexpr (kStep == 4) {
    *reinterpret_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(group.words);
  } else {
    auto* words = reinterpret_cast<std::uint32_t*>(to);
#pragma unroll
    for (int i = 0; i < kStep; ++i)
      words[i] = group.words[i];
  }
}

/// Converts a pixel, as it lies in memory, to HSV.
__device__ __forceinline__ Hsv hsv_of(std::uint32_t pixel, const PixelOrder& order) {
  const std::uint32_t rgb = __byte_perm(pixel, 0, order.load);
  return rgb_to_hsv_pixel(static_cast<std::int32_t>(rgb & 0xFFU),
                          static_cast<std::int32_t>(rgb >> 8 & 0xFFU),
                          static_cast<std::int32_t>(rgb >> 16));
}

/// Converts an HSV value to a pixel as it lies in memory; a fourth byte comes from `original`.
__device__ __forceinline__ std::uint32_t pixel_of(const Hsv& hsv, std::uint32_t original,
                                                  const PixelOrder& order) {
  const Rgb rgb = hsv_to_rgb_pixel(hsv);
  const std::uint32_t word = static_cast<std::uint32_t>(rgb.r) |
                             static_cast<std::uint32_t>(rgb.g) << 8 |
                             static_cast<std::uint32_t>(rgb.b) << 16;
  return __byte_perm(word, original, order.store);
}

}  // namespace equalux::cuda
