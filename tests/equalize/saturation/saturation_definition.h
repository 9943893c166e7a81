#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <equalux/image.h>
#include <equalux/params.h>

#include "src/format/layout.h"
#include "tests/equalize/wide.h"

/// Saturation times a factor by its definition in rationals, a pixel after the other; what it
/// shares with the filters is where samples lie.
namespace equalux::test {

/// A number n / d, d > 0.
struct Ratio {
  Wide n;
  Wide d;
  [[nodiscard]] bool over(const Ratio& other) const { return n * other.d > other.n * d; }
};

/// Samples of a frame, whatever their depth.
struct FrameCodes {
  ConstImageView view;
  int depth = traits(view.desc.format).depth;
  int shift = traits(view.desc.format).shift;

  [[nodiscard]] int get(int component, int x, int y) const {
    const std::uint8_t* at = samples_of(view, component).at(x, y);
    return depth == 8 ? *at : ((at[0] + 256 * at[1]) >> shift) % (1 << depth);
  }
};

inline void put(const ImageView& view, int component, int x, int y, Wide code) {
  const FormatTraits& t = traits(view.desc.format);
  std::uint8_t* at = samples_of(view, component).at(x, y);
  const auto word = static_cast<unsigned>(code) << t.shift;
  at[0] = static_cast<std::uint8_t>(word);
  if (t.depth > 8) at[1] = static_cast<std::uint8_t>(word >> 8);
}

/// What each v of a frame becomes, times 2^bits, and k there, times 256.
struct Levels {
  std::vector<std::int64_t> values;
  std::vector<Wide> factors;
  friend bool operator==(const Levels&, const Levels&) = default;
};

/// The frame by the definition: S' = min(k S, 1), or S where it is over 1 already and k over 1, and
/// c' = V' (1 - S' (v - c) / (v - m)).
class SaturationDefinition {
 public:
  SaturationDefinition(const ImageDesc& desc, bool interlaced, Levels levels)
      : desc_(desc), interlaced_(interlaced), levels_(std::move(levels)) {
    const FormatTraits& t = traits(desc.format);
    const int eight = 1 << (t.depth - 8);
    const bool limited = t.model == ColorModel::yuv && desc.range == ColorRange::limited;
    most_ = (1 << t.depth) - 1;
    black_ = limited ? 16 * eight : 0;
    m_ = limited ? 219 * eight : most_;
    bits_ = t.depth == 8 ? 22 : 14;
    constexpr std::array<std::array<double, 2>, 3> kRedBlue{
        {{0.299, 0.114}, {0.2126, 0.0722}, {0.2627, 0.0593}}};
    const auto [kr, kb] = kRedBlue[static_cast<std::size_t>(desc.matrix)];
    const double kg = 1 - kr - kb;
    const double unit = 65536 * (limited ? 219.0 / 224.0 : 1.0);
    const auto fixed = [&](double x) { return static_cast<Wide>(std::llround(unit * x)); };
    red_ = fixed(2 * (1 - kr));
    green_u_ = fixed(2 * kb * (1 - kb) / kg);
    green_w_ = fixed(2 * kr * (1 - kr) / kg);
    blue_ = fixed(2 * (1 - kb));
  }

  [[nodiscard]] int most_value() const { return m_; }

  /// v of a pixel, and the least channel; of luma below black v counts in the histogram alone.
  struct Extremes {
    Wide v, m, counted;
  };
  [[nodiscard]] Extremes extremes(const FrameCodes& in, int x, int y) const {
    if (traits(desc_.format).model == ColorModel::rgb) {
      const auto [least, most] = std::minmax({in.get(0, x, y), in.get(1, x, y), in.get(2, x, y)});
      return {most, least, most};
    }
    const int cx = x >> traits(desc_.format).chroma_shift_x;
    const int cy = chroma_row(y);
    const Wide u = in.get(1, cx, cy) - (most_ + 1) / 2;
    const Wide w = in.get(2, cx, cy) - (most_ + 1) / 2;
    const auto [least, most] = std::minmax({red_ * w, -green_u_ * u - green_w_ * w, blue_ * u});
    const Wide luma = in.get(0, x, y) - black_;
    const Wide v = luma + floor_div(2 * most + 65536, 2 * 65536);
    const Wide counted = std::clamp<Wide>(v, 0, m_);
    const Wide m = luma + floor_div(2 * least + 65536, 2 * 65536);
    return {luma < 0 ? 0 : counted, m, counted};
  }

