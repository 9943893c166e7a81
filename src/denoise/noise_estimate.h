#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>

#include "src/denoise/interpolation.h"
#include "src/denoise/motion_math.h"
#include "src/denoise/noise_math.h"

/// Noise of a plane over level, measured in its frames. docs/algorithm.md, "Denoising", has the
/// reasons.
namespace equalux::denoise {

/// Curves of a constant standard deviation, in units of samples.
[[nodiscard]] NoiseCurves constant_noise(int sigma);
/// Sum of magnitudes of second differences of a block in both directions, over `distance` samples,
/// at the samples for which they lie within the block. `step` is the distance of rows in samples.
EQUALUX_HD int second_differences(const std::int16_t* first, std::ptrdiff_t step, int distance) {
  int sum = 0;
  for (int y = distance; y + distance < kNoiseBlock; ++y) {
    const auto across = [&](int row, int x) {
      const std::int16_t* const at = first + row * step + x;
      return at[-distance] - 2 * at[0] + at[distance];
    };
    for (int x = distance; x + distance < kNoiseBlock; ++x) {
      const int second = across(y - distance, x) - 2 * across(y, x) + across(y + distance, x);
      sum += second < 0 ? -second : second;
    }
  }
  return sum;
}

/// Texture of a block of kNoiseBlock x kNoiseBlock samples, from 6 x 6 of them (Immerkaer 1996,
/// "Fast Noise Variance Estimation").
EQUALUX_HD int block_texture(const std::int16_t* first, std::ptrdiff_t step) {
  return second_differences(first, step, 1);
}
/// Texture of such a block over twice the distance, from 4 x 4 samples.
EQUALUX_HD int block_spread(const std::int16_t* first, std::ptrdiff_t step) {
  return second_differences(first, step, 2);
}

/// Sum of magnitudes of a block's numbers less `mean`.
template <typename At>
EQUALUX_HD int block_magnitudes(At at, int mean) {
  int sum = 0;
  for (int y = 0; y < kNoiseBlock; ++y) {
    for (int x = 0; x < kNoiseBlock; ++x) {
      const int difference = at(x, y) - mean;
      sum += difference < 0 ? -difference : difference;
    }
  }
  return sum;
}
/// Mean of a block's differences from the estimate, from their sum, rounded half up.
EQUALUX_HD int mean_change(int sum) {
  return (sum + kNoiseBlock * kNoiseBlock / 2) >> 6;
}

/// Place of a block in the estimate, first row or column: `phases` from its own, where a motion
/// vector points, and within the plane's `size` samples.
EQUALUX_HD int block_before(int first, int phases, int size) {
  return clamp(first + nearest_sample(phases), 0, size - kNoiseBlock);
}

/// Mean of a block, rounded down.
EQUALUX_HD int block_level(const std::int16_t* first, std::ptrdiff_t step) {
  int sum = 0;
  for (int y = 0; y < kNoiseBlock; ++y)
    for (int x = 0; x < kNoiseBlock; ++x)
      sum += first[y * step + x];
  return sum / (kNoiseBlock * kNoiseBlock);
}

/// Level and texture of a block.
struct NoiseBlock {
  int level;
  int texture;
};

/// Sum of a block's differences from the estimate, as in NoiseSums.
EQUALUX_HD int change_sum(const std::int16_t* now, std::ptrdiff_t now_step,
                          const std::int16_t* then, std::ptrdiff_t then_step, int gain) {
  int sum = 0;
  for (int y = 0; y < kNoiseBlock; ++y)
    for (int x = 0; x < kNoiseBlock; ++x)
      sum += now[y * now_step + x] - lightened(then[y * then_step + x], gain);
  return sum;
}

/// NoiseSums of a block; `then` is its place in the estimate, whose light has changed by `gain`.
EQUALUX_HD NoiseSums noise_sums(const std::int16_t* now, std::ptrdiff_t now_step, int level,
                                const std::int16_t* then, std::ptrdiff_t then_step, int gain) {
  const auto sample = [&](int x, int y) { return static_cast<int>(now[y * now_step + x]); };
  const auto before = [&](int x, int y) { return lightened(then[y * then_step + x], gain); };
  const auto change = [&](int x, int y) { return sample(x, y) - before(x, y); };
  const int sum = change_sum(now, now_step, then, then_step, gain);
  const int mean = mean_change(sum);
  return {block_spread(now, now_step),
          block_magnitudes(change, 0),
          block_magnitudes(change, mean),
          block_magnitudes(sample, level),
          block_magnitudes(before, level - mean),
          sum};
}

/// Histogram of a plane's blocks by level, and by fine and coarse texture, residual, change and
/// trend, and of pairs of them by swing. Blocks with next to no fine texture count for swings and
/// trends alone.
class NoiseEstimate {
 public:
  NoiseEstimate() = default;
  /// Makes the estimate of a plane of so many samples.
  NoiseEstimate(int columns, int rows, bool chroma)
      : columns_(columns), rows_(rows), chroma_(chroma) {}

