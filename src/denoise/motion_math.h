#pragma once

#include <cstdint>

#include "src/denoise/interpolation.h"

/// How motion is measured, in whole numbers; which blocks are compared says docs/algorithm.md,
/// "Denoising".
namespace equalux::denoise {

/// Luma samples a side of a block that moves as one.
inline constexpr int kBlock = 16;
/// A vector may point this far out of the frame, in luma samples.
inline constexpr int kMostOutside = 8;

/// From where in the last frame a block has come, relative to it, in units of 1 / kParts sample.
struct Vector {
  std::int16_t x = 0;
  std::int16_t y = 0;

  friend constexpr bool operator==(const Vector&, const Vector&) = default;
};

/// Rounded to nearest, halves up. Divisors are above 0.
EQUALUX_HD constexpr std::int64_t divided(std::int64_t a, std::int64_t b) {
  const std::int64_t twice = 2 * a + b;
  const std::int64_t whole = twice / (2 * b);
  return whole - (twice % (2 * b) < 0 ? 1 : 0);
}
EQUALUX_HD constexpr int whole_samples(int parts) {
  return static_cast<int>(divided(parts, kParts));
}

/// Sums over a window of gradients g of the estimate and differences d of samples to it, in units
/// of 4, each limited to +-kMostSlope. They fit 32 bits for windows of up to 24 x 24.
struct SlopeSums {
  std::int32_t xx = 0;
  std::int32_t xy = 0;
  std::int32_t yy = 0;
  std::int32_t xd = 0;
  std::int32_t yd = 0;
};
inline constexpr int kMostSlope = 1023;

/// Adds a sample's share; `left` to `below` are the estimate's neighbours.
EQUALUX_HD void add_slopes(int now, int then, int left, int right, int above, int below,
                           SlopeSums& sums) {
  const auto limited = [](int x) { return clamp(x, -kMostSlope, kMostSlope); };
  const int x = limited((right - left) >> 3);
  const int y = limited((below - above) >> 3);
  const int d = limited((now - then) >> 2);
  sums.xx += x * x;
  sums.xy += x * y;
  sums.yy += y * y;
  sums.xd += x * d;
  sums.yd += y * d;
}

/// The displacement that explains the differences best (Lucas and Kanade 1981): the solution of
/// (xx xy; xy yy) (x; y) = (xd; yd), in units of 1 / kParts, at most a sample. `samples` of the
/// window damp it where there is no structure.
EQUALUX_HD Vector displacement(const SlopeSums& sums, int samples) {
  const std::int64_t damping = 16 * static_cast<std::int64_t>(samples);
  const std::int64_t xx = sums.xx + damping;
  const std::int64_t yy = sums.yy + damping;
  const std::int64_t xy = sums.xy;
  const std::int64_t determinant = xx * yy - xy * xy;  // above 0 by the damping
  const auto part = [determinant](std::int64_t numerator) {
    if (numerator >= determinant) return kParts;
    if (numerator <= -determinant) return -kParts;
    // The quotient is below 1 in magnitude: its eight parts are found without overflow.
    return static_cast<int>(divided(numerator, determinant / kParts));
  };
  return {static_cast<std::int16_t>(part(yy * sums.xd - xy * sums.yd)),
          static_cast<std::int16_t>(part(xx * sums.yd - xy * sums.xd))};
}

}  // namespace equalux::denoise
