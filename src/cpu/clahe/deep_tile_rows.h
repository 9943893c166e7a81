#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "src/clahe/deep_tiles.h"
#include "src/cpu/equalize/deep/deep_rows.h"
#include "src/format/layout.h"

/// Inner loops of adaptive equalization of more than 8 bits, over a row or a span of one, or over a
/// row of chroma with its one or two rows of luma. They are compiled for every SIMD target and
/// chosen once. src/clahe/deep_tiles.h has the arithmetic.
namespace equalux {

/// Curve of a tile, or mix of two: deep_tiles::curve_level() by coarse level.
struct DeepTileLevels {
  alignas(64) std::uint16_t level[deep_tiles::kLevels];
};

/// Tiles left and right of a span, and the weight of the right one for each pixel, from
/// order_weights().
struct DeepTileSpan {
  const DeepTileLevels& left;
  const DeepTileLevels& right;
  const std::uint32_t* weights;
};

/// Loops of one target. `n` counts pixels; rows may have any alignment; input and output rows are
/// the same memory or do not overlap; nothing outside them is read or written. All targets give the
/// same bytes.
struct DeepTileRows {
  std::string_view target;

  /// Computes the coarse level of every pixel, a byte each.
  void (*coarse_pixels)(const DeepSamples& form, const RgbLayout& pixel, const std::uint8_t* in,
                        std::size_t n, std::uint8_t* levels);
  /// Computes the coarse level of every luma sample; `levels` has a row for each row of luma.
  void (*coarse_yuv)(const DeepYuvForm& form, const YuvRowIn& in, std::size_t n,
                     std::uint8_t* const levels[2]);

  /// deep_tiles::mix_rows() of every level.
  void (*mix)(const DeepTileLevels& above, const DeepTileLevels& below, std::uint32_t of_below,
              DeepTileLevels& mixed);

  /// Orders the weights of the right tile, one for each pixel, as the loops need them; `weights`
  /// has room for deep_weight_room(n).
  void (*order_weights)(const std::uint16_t* of_right, std::size_t n, std::uint32_t* weights);

  /// Scales gray or packed pixels.
  void (*apply_pixels)(const deep_tiles::Form& form, const RgbLayout& pixel,
                       const DeepTileSpan& span, const std::uint8_t* in, std::size_t n,
                       std::uint8_t* out);
  void (*apply_yuv)(const deep_tiles::Form& form, DeepChroma chroma, int rows,
                    const DeepTileSpan& span, const YuvRowIn& in, std::size_t n,
                    const YuvRowOut& out);
};

/// Room for the weights of n pixels, whole vectors of any target.
[[nodiscard]] constexpr std::size_t deep_weight_room(std::size_t n) {
  return (n + 63) / 64 * 64;
}

/// Returns the plain C++ loops, for machines without a known SIMD target and as reference of the
/// others.
[[nodiscard]] const DeepTileRows& scalar_deep_tile_rows();
/// Returns the best target of this machine. The environment variable EQUALUX_SIMD names another
/// one.
[[nodiscard]] const DeepTileRows& deep_tile_rows();
/// Returns every target that this build has and this machine runs, best first, plain C++ last.
[[nodiscard]] std::vector<DeepTileRows> all_deep_tile_rows();

}  // namespace equalux
