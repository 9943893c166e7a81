#include "tests/equalize/deep/deep_reference.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "tests/equalize/wide.h"

namespace equalux::test {
namespace {

/// Depth, unused low bits, black, M, the span of chroma and no colour, of one format.
struct Form {
  int depth = 0;
  int shift = 0;
  int black = 0;
  int m = 0;
  double chroma_span = 0;
  int middle = 0;

  explicit Form(const ImageDesc& desc) {
    const FormatTraits& t = traits(desc.format);
    depth = t.depth;
    shift = t.shift;
    middle = 1 << (depth - 1);
    const bool limited = t.model == ColorModel::yuv && desc.range == ColorRange::limited;
    const int eight = 1 << (depth - 8);
    black = limited ? 16 * eight : 0;
    m = limited ? 219 * eight : most();
    chroma_span = limited ? 224.0 * eight : most();
  }
  [[nodiscard]] int most() const { return (1 << depth) - 1; }
  [[nodiscard]] int get(const std::uint8_t* at) const {
    return ((at[0] + 256 * at[1]) >> shift) % (1 << depth);
  }
  void put(std::uint8_t* at, Wide code) const {
    const int word = static_cast<int>(code) << shift;
    at[0] = static_cast<std::uint8_t>(word % 256);
    at[1] = static_cast<std::uint8_t>(word / 256);
  }
};

using Numbers = std::vector<std::int64_t>;

/// W of every v.
Numbers plain_curve_of(const EqualizeParams& params, const Numbers& counts, const Form& form) {
  const Wide n = params.bins == 0 ? Wide{1} << form.depth : params.bins;
  const Wide m = form.m;
  const auto bin = [&](std::size_t v) {
    return static_cast<std::size_t>((2 * (n - 1) * static_cast<Wide>(v) + m) / (2 * m));
  };
  std::vector<Wide> cdf(static_cast<std::size_t>(n), 0);
  for (std::size_t v = 0; v < counts.size(); ++v)
    cdf[bin(v)] += counts[v];
  const Wide first_bin = cdf[0];
  const Wide first_nonempty = *std::find_if(cdf.begin(), cdf.end(), [](Wide c) { return c > 0; });
  for (std::size_t i = 1; i < cdf.size(); ++i)
    cdf[i] += cdf[i - 1];
  const Wide offset = params.scaler == Scaler::max_abs   ? 0
                      : params.scaler == Scaler::min_max ? first_bin
                                                         : first_nonempty;
  const Wide span = cdf.back() - offset;
  Numbers curve(counts.size());
  for (std::size_t v = 0; v < counts.size(); ++v) {
    const Wide above = std::max<Wide>(0, cdf[bin(v)] - offset);
    curve[v] = static_cast<std::int64_t>(
        span == 0 ? static_cast<Wide>(v) << 14
                  : floor_div(2 * m * above * (1 << 14) + span, 2 * span));
  }
  return curve;
}

/// floor(c W / (v 2^14) + 1/2).
Wide scaled(Wide c, Wide level, Wide v) {
  return floor_div(2 * c * level + (v << 14), 2 * (v << 14));
}

/// Numbers of counted pixels by v, 0 to m.
Numbers counts_of(const ImageDesc& desc, int m, const DeepCounted& counted,
                  const std::function<std::size_t(int x, int y)>& value) {
  Numbers counts(static_cast<std::size_t>(m) + 1, 0);
  for (int y = 0; y < desc.height; ++y) {
    for (int x = 0; x < desc.width; ++x) {
      const std::size_t v = value(x, y);
      if (!counted || counted(x, y, static_cast<int>(v))) ++counts[v];
    }
  }
  return counts;
}

void packed(const DeepCurveOf& curve_of, const ConstImageView& in, const ImageView& out,
            const DeepCounted& counted) {
  const FormatTraits& t = traits(in.desc.format);
  const Form form(in.desc);
  const int step = t.step[0];
  const std::size_t channels = t.model == ColorModel::gray ? 1 : 3;
  const auto channel = [&](const std::uint8_t* p, std::size_t c) {
    return form.get(p + t.offset[c]);
  };
  const auto value = [&](const std::uint8_t* p) {
    int most = 0;
    for (std::size_t c = 0; c < channels; ++c)
      most = std::max(most, channel(p, c));
    return static_cast<std::size_t>(most);
  };
  const Numbers curve = curve_of(counts_of(
      in.desc, form.m, counted, [&](int x, int y) { return value(in.row(0, y) + step * x); }));
  for (int y = 0; y < in.desc.height; ++y) {
    for (int x = 0; x < in.desc.width; ++x) {
      const std::uint8_t* p = in.row(0, y) + step * x;
      std::uint8_t* q = out.row(0, y) + step * x;
      const std::size_t v = value(p);
      if (t.alpha_offset >= 0) form.put(q + t.alpha_offset, form.get(p + t.alpha_offset));
      for (std::size_t c = 0; c < channels; ++c) {
        const Wide code = channel(p, c);
        form.put(q + t.offset[c], v == 0 ? code : scaled(code, curve[v], static_cast<Wide>(v)));
      }
    }
  }
}

/// Where the samples of a YCbCr frame lie.
struct DeepSampler {
  const ImageDesc& desc;
  bool interlaced;

