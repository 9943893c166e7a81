#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>

#include "src/denoise/noise_math.h"

/// A plane's noise by level, found in its frames. Docs/algorithm.md, "Denoising", has the reasons.
namespace equalux::denoise {

/// The curves of one standard deviation, in units of samples, at every level.
[[nodiscard]] NoiseCurves constant_noise(int sigma);
/// The texture of a block of kNoiseBlock x kNoiseBlock samples: the sum of magnitudes of the second
/// differences, both ways, of its 6 x 6 inner samples (Immerkaer 1996, "Fast Noise Variance
/// Estimation"). `step` counts samples from a row to the one below.
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

/// The mean of the same block, rounded down.
EQUALUX_HD int block_level(const std::int16_t* first, std::ptrdiff_t step) {
  int sum = 0;
  for (int y = 0; y < kNoiseBlock; ++y)
    for (int x = 0; x < kNoiseBlock; ++x)
      sum += first[y * step + x];
  return sum / (kNoiseBlock * kNoiseBlock);
}

/// Both of a block.
struct NoiseBlock {
  int level;
  int texture;
};

/// What has been seen of a plane's noise so far. Blocks without any texture are none of a sensor.
class NoiseEstimate {
 public:
  /// Counts a block.
  void add(const NoiseBlock& block) {
    if (block.texture < kLeastTexture) return;
    const auto segment = static_cast<std::size_t>(block.level >> kKnotShift);
    ++counts_[segment][static_cast<std::size_t>(texture_bin(block.texture))];
    counted_.set(segment);
  }
  /// Ends a frame: curves of the blocks so far, which count less from now on. A frame that starts a
  /// scene counts as many as it has.
  [[nodiscard]] NoiseCurves finish_frame();

  /// Adds what another one has counted since its last clear().
  void add(const NoiseEstimate& other);
  void clear();

  /// All counts as bytes, for saved states.
  [[nodiscard]] std::string bytes() const;
  /// What bytes() gave; false where it is none.
  [[nodiscard]] bool set_bytes(std::string_view bytes);

 private:
  using Counts = std::array<std::array<std::uint32_t, kTextureBins>, kSegments>;

  Counts counts_{};  // of this frame
  Counts all_{};     // of all, older ones less, in units of 1 / kNoiseUnit
  // Segments outside of which each of these is 0: a dark scene has few.
  std::bitset<kSegments> counted_;
  std::bitset<kSegments> seen_;
};

}  // namespace equalux::denoise
