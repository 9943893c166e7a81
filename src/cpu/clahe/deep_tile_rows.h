#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "src/clahe/deep_tiles.h"
#include "src/cpu/equalize/deep/deep_rows.h"
#include "src/format/layout.h"

/// The inner loops of adaptive equalization of more than 8 bits, over a row or a span of one (or
/// over a row of chroma with its one or two rows of luma), compiled for every SIMD target and
/// chosen once. The arithmetic is src/clahe/deep_tiles.h.
namespace equalux {

/// The curve of a tile, or a mix of two: deep_tiles::curve_level() by coarse level.
struct DeepTileLevels {
  alignas(64) std::uint16_t level[deep_tiles::kLevels];
};

/// What a span of a row is mixed from: the tiles left and right of it, and the weight of the right
/// one by pixel, as order_weights() made them.
struct DeepTileSpan {
  const DeepTileLevels& left;
  const DeepTileLevels& right;
  const std::uint32_t* weights;
};

/// One target's loops. `n` counts pixels; rows have no alignment; in and out rows are the same or
/// do not overlap; nothing outside them is read or written. All targets give the same bytes.
struct DeepTileRows {
  std::string_view target;

  /// The coarse level of every pixel, a byte each.
  void (*coarse_pixels)(const DeepSamples& form, const RgbLayout& pixel, const std::uint8_t* in,
                        std::size_t n, std::uint8_t* levels);
  /// The same of luma; `levels` has a row for each of luma.
  void (*coarse_yuv)(const DeepYuvForm& form, const YuvRowIn& in, std::size_t n,
                     std::uint8_t* const levels[2]);

  /// deep_tiles::mix_rows() of every level.
  void (*mix)(const DeepTileLevels& above, const DeepTileLevels& below, std::uint32_t of_below,
              DeepTileLevels& mixed);

  /// Weights of the right tile by pixel, in the order and form that the loops want; room for
  /// deep_weight_room(n).
  void (*order_weights)(const std::uint16_t* of_right, std::size_t n, std::uint32_t* weights);

  /// Gray, or packed pixels.
  void (*apply_pixels)(const deep_tiles::Form& form, const RgbLayout& pixel,
                       const DeepTileSpan& span, const std::uint8_t* in, std::size_t n,
                       std::uint8_t* out);
  void (*apply_yuv)(const deep_tiles::Form& form, DeepChroma chroma, int rows,
                    const DeepTileSpan& span, const YuvRowIn& in, std::size_t n,
                    const YuvRowOut& out);
};

/// Numbers that the weights of n pixels take, the same for every target: whole vectors.
[[nodiscard]] constexpr std::size_t deep_weight_room(std::size_t n) {
  return (n + 63) / 64 * 64;
}

/// Plain C++, for machines without a known SIMD target and as the reference of the others.
[[nodiscard]] const DeepTileRows& scalar_deep_tile_rows();
/// The best target of this machine. The environment variable EQUALUX_SIMD names another one.
[[nodiscard]] const DeepTileRows& deep_tile_rows();
/// Every target that this build holds and this machine runs, best first, plain C++ last.
[[nodiscard]] std::vector<DeepTileRows> all_deep_tile_rows();

}  // namespace equalux
