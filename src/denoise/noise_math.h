#pragma once

#include <bit>
#include <cstdint>

#include "src/denoise/denoise_math.h"

/// Estimation of noise from a histogram of blocks by level and texture, in whole numbers, so that
/// all backends agree. docs/algorithm.md, "Denoising", has the reasons.
namespace equalux::denoise {

/// Side of a measured block in samples.
inline constexpr int kNoiseBlock = 8;
/// Columns of measured blocks: every second block of a row, from kNoiseLeft on. Half a block off
/// the grid of 8 x 8 on which codecs transform blocks, so that what differs at their borders is
/// measured, too.
inline constexpr int kNoiseLeft = 4;
inline constexpr int kNoiseStep = 2 * kNoiseBlock;
/// Rows of blocks are measured in turn, one of so many in each picture; all of them in the first
/// one that is measured.
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

/// First row of blocks that is measured in a picture with `before` predecessors; each
/// kNoiseTurns-th behind it is measured, too.
EQUALUX_HD int first_noise_row(std::uint32_t before) {
  return static_cast<int>((kNoiseTurns - before % kNoiseTurns) % kNoiseTurns);
}

/// Measured blocks of a row of a plane of so many columns.
EQUALUX_HD int noise_blocks_across(int columns) {
  const int room = columns - kNoiseLeft - kNoiseBlock;
  return room < 0 ? 0 : room / kNoiseStep + 1;
}

/// Measured blocks of a plane of so many samples.
EQUALUX_HD int noise_blocks(int columns, int rows) {
  return noise_blocks_across(columns) * (rows / kNoiseBlock);
}

/// Rows of a histogram of blocks, kSegments of each kind from these on: fine textures, coarse ones,
/// residuals, swings and changes. Chroma has no changes.
inline constexpr int kCoarseRows = kSegments;
inline constexpr int kResidualRows = 2 * kSegments;
inline constexpr int kSwingRows = 3 * kSegments;
inline constexpr int kChangeRows = 4 * kSegments;
inline constexpr int kTextureRows = 5 * kSegments;

/// Sum of second differences over twice the distance, in units of the fine texture. With the factor
/// the fifth of blocks ends at 141 sigma for it alone, over 0.96 (measured).
EQUALUX_HD int spread_texture(int spread) {
  return spread * 159 / 64;
}

/// Coarse texture of a block, in units of the fine one, for which white noise has nearly the same
/// value: the smaller one of spread_texture() and of `change`, the sum of differences from an
/// estimate with this certainty. Noise that neighbours share hardly shows in fine texture, but in
/// both of these; what the picture shows, only in one. The factor of the second is found like that
/// of the first, as the smaller one of two ends lower. At least 1, as texture_bin() needs.
EQUALUX_HD int coarse_texture(int spread, int change, int certainty) {
  const int by_spread = spread_texture(spread);
  const int by_change = change * certainty / 256 * 25 / 8;
  const int least = by_spread < by_change ? by_spread : by_change;
  return least > 1 ? least : 1;
}

/// Sums of a block and of its differences from the estimate, in the light of the picture.
struct NoiseSums {
  int spread;    ///< block_spread()
  int change;    ///< sum of magnitudes of the differences
  int residual;  ///< the same of the differences less their mean
  int activity;  ///< sum of magnitudes of the block's samples less the block's level
  int before;    ///< the same of the estimate
  int sum;       ///< sum of the differences
};

/// Returns true where what changes in a block is most of what the block shows: noise, and not the
/// structure of the picture, which the estimate has, too. Blocks that a codec has skipped or left
/// without a residual change by less than half an 8-bit level and do not count. Nor do blocks whose
/// mean has changed by more than about 0.8 sigma, such as those behind a cut: noise changes the
/// mean of a block by an eighth of sigma.
EQUALUX_HD bool is_noisy(const NoiseSums& sums) {
  const int most = sums.change > sums.activity ? sums.change : sums.activity;
  return 4 * sums.residual >= 3 * most && 2 * sums.residual >= kNoiseBlock * kNoiseBlock * kLevel;
}

/// Residual that does not tell how strong the noise is.
inline constexpr int kNoResidual = 1;
/// Its bin: blocks in it count for residual_share() alone.
inline constexpr int kNoResidualBin = 0;

/// Residual of a noisy block beside an estimate of this certainty, in units of the fine texture.
/// For Gaussian noise, nine tenths of blocks end at 139 sigma (measured). kNoResidual where what
/// has changed may be texture: where the estimate, in which noise is averaged away, shows about as
/// much as what changes, and where that is smooth, as water and smoke are. What codecs leave of
/// noise differs over two samples.
EQUALUX_HD int residual_texture(const NoiseSums& sums, int certainty) {
  const int residual = sums.residual * certainty / 256;
  const int texture = residual * 39 / 16;
  const bool is_noise = 8 * residual >= 9 * sums.before && spread_texture(sums.spread) >= texture;
  return is_noise && texture > kNoResidual ? texture : kNoResidual;
}

/// Swing of two neighbouring blocks, in units of the fine texture: the difference of the sums of
/// their differences from the estimate, of this certainty. Light and white balance change both
/// alike. For Gaussian noise, half of the swings end at 141 sigma (computed: 0.674 times the
/// square root of 2 times 64). At least 1, as texture_bin() needs.
EQUALUX_HD int swing_texture(int sum, int neighbour, int certainty) {
  const int difference = sum < neighbour ? neighbour - sum : sum - neighbour;
  const int texture = difference * certainty / 256 * 147 / 8;
  return texture > 1 ? texture : 1;
}

/// Change of a block beside an estimate of this certainty, in units of the fine texture: the sum of
/// magnitudes of the differences. For Gaussian noise, a tenth of blocks ends at 141 sigma
/// (measured). At least 2, as bins below are those of trends.
EQUALUX_HD int change_texture(int change, int certainty) {
  const int texture = change * certainty / 256 * 213 / 64;
  return texture > 2 ? texture : 2;
}

/// Trend of a block beside the estimate, which tells whether it has become darker or brighter.
enum class Trend : std::uint8_t { none, falls, rises };

/// Trend of a block by the sum of its differences from the estimate.
EQUALUX_HD Trend trend_of(int sum) {
  if (sum == 0) return Trend::none;
  return sum < 0 ? Trend::falls : Trend::rises;
}

/// Bins of changes for blocks whose trend in a picture is not that of the picture before, and for
/// those whose trend is the same.
inline constexpr int kTurnedBin = 1;
inline constexpr int kKeptBin = 2;

/// Bin of changes for a block with these trends in two successive pictures, neither of them none.
EQUALUX_HD int trend_bin(Trend before, Trend now) {
  return before == now ? kKeptBin : kTurnedBin;
}

/// First bin of a row that tells a texture; bins below it count for shares alone.
EQUALUX_HD int first_texture_bin(int row) {
  if (row >= kChangeRows) return kKeptBin + 1;
  return row >= kResidualRows && row < kSwingRows ? kNoResidualBin + 1 : 0;
}

/// Count of one block of the present frame.
inline constexpr std::uint32_t kNoiseUnit = 256;

/// Count after a frame with so many blocks: each frame takes an eighth off the counts before.
EQUALUX_HD std::uint32_t count_after(std::uint32_t all, std::uint32_t blocks) {
  return all - (all + 7) / 8 + kNoiseUnit * blocks;
}

/// Count from which a row of the histogram has enough blocks to tell its level's noise: 24 blocks,
/// in small planes a quarter of those that they have, at least 3; of residuals a third of that, as
/// most blocks may have none, of swings, of which there are half as many, and of changes.
EQUALUX_HD std::uint64_t least_count(int row, int columns, int rows) {
  const int least = clamp(noise_blocks(columns, rows) / 4, 3, 24);
  return static_cast<unsigned>(row < kResidualRows ? least : least / 3) * std::uint64_t{kNoiseUnit};
}

/// How much the residuals of a level count beside its textures, in 256ths: nothing where one block
/// in sixteen is noisy or fewer, which may be all that no vector follows in a picture without
/// noise, and fully from one in eight on.
EQUALUX_HD int residual_share(std::uint64_t fine, std::uint64_t residuals) {
  if (16 * residuals <= fine) return 0;
  if (8 * residuals >= fine) return 256;
  return static_cast<int>(256 * (16 * residuals - fine) / fine);
}

/// How much the floor of changes counts, in 256ths, by the numbers of blocks that have kept their
/// trend and that have turned: fully where up to 9/16 have kept it, not at all from 21/32 on.
/// Beside an estimate, noise is white in time, and its trend in one picture tells nothing about the
/// next one. What moves without a vector, such as water, changes a block alike for several
/// pictures.
EQUALUX_HD int white_share(std::uint64_t kept, std::uint64_t turned) {
  const std::uint64_t all = kept + turned;
  if (32 * kept >= 21 * all) return 0;
  if (16 * kept <= 9 * all) return 256;
  return static_cast<int>(256 * (21 * all - 32 * kept) / (3 * all));
}

/// Tenths of blocks with the least texture at whose end a row of the histogram is read: a tenth of
/// the changes, so that only noise of the whole picture counts; a fifth of the textures, the flat
/// blocks of most pictures; half of the residuals and of the swings; and nine tenths of the
/// residuals, as a codec leaves less noise than there was in most blocks.
inline constexpr int kTenth = 1;
inline constexpr int kFifth = 2;
inline constexpr int kHalf = 5;
inline constexpr int kNineTenths = 9;

/// Returns true where these tenths end within this bin.
EQUALUX_HD bool ends_tenths(int tenths, std::uint64_t below, std::uint64_t here,
                            std::uint64_t all) {
  return 10 * (below + here) >= static_cast<unsigned>(tenths) * all;
}

/// Texture at which they end, interpolated within the bin in steps of 1/64.
EQUALUX_HD int texture_of_tenths(int tenths, int bin, std::uint64_t below, std::uint64_t here,
                                 std::uint64_t all) {
  const std::uint64_t wanted = static_cast<unsigned>(tenths) * all / 10;
  const std::uint64_t rest = wanted > below ? wanted - below : 0;  // at most `here`
  // A GPU divides 32 bits in a fraction of the time.
  const bool fits = here < std::uint64_t{1} << 26;
  const auto part = static_cast<int>(fits ? 64 * static_cast<std::uint32_t>(rest) /
                                                static_cast<std::uint32_t>(here)
                                          : 64 * rest / here);
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

/// Standard deviation of noise before a codec, by half and nine tenths of the residuals, `half`
/// above 0. It is 5/4 of the nine tenths, which are at most twice the half: what lies farther has
/// moved. From chroma a codec takes more, most where flat blocks have lost most: up to twice the
/// nine tenths where `sigma`, what textures tell, is half of `half` or less.
EQUALUX_HD int sigma_before_codec(int sigma, int half, int nine_tenths, bool chroma) {
  const int noise = nine_tenths < 2 * half ? nine_tenths : 2 * half;
  const int lost = chroma ? clamp(3 * half - 4 * sigma, 0, half) : 0;
  return noise * (5 * half + 3 * lost) / (4 * half);
}

/// Standard deviation of a segment's noise, by its fine and coarse textures and by half and nine
/// tenths of its residuals, each of which may be kUnknown; `share` is how much these count, of 256.
/// Where a codec has left most flat blocks without noise, the residuals of others still show it.
/// Without a codec half of the residuals end at 7/8 of what the fine texture tells, and nine tenths
/// at 9/8 of that half (measured). More than 6/5 of the first, or 41/32 of the second, is noise
/// that only some blocks have kept. The second counts only as far as coarse texture shows more than
/// fine texture does: a codec takes the finest noise first. Otherwise some blocks have moved. More
/// than eight times the larger texture, in chroma 32 times, is no noise: snow changes some blocks
/// by that much, and leaves the others calm.
EQUALUX_HD int segment_sigma(int fine, int coarse, int half, int most, int share, bool chroma) {
  if (fine == kUnknown) return kUnknown;
  const int sigma = coarse == kUnknown ? fine : joined_sigma(fine, coarse);
  if (half <= 0) return sigma;  // 0: most of these blocks have no estimate beside them
  // All are continuous where a codec begins to show.
  const int missing = 5 * (half * 9 / 8 - sigma);
  const int shared = 5 * (sigma - fine);
  const int uneven = 32 * most - 41 * half;
  const int kept = uneven < shared ? uneven : shared;
  const int by_codec = missing > kept ? missing : kept;
  const int before_codec = sigma_before_codec(sigma, half, most, chroma);
  const int bound = (chroma ? 32 : 8) * (coarse > fine ? coarse : fine);
  const int bounded = before_codec < bound ? before_codec : bound;
  const int least = bounded < by_codec ? bounded : by_codec;
  const int more = least > sigma ? (least - sigma) * share / 256 : 0;
  return sigma + more < kMostSigma ? sigma + more : kMostSigma;
}

/// How much the floor of changes counts beside the half of the swings, in 256ths: fully up to a
/// swing of 11/2 of it, not at all from 7 times it on. What moves too fast for any vector changes
/// its mean by more than noise does.
EQUALUX_HD int narrow_share(int floor, int swing) {
  if (swing >= 7 * floor) return 0;
  if (2 * swing <= 11 * floor) return 256;
  return 256 * (14 * floor - 2 * swing) / (3 * floor);
}

/// Largest standard deviation that swings tell of a segment's noise, `sigma` by its textures and
/// residuals. In components other than chroma it is what textures tell and 3/4 of what neighbours
/// share: much of what swings there is a picture that no vector follows. Where even blocks that
/// change least, whose tenth ends at `floor`, change by more than 5/4 of what fine texture shows,
/// noise is shared more widely. It is the wider, the less of it coarse texture shows: up to three
/// times the floor. `share`, in 256ths, is how much the floor counts.
EQUALUX_HD int most_swinging_sigma(int sigma, int fine, int coarse, int floor, int share,
                                   bool chroma) {
  if (chroma) return kMostSigma;
  if (fine == kUnknown || coarse == kUnknown) return sigma;
  const int shared = sigma + 3 * (joined_sigma(fine, coarse) - fine) / 4;
  if (floor == kUnknown || 4 * floor <= 5 * fine) return shared;
  const int passing = sigma + 2 * (4 * floor - 5 * fine) * share / 256;
  const int wide = 3 * floor - 2 * coarse;
  const int least = wide < passing ? wide : passing;
  return shared > least ? shared : least;
}

/// Standard deviation of a segment's noise, `sigma` or kUnknown without them, beside the half of
/// its swings, or kUnknown; at most `most`. Noise that is shared over more than a few samples shows
/// in swings alone, such as the grain of film, or the blotches of colour that a phone or webcam
/// leaves when it smooths chroma, and a codec when it rounds the mean of a block. A change is
/// judged by 25 samples, whose mean has up to 5 / 8 of the swing where blotches are as wide as
/// blocks. Up to twice `sigma` and a level, swings are those of white noise, or something moves
/// that no vector follows.
EQUALUX_HD int swinging_sigma(int sigma, int swing, int most) {
  if (swing == kUnknown) return sigma;
  const int told = sigma == kUnknown ? 0 : sigma;
  const int shared = 11 * swing / 16;
  const int passing = 4 * (swing - 2 * told - kLevel);
  const int least = shared < passing ? shared : passing;
  const int swings = least < most ? least : most;
  if (swings <= told) return sigma;
  return swings < kMostSigma ? swings : kMostSigma;
}

/// Standard deviation of segment i between two known ones, `left` < i and `right` > i. Beyond the
/// first and the last known segment, where one of them is kUnknown, it is that of the other one.
EQUALUX_HD int between_known(const int (&sigma)[kSegments], int left, int i, int right) {
  if (left == kUnknown) return right == kUnknown ? 0 : sigma[right];
  if (right == kUnknown) return sigma[left];
  return sigma[left] + (sigma[right] - sigma[left]) * (i - left) / (right - left);
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
