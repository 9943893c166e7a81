#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>

#include "src/denoise/interpolation.h"
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
/// The same over twice the distance, from 4 x 4 samples.
EQUALUX_HD int block_spread(const std::int16_t* first, std::ptrdiff_t step) {
  return second_differences(first, step, 2);
}

/// Sum of magnitudes of differences of two blocks.
EQUALUX_HD int block_change(const std::int16_t* now, std::ptrdiff_t now_step,
                            const std::int16_t* then, std::ptrdiff_t then_step) {
  int sum = 0;
  for (int y = 0; y < kNoiseBlock; ++y) {
    for (int x = 0; x < kNoiseBlock; ++x) {
      const int difference = now[y * now_step + x] - then[y * then_step + x];
      sum += difference < 0 ? -difference : difference;
    }
  }
  return sum;
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

/// Sums of coarse_texture().
struct CoarseSums {
  int spread;
  int change;
};

/// Histogram of a plane's blocks by level, and by fine and coarse texture. Blocks with next to no
/// fine texture do not count.
class NoiseEstimate {
 public:
  /// Returns true where a block counts.
  [[nodiscard]] static bool counts(const NoiseBlock& block) {
    return block.texture >= kLeastTexture;
  }
  /// Counts a block, if it counts.
  void add(const NoiseBlock& block) {
    if (!counts(block)) return;
    const auto segment = static_cast<std::size_t>(block.level >> kKnotShift);
    ++counts_[segment][static_cast<std::size_t>(texture_bin(block.texture))];
    counted_.set(segment);
  }
  /// Counts the coarse texture of a block that counts. The first picture has none, without an
  /// estimate.
  void add_coarse(int level, int coarse) {
    const auto segment = static_cast<std::size_t>(level >> kKnotShift);
    ++counts_[kSegments + segment][static_cast<std::size_t>(texture_bin(coarse))];
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
  using Counts = std::array<std::array<std::uint32_t, kTextureBins>, kTextureRows>;

  std::uint64_t sum_frame(std::size_t row);

  Counts counts_{};  // this frame
  Counts all_{};     // all frames, decaying, in units of 1 / kNoiseUnit
  // Segments outside of which counts are 0, so that dark scenes cost little.
  std::bitset<kSegments> counted_;
  std::bitset<kSegments> seen_;
};

}  // namespace equalux::denoise