  /// Returns true where a block's textures count.
  [[nodiscard]] static bool counts(const NoiseBlock& block) {
    return block.texture >= kLeastTexture;
  }
  /// Counts a block, if it counts.
  void add(const NoiseBlock& block) {
    if (counts(block)) count(0, block.level, block.texture);
  }
  /// Counts what a block that counts shows beside the estimate, of this certainty. The first
  /// picture that is measured is counted before it has one. Chroma has no changes.
  void add(const NoiseBlock& block, const NoiseSums& sums, int certainty, bool chroma) {
    if (!counts(block)) return;
    if (!chroma) count(kChangeRows, block.level, change_texture(sums.change, certainty));
    count(kCoarseRows, block.level, coarse_texture(sums.spread, sums.change, certainty));
    if (is_noisy(sums)) count(kResidualRows, block.level, residual_texture(sums, certainty));
  }
  /// Counts a pair of blocks by swing_texture(), at the level of the first one.
  void add_swing(int level, int texture) { count(kSwingRows, level, texture); }
  /// Counts the trends of a block in two successive pictures, none of which is Trend::none.
  void add_trends(int level, Trend before, Trend now) {
    count_bin(kChangeRows, level, trend_bin(before, now));
  }
  /// Ends a frame: the counts of earlier ones decay, and curves() are those of all blocks so far.
  void finish_frame();
  /// Returns true after finish_frame().
  [[nodiscard]] bool known() const { return known_; }
  [[nodiscard]] const NoiseCurves& curves() const { return curves_; }

  /// Adds the blocks that another one has counted since its clear().
  void add(const NoiseEstimate& other);
  void clear();

  /// Returns all counts as bytes, for saved states; none where nothing is known().
  [[nodiscard]] std::string bytes() const;
  /// Restores bytes(); false where the size is wrong.
  [[nodiscard]] bool set_bytes(std::string_view bytes);

 private:
  using Counts = std::array<std::array<std::uint32_t, kTextureBins>, kTextureRows>;

  /// Counts a texture in the rows of a kind.
  void count(int kind, int level, int texture) { count_bin(kind, level, texture_bin(texture)); }
  void count_bin(int kind, int level, int bin) {
    const int segment = level >> kKnotShift;
    ++counts_[static_cast<std::size_t>(kind + segment)][static_cast<std::size_t>(bin)];
    counted_.set(static_cast<std::size_t>(segment));
  }
  void sum_frame(std::size_t row);
  [[nodiscard]] int white_share_of_all() const;
  [[nodiscard]] int sigma_of_row(std::size_t row, int tenths) const;
  void make_curves();

  int columns_ = 0;
  int rows_ = 0;
  bool chroma_ = false;
  bool known_ = false;
  NoiseCurves curves_{};
  Counts counts_{};  // this frame
  Counts all_{};     // all frames, decaying, in units of 1 / kNoiseUnit
  // Segments outside of which counts are 0, so that dark scenes cost little.
  std::bitset<kSegments> counted_;
  std::bitset<kSegments> seen_;
};

}  // namespace equalux::denoise
