#pragma once

#include <cstdint>

#include "cuda/device/pixel_vector.cuh"
#include "cuda/equalize/fused/fused_params.h"
#include "cuda/equalize/fused/saturation_table.cuh"
#include "src/equalize/saturation.h"

/// Pixels whose saturation changes, in single precision: c' = V' - slope (v - c), slope being
/// k V' / v, or V' / (v - m) where that is less, which takes S to 1. Near a half whole numbers
/// decide. docs/algorithm.md, "Saturation".
namespace equalux::cuda {

/// Single precision is off by less than 2^-13 of a code: V' by 2^-17, the product of slope and
/// distance, 255 at most, by 2^-22 of itself, and each of two sums by 2^-17. Nearer to a half than
/// this, whole numbers decide.
inline constexpr float kSureCode = 0.5f - 0x1p-13f;

/// 2^23, and the bits of the float that a code makes of it: 2^23 + code.
inline constexpr std::uint32_t kCodeBase = 0x4B000000U;

/// 2^23 + byte `i` of consecutive words, as a float.
__device__ __forceinline__ float based_byte(const std::uint32_t* words, int i) {
  return __uint_as_float(__byte_perm(words[i / 4], kCodeBase, 0x7650 | (i % 4)));
}
__device__ __forceinline__ float based(std::int32_t code) {
  return __uint_as_float(kCodeBase | static_cast<std::uint32_t>(code));
}

/// 1 / x, off by a last place; of 0 infinity.
__device__ __forceinline__ float fast_inverse(float x) {
  float inverse;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(x));
  return inverse;
}

/// The slope of a pixel of which `below` is v - m, or v where that is less, and 0 or more.
__device__ __forceinline__ float slope_of(const LevelSlope& of, float below) {
  // V' = 0 times infinity is not a number, which no minimum is.
  return fminf(of.slope, __fmul_rn(of.level, fast_inverse(below)));
}

/// A result in single precision.
struct FastCode {
  std::uint32_t code;  ///< in the low half
  float distance;      ///< from the code's middle
};
__device__ __forceinline__ FastCode rounded_code(float x) {
  constexpr float kBase = 12582912.0f;  // 1.5 2^23: the integer part is in the lowest bits
  const float code = __fadd_rn(x, kBase);
  return {__float_as_uint(code), __fadd_rn(x, -__fadd_rn(code, -kBase))};
}

/// A channel c, or luma above black, of a value v > 0, by whole numbers; `x` is what single
/// precision makes of it.
template <typename Table>
__device__ __forceinline__ std::uint32_t exact_code(const Table& table, float x,
                                                    saturation::Factor f, std::int32_t v,
                                                    std::int32_t c) {
  return static_cast<std::uint32_t>(
      saturation::scaled_above(__float2int_rd(x), table.level(v), tone::kCurveBits, f, v, c));
}

/// Three channels of a pixel, codes above 2^23. `out` has the results in the low bytes; `unsure`
/// gets `flag` where one of them is near a half.
template <typename Table>
__device__ __forceinline__ void saturate_pixel(const Table& table, const float (&c)[3],
                                               std::uint32_t (&out)[3], std::uint32_t flag,
                                               std::uint32_t& unsure) {
  const float v = fmaxf(fmaxf(c[0], c[1]), c[2]);
  const float m = fminf(fminf(c[0], c[1]), c[2]);
  const LevelSlope of = table.at(__float_as_uint(v) - kCodeBase);
  const float slope = slope_of(of, __fadd_rn(v, -m));
  float furthest = 0;
#pragma unroll
  for (int i = 0; i < 3; ++i) {
    const FastCode result = rounded_code(__fmaf_rn(__fadd_rn(c[i], -v), slope, of.level));
    out[i] = result.code;
    furthest = fmaxf(furthest, fabsf(result.distance));
  }
  if (furthest > kSureCode) unsure |= flag;
}

/// The same from three bytes, by whole numbers.
template <typename Table>
__device__ __noinline__ std::uint32_t saturate_pixel_exact(const Table& table,
                                                           const std::uint8_t* bytes) {
  std::int32_t c[3];
#pragma unroll
  for (int i = 0; i < 3; ++i)
    c[i] = bytes[i];
  const std::int32_t v = max(max(c[0], c[1]), c[2]);
  if (v == 0) return 0;
  const std::int32_t below = v - min(min(c[0], c[1]), c[2]);
  const LevelSlope of = table.at(static_cast<std::uint32_t>(v));
  const float slope = slope_of(of, static_cast<float>(below));
  const saturation::Factor f = table.factor(v, below);
  std::uint32_t codes = 0;
#pragma unroll
  for (int i = 0; i < 3; ++i) {
    const float x = __fmaf_rn(static_cast<float>(c[i] - v), slope, of.level);
    codes |= exact_code(table, x, f, v, c[i]) << (8 * i);
  }
  return codes;
}

/// kPixels neighbouring pixels of kBytes bytes, in words; colours begin at byte kColor of a pixel,
/// and the fourth byte is copied. `bytes` is where they stand in the slot. kPixels kBytes is a
/// multiple of 4.
template <int kPixels, int kBytes, int kColor, typename Table>
__device__ __forceinline__ void saturate_pixels(const Table& table, const std::uint8_t* bytes,
                                                std::uint32_t* words) {
  std::uint32_t results[kPixels * kBytes];
  std::uint32_t unsure = 0;  // pixels
#pragma unroll
  for (int pixel = 0; pixel < kPixels; ++pixel) {
    const int first = pixel * kBytes;
    if constexpr (kBytes == 4) {
      constexpr int kCopied = kColor == 0 ? 3 : 0;
      results[first + kCopied] = byte_of(words, first + kCopied);
    }
    float c[3];
    std::uint32_t out[3];
#pragma unroll
    for (int i = 0; i < 3; ++i)
      c[i] = based_byte(words, first + kColor + i);
    saturate_pixel(table, c, out, 1U << pixel, unsure);
#pragma unroll
    for (int i = 0; i < 3; ++i)
      results[first + kColor + i] = out[i];
  }
#pragma unroll 1
  for (; unsure != 0; unsure &= unsure - 1) {
    const int pixel = __ffs(static_cast<int>(unsure)) - 1;
    const std::uint32_t exact = saturate_pixel_exact(table, bytes + pixel * kBytes + kColor);
#pragma unroll
    for (int i = 0; i < kPixels; ++i) {
#pragma unroll
      for (int j = 0; j < 3; ++j) {
        std::uint32_t& result = results[i * kBytes + kColor + j];
        result = i == pixel ? exact >> (8 * j) : result;
      }
    }
  }
#pragma unroll
  for (int w = 0; w < kPixels * kBytes / 4; ++w)
    words[w] = pack(results[4 * w], results[4 * w + 1], results[4 * w + 2], results[4 * w + 3]);
}

}  // namespace equalux::cuda
