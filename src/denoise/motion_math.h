#pragma once

#include <cstdint>

#include "src/denoise/interpolation.h"

/// Block matching in whole numbers: constants, costs and thresholds. docs/algorithm.md,
/// "Denoising", says which blocks are compared.
namespace equalux::denoise {

/// Side of a block in luma samples. A block has one motion vector.
inline constexpr int kBlock = 16;
/// Luma samples by which a vector may point out of the frame.
inline constexpr int kMostOutside = 8;

/// Coarse search: blocks a side that share one, and its range in samples of the eighth.
inline constexpr int kCoarse = 4;
inline constexpr int kCoarseReach = 4;
/// Blocks of those that must be in motion for a search; noise alone moves one or two.
inline constexpr int kMoving = 4;
/// Side of windows. In samples a window is a block; in halves a block and 4 more on each side; in
/// eighths kCoarse blocks a side and 4 more.
inline constexpr int kWindow = 16;
inline constexpr int kHalfBorder = 4;
inline constexpr int kCoarseBorder = 4;
/// Cost of any vector but 0 in halves: it must match better by that much.
inline constexpr int kHalfCost = kWindow * kWindow * kLevel / 4;
/// Cost for each step in eighths.
inline constexpr int kCoarseCost = kLevel / 2;
/// Most steps of a half sample that refine the best candidate.
inline constexpr int kMostSteps = 3;
/// Neighbours that are tried, of a step and of a block, in order.
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

/// Returns true where the mean magnitude of a window's differences is at most `percent` of the
/// noise of a sample and its estimate together, sigma / certainty.
EQUALUX_HD bool is_noise(int difference, int certainty, int sigma, int percent) {
  return static_cast<std::int64_t>(difference) * certainty <=
         static_cast<std::int64_t>(sigma) * (kWindow * kWindow * 256 * percent / 100);
}

/// Returns true where a window of halves differs only by noise, up to 43 per cent: means of 4
/// samples have half the noise, and magnitudes of differences are 0.8 of it.
EQUALUX_HD bool is_still(int difference, int certainty, int sigma) {
  return is_noise(difference, certainty, sigma, 43);
}

/// Returns true where a vector matches well enough to stop the search, up to 88 per cent: noise
/// alone gives 80, a little less after interpolation.
EQUALUX_HD bool is_explained(int difference, int certainty, int sigma) {
  return is_noise(difference, certainty, sigma, 88);
}
/// Returns true where a match is closer than most blocks of noise alone: no other can be better.
EQUALUX_HD bool is_well_explained(int difference, int certainty, int sigma) {
  return is_noise(difference, certainty, sigma, 70);
}

/// Limit of a difference in the drift of a block: 3/4 of the noise of a sample and its estimate
/// together; 0 where the block has no estimate.
EQUALUX_HD int drift_limit(int certainty, int sigma) {
  // Without signs a division takes fewer instructions.
  return certainty == 0 ? 0
                        : static_cast<int>(192U * static_cast<unsigned>(sigma) /
                                           static_cast<unsigned>(certainty));
}

/// Drift of a block, the brightness it has gained, from the sum of limited differences of a window:
/// their mean less what noise alone may cause. That threshold is 2.5 times the noise of the mean in
/// halves, and twice that in samples.
EQUALUX_HD int drift_of(int sum, int limit) {
  constexpr int kCount = kWindow * kWindow;
  constexpr int kNoise = 3 * kWindow / 2;  // threshold of the sum, in limits
  const int beyond = (sum < 0 ? -sum : sum) - kNoise * limit;
  if (beyond <= 0) return 0;
  const int drift = (beyond + kCount / 2) / kCount;
  return sum < 0 ? -drift : drift;
}

/// Level from which light is counted, half of the black of limited range: between the blacks of
/// both ranges, so that it need not be known which one a frame has.
inline constexpr int kDark = 8 * kLevel;
/// Largest gain; a larger change of the light is no drift.
inline constexpr int kMostGain = kOne / 4;

/// Gain that is a drift at the block's mean, in units of 1 / kOne: light that changes does so in
/// proportion. Below twice kDark the gain is that of twice kDark.
EQUALUX_HD int gain_of(int drift, int mean) {
  const int light = mean - kDark > kDark ? mean - kDark : kDark;
  return clamp(drift * kOne / light, -kMostGain, kMostGain);
}
/// Mean of a block from its four eighths.
EQUALUX_HD int block_mean(int a, int b, int c, int d) {
  return (a + b + c + d + 2) >> 2;
}

/// Estimate in the light that has changed by the gain.
EQUALUX_HD int lightened(int estimate, int gain) {
  return clamp(estimate + times(estimate - kDark, gain), 0, kSampleMost);
}

/// Motion vector: position in the last frame relative to the block, in units of 1 / kParts sample.
struct Vector {
  std::int16_t x = 0;
  std::int16_t y = 0;

