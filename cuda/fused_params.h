#pragma once

#include <array>
#include <cstdint>

#include <equalux/params.h>

#include "pixel_math.h"

/// What the host hands to the fused kernel for one frame.
namespace equalux::cuda {

/// n / d for n below 2^31 by one multiplication (Granlund and Montgomery 1994).
struct FastDivisor {
  std::uint32_t divisor = 1;
  std::uint32_t multiplier = 0;
  std::uint32_t shift = 0;

  static FastDivisor of(std::uint32_t d) {
    if (d == 1) return {1, 0, 0};
    std::uint32_t shift = 0;
    while ((std::uint64_t{1} << shift) < d) ++shift;
    const std::uint64_t one = std::uint64_t{1} << (31 + shift);
    return {d, static_cast<std::uint32_t>((one + d - 1) / d), shift - 1};
  }
  EQUALUX_HD std::uint32_t quotient(std::uint32_t n) const {
    if (divisor == 1) return n;
    return static_cast<std::uint32_t>((static_cast<std::uint64_t>(n) * multiplier) >> 32) >> shift;
  }
};

/// YuvWeights as floats, with the signs of the sums they stand in.
struct YuvFloats {
  float red_w = 0;
  float minus_green_u = 0;
  float minus_green_w = 0;
  float blue_u = 0;

  static YuvFloats of(const YuvWeights& w) {
    return {static_cast<float>(w.red_w), -static_cast<float>(w.green_u),
            -static_cast<float>(w.green_w), static_cast<float>(w.blue_u)};
  }
};

/// Device memory that outlives a launch. The counters are 0 before the first one.
struct FusedState {
  std::uint32_t counts[2][256];  ///< histograms of even and odd frames
  std::uint32_t frames;          ///< launches so far, whose lowest bit names the histogram
  std::uint32_t arrived;         ///< of the grid barrier
  std::uint8_t last_of_bin[256]; ///< by v: the largest value in its bin
};

/// Strides are in bytes and may be negative; `lines` are rows of chroma for 4:2:0, rows of pixels
/// otherwise, and 1 where a packed frame without padding is treated as one long line.
struct FusedParams {
  std::array<const std::uint8_t*, 3> in{};
  std::array<std::uint8_t*, 3> out{};
  std::array<std::int64_t, 3> in_stride{};
  std::array<std::int64_t, 3> out_stride{};
  std::uint32_t width = 0;   ///< pixels of a line
  std::uint32_t height = 0;  ///< rows of pixels; read for 4:2:0 only
  std::uint32_t chunks = 0;
  FastDivisor chunks_per_line;
  bool interlaced = false;
  Scaler scaler = Scaler::max_abs;
  YuvWeights weights{};
  YuvFloats yuv;
  FusedState* state = nullptr;
};

}  // namespace equalux::cuda
