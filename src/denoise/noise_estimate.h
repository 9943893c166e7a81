#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>

#include "src/denoise/noise_math.h"

/// Noise of a plane over level, measured in its frames. docs/algorithm.md, "Denoising", has the
/// reasons.
namespace equalux::denoise {

/// Curves of a constant standard deviation, in units of samples.
[[nodiscard]] NoiseCurves constant_noise(int sigma);
/// Texture of a block of kNoiseBlock x kNoiseBlock samples: the sum of magnitudes of second
/// differences in both directions over its 6 x 6 inner samples (Immerkaer 1996, "Fast Noise
/// Variance Estimation"). `step` is the distance of rows in samples.
EQUALUX_HD int block_texture(const std::int16_t* first, std::ptrdiff_t step) {
  int sum = 0;
  for (int y = 1; y + 1 < kNoiseBlock; ++y) {
    const std::int16_t* const row = first + y * step;
    const std::int16_t* const above = row - step;
    const std::int16_t* const below = row + step;
    for (int x = 1; x + 1 < kNoiseBlock; ++x) {
      const int second = above[x - 1] - 2 * above[x] + above[x + 1] -
                         2 * (row[x - 1] - 2 * row[x] + row[x + 1]) + below[x - 1] - 2 * below[x] +
                         below[x + 1];
      sum += second < 0 ? -second : second;
    }
  }
  return sum;
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

/// Histogram of a plane's blocks by level and texture. Blocks with next to no texture do not count.
class NoiseEstimate {
 public:
  /// Counts a block.
  void add(const NoiseBlock& block) {
    if (block.texture < kLeastTexture) return;
    const auto segment = static_cast<std::size_t>(block.level >> kKnotShift);
    ++counts_[segment][static_cast<std::size_t>(texture_bin(block.texture))];
    counted_.set(segment);
  }
  /// Ends a frame: returns the curves from all blocks so far, whose counts decay from now on.
  [[nodiscard]] NoiseCurves finish_frame();

  /// Adds the blocks that another one has counted since its clear().
  void add(const NoiseEstimate& other);
  void clear();

  /// Returns all counts as bytes, for saved states.
  [[nodiscard]] std::string bytes() const;
  /// Restores bytes(); false where the size is wrong.
  [[nodiscard]] bool set_bytes(std::string_view bytes);

 private:
  using Counts = std::array<std::array<std::uint32_t, kTextureBins>, kSegments>;

  Counts counts_{};  // this frame
  Counts all_{};     // all frames, decaying, in units of 1 / kNoiseUnit
  // Segments outside of which counts are 0, so that dark scenes cost little.
  std::bitset<kSegments> counted_;
  std::bitset<kSegments> seen_;
};

}  // namespace equalux::denoise
