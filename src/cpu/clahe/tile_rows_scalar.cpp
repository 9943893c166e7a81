#include <algorithm>
#include <array>
#include <cstring>

#include "src/clahe/tile_curves.h"
#include "src/cpu/clahe/tile_rows.h"
#include "src/cpu/equalize/fused/fused_rows.h"

namespace equalux {
namespace {

std::int32_t level_of(const MixedLevels& mixed, std::int32_t v) {
  return load_word(mixed.bytes + 2 * v);
}

void mix(const TileLevels& above, const TileLevels& below, int of_below, MixedLevels& mixed) {
  for (std::size_t v = 0; v < 256; ++v) {
    store_word(mixed.bytes + 2 * v, static_cast<std::uint16_t>(
                                        tiles::mix_rows(above.level[v], below.level[v], of_below)));
  }
}

void order_weights(WeightOrder, const std::uint16_t* of_right, std::size_t n,
                   std::uint32_t* weights) {
  std::copy_n(of_right, n, weights);
}

/// Gains of the pixels of a span.
struct Gains {
  const MixedLevels& left;
  const MixedLevels& right;
  const std::uint32_t* weights;

  float operator()(std::int32_t v, std::size_t pixel) const {
    const std::int32_t numerator = tiles::gain_numerator(level_of(left, v), level_of(right, v),
                                                         static_cast<std::int32_t>(weights[pixel]));
    return tiles::gain_of(numerator, tiles::gain_inverse(v));
  }
};

void apply_gray(const MixedLevels& left, const MixedLevels& right, const std::uint32_t* weights,
                const std::uint8_t* in, std::size_t n, std::uint8_t* out) {
  const Gains gains{left, right, weights};
  for (std::size_t i = 0; i < n; ++i)
    out[i] = byte_of(tiles::round_product(in[i], gains(in[i], i)));
}

void apply_rgb3(const MixedLevels& left, const MixedLevels& right, const std::uint32_t* weights,
                const std::uint8_t* in, std::size_t n, std::uint8_t* out) {
  const Gains gains{left, right, weights};
  for (std::size_t i = 0; i < n; ++i, in += 3, out += 3) {
    const float gain = gains(std::max({in[0], in[1], in[2]}), i);
    for (int c = 0; c < 3; ++c)
      out[c] = byte_of(tiles::round_product(in[c], gain));
  }
}

void apply_rgb4(const MixedLevels& left, const MixedLevels& right, const std::uint32_t* weights,
                const std::uint8_t* in, std::size_t n, int color, std::uint8_t* out) {
  const Gains gains{left, right, weights};
  const int alpha = color == 0 ? 3 : 0;
  for (std::size_t i = 0; i < n; ++i, in += 4, out += 4) {
    const std::uint8_t* from = in + color;
    const float gain = gains(std::max({from[0], from[1], from[2]}), i);
    for (int c = color; c < color + 3; ++c)
      out[c] = byte_of(tiles::round_product(in[c], gain));
    out[alpha] = in[alpha];
  }
}

std::uint8_t scale_chroma(std::uint8_t code, float gain_sum, float per_sample) {
  return byte_of(std::clamp(128 + tiles::round_product(code - 128, gain_sum * per_sample), 0, 255));
}

/// Scales the luma that one chroma sample covers, then the chroma sample. In a cut cell the last
/// column counts twice.
void apply_yuv(Sampling sampling, const YuvWeights& yuv, const MixedLevels& left,
               const MixedLevels& right, const std::uint32_t* weights, const YuvRowIn& in,
               std::size_t n, const YuvRowOut& out) {
  const Gains gains{left, right, weights};
  const auto columns = static_cast<std::size_t>(cell_columns(sampling));
  const auto rows = static_cast<std::size_t>(cell_rows(sampling));
  const float per_sample = 1.0f / static_cast<float>(rows * columns);
  for (std::size_t first = 0, c = 0; first < n; first += columns, ++c) {
    const std::uint8_t cb = in.cb[c];
    const std::uint8_t cr = in.cr[c];
    const std::int32_t above = value_above_luma(yuv, cb, cr);
    std::array<std::array<float, 2>, 2> gain{};
    std::array<std::array<std::uint8_t, 2>, 2> luma{};
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t k = 0; k < columns; ++k) {
        const std::size_t i = std::min(first + k, n - 1);
        const std::int32_t y = in.luma[r][i] - yuv.luma_offset;
        const std::int32_t v = y < 0 ? 0 : yuv_value(yuv, in.luma[r][i], above);
        gain[r][k] = gains(v, i);
        luma[r][k] =
            y < 0 ? in.luma[r][i] : byte_of(yuv.luma_offset + tiles::round_product(y, gain[r][k]));
      }
    }
    // Stored at the end, as luma[0] and luma[1] may be the same row, and `in` and `out` the same
    // memory.
    float sum = 0;
    for (std::size_t k = 0; k < columns; ++k) {
      float column = gain[0][k];
      if (rows == 2) column += gain[1][k];
      sum = k == 0 ? column : sum + column;
      if (first + k == n) continue;
      for (std::size_t r = 0; r < rows; ++r)
        out.luma[r][first + k] = luma[r][k];
    }
    out.cb[c] = scale_chroma(cb, sum, per_sample);
    out.cr[c] = scale_chroma(cr, sum, per_sample);
  }
}

void stream_row(const std::uint8_t* in, std::size_t bytes, std::uint8_t* out) {
  std::memcpy(out, in, bytes);
}

}  // namespace

const TileRows& scalar_tile_rows() {
  static constexpr TileRows kLoops{mix,        order_weights, apply_gray, apply_rgb3,
                                   apply_rgb4, apply_yuv,     stream_row};
  return kLoops;
}

}  // namespace equalux
