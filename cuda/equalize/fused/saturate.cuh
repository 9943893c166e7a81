#pragma once

#include <cstdint>

#include "cuda/device/pixel_vector.cuh"
#include "cuda/equalize/fused/fused_params.h"
#include "cuda/equalize/fused/saturation_table.cuh"
#include "src/equalize/saturated_codes.h"
#include "src/equalize/saturation.h"

/// Pixels whose saturation changes, by lines in whole numbers; see saturated_codes.h and
/// docs/algorithm.md, "Saturation".
namespace equalux::cuda {

/// The values of a line at the channels of a pixel, codes in the lowest bits. v - m is at most 255.
template <typename Table>
__device__ __forceinline__ void line_values(const Table& table, const std::uint32_t (&c)[3],
                                            std::uint32_t (&values)[3]) {
  const std::uint32_t v = max(max(c[0], c[1]), c[2]);
  const std::uint32_t m = min(min(c[0], c[1]), c[2]);
  saturation::Line line = table.at(v);
  if (saturation::is_limited(line, v - m)) {
    line = saturation::limited_line(
        table.slope(table.level(static_cast<std::int32_t>(v)), static_cast<std::int32_t>(v - m)),
        m);
  } else {
    line = saturation::free_line(line);
  }
#pragma unroll
  for (int i = 0; i < 3; ++i)
    values[i] = saturation::line_value(line, c[i]);
}

/// Three channels of a pixel. `out` has the results in the highest bytes; `unsure` gets `flag`
/// where the line leaves one of them open.
template <typename Table>
__device__ __forceinline__ void saturate_pixel(const Table& table, const std::uint32_t (&c)[3],
                                               std::uint32_t (&out)[3], std::uint32_t flag,
                                               std::uint32_t& unsure) {
  line_values(table, c, out);
  std::uint32_t fraction = 0;
#pragma unroll
  for (int i = 0; i < 3; ++i)
    fraction = max(fraction, saturation::fraction_of_line(out[i]));
  if (!saturation::is_sure(fraction)) unsure |= flag;
}

/// The same from three bytes, whatever the line says; results in the bytes of a word.
template <typename Table>
__device__ __noinline__ std::uint32_t saturate_pixel_exact(const Table& table,
                                                           const std::uint8_t* bytes) {
  const std::uint32_t c[3] = {bytes[0], bytes[1], bytes[2]};
  std::uint32_t values[3];
  line_values(table, c, values);
  const auto v = static_cast<std::int32_t>(max(max(c[0], c[1]), c[2]));
  if (v == 0) return 0;
  const auto below = v - static_cast<std::int32_t>(min(min(c[0], c[1]), c[2]));
  const saturation::Factor f = table.factor(v, below);
  std::uint32_t codes = 0;
#pragma unroll
  for (int i = 0; i < 3; ++i) {
    codes |= static_cast<std::uint32_t>(saturation::scaled_above(
                 static_cast<std::int32_t>(saturation::whole_of_line(values[i])), table.level(v),
                 tone::kCurveBits, f, v, static_cast<std::int32_t>(c[i])))
             << (8 * i);
  }
  return codes;
}

/// Four results' highest bytes as one word.
__device__ __forceinline__ std::uint32_t pack_highest(std::uint32_t a, std::uint32_t b,
                                                      std::uint32_t c, std::uint32_t d) {
  return __byte_perm(__byte_perm(a, b, 0x0073), __byte_perm(c, d, 0x0073), 0x5410);
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
      results[first + kCopied] = byte_of(words, first + kCopied) << 24;
    }
    std::uint32_t c[3];
    std::uint32_t out[3];
#pragma unroll
    for (int i = 0; i < 3; ++i)
      c[i] = byte_of(words, first + kColor + i);
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
        result = i == pixel ? exact << (24 - 8 * j) : result;
      }
    }
  }
#pragma unroll
  for (int w = 0; w < kPixels * kBytes / 4; ++w)
    words[w] =
        pack_highest(results[4 * w], results[4 * w + 1], results[4 * w + 2], results[4 * w + 3]);
}

}  // namespace equalux::cuda
