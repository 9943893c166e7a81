#include "tests/equalize/reference.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "tests/equalize/wide.h"

namespace equalux::test {
namespace {

/// The exact gain M T(v) / v of every v as num / den.
struct Gain {
  Wide num = 1;
  Wide den = 1;
};

std::vector<Gain> gains_of(const EqualizeParams& params, const std::vector<std::uint64_t>& counts,
                           int m) {
  const Wide n = params.bins == 0 ? 256 : params.bins;
  const auto bin = [&](Wide v) {
    return static_cast<std::size_t>((2 * (n - 1) * v + m) / (2 * m));
  };
  std::vector<Wide> cdf(static_cast<std::size_t>(n), 0);
  for (std::size_t v = 0; v < counts.size(); ++v)
    cdf[bin(static_cast<Wide>(v))] += counts[v];
  const Wide first_bin = cdf[0];
  Wide first_nonempty = 0;
  for (const Wide count : cdf) {
    if (first_nonempty == 0) first_nonempty = count;
  }
  for (std::size_t i = 1; i < cdf.size(); ++i)
    cdf[i] += cdf[i - 1];
  const Wide total = cdf.back();
  const Wide offset = params.scaler == Scaler::max_abs   ? 0
                      : params.scaler == Scaler::min_max ? first_bin
                                                         : first_nonempty;
  std::vector<Gain> gains(counts.size());
  for (std::size_t v = 1; v < counts.size(); ++v) {
    if (total == offset) continue;  // identity
    gains[v] = {m * std::max<Wide>(0, cdf[bin(static_cast<Wide>(v))] - offset),
                static_cast<Wide>(v) * (total - offset)};
  }
  return gains;
}

/// round(c gain), halves up.
int scaled(int c, const Gain& gain) {
  return static_cast<int>(floor_div(2 * c * gain.num + gain.den, 2 * gain.den));
}

int clamp_byte(Wide x) {
  return static_cast<int>(std::clamp<Wide>(x, 0, 255));
}

using Chosen = std::function<bool(int x, int y, int v)>;

void packed(const EqualizeParams& params, const ConstImageView& in, const ImageView& out,
            const Chosen& chosen) {
  const FormatTraits& t = traits(in.desc.format);
  const int step = t.step[0];
  const std::size_t channels = t.model == ColorModel::gray ? 1 : 3;
  const auto value = [&](const std::uint8_t* p) {
    return std::max({p[t.offset[0]], p[t.offset[1]], p[t.offset[2]]});
  };
  std::vector<std::uint64_t> counts(256, 0);
  for (int y = 0; y < in.desc.height; ++y) {
    for (int x = 0; x < in.desc.width; ++x) {
      const int v = value(in.row(0, y) + step * x);
      if (!chosen || chosen(x, y, v)) ++counts[static_cast<std::size_t>(v)];
    }
  }
  const std::vector<Gain> gains = gains_of(params, counts, 255);
  for (int y = 0; y < in.desc.height; ++y) {
    for (int x = 0; x < in.desc.width; ++x) {
      const std::uint8_t* p = in.row(0, y) + step * x;
      std::uint8_t* q = out.row(0, y) + step * x;
      const Gain& gain = gains[value(p)];
      if (t.alpha_offset >= 0) q[t.alpha_offset] = p[t.alpha_offset];
      for (std::size_t c = 0; c < channels; ++c) {
        const int at = t.offset[c];
        q[at] = static_cast<std::uint8_t>(scaled(p[at], gain));
      }
    }
  }
}

/// Addresses of the samples of one YCbCr pixel, whatever the layout.
struct Sampler {
  const ImageDesc& desc;
  bool interlaced;

  int chroma_row(int y) const {
    if (traits(desc.format).chroma_shift_y == 0) return y;
    if (!interlaced) return y / 2;
    return std::min(2 * (y / 4) + y % 2, plane_rows(desc, traits(desc.format).planes - 1) - 1);
  }
  int chroma_column(int x) const { return x >> traits(desc.format).chroma_shift_x; }

  template <typename View>
  auto luma(const View& view, int x, int y) const {
    switch (desc.format) {
      case PixelFormat::yuy2:
        return view.row(0, y) + 2 * x;
      case PixelFormat::uyvy:
        return view.row(0, y) + 2 * x + 1;
      default:
        return view.row(0, y) + x;
    }
  }
  template <typename View>
  auto chroma(const View& view, int cx, int cy, int which) const {
    switch (desc.format) {
      case PixelFormat::nv12:
        return view.row(1, cy) + 2 * cx + which;
      case PixelFormat::yuy2:
        return view.row(0, cy) + 4 * cx + 1 + 2 * which;
      case PixelFormat::uyvy:
        return view.row(0, cy) + 4 * cx + 2 * which;
      default:
        return view.row(1 + which, cy) + cx;
    }
  }
};

struct YuvModel {
  int yo;
  int m;
  Wide ar, agu, agw, ab;