  [[nodiscard]] int chroma_rows() const { return plane_rows(desc, 1); }
  [[nodiscard]] int chroma_row(int y) const {
    if (traits(desc.format).chroma_shift_y == 0) return y;
    if (!interlaced) return y / 2;
    return std::min(2 * (y / 4) + y % 2, chroma_rows() - 1);
  }
  [[nodiscard]] int chroma_column(int x) const { return x >> traits(desc.format).chroma_shift_x; }
  template <typename View>
  auto chroma(const View& view, int cx, int cy, int which) const {
    if (traits(desc.format).planes == 2) return view.row(1, cy) + 4 * cx + 2 * which;
    return view.row(1 + which, cy) + 2 * cx;
  }
};

struct Weights {
  Wide ar, agu, agw, ab;

  Weights(const ImageDesc& desc, const Form& form) {
    constexpr std::array<std::array<double, 2>, 3> kRedBlue{
        {{0.299, 0.114}, {0.2126, 0.0722}, {0.2627, 0.0593}}};
    const auto [kr, kb] = kRedBlue[static_cast<std::size_t>(desc.matrix)];
    const double kg = 1 - kr - kb;
    const auto a = [&](double k) {
      return static_cast<Wide>(std::llround(65536 * k * form.m / form.chroma_span));
    };
    ar = a(2 * (1 - kr));
    agu = a(2 * kb * (1 - kb) / kg);
    agw = a(2 * kr * (1 - kr) / kg);
    ab = a(2 * (1 - kb));
  }
};

void planar(const DeepCurveOf& curve_of, const ConstImageView& in, const ImageView& out,
            bool interlaced, const DeepCounted& counted) {
  const Form form(in.desc);
  const Weights k(in.desc, form);
  const DeepSampler at{in.desc, interlaced};
  const auto luma_at = [&](int x, int y) { return form.get(in.row(0, y) + 2 * x); };
  const auto value = [&](int x, int y) {
    const int cx = at.chroma_column(x);
    const int cy = at.chroma_row(y);
    const Wide u = form.get(at.chroma(in, cx, cy, 0)) - form.middle;
    const Wide w = form.get(at.chroma(in, cx, cy, 1)) - form.middle;
    const Wide most = std::max({k.ar * w, -k.agu * u - k.agw * w, k.ab * u});
    const Wide v = ((luma_at(x, y) - form.black) * Wide{65536} + most + 32768) >> 16;
    return static_cast<std::size_t>(std::clamp<Wide>(v, 0, form.m));
  };
  const Numbers curve = curve_of(counts_of(in.desc, form.m, counted, value));

  const int bits = 2 * form.depth + 1 + 14;
  struct Covered {
    Wide sum = 0;
    Wide count = 0;
  };
  const int columns = at.chroma_column(in.desc.width - 1) + 1;
  std::vector<Covered> covered(static_cast<std::size_t>(columns * at.chroma_rows()));
  const auto covered_by = [&](int cx, int cy) -> Covered& {
    return covered[static_cast<std::size_t>(cy * columns + cx)];
  };
  for (int y = 0; y < in.desc.height; ++y) {
    for (int x = 0; x < in.desc.width; ++x) {
      const Wide above_black = luma_at(x, y) - form.black;
      const auto v = static_cast<Wide>(value(x, y));
      const bool kept = above_black < 0 || v == 0;
      const Wide level = curve[static_cast<std::size_t>(v)];
      const Wide gain = kept ? Wide{1} << bits : -floor_div(-(level << (bits - 14)), v);
      Covered& cell = covered_by(at.chroma_column(x), at.chroma_row(y));
      cell.sum += gain >> 8;
      ++cell.count;
      const Wide luma = form.black + (kept ? above_black : scaled(above_black, level, v));
      form.put(out.row(0, y) + 2 * x, std::clamp<Wide>(luma, 0, form.most()));
    }
  }
  for (int cy = 0; cy < at.chroma_rows(); ++cy) {
    for (int cx = 0; cx < columns; ++cx) {
      const Covered& cell = covered_by(cx, cy);
      for (int which = 0; which < 2; ++which) {
        const Wide u = form.get(at.chroma(in, cx, cy, which)) - form.middle;
        const Wide whole = cell.count << (bits - 8);
        const Wide code = form.middle + floor_div(2 * u * cell.sum + whole, 2 * whole);
        form.put(at.chroma(out, cx, cy, which), std::clamp<Wide>(code, 0, form.most()));
      }
    }
  }
}

}  // namespace

void reference_equalize_deep(const EqualizeParams& params, const ConstImageView& in,
                             const ImageView& out, bool interlaced, const DeepCounted& counted) {
  const Form form(in.desc);
  reference_scale_deep([&](const Numbers& counts) { return plain_curve_of(params, counts, form); },
                       in, out, interlaced, counted);
}

void reference_scale_deep(const DeepCurveOf& curve_of, const ConstImageView& in,
                          const ImageView& out, bool interlaced, const DeepCounted& counted) {
  if (traits(in.desc.format).model == ColorModel::yuv) {
    planar(curve_of, in, out, interlaced, counted);
  } else {
    packed(curve_of, in, out, counted);
  }
}

std::vector<PixelFormat> deep_formats() {
  std::vector<PixelFormat> formats;
  for (int f = 0; f < kPixelFormatCount; ++f) {
    const auto format = static_cast<PixelFormat>(f);
    if (has_deep_samples(format)) formats.push_back(format);
  }
  return formats;
}

}  // namespace equalux::test
