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

/// Blocks a side of those that share a coarse search, and how far it looks, in eighths.
inline constexpr int kCoarse = 4;
inline constexpr int kCoarseReach = 4;
/// Blocks of them that must not be still for it: of noise alone, one or two are not.
inline constexpr int kMoving = 4;
/// Side of windows: in samples that of a block; in halves that of a block and 4 more on each side;
/// in eighths that of kCoarse blocks a side and 4 more.
inline constexpr int kWindow = 16;
inline constexpr int kHalfBorder = 4;
inline constexpr int kCoarseBorder = 4;
/// What a vector that is not 0 costs in halves: it must be better by as much.
inline constexpr int kHalfCost = kWindow * kWindow * kLevel / 4;
/// What a step of an eighth costs.
inline constexpr int kCoarseCost = kLevel / 2;
/// Steps of a half sample that the best candidate is moved by, at most.
inline constexpr int kMostSteps = 3;
/// The neighbours that are tried, of a step and of a block, in order.
struct Neighbour {
  int x;
  int y;
};
inline constexpr int kAround = 4;
EQUALUX_HD constexpr Neighbour around(int i) {
  return i < 2 ? Neighbour{1 - 2 * i, 0} : Neighbour{0, 5 - 2 * i};
}

EQUALUX_HD constexpr int blocks_of(int samples) {
  return (samples + kBlock - 1) / kBlock;
}

/// True where the mean magnitude of a window's differences is at most `percent` of the noise that a
/// sample and its estimate have together, which is sigma / certainty.
EQUALUX_HD bool is_noise(int difference, int certainty, int sigma, int percent) {
  return static_cast<std::int64_t>(difference) * certainty <=
         static_cast<std::int64_t>(sigma) * (kWindow * kWindow * 256 * percent / 100);
}

/// True where what a window of halves differs by is noise: up to 0.43 of it. Means of 4 samples
/// have half the noise, and the magnitudes of differences 0.8 of it.
EQUALUX_HD bool is_still(int difference, int certainty, int sigma) {
  return is_noise(difference, certainty, sigma, 43);
}

/// True where a vector leaves a block so little difference that no other is looked for: of noise
/// alone it is 0.8, and interpolation makes it a little less.
EQUALUX_HD bool is_explained(int difference, int certainty, int sigma) {
  return is_noise(difference, certainty, sigma, 88);
}
/// True where it is less than most blocks have of noise alone: no vector can be told to be better.
EQUALUX_HD bool is_well_explained(int difference, int certainty, int sigma) {
  return is_noise(difference, certainty, sigma, 70);
}

/// The most that a difference counts towards the drift of a block: three quarters of the noise that
/// a sample and its estimate have together. 0 where nothing is known of the block.
EQUALUX_HD int drift_limit(int certainty, int sigma) {
  return certainty == 0 ? 0 : 192 * sigma / certainty;
}

/// How much lighter a block has become, from the sum of the differences of a window, each limited:
/// their mean, where it is beyond what noise alone moves it by, less that. That is two and a half
/// times the noise of the mean of halves, and two of samples.
EQUALUX_HD int drift_of(int sum, int limit) {
  constexpr int kCount = kWindow * kWindow;
  constexpr int kNoise = 3 * kWindow / 2;  // of a sum, in limits
  const int beyond = (sum < 0 ? -sum : sum) - kNoise * limit;
  if (beyond <= 0) return 0;
  const int drift = (beyond + kCount / 2) / kCount;
  return sum < 0 ? -drift : drift;
}

/// An estimate, where it has become lighter by so much.
EQUALUX_HD int lightened(int estimate, int drift) {
  return clamp(estimate + drift, 0, kSampleMost);
}

/// From where in the last frame a block has come, relative to it, in units of 1 / kParts sample.
struct Vector {
  std::int16_t x = 0;
  std::int16_t y = 0;

  friend constexpr bool operator==(const Vector&, const Vector&) = default;
};

/// The third of five numbers in order.
EQUALUX_HD constexpr int median_of(int a, int b, int c, int d, int e) {
  const auto least = [](int x, int y) { return x < y ? x : y; };
  const auto most = [](int x, int y) { return x < y ? y : x; };
  // Neither the least nor the most of four is it, nor beyond it.
  const int low = most(least(a, b), least(c, d));
  const int high = least(most(a, b), most(c, d));
  return most(least(low, high), least(most(low, high), e));
}

/// Rounded to nearest, halves up. Divisors are above 0.
EQUALUX_HD constexpr std::int64_t divided(std::int64_t a, std::int64_t b) {
  const std::int64_t twice = 2 * a + b;
  const std::int64_t whole = twice / (2 * b);
  return whole - (twice % (2 * b) < 0 ? 1 : 0);
}
EQUALUX_HD constexpr int whole_samples(int parts) {
  return static_cast<int>(divided(parts, kParts));
}

/// Parts along one axis, cut off so that a block of a plane points no further out of it than it
/// may.
EQUALUX_HD std::int16_t within(int parts, int block, int size) {
  const int first = block * kBlock;
  const int most = (size - first > kBlock ? size - first - kBlock : 0) + kMostOutside;
  return static_cast<std::int16_t>(clamp(parts, (-kMostOutside - first) * kParts, most * kParts));
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