  void write(const FrameCodes& in, const ImageView& out) const {
    if (traits(desc_.format).model == ColorModel::rgb) return write_rgb(in, out);
    write_yuv(in, out);
  }

 private:
  /// S' / S of a pixel.
  [[nodiscard]] Ratio factor(const Extremes& e) const {
    const Ratio one{1, 1};
    const Ratio k{levels_.factors[static_cast<std::size_t>(e.v)], 256};
    if (e.v <= e.m) return k;            // S is 0, or v was clamped below luma
    const Ratio to_one{e.v, e.v - e.m};  // 1 / S
    if (!k.over(one) || !k.over(to_one)) return k;
    return to_one.over(one) ? to_one : one;
  }

  /// round(level / 2^bits (1 - f (v - c) / v)).
  [[nodiscard]] Wide scaled(const Extremes& e, Ratio f, Wide c) const {
    if (e.v == 0) return c;
    if (c >= e.v) f = {1, 1};
    const Wide n =
        Wide{levels_.values[static_cast<std::size_t>(e.v)]} * (f.d * e.v - f.n * (e.v - c));
    const Wide d = (f.d * e.v) << bits_;
    return floor_div(2 * n + d, 2 * d);
  }

  void write_rgb(const FrameCodes& in, const ImageView& out) const {
    const int alpha = traits(desc_.format).alpha_offset;
    const int bytes = in.depth == 8 ? 1 : 2;
    for (int y = 0; y < desc_.height; ++y) {
      for (int x = 0; x < desc_.width; ++x) {
        const Extremes e = extremes(in, x, y);
        for (int c = 0; c < 3; ++c)
          put(out, c, x, y, scaled(e, factor(e), in.get(c, x, y)));
        const std::ptrdiff_t at = std::ptrdiff_t{x} * traits(desc_.format).step[0] + alpha;
        for (int b = 0; alpha >= 0 && b < bytes; ++b)
          out.row(0, y)[at + b] = in.view.row(0, y)[at + b];
      }
    }
  }

  void write_yuv(const FrameCodes& in, const ImageView& out) const {
    const CellCount cells = cells_of(desc_);
    // Of a gain: 40 bits of 8 bits a sample, else 2 depth + 7.
    const int gain_bits = in.depth == 8 ? 48 : 2 * in.depth + 15;
    std::vector<Wide> sums(static_cast<std::size_t>(cells.columns * cells.rows), 0);
    std::vector<int> counts(sums.size(), 0);
    for (int y = 0; y < desc_.height; ++y) {
      for (int x = 0; x < desc_.width; ++x) {
        const Extremes e = extremes(in, x, y);
        const Wide luma = in.get(0, x, y) - black_;
        const Ratio f = factor(e);
        const Wide level = levels_.values[static_cast<std::size_t>(e.v)];
        const Wide gain =
            e.v == 0 ? Wide{1} << gain_bits : -floor_div(-(level << (gain_bits - bits_)), e.v);
        const std::size_t cell = static_cast<std::size_t>(
            chroma_row(y) * cells.columns + (x >> traits(desc_.format).chroma_shift_x));
        sums[cell] += floor_div((gain >> 8) * f.n, f.d);
        ++counts[cell];
        const Wide code = luma < 0 ? luma : scaled(e, f, luma);
        put(out, 0, x, y, std::min<Wide>(code + black_, most_));
      }
    }
    const Wide middle = (most_ + 1) / 2;
    for (int y = 0; y < cells.rows; ++y) {
      for (int x = 0; x < cells.columns; ++x) {
        const auto cell = static_cast<std::size_t>(y * cells.columns + x);
        const Wide whole = Wide{counts[cell]} << (gain_bits - 8);
        for (int c = 1; c < 3; ++c) {
          const Wide code =
              middle + floor_div(2 * (in.get(c, x, y) - middle) * sums[cell] + whole, 2 * whole);
          put(out, c, x, y, std::clamp<Wide>(code, 0, most_));
        }
      }
    }
  }

