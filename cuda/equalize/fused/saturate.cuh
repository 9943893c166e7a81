#pragma once

#include <cstdint>

#include "cuda/device/pixel_vector.cuh"
#include "cuda/equalize/fused/fused_params.h"
#include "cuda/equalize/fused/saturation_table.cuh"
#include "src/equalize/saturated_codes.h"
#include "src/equalize/saturation.h"

/// Change of saturation of packed pixels, by lines in whole numbers; see saturated_codes.h and
/// docs/algorithm.md, "Saturation".
namespace equalux::cuda {

/// Line of a pixel of value v whose least channel is `below` less, 255 at most. `of_value` is the
/// table's line of v.
template <typename Table>
__device__ __forceinline__ saturation::Line own_line(const Table& table,
                                                     const saturation::Line& of_value,
                                                     std::uint32_t v, std::uint32_t below) {
  if (!saturation::is_limited(of_value, below)) return saturation::free_line(of_value);
  return saturation::limited_line(
      table.slope(table.level(static_cast<std::int32_t>(v)), static_cast<std::int32_t>(below)),
      v - below);
}

/// Exact results of a pixel, also where its line leaves them open. Colours are the lowest bytes of
/// a word.
class ExactPixel {
 public:
  template <typename Table>
  __device__ ExactPixel(const Table& table, std::uint32_t colours) : colours_(colours) {
    const std::uint32_t most = max(max(colour(0), colour(1)), colour(2));
    const std::uint32_t below = most - min(min(colour(0), colour(1)), colour(2));
    v_ = static_cast<std::int32_t>(most);
    line_ = own_line(table, table.at(most), most, below);
    f_ = table.factor(v_, static_cast<std::int32_t>(below));
    level_ = table.level(v_);
  }
  /// Result of colour i.
  [[nodiscard]] __device__ std::uint32_t result(int i) const {
    if (v_ == 0) return 0;
    const std::uint32_t c = colour(i);
    const std::uint32_t low = saturation::whole_of_line(saturation::line_value(line_, c));
    return static_cast<std::uint32_t>(saturation::scaled_above(static_cast<std::int32_t>(low),
                                                               level_, tone::kCurveBits, f_, v_,
                                                               static_cast<std::int32_t>(c)));
  }

 private:
  [[nodiscard]] __device__ std::uint32_t colour(int i) const { return colours_ >> (8 * i) & 0xFFU; }

  std::uint32_t colours_;
  std::int32_t v_;
  saturation::Line line_;
  saturation::Factor f_;
  std::uint32_t level_;
};

/// Computes the exact results of a pixel, in the bytes of a word.
template <typename Table>
__device__ __noinline__ std::uint32_t saturate_pixel_exact(const Table& table,
                                                           std::uint32_t colours) {
  const ExactPixel pixel(table, colours);
  return pixel.result(0) | pixel.result(1) << 8 | pixel.result(2) << 16;
}

/// Packs the highest bytes of four results into a word.
__device__ __forceinline__ std::uint32_t pack_highest(std::uint32_t a, std::uint32_t b,
                                                      std::uint32_t c, std::uint32_t d) {
  return __byte_perm(__byte_perm(a, b, 0x0073), __byte_perm(c, d, 0x0073), 0x5410);
}

/// Changes kPixels pixels of kBytes bytes in words, a multiple of four pixels. Colours begin at
/// byte kColor of a pixel; a fourth byte is copied. `column_of` gives a pixel's column in the slot.
/// Called by all lanes of a warp.
template <int kPixels, int kBytes, int kColor, typename Table, typename ColumnOf>
__device__ __forceinline__ void saturate_pixels(const Table& table, const std::uint8_t* slot,
                                                std::uint32_t* words, const ColumnOf& column_of) {
  const auto code = [&](int pixel, int i) { return byte_of(words, pixel * kBytes + kColor + i); };
  const auto most = [&](int p) { return max(max(code(p, 0), code(p, 1)), code(p, 2)); };
  const auto least = [&](int p) { return min(min(code(p, 0), code(p, 1)), code(p, 2)); };
  saturation::Line lines[kPixels];
  bool limited = false;
#pragma unroll
  for (int pixel = 0; pixel < kPixels; ++pixel) {
    const std::uint32_t v = most(pixel);
    lines[pixel] = table.at(v);
    limited |= saturation::is_limited(lines[pixel], v - least(pixel));
  }
  // Where no pixel of the warp is limited, no lane branches, so that none diverges.
  if (__any_sync(0xFFFFFFFFU, limited)) {
#pragma unroll
    for (int pixel = 0; pixel < kPixels; ++pixel) {
      const std::uint32_t v = most(pixel);
      lines[pixel] = own_line(table, lines[pixel], v, v - least(pixel));
    }
  } else {
#pragma unroll
    for (int pixel = 0; pixel < kPixels; ++pixel)
      lines[pixel] = saturation::free_line(lines[pixel]);
  }
  std::uint32_t unsure = 0;  // a bit for each pixel
  // Whole words hold four pixels.
#pragma unroll
  for (int four = 0; four < kPixels; four += 4) {
    std::uint32_t results[4 * kBytes];
#pragma unroll
    for (int pixel = four; pixel < four + 4; ++pixel) {
      std::uint32_t* const result = results + (pixel - four) * kBytes;
      if constexpr (kBytes == 4) {
        constexpr int kCopied = kColor == 0 ? 3 : 0;
        result[kCopied] = byte_of(words, pixel * kBytes + kCopied) << 24;
      }
      std::uint32_t fraction = 0;
#pragma unroll
      for (int i = 0; i < 3; ++i) {
        result[kColor + i] = saturation::line_value(lines[pixel], code(pixel, i));
        fraction = max(fraction, saturation::fraction_of_line(result[kColor + i]));
      }
      if (!saturation::is_sure(fraction)) unsure |= 1U << pixel;
    }
#pragma unroll
    for (int w = 0; w < kBytes; ++w)
      words[four / 4 * kBytes + w] =
          pack_highest(results[4 * w], results[4 * w + 1], results[4 * w + 2], results[4 * w + 3]);
  }
#pragma unroll 1
  for (; unsure != 0; unsure &= unsure - 1) {
    const int pixel = __ffs(static_cast<int>(unsure)) - 1;
    const int column = column_of(pixel);
    const std::uint8_t* const bytes = slot + column * kBytes + kColor;
    const std::uint32_t colours =
        bytes[0] | std::uint32_t{bytes[1]} << 8 | std::uint32_t{bytes[2]} << 16;
    if (table.leave_open(colours, static_cast<std::uint32_t>(column))) continue;
    const std::uint32_t exact = saturate_pixel_exact(table, colours);
#pragma unroll
    for (int i = 0; i < 3; ++i) {
      const int byte = pixel * kBytes + kColor + i;
      const std::uint32_t mask = 0xFFU << (byte % 4 * 8);
      const std::uint32_t result = (exact >> (8 * i) & 0xFFU) << (byte % 4 * 8);
#pragma unroll
      for (int w = 0; w < kPixels * kBytes / 4; ++w)
        words[w] = w == byte / 4 ? (words[w] & ~mask) | result : words[w];
    }
  }
  // Lanes that have diverged would stay so without a barrier.
  __syncwarp();
}

}  // namespace equalux::cuda
