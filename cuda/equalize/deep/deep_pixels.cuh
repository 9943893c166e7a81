#pragma once

#include <cstdint>

#include "cuda/equalize/deep/deep_strips.cuh"

/// Strips of eight packed pixels, or of eight samples of gray, of 16 bits.
namespace equalux::cuda {

/// Order of the words of a pixel in memory.
enum class DeepPixels : std::uint8_t { gray, colours, colours_then_alpha, alpha_then_colours };

constexpr int words_of(DeepPixels pixels) {
  if (pixels == DeepPixels::gray) return 1;
  return pixels == DeepPixels::colours ? 3 : 4;
}
/// Returns the number of the first colour word.
constexpr int first_colour(DeepPixels pixels) {
  return pixels == DeepPixels::alpha_then_colours ? 1 : 0;
}
constexpr Sampling sampling_of(DeepPixels pixels) {
  return pixels == DeepPixels::gray ? Sampling::gray : Sampling::rgb;
}

/// The codes of a strip as they are in memory, two per word.
template <DeepPixels kPixels>
struct PixelStrip {
  static constexpr int kWords = words_of(kPixels);
  static constexpr int kBytes = 2 * kStripColumns * kWords;

  std::uint32_t words[4 * kWords];

  __device__ __forceinline__ void load(const DeepFrame& frame, std::uint32_t row,
                                       std::uint32_t strip) {
    const auto* const at =
        reinterpret_cast<const uint4*>(frame.planes[0].from(row) + kBytes * std::int64_t{strip});
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      const uint4 loaded = at[i];
      words[4 * i] = loaded.x;
      words[4 * i + 1] = loaded.y;
      words[4 * i + 2] = loaded.z;
      words[4 * i + 3] = loaded.w;
    }
  }
  __device__ __forceinline__ void store(const DeepFrame& frame, std::uint32_t row,
                                        std::uint32_t strip) const {
    auto* const at =
        reinterpret_cast<uint4*>(frame.planes[0].to(row) + kBytes * std::int64_t{strip});
#pragma unroll
    for (int i = 0; i < kWords; ++i)
      at[i] = uint4{words[4 * i], words[4 * i + 1], words[4 * i + 2], words[4 * i + 3]};
  }
  /// Rounds the codes to bytes, in the same order, and stores them.
  __device__ __forceinline__ void store_bytes(const DeepRounding& rounding, std::uint32_t row,
                                              std::uint32_t strip) const {
    const Samples<std::uint8_t>& first = rounding.out[0];
    auto* const at =
        reinterpret_cast<uint2*>(first.row(static_cast<std::int32_t>(row)) - first_colour(kPixels) +
                                 kBytes / 2 * std::int64_t{strip});
    const PlainLevels level(rounding);
    const auto four = [&](int i) {
      const std::uint32_t a = words[i];
      const std::uint32_t b = words[i + 1];
      return level(a & 0xFFFF) | level(a >> 16) << 8 | level(b & 0xFFFF) << 16 |
             level(b >> 16) << 24;
    };
#pragma unroll
    for (int i = 0; i < kWords; ++i)
      at[i] = uint2{four(4 * i), four(4 * i + 2)};
  }

  /// Returns word `word` of a pixel; both numbers are constants in unrolled loops.
  [[nodiscard]] __device__ __forceinline__ std::uint32_t code(int pixel, int word) const {
    const int i = pixel * kWords + word;
    return i % 2 == 0 ? words[i / 2] & 0xFFFF : words[i / 2] >> 16;
  }
  __device__ __forceinline__ void set(int pixel, int word, std::uint32_t code) {
    const int i = pixel * kWords + word;
    words[i / 2] = __byte_perm(words[i / 2], code, i % 2 == 0 ? 0x3254 : 0x5410);
  }
  /// Returns the largest colour, or the sample of gray.
  [[nodiscard]] __device__ __forceinline__ std::uint32_t value(int pixel) const {
    if constexpr (kPixels == DeepPixels::gray) {
      return code(pixel, 0);
    } else {
      constexpr int kFirst = first_colour(kPixels);
      return max(code(pixel, kFirst), max(code(pixel, kFirst + 1), code(pixel, kFirst + 2)));
    }
  }
};

/// Calls use(pixels) with the order of words as a compile-time constant.
template <typename Use>
void with_pixel_strips(const DeepFrame& frame, const Use& use) {
  using enum DeepPixels;
  const DeepPixels pixels = frame.sampling == Sampling::gray ? gray
                            : frame.step == 6                ? colours
                            : frame.color_offset == 0        ? colours_then_alpha
                                                             : alpha_then_colours;
  with_constant<gray, colours, colours_then_alpha, alpha_then_colours>(pixels, use);
}

}  // namespace equalux::cuda
