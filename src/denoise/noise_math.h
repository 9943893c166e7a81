#pragma once

#include <bit>
#include <cstdint>

#include "src/denoise/denoise_math.h"

/// Estimation of noise from a histogram of blocks by level and texture, in whole numbers, so that
/// all backends agree. docs/algorithm.md, "Denoising", has the reasons.
namespace equalux::denoise {

/// Side of a measured block in samples.
inline constexpr int kNoiseBlock = 8;
/// Rows of blocks are measured in turn, one of so many in each picture; all of them in the first.
inline constexpr std::uint32_t kNoiseTurns = 8;
/// Bins of texture: octaves of 8 parts.
inline constexpr int kTextureBins = 192;
/// Texture of the least noise, 1/20 of an 8-bit level. Blocks with less do not come from a sensor.
inline constexpr int kLeastTexture = 141 * kLevel / 20;

/// Bin of a texture of 1 or more.
EQUALUX_HD int texture_bin(int texture) {
#ifdef __CUDA_ARCH__
  const int octave = 31 - __clz(texture);
#else
  const int octave = static_cast<int>(std::bit_width(static_cast<unsigned>(texture))) - 1;
#endif
  const int part = octave >= 3 ? (texture >> (octave - 3)) & 7 : (texture << (3 - octave)) & 7;
  return 8 * octave + part;
}

/// Returns true where a row of blocks is measured in a picture with `before` predecessors.
EQUALUX_HD bool is_noise_turn(int row, std::uint32_t before) {
  return before == 0 || (static_cast<std::uint32_t>(row) + before) % kNoiseTurns == 0;
}

/// Rows of a histogram of blocks: fine textures by segment, then coarse ones.
inline constexpr int kTextureRows = 2 * kSegments;

/// Coarse texture of a block, in units of the fine one, for which white noise has nearly the same
/// value: the smaller one of `spread`, the sum of second differences over twice the distance, and
/// `change`, the sum of differences from an estimate with this certainty. Noise that neighbours
/// share hardly shows in fine texture, but in both of these; what the picture shows, only in one.
/// Factors are those at which the fifth of blocks ends at 141 sigma for each alone, over 0.96, as
/// the smaller one of two ends lower (measured). At least 1, as texture_bin() needs.
EQUALUX_HD int coarse_texture(int spread, int change, int certainty) {
  const int by_spread = spread * 159 / 64;
  const int by_change = change * certainty / 256 * 25 / 8;
  const int least = by_spread < by_change ? by_spread : by_change;
  return least > 1 ? least : 1;
}

/// Count of one block of the present frame.
inline constexpr std::uint32_t kNoiseUnit = 256;

/// Count after a frame with so many blocks: each frame takes an eighth off the counts before.
EQUALUX_HD std::uint32_t count_after(std::uint32_t all, std::uint32_t blocks) {
  return all - (all + 7) / 8 + kNoiseUnit * blocks;
}

/// Returns true where a level has enough blocks to tell its noise.
EQUALUX_HD bool has_enough_blocks(std::uint64_t all) {
  return all >= std::uint64_t{24} * kNoiseUnit;
}

/// Returns true where the fifth of blocks with least texture ends within this bin.
EQUALUX_HD bool ends_fifth(std::uint64_t below, std::uint64_t here, std::uint64_t all) {
  return 5 * (below + here) >= all;
}

/// Texture at which that fifth ends; those blocks are the flat ones of most pictures. Interpolated
/// within the bin in steps of 1/64.
EQUALUX_HD int texture_of_fifth(int bin, std::uint64_t below, std::uint64_t here,
                                std::uint64_t all) {
  const std::uint64_t rest = all / 5 > below ? all / 5 - below : 0;
  const auto part = static_cast<int>(64 * rest / here);
  const std::int64_t scaled = 64 * (8 + bin % 8) + (part < 63 ? part : 63);
  return static_cast<int>((scaled << (bin / 8)) >> 9);
}

/// Standard deviation of noise for a texture. For Gaussian noise, with 216 weights a block, the
/// fifth of blocks with least texture ends at 0.651 of them (measured). At most kMostSigma: a
/// chequered pattern is no noise, and curves have 16 bits.
EQUALUX_HD int sigma_of(int texture) {
  const int sigma = (texture + 70) / 141;
  return sigma < kMostSigma ? sigma : kMostSigma;
}

/// Standard deviation of noise by both textures. Where coarse texture shows more than 5/4 of what
/// fine texture does, neighbours share noise. Coarse texture then tells how strong it is, but even
/// over twice the distance noise is shared, the more, the less of it fine texture shows.
EQUALUX_HD int joined_sigma(int fine, int coarse) {
  const int shared = (7 * coarse - 4 * fine) / 4;
  const int passing = 4 * (coarse - fine);  // continuous where coarse is 5/4 of fine
  const int least = shared < passing ? shared : passing;
  const int sigma = fine > least ? fine : least;
  return sigma < kMostSigma ? sigma : kMostSigma;
}

/// Marks a segment whose noise is not known.
inline constexpr int kUnknown = -1;

/// Interpolates unknown segments between known neighbours, and extends the first and last known
/// one.
EQUALUX_HD void fill_gaps(int (&sigma)[kSegments]) {
  int last = -1;
  for (int i = 0; i < kSegments; ++i) {
    if (sigma[i] == kUnknown) continue;
    const int here = sigma[i];
    const int from = last < 0 ? here : sigma[last];
    for (int k = last + 1; k < i; ++k)
      sigma[k] = from + (here - from) * (k - last) / (i - last);
    last = i;
  }
  const int rest = last < 0 ? 0 : sigma[last];
  for (int k = last + 1; k < kSegments; ++k)
    sigma[k] = rest;
}

/// 2^16 over a standard deviation, at most 2^15 - 1.
EQUALUX_HD int inverse_of(int sigma) {
  const int inverse = (1 << 16) / (sigma > 1 ? sigma : 1);
  return inverse < kOne - 1 ? inverse : kOne - 1;
}

/// Sets segment i of the curves. `sigma` is valid at the middle of each segment; a knot between two
/// is their mean.
EQUALUX_HD void set_segment(const int (&sigma)[kSegments], int i, NoiseCurves& curves) {
  const auto rounded_mean = [](int a, int b) { return (a + b + 1) / 2; };
  const int begin = i == 0 ? sigma[0] : rounded_mean(sigma[i - 1], sigma[i]);
  const int end = i == kSegments - 1 ? sigma[i] : rounded_mean(sigma[i], sigma[i + 1]);
  curves.sigma.knot[i] = static_cast<std::int16_t>(begin);
  curves.sigma.rise[i] = static_cast<std::int16_t>(end - begin);
  curves.inverse.knot[i] = static_cast<std::int16_t>(inverse_of(begin));
  curves.inverse.rise[i] = static_cast<std::int16_t>(inverse_of(end) - inverse_of(begin));
}

}  // namespace equalux::denoise
