#include <algorithm>
#include <array>
#include <cstring>

#include "src/cpu/clahe/deep_tile_rows.h"
#include "src/cpu/common/simd_targets.h"

namespace equalux {
namespace deep_tile_loops {
namespace {

/// Colours of a packed pixel, and the largest.
struct Pixel {
  std::array<std::int32_t, 3> c;
  std::int32_t v;
};

Pixel pixel_at(const DeepSamples& form, const RgbLayout& at, const std::uint8_t* in) {
  const std::array<int, 3> offset{at.r, at.g, at.b};
  Pixel pixel{};
  for (std::size_t i = 0; i < 3; ++i)
    pixel.c[i] = deep_code(form, load_word(in + offset[i]));
  pixel.v = *std::max_element(pixel.c.begin(), pixel.c.end());
  return pixel;
}

void coarse_pixels(const DeepSamples& form, const RgbLayout& pixel, const std::uint8_t* in,
                   std::size_t n, std::uint8_t* levels) {
  for (std::size_t x = 0; x < n; ++x, in += pixel.step) {
    const auto v = static_cast<std::uint32_t>(pixel_at(form, pixel, in).v);
    levels[x] = static_cast<std::uint8_t>(coarse_level(form, v));
  }
}

void coarse_yuv(const DeepYuvForm& form, const YuvRowIn& in, std::size_t n,
                std::uint8_t* const levels[2]) {
  const DeepSamples& samples = form.samples;
  const std::size_t columns = form.chroma == DeepChroma::each ? 1 : 2;
  const std::size_t step = chroma_step(form.chroma);
  for (std::size_t x = 0; x < n; ++x) {
    const std::size_t c = x / columns * step;
    const std::int32_t above = deep_value_above_luma(
        samples.weights, deep_code(samples, load_word(in.cb + c)) - samples.chroma_middle,
        deep_code(samples, load_word(in.cr + c)) - samples.chroma_middle);
    for (std::size_t r = 0; r < static_cast<std::size_t>(form.rows); ++r) {
      const std::int32_t luma = deep_code(samples, load_word(in.luma[r] + 2 * x));
      const auto v = static_cast<std::uint32_t>(yuv_value(samples.weights, luma, above));
      levels[r][x] = static_cast<std::uint8_t>(coarse_level(samples, v));
    }
  }
}

void mix(const DeepTileLevels& above, const DeepTileLevels& below, std::uint32_t of_below,
         DeepTileLevels& mixed) {
  for (std::size_t i = 0; i < deep_tiles::kLevels; ++i) {
    mixed.level[i] =
        static_cast<std::uint16_t>(deep_tiles::mix_rows(above.level[i], below.level[i], of_below));
  }
}

void order_weights(const std::uint16_t* of_right, std::size_t n, std::uint32_t* weights) {
  std::copy_n(of_right, n, weights);
}

/// Result for a pixel's value, and its gain.
struct Change {
  float value;
  float gain;
};

Change change_of(const deep_tiles::Form& form, const DeepTileSpan& span, std::int32_t v,
                 std::size_t pixel) {
  const deep_tiles::Place place = deep_tiles::place_of(form, v);
  const auto level = static_cast<std::size_t>(place.level);
  const std::size_t next = std::min<std::size_t>(level + 1, deep_tiles::kLevels - 1);
  const float value = deep_tiles::value_of(form,
                                           {span.left.level[level], span.right.level[level],
                                            span.left.level[next], span.right.level[next]},
                                           place.beyond, span.weights[pixel]);
  return {value, deep_tiles::gain_of(value, v)};
}

void apply_pixels(const deep_tiles::Form& form, const RgbLayout& pixel, const DeepTileSpan& span,
                  const std::uint8_t* in, std::size_t n, std::uint8_t* out) {
  const std::array<int, 3> offset{pixel.r, pixel.g, pixel.b};
  for (std::size_t x = 0; x < n; ++x, in += pixel.step, out += pixel.step) {
    const Pixel from = pixel_at(form.samples, pixel, in);
    const Change change = change_of(form, span, from.v, x);
    if (pixel.alpha >= 0) std::memmove(out + pixel.alpha, in + pixel.alpha, 2);
    for (std::size_t i = 0; i < 3; ++i) {
      store_word(out + offset[i],
                 deep_word(form.samples,
                           deep_tiles::scaled(from.c[i], from.v, change.value, change.gain)));
    }
  }
}

/// Scales the luma that one chroma sample covers, then the chroma sample. In a cut cell the last
/// column counts twice.
void apply_yuv(const deep_tiles::Form& form, DeepChroma chroma, int rows, const DeepTileSpan& span,
               const YuvRowIn& in, std::size_t n, const YuvRowOut& out) {
  const DeepSamples& samples = form.samples;
  const std::size_t columns = chroma == DeepChroma::each ? 1 : 2;
  const auto lines = static_cast<std::size_t>(rows);
  const std::size_t step = chroma_step(chroma);
  const float part = 1.0F / static_cast<float>(columns * lines);
  for (std::size_t first = 0, c = 0; first < n; first += columns, c += step) {
    const std::int32_t u = deep_code(samples, load_word(in.cb + c)) - samples.chroma_middle;
    const std::int32_t w = deep_code(samples, load_word(in.cr + c)) - samples.chroma_middle;
    const std::int32_t above = deep_value_above_luma(samples.weights, u, w);
    float sum = 0;
    float column = 0;
    for (std::size_t k = 0; k < columns; ++k) {
      const std::size_t x = first + k;
      for (std::size_t r = 0; r < lines && x < n; ++r) {
        const std::int32_t luma = deep_code(samples, load_word(in.luma[r] + 2 * x));
        const std::int32_t y = luma - samples.weights.luma_offset;
        const std::int32_t v = y < 0 ? 0 : yuv_value(samples.weights, luma, above);
        const Change change = change_of(form, span, v, x);
        column = r == 0 ? change.gain : column + change.gain;
        store_word(out.luma[r] + 2 * x,
                   deep_word(samples, samples.weights.luma_offset +
                                          deep_tiles::scaled(y, v, change.value, change.gain)));
      }
      sum = k == 0 ? column : sum + column;
    }
    store_word(out.cb + c, deep_word(samples, deep_tiles::scaled_chroma(samples, u, sum * part)));
    store_word(out.cr + c, deep_word(samples, deep_tiles::scaled_chroma(samples, w, sum * part)));
  }
}

}  // namespace
}  // namespace deep_tile_loops

const DeepTileRows& scalar_deep_tile_rows() {
  static const DeepTileRows kLoops{kScalarTarget,
                                   deep_tile_loops::coarse_pixels,
                                   deep_tile_loops::coarse_yuv,
                                   deep_tile_loops::mix,
                                   deep_tile_loops::order_weights,
                                   deep_tile_loops::apply_pixels,
                                   deep_tile_loops::apply_yuv};
  return kLoops;
}

}  // namespace equalux
