#include <algorithm>
#include <cstring>
#include <type_traits>

#include "src/common/with_constant.h"
#include "src/cpu/equalize/deep/deep_rows.h"
#include "src/cpu/equalize/saturated_rows.h"

namespace equalux {
namespace {

template <int kN>
using Constant = std::integral_constant<int, kN>;

/// Chroma of one sample, and what it adds to its luma.
struct Chroma {
  std::int32_t u;
  std::int32_t w;
  std::int32_t above;
};

Chroma read_chroma(const DeepSamples& form, const YuvRowIn& in, std::size_t at) {
  const std::int32_t u = deep_code(form, load_word(in.cb + at)) - form.chroma_middle;
  const std::int32_t w = deep_code(form, load_word(in.cr + at)) - form.chroma_middle;
  return {u, w, deep_value_above_luma(form.weights, u, w)};
}

/// Calls `use` for each column of chroma, with its first luma column and their number, 1 or 2.
template <typename Use>
void for_each_cell(std::size_t width, DeepChroma chroma, Use use) {
  if (chroma == DeepChroma::each) {
    for (std::size_t x = 0; x < width; ++x)
      use(x, x, Constant<1>{});
    return;
  }
  for (std::size_t c = 0; c < width / 2; ++c)
    use(c, 2 * c, Constant<2>{});
  if (width % 2 != 0) use(width / 2, width - 1, Constant<1>{});
}

/// Samples with a depth known at compile time: shifts by constants halve the work.
template <int kDepth>
DeepSamples with_depth(DeepSamples form) {
  form.depth = kDepth;
  form.most = (1 << kDepth) - 1;
  form.chroma_middle = 1 << (kDepth - 1);
  return form;
}

constexpr int log2_of(int count) {
  return count == 4 ? 2 : count - 1;
}

void count(const DeepCounters& counters, std::size_t turn, std::int32_t v) {
  ++counters.tables[turn % 2][v];
}

void count_gray(const DeepSamples& form, const std::uint8_t* in, std::size_t n,
                const DeepCounters& counters) {
  for (std::size_t x = 0; x < n; ++x)
    count(counters, x, deep_code(form, load_word(in + 2 * x)));
}

void count_rgb(const DeepSamples& form, const RgbLayout& pixel, const std::uint8_t* in,
               std::size_t n, const DeepCounters& counters) {
  in += pixel.first();
  for (std::size_t x = 0; x < n; ++x, in += pixel.step)
    count(counters, x,
          deep_code(form, std::max({load_word(in), load_word(in + 2), load_word(in + 4)})));
}

template <int kRows>
void count_yuv_rows(const DeepYuvForm& form, const YuvRowIn& in, std::size_t n,
                    const DeepCounters& counters) {
  const DeepSamples samples = form.samples;
  const std::size_t step = chroma_step(form.chroma);
  for_each_cell(n, form.chroma, [&](std::size_t c, std::size_t x, auto columns) {
    const Chroma chroma = read_chroma(samples, in, c * step);
    for (std::size_t r = 0; r < kRows; ++r) {
      for (std::size_t i = 0; i < columns; ++i) {
        const std::int32_t luma = deep_code(samples, load_word(in.luma[r] + 2 * (x + i)));
        count(counters, i + r, yuv_value(samples.weights, luma, chroma.above));
      }
    }
  });
}

void count_yuv(const DeepYuvForm& form, const YuvRowIn& in, std::size_t n,
               const DeepCounters& counters) {
  with_constant<1, 2>(form.rows, [&](auto rows) { count_yuv_rows<rows>(form, in, n, counters); });
}

void curve_levels(const CurveScale& scale, std::uint32_t max_value, std::uint32_t* levels) {
  const double half_inverse = 0.5 / static_cast<double>(scale.span);  // unused where span is 0
  for (std::uint32_t v = 0; v <= max_value; ++v)
    levels[v] = deep_curve_level(scale, levels[v], v, max_value, half_inverse);
}

void apply_gray(const DeepSamples& form, const DeepGains& gains, Stores, const std::uint8_t* in,
                std::size_t n, std::uint8_t* out) {
  for (std::size_t x = 0; x < n; ++x)
    store_word(out + 2 * x,
               gains.words[static_cast<std::size_t>(deep_code(form, load_word(in + 2 * x)))]);
}

void apply_rgb(const DeepSamples& form, const RgbLayout& pixel, const DeepGains& gains, Stores,
               const std::uint8_t* in, std::size_t n, std::uint8_t* out) {
  const int first = pixel.first();
  for (std::size_t x = 0; x < n; ++x, in += pixel.step, out += pixel.step) {
    std::int32_t c[3];
    for (int i = 0; i < 3; ++i)
      c[i] = deep_code(form, load_word(in + first + 2 * i));
    const std::uint64_t gain = gains.fixed[static_cast<std::size_t>(std::max({c[0], c[1], c[2]}))];
    for (int i = 0; i < 3; ++i)
      store_word(out + first + 2 * i, deep_word(form, deep_scaled(c[i], gain, form.depth)));
    if (pixel.alpha >= 0) std::memmove(out + pixel.alpha, in + pixel.alpha, 2);
  }
}

template <int kRows, int kDepth>
void apply_yuv_rows(const DeepYuvForm& any_depth, const DeepGains& gains, const YuvRowIn& in,
                    std::size_t n, const YuvRowOut& out) {
  const DeepSamples form = with_depth<kDepth>(any_depth.samples);
  const std::size_t step = chroma_step(any_depth.chroma);
  const std::uint64_t one = deep_gain_one(form.depth);
  for_each_cell(n, any_depth.chroma, [&](std::size_t c, std::size_t x, auto columns) {
    const Chroma chroma = read_chroma(form, in, c * step);
    std::int64_t sum = 0;
    for (std::size_t r = 0; r < kRows; ++r) {
      for (std::size_t i = 0; i < columns; ++i) {
        const std::size_t at = 2 * (x + i);
        const std::int32_t luma = deep_code(form, load_word(in.luma[r] + at));
        const auto v = static_cast<std::size_t>(yuv_value(form.weights, luma, chroma.above));
        const std::uint64_t gain = luma < form.weights.luma_offset ? one : gains.fixed[v];
        store_word(out.luma[r] + at, deep_word(form, deep_scaled_luma(form, luma, gain)));
        sum += deep_gain_share(gain);
      }
    }
    constexpr int kCount = log2_of(kRows * columns);
    store_word(out.cb + c * step, deep_word(form, deep_scaled_chroma(form, chroma.u, sum, kCount)));
    store_word(out.cr + c * step, deep_word(form, deep_scaled_chroma(form, chroma.w, sum, kCount)));
  });
}

void apply_yuv(const DeepYuvForm& form, const DeepGains& gains, Stores, const YuvRowIn& in,
               std::size_t n, const YuvRowOut& out) {
  with_constant<1, 2>(form.rows, [&](auto rows) {
    with_constant<10, 12, 16>(form.samples.depth, [&](auto depth) {
      apply_yuv_rows<rows, depth>(form, gains, in, n, out);
    });
  });
}

void saturate_rgb(const DeepSamples& form, const RgbLayout& pixel, const DeepGains& gains,
                  const DeepSaturation& saturation, Stores, const std::uint8_t* in, std::size_t n,
                  std::uint8_t* out) {
  saturate_deep_rgb({saturation.factors.data(), gains.curve.data()}, form, pixel, in, n, out);
}

void saturate_yuv(const DeepYuvForm& form, const DeepGains& gains, const DeepSaturation& saturation,
                  Stores, const YuvRowIn& in, std::size_t n, const YuvRowOut& out) {
  const DeepCells cells{form.rows, form.chroma == DeepChroma::each ? 1 : 2,
                        chroma_step(form.chroma)};
  saturate_deep_yuv({saturation.factors.data(), gains.curve.data()}, form.samples, cells, in, n,
                    out);
}

}  // namespace

const DeepRows& scalar_deep_rows() {
  static const DeepRows kLoops{"scalar",     count_gray,       count_rgb,    count_yuv,
                               curve_levels, make_fixed_gains, apply_gray,   apply_rgb,
                               apply_yuv,    saturate_rgb,     saturate_yuv, flush_no_stores};
  return kLoops;
}

}  // namespace equalux
