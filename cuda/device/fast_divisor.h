#pragma once

#include <cstdint>

#include "src/format/pixel_math.h"

/// Division by a number that the host knows before the launch.
namespace equalux::cuda {

/// n / d for n below 2^31 as one multiplication and a shift (Granlund and Montgomery 1994); a GPU
/// has no instruction for integer division.
struct FastDivisor {
  std::uint32_t divisor = 1;
  std::uint32_t multiplier = 0;
  std::uint32_t shift = 0;

  static FastDivisor of(std::uint32_t d) {
    if (d == 1) return {1, 0, 0};
    std::uint32_t shift = 0;
    while ((std::uint64_t{1} << shift) < d)
      ++shift;
    const std::uint64_t one = std::uint64_t{1} << (31 + shift);
    return {d, static_cast<std::uint32_t>((one + d - 1) / d), shift - 1};
  }
  EQUALUX_HD std::uint32_t quotient(std::uint32_t n) const {
    if (divisor == 1) return n;
    return static_cast<std::uint32_t>((static_cast<std::uint64_t>(n) * multiplier) >> 32) >> shift;
  }
};

}  // namespace equalux::cuda
