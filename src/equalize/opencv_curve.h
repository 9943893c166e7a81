#pragma once

#include <array>
#include <cstdint>

#include "src/format/pixel_math.h"

/// Tone curve of cv::equalizeHist, written once for host and device, in single precision with a
/// rounding at each step as OpenCV computes on x86-64. docs/algorithm.md, "OpenCV's bytes".
namespace equalux::opencv {

/// Nearest whole number of 0 to 2^22, halves to even, as OpenCV rounds.
EQUALUX_HD std::int32_t round_even(float x) {
#if defined(__CUDA_ARCH__)
  return __float2int_rn(x);
#else
  constexpr float kOne = 12582912.0F;  // 1.5 2^23, whose last bit is worth 1
  return static_cast<std::int32_t>((x + kOne) - kOne);
#endif
}

/// Levels per pixel; `others` counts the frame's pixels that are not of its darkest level.
EQUALUX_HD float level_scale(std::uint32_t others) {
  return 255.0F / static_cast<float>(others);
}

/// Level for `sum` pixels at or below it, without those of the darkest level.
EQUALUX_HD std::uint8_t level_of(std::uint32_t sum, float scale) {
  return static_cast<std::uint8_t>(round_even(static_cast<float>(sum) * scale));
}

/// Table of levels. A frame of one level keeps it; levels that the frame lacks become anything.
inline void make_levels(const std::array<std::uint32_t, 256>& counts,
                        std::array<std::uint8_t, 256>& levels) {
  std::uint32_t total = 0;
  for (const std::uint32_t count : counts)
    total += count;
  std::size_t v = 0;
  while (v < 255 && counts[v] == 0)
    levels[v++] = 0;
  const std::uint32_t others = total - counts[v];
  if (others == 0) {
    levels[v] = static_cast<std::uint8_t>(v);
    return;
  }
  const float scale = level_scale(others);
  levels[v] = 0;
  std::uint32_t sum = 0;
  for (++v; v < 256; ++v)
    levels[v] = level_of(sum += counts[v], scale);
}

}  // namespace equalux::opencv
