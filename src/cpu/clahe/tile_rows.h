#pragma once

#include <cstddef>
#include <cstdint>

#include "src/cpu/common/stores.h"
#include "src/format/layout.h"

/// Inner loops of adaptive equalization over a span of a row, beside those of fused_rows.h.
/// tile_curves.h has the arithmetic.
namespace equalux {

/// Curve of a tile: curve_level() by v.
struct TileLevels {
  alignas(64) std::uint16_t level[256];
};

/// Mix of two tiles for one row, in the form that a target's loops look up.
struct MixedLevels {
  alignas(64) std::uint8_t bytes[512];
};

/// Order of pixels in a target's loops.
enum class WeightOrder : std::uint8_t { packed3, others };

/// Loops of one target. They mix rows of a span from the tiles left and right of it; `weights` come
/// from order_weights() for the span. `n` counts pixels; otherwise as in FusedRows.
struct TileRows {
  /// mix_rows() of every level.
  void (*mix)(const TileLevels& above, const TileLevels& below, int of_below, MixedLevels& mixed);

  /// Orders the weights of the right tile, one for each pixel, as the loops need them; `weights`
  /// has room for weight_room(n).
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

  /// Copies a row's bytes with streaming stores where addresses are aligned.
  void (*stream_row)(const std::uint8_t* in, std::size_t bytes, std::uint8_t* out);
};

/// Room for the weights of n pixels, whole vectors of any target.
[[nodiscard]] constexpr std::size_t weight_room(std::size_t n) {
  return (n + 63) / 64 * 64;
}

[[nodiscard]] const TileRows& scalar_tile_rows();

}  // namespace equalux
