#pragma once

#include <cstddef>
#include <cstdint>

#include "src/cpu/common/stores.h"
#include "src/format/layout.h"

/// The inner loops of adaptive equalization over a span of a row, beside those of fused_rows.h.
/// The arithmetic is tile_curves.h.
namespace equalux {

/// The curve of a tile: curve_level() by v.
struct TileLevels {
  alignas(64) std::uint16_t level[256];
};

/// A mix of two tiles for one row, in the form that a target's loops look up.
struct MixedLevels {
  alignas(64) std::uint8_t bytes[512];
};

/// How the pixels of a span are grouped by a target's loops.
enum class WeightOrder : std::uint8_t { packed3, others };

/// Rows of a span are mixed from the tiles left and right of it; `weights` is what order_weights()
/// made for the span. `n` counts pixels; otherwise as in FusedRows.
struct TileRows {
  /// mix_rows() of every level.
  void (*mix)(const TileLevels& above, const TileLevels& below, int of_below, MixedLevels& mixed);

  /// Weights of the right tile by pixel, in the order and form that the loops want; room for
  /// weight_room(n).
  void (*order_weights)(WeightOrder order, const std::uint16_t* of_right, std::size_t n,
                        std::uint32_t* weights);

  void (*apply_gray)(const MixedLevels& left, const MixedLevels& right,
                     const std::uint32_t* weights, const std::uint8_t* in, std::size_t n,
                     std::uint8_t* out);
  void (*apply_rgb3)(const MixedLevels& left, const MixedLevels& right,
                     const std::uint32_t* weights, const std::uint8_t* in, std::size_t n,
                     std::uint8_t* out);
  void (*apply_rgb4)(const MixedLevels& left, const MixedLevels& right,
                     const std::uint32_t* weights, const std::uint8_t* in, std::size_t n, int color,
                     std::uint8_t* out);
  void (*apply_yuv)(Sampling sampling, const YuvWeights& yuv, const MixedLevels& left,
                    const MixedLevels& right, const std::uint32_t* weights, const YuvRowIn& in,
                    std::size_t n, const YuvRowOut& out);

  /// Copies a row's bytes, past the caches where the addresses allow it.
  void (*stream_row)(const std::uint8_t* in, std::size_t bytes, std::uint8_t* out);
};

/// Numbers that the weights of n pixels take, the same for every target: whole vectors.
[[nodiscard]] constexpr std::size_t weight_room(std::size_t n) {
  return (n + 63) / 64 * 64;
}

[[nodiscard]] const TileRows& scalar_tile_rows();

}  // namespace equalux