  [[nodiscard]] int chroma_row(int y) const {
    if (traits(desc_.format).chroma_shift_y == 0) return y;
    if (!interlaced_) return y / 2;
    return std::min(2 * (y / 4) + y % 2, cells_of(desc_).rows - 1);
  }

  ImageDesc desc_;
  bool interlaced_;
  Levels levels_;
  int most_ = 0, black_ = 0, m_ = 0, bits_ = 0;
  Wide red_ = 0, green_u_ = 0, green_w_ = 0, blue_ = 0;
};

/// k times 256 of every level of a curve W, 0 to `most`: the parameters' factor, or the contrast
/// that the curve gives back there, v W'(v) / W(v), its slope taken over 16 levels on either side,
/// but for those that all become black or white.
template <typename Curve>
std::vector<Wide> factors_of(const EqualizeParams& params, const Curve& curve, Wide most) {
  std::vector<Wide> factors;
  for (Wide v = 0; v <= most; ++v) {
    if (params.saturation != kAutoSaturation) {
      factors.push_back(static_cast<Wide>(std::lround(params.saturation * 256)));
      continue;
    }
    const auto bound = static_cast<Wide>(std::lround(params.saturation_max * 256));
    const auto end = curve.begin() + static_cast<std::ptrdiff_t>(most) + 1;
    const Wide last_black =
        std::max<Wide>(std::upper_bound(curve.begin(), end, 0U) - curve.begin() - 1, 0);
    const Wide first_white =
        std::lower_bound(curve.begin(), end, curve[static_cast<std::size_t>(most)]) - curve.begin();
    const auto low = static_cast<std::size_t>(std::max(v - 16, std::min(v, last_black)));
    const auto high = static_cast<std::size_t>(std::min(v + 16, std::max(v, first_white)));
    const Wide n = 256 * v * (Wide{curve[high]} - Wide{curve[low]});
    const Wide d = static_cast<Wide>(high - low) * curve[static_cast<std::size_t>(v)];
    const Wide contrast = d == 0 ? 0 : floor_div(2 * n + d, 2 * d);
    factors.push_back(std::clamp<Wide>(contrast, 256, bound));
  }
  return factors;
}

/// Factors of saturation by what the curve has made, `results` being levels of a result: on the
/// line between the levels of the curve that become less and as much or more.
template <typename Curve>
std::vector<Wide> factors_of_results(const EqualizeParams& params, const Curve& curve, Wide most,
                                     const std::vector<Wide>& results) {
  const std::vector<Wide> by_level = factors_of(params, curve, most);
  std::vector<Wide> factors;
  for (const Wide result : results) {
    const Wide wanted = result << 22;
    std::size_t v = 0;
    while (v < static_cast<std::size_t>(most) && Wide{curve[v]} < wanted)
      ++v;
    if (v == 0 || Wide{curve[v]} <= wanted) {
      factors.push_back(by_level[v]);
      continue;
    }
    const Wide run = Wide{curve[v]} - Wide{curve[v - 1]};
    const Wide part = wanted - Wide{curve[v - 1]};
    const Wide sum = by_level[v - 1] * (run - part) + by_level[v] * part;
    factors.push_back(floor_div(2 * sum + run, 2 * run));
  }
  return factors;
}

/// What pixels become that keep their value: `coarse` is k times 256 of levels of 8 bits, and other
/// depths have what lies on straight lines between those.
inline Levels kept_values(const ImageDesc& desc, const std::vector<Wide>& coarse) {
  const Wide last = static_cast<Wide>(coarse.size()) - 1;
  const int depth = traits(desc.format).depth;
  const Wide most = depth == 8 ? last : SaturationDefinition(desc, false, {}).most_value();
  Levels levels;
  for (Wide v = 0; v <= most; ++v) {
    levels.values.push_back(static_cast<std::int64_t>(v) << (depth == 8 ? 22 : 14));
    const auto below = static_cast<std::size_t>(v * last / most);
    const Wide beyond = v * last % most;
    const Wide next = coarse[std::min(below + 1, static_cast<std::size_t>(last))];
    levels.factors.push_back(
        floor_div(2 * (coarse[below] * (most - beyond) + next * beyond) + most, 2 * most));
  }
  return levels;
}

}  // namespace equalux::test