  friend constexpr bool operator==(const Vector&, const Vector&) = default;
};

/// Median of five numbers.
EQUALUX_HD constexpr int median_of(int a, int b, int c, int d, int e) {
  const auto least = [](int x, int y) { return x < y ? x : y; };
  const auto most = [](int x, int y) { return x < y ? y : x; };
  // The median lies between the larger minimum and the smaller maximum of two pairs.
  const int low = most(least(a, b), least(c, d));
  const int high = least(most(a, b), most(c, d));
  return most(least(low, high), least(most(low, high), e));
}

/// Quotient rounded half up, for positive divisors.
EQUALUX_HD constexpr std::int64_t divided(std::int64_t a, std::int64_t b) {
  const std::int64_t twice = 2 * a + b;
  const std::int64_t whole = twice / (2 * b);
  return whole - (twice % (2 * b) < 0 ? 1 : 0);
}
EQUALUX_HD constexpr int whole_samples(int parts) {
  return static_cast<int>(divided(parts, kParts));
}

/// Component of a vector, clamped so that the block points no further out of the plane than
/// kMostOutside.
EQUALUX_HD std::int16_t within(int parts, int block, int size) {
  const int first = block * kBlock;
  const int most = (size - first > kBlock ? size - first - kBlock : 0) + kMostOutside;
  return static_cast<std::int16_t>(clamp(parts, (-kMostOutside - first) * kParts, most * kParts));
}

/// Sums over a window of products of gradients of the estimate and differences d of samples from
/// it, in units of 4, each limited to +-kMostSlope. They fit in 32 bits for windows up to 24 x 24.
struct SlopeSums {
  std::int32_t xx = 0;
  std::int32_t xy = 0;
  std::int32_t yy = 0;
  std::int32_t xd = 0;
  std::int32_t yd = 0;
};
inline constexpr int kMostSlope = 1023;

/// Adds a sample; `left`, `right`, `above` and `below` are neighbours in the estimate.
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

/// Damping of displacement(), added to the sums of squared slopes over so many samples.
EQUALUX_HD std::int64_t damping(int samples) {
  return 16 * static_cast<std::int64_t>(samples);
}

/// Differences with which a block's vectors compete. A vector must be better than none by 1 / 32,
/// or it follows the noise.
EQUALUX_HD int least_without_vector(int difference) {
  return difference - difference / 32;
}
/// A found vector is preferred by 1 / 128 to one that continues the last picture's.
EQUALUX_HD int least_of_found(int difference) {
  return difference - difference / 128;
}

/// Displacement that explains the differences best (Lucas and Kanade 1981): the solution of (xx xy;
/// xy yy) (x; y) = (xd; yd), in units of 1 / kParts, at most one sample. Damping in proportion to
/// `samples`, the size of the window, suppresses it where there is no structure.
EQUALUX_HD Vector displacement(const SlopeSums& sums, int samples) {
  const std::int64_t xx = sums.xx + damping(samples);
  const std::int64_t yy = sums.yy + damping(samples);
  const std::int64_t xy = sums.xy;
  const std::int64_t determinant = xx * yy - xy * xy;  // positive because of the damping
  const auto part = [determinant](std::int64_t numerator) {
    if (numerator >= determinant) return kParts;
    if (numerator <= -determinant) return -kParts;
    // The quotient is below 1 in magnitude; dividing the divisor by kParts avoids overflow.
    return static_cast<int>(divided(numerator, determinant / kParts));
  };
  return {static_cast<std::int16_t>(part(yy * sums.xd - xy * sums.yd)),
          static_cast<std::int16_t>(part(xx * sums.yd - xy * sums.xd))};
}

}  // namespace equalux::denoise
