#pragma once

#include <cstdint>

#include "src/denoise/denoise_math.h"

/// How noise is found in counts of blocks by level and texture, in whole numbers, so that every
/// backend finds the same. docs/algorithm.md, "Denoising", has the reasons.
namespace equalux::denoise {

/// Samples a side of the blocks that are looked at.
inline constexpr int kNoiseBlock = 8;
/// Of a picture's rows of blocks, one in so many are looked at, in turn; all of the first one's.
inline constexpr std::uint32_t kNoiseTurns = 8;
/// Magnitudes of texture are counted by octaves of 8 parts.
inline constexpr int kTextureBins = 192;
/// A texture of the least noise: a twentieth of an 8-bit level. Blocks with less are none of a
/// sensor.
inline constexpr int kLeastTexture = 141 * kLevel / 20;

/// Which bin counts a texture, 1 or more.
EQUALUX_HD int texture_bin(int texture) {
  int octave = 0;
  while ((texture >> octave) > 1)
    ++octave;
  const int part = octave >= 3 ? (texture >> (octave - 3)) & 7 : (texture << (3 - octave)) & 7;
  return 8 * octave + part;
}

/// True where a row of blocks is looked at in a picture that `before` others came before.
EQUALUX_HD bool is_noise_turn(int row, std::uint32_t before) {
  return before == 0 || (static_cast<std::uint32_t>(row) + before) % kNoiseTurns == 0;
}

/// A block of the last frame, in the counts of all frames.
inline constexpr std::uint32_t kNoiseUnit = 256;

/// A count of all frames, after one with so many blocks: each frame takes an eighth off it.
EQUALUX_HD std::uint32_t count_after(std::uint32_t all, std::uint32_t blocks) {
  return all - (all + 7) / 8 + kNoiseUnit * blocks;
}

/// True where a level has as many blocks as its noise must have to be known.
EQUALUX_HD bool has_enough_blocks(std::uint64_t all) {
  return all >= std::uint64_t{24} * kNoiseUnit;
}

/// True where the fifth of all blocks that has the least texture ends in a bin or before it.
EQUALUX_HD bool ends_fifth(std::uint64_t below, std::uint64_t here, std::uint64_t all) {
  return 5 * (below + here) >= all;
}

/// The texture at which that fifth ends, which is that of flat ones in most pictures: within its
/// bin as if the bin's blocks were spread evenly, in 1 / 64 of it.
EQUALUX_HD int texture_of_fifth(int bin, std::uint64_t below, std::uint64_t here,
                                std::uint64_t all) {
  const std::uint64_t rest = all / 5 > below ? all / 5 - below : 0;
  const auto part = static_cast<int>(64 * rest / here);
  const std::int64_t scaled = 64 * (8 + bin % 8) + (part < 63 ? part : 63);
  return static_cast<int>((scaled << (bin / 8)) >> 9);
}

/// The standard deviation of noise whose blocks have a texture: of 216 weights a block, the fifth
/// of blocks with the least texture ends at 0.651 of it (measured over Gaussian noise). At most
/// kMostSigma: chequers are no noise, and curves have 16 bits.
EQUALUX_HD int sigma_of(int texture) {
  const int sigma = (texture + 70) / 141;
  return sigma < kMostSigma ? sigma : kMostSigma;
}

/// A segment whose noise is not known.
inline constexpr int kUnknown = -1;

/// Fills what is not known from the nearest that is, on a line between two.
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

/// A segment of the curves of a noise by segment. It is that of their middles: a knot lies between
/// two.
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