  explicit YuvModel(const ImageDesc& desc) {
    const bool limited = desc.range == ColorRange::limited;
    yo = limited ? 16 : 0;
    m = limited ? 219 : 255;
    const double mc = limited ? 224 : 255;
    const double kr = desc.matrix == ColorMatrix::bt601   ? 0.299
                      : desc.matrix == ColorMatrix::bt709 ? 0.2126
                                                          : 0.2627;
    const double kb = desc.matrix == ColorMatrix::bt601   ? 0.114
                      : desc.matrix == ColorMatrix::bt709 ? 0.0722
                                                          : 0.0593;
    const double kg = 1 - kr - kb;
    const auto a = [&](double k) { return static_cast<Wide>(std::llround(65536 * k * m / mc)); };
    ar = a(2 * (1 - kr));
    agu = a(2 * kb * (1 - kb) / kg);
    agw = a(2 * kr * (1 - kr) / kg);
    ab = a(2 * (1 - kb));
  }
  int value(int luma, int cb, int cr) const {
    const Wide y = luma - yo;
    const Wide u = cb - 128;
    const Wide w = cr - 128;
    const Wide most = std::max({ar * w, -agu * u - agw * w, ab * u});
    return static_cast<int>(std::clamp<Wide>((y * 65536 + most + 32768) >> 16, 0, m));
  }
};

void planar(const EqualizeParams& params, const ConstImageView& in, const ImageView& out,
            bool interlaced, const Chosen& chosen) {
  const Sampler at{in.desc, interlaced};
  const YuvModel model(in.desc);
  const auto value = [&](int x, int y) {
    const int cx = at.chroma_column(x);
    const int cy = at.chroma_row(y);
    return model.value(*at.luma(in, x, y), *at.chroma(in, cx, cy, 0), *at.chroma(in, cx, cy, 1));
  };
  std::vector<std::uint64_t> counts(static_cast<std::size_t>(model.m) + 1, 0);
  for (int y = 0; y < in.desc.height; ++y) {
    for (int x = 0; x < in.desc.width; ++x) {
      const int v = value(x, y);
      if (!chosen || chosen(x, y, v)) ++counts[static_cast<std::size_t>(v)];
    }
  }
  const std::vector<Gain> gains = gains_of(params, counts, model.m);

  struct Covered {
    Wide sum = 0;
    int count = 0;
  };
  const int columns = at.chroma_column(in.desc.width - 1) + 1;
  const int chroma_rows = plane_rows(in.desc, traits(in.desc.format).planes - 1);
  std::vector<Covered> covered(static_cast<std::size_t>(columns) *
                               static_cast<std::size_t>(chroma_rows));
  for (int y = 0; y < in.desc.height; ++y) {
    for (int x = 0; x < in.desc.width; ++x) {
      const int luma = *at.luma(in, x, y);
      const int above_black = luma - model.yo;
      const int v = value(x, y);
      const Gain gain = above_black < 0 || v == 0 ? Gain{} : gains[static_cast<std::size_t>(v)];
      const Wide gain48 = -floor_div(-(gain.num << 48), gain.den);
      Covered& c =
          covered[static_cast<std::size_t>(at.chroma_row(y) * columns + at.chroma_column(x))];
      c.sum += gain48 >> 8;
      ++c.count;
      *at.luma(out, x, y) = static_cast<std::uint8_t>(
          above_black < 0 ? luma : clamp_byte(model.yo + scaled(above_black, gain)));
    }
  }
  for (int cy = 0; cy < chroma_rows; ++cy) {
    for (int cx = 0; cx < columns; ++cx) {
      const Covered& c = covered[static_cast<std::size_t>(cy * columns + cx)];
      for (int which = 0; which < 2; ++which) {
        const int code = *at.chroma(in, cx, cy, which);
        const Wide k = c.count;
        const Wide scaled_code =
            128 + floor_div((code - 128) * c.sum + k * (Wide{1} << 39), k * (Wide{1} << 40));
        *at.chroma(out, cx, cy, which) = static_cast<std::uint8_t>(clamp_byte(scaled_code));
      }
    }
  }
}

}  // namespace

void reference_equalize(const EqualizeParams& params, const ConstImageView& in,
                        const ImageView& out, bool interlaced, const Chosen& counts) {
  copy_image(in, out);  // the unused luma byte of packed 4:2:2 at an odd width
  if (traits(in.desc.format).model == ColorModel::yuv) {
    planar(params, in, out, interlaced, counts);
  } else {
    packed(params, in, out, counts);
  }
}

}  // namespace equalux::test
