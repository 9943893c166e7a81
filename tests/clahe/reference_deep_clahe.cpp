#include "tests/clahe/reference_deep_clahe.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <vector>

#include "tests/clahe/tile_definition.h"

namespace equalux::test {
/// Names of its own, beside those of reference_clahe.cpp.
namespace deep_definition {

// Single precision, rounded at each step: that of double precision is exact enough to be rounded
// once more.
float product(double a, double b) {
  return static_cast<float>(a * b);
}
float sum(double a, double b) {
  return static_cast<float>(a + b);
}
float quotient(double a, double b) {
  return static_cast<float>(a / b);
}

/// A frame's samples as numbers, and who shares chroma.
class Frame {
 public:
  Frame(const ConstImageView& in, bool interlaced)
      : in_(in), t_(traits(in.desc.format)), interlaced_(interlaced) {
    yuv = t_.model == ColorModel::yuv;
    const int eight = 1 << (t_.depth - 8);
    const bool limited = yuv && in.desc.range == ColorRange::limited;
    black = limited ? 16 * eight : 0;
    most_code = (1 << t_.depth) - 1;
    m = limited ? 219 * eight : most_code;
    cells = limited ? 219 : 255;
    middle = 1 << (t_.depth - 1);
    columns =
        yuv ? (in.desc.width + (1 << t_.chroma_shift_x) - 1) >> t_.chroma_shift_x : in.desc.width;
    rows =
        yuv ? (in.desc.height + (1 << t_.chroma_shift_y) - 1) >> t_.chroma_shift_y : in.desc.height;
    constexpr std::array<std::array<double, 2>, 3> kRedBlue{
        {{0.299, 0.114}, {0.2126, 0.0722}, {0.2627, 0.0593}}};
    const auto [kr, kb] = kRedBlue[static_cast<std::size_t>(in.desc.matrix)];
    const double kg = 1 - kr - kb;
    const double per_code = limited ? 219.0 / 224.0 : 1.0;
    const auto a = [&](double k) { return static_cast<Wide>(std::llround(65536 * k * per_code)); };
    red_ = a(2 * (1 - kr));
    green_u_ = a(2 * kb * (1 - kb) / kg);
    green_w_ = a(2 * kr * (1 - kr) / kg);
    blue_ = a(2 * (1 - kb));
  }

  [[nodiscard]] int cell_x(int x) const { return yuv ? x >> t_.chroma_shift_x : x; }
  [[nodiscard]] int cell_y(int y) const {
    if (!yuv || t_.chroma_shift_y == 0) return y;
    if (!interlaced_) return y / 2;
    return std::min(2 * (y / 4) + y % 2, rows - 1);
  }
  [[nodiscard]] int get(const std::uint8_t* at) const {
    return ((at[0] + 256 * at[1]) >> t_.shift) % (1 << t_.depth);
  }
  void put(std::uint8_t* at, int code) const {
    const int word = code << t_.shift;
    at[0] = static_cast<std::uint8_t>(word % 256);
    at[1] = static_cast<std::uint8_t>(word / 256);
  }
  /// A colour of a pixel, or luma.
  template <typename View>
  [[nodiscard]] auto sample(const View& view, int x, int y, std::size_t colour) const {
    return view.row(0, y) + t_.step[0] * x + (yuv ? 0 : t_.offset[colour]);
  }
  template <typename View>
  [[nodiscard]] auto chroma(const View& view, int cx, int cy, int which) const {
    if (t_.planes == 2) return view.row(1, cy) + 4 * cx + 2 * which;
    return view.row(1 + which, cy) + 2 * cx;
  }
  [[nodiscard]] int colours() const { return t_.model == ColorModel::rgb ? 3 : 1; }
  [[nodiscard]] int alpha() const { return t_.alpha_offset; }
  [[nodiscard]] int depth() const { return t_.depth; }
  [[nodiscard]] int cell_columns() const { return 1 << t_.chroma_shift_x; }

  [[nodiscard]] int value(int x, int y) const {
    int most = 0;
    for (int c = 0; c < colours(); ++c)
      most = std::max(most, get(sample(in_, x, y, static_cast<std::size_t>(c))));
    if (!yuv) return most;
    const Wide u = get(chroma(in_, cell_x(x), cell_y(y), 0)) - middle;
    const Wide w = get(chroma(in_, cell_x(x), cell_y(y), 1)) - middle;
    const Wide above = std::max({red_ * w, -green_u_ * u - green_w_ * w, blue_ * u});
    return static_cast<int>(
        std::clamp<Wide>(((most - black) * Wide{65536} + above + 32768) >> 16, 0, m));
  }

  bool yuv;
  int black, m, cells, middle, most_code, columns, rows;

 private:
  ConstImageView in_;
  const FormatTraits& t_;
  bool interlaced_;
  Wide red_, green_u_, green_w_, blue_;
};

/// W of every tile's coarse levels, row after row.
std::vector<CurveTable> curves_of(const ClaheParams& params, const Frame& frame,
                                  const ImageDesc& desc) {
  std::vector<ValueHistogram> counts(static_cast<std::size_t>(params.tiles_x * params.tiles_y),
                                     ValueHistogram{});
  for (int y = 0; y < desc.height; ++y) {
    for (int x = 0; x < desc.width; ++x) {
      const int tile = tile_of(params.tiles_y, frame.rows, frame.cell_y(y)) * params.tiles_x +
                       tile_of(params.tiles_x, frame.columns, frame.cell_x(x));
      const int level = frame.value(x, y) / (1 << (frame.depth() - 8));
      ++counts[static_cast<std::size_t>(tile)][static_cast<std::size_t>(level)];
    }
  }
  return tile_curves(params.curve, counts, frame.cells);
}

/// What a value becomes, and its gain.
struct Change {
  double value;
  double gain;
};
using ChangeAt = std::function<Change(int v, int cell_x, int cell_y)>;
/// A sum of a product, and a product, rounded to whole numbers.
struct Rounding {
  std::function<int(double value, double factor, double gain)> sample;
  std::function<int(double factor, double mean)> chroma;
};

void scale(const Frame& frame, const ConstImageView& in, const ImageView& out,
           const ChangeAt& change, const Rounding& round) {
  const auto store = [&](std::uint8_t* at, int code) {
    frame.put(at, std::clamp(code, 0, frame.most_code));
  };
  // By column of the cell, so that they are added in the definition's order.
  struct Gains {
    std::array<double, 2> column{};
    int samples = 0;
    std::array<bool, 2> any{};
  };
  std::vector<Gains> gains(static_cast<std::size_t>(frame.columns) *
                           static_cast<std::size_t>(frame.rows));
  for (int y = 0; y < in.desc.height; ++y) {
    for (int x = 0; x < in.desc.width; ++x) {
      const int cx = frame.cell_x(x);
      const int cy = frame.cell_y(y);
      const bool below = frame.yuv && frame.get(frame.sample(in, x, y, 0)) < frame.black;
      const int v = below ? 0 : frame.value(x, y);
      const Change to = change(v, cx, cy);
      for (int i = 0; i < frame.colours(); ++i) {
        const auto colour = static_cast<std::size_t>(i);
        const int c = frame.get(frame.sample(in, x, y, colour)) - frame.black;
        store(frame.sample(out, x, y, colour),
              frame.black + (below ? c : round.sample(to.value, c - v, to.gain)));
      }
      if (frame.alpha() >= 0) {
        const int place = 8 * x + frame.alpha();
        frame.put(out.row(0, y) + place, frame.get(in.row(0, y) + place));
      }
      Gains& cell = gains[static_cast<std::size_t>(cy) * static_cast<std::size_t>(frame.columns) +
                          static_cast<std::size_t>(cx)];
      const auto column = static_cast<std::size_t>(frame.yuv ? x - cx * frame.cell_columns() : 0);
      cell.column[column] = cell.any[column] ? sum(cell.column[column], to.gain) : to.gain;
      cell.any[column] = true;
      ++cell.samples;
    }
  }
  if (!frame.yuv) return;
  for (int cy = 0; cy < frame.rows; ++cy) {
    for (int cx = 0; cx < frame.columns; ++cx) {
      const Gains& cell =
          gains[static_cast<std::size_t>(cy) * static_cast<std::size_t>(frame.columns) +
                static_cast<std::size_t>(cx)];
      // Twice what there is, where a column is missing: sums of 1, 2 or 4 differ by powers of two.
      const double all = sum(cell.column[0], cell.column[1]);
      for (int which = 0; which < 2; ++which) {
        const int u = frame.get(frame.chroma(in, cx, cy, which)) - frame.middle;
        store(frame.chroma(out, cx, cy, which), frame.middle + round.chroma(u, all / cell.samples));
      }
    }
  }
}

void reference(const ClaheParams& params, const ConstImageView& in, const ImageView& out,
               bool interlaced) {
  const Frame frame(in, interlaced);
  const std::vector<CurveTable> curves = curves_of(params, frame, in.desc);
  const auto level = [&](int tile_x, int tile_y, int i) -> long long {
    if (i == 0) return 0;
    const auto tile = static_cast<std::size_t>(tile_y * params.tiles_x + tile_x);
    return (static_cast<long long>(curves[tile][static_cast<std::size_t>(i)]) + 8192) / 16384;
  };
  const float to_levels = quotient(frame.cells, frame.m);
  const float to_codes = quotient(frame.m, frame.cells * 65536.0);
  const auto change = [&](int v, int cell_x, int cell_y) -> Change {
    if (v == 0) return {0, 1};
    const Between x = between(params.tiles_x, frame.columns, cell_x);
    const Between y = between(params.tiles_y, frame.rows, cell_y);
    const long long below = 256LL * y.past / y.way;
    const long long right = 256LL * x.past / x.way;
    const float place = product(v, to_levels);
    const int i = static_cast<int>(std::floor(place));
    const auto mixed = [&](int at) {
      const auto column = [&](int tile_x) {
        return (level(tile_x, y.first, at) * (256 - below) + level(tile_x, y.second, at) * below +
                128) /
               256;
      };
      return column(x.first) * (256 - right) + column(x.second) * right;
    };
    const long long here = mixed(i);
    const long long next = mixed(std::min(i + 1, frame.cells));
    const float between_levels =
        sum(static_cast<double>(here),
            product(static_cast<double>(place) - i, static_cast<double>(next - here)));
    const float value = product(between_levels, to_codes);
    return {value, product(value, quotient(1, v))};
  };
  const auto whole = [](float x) { return static_cast<int>(std::nearbyint(x)); };
  scale(frame, in, out, change,
        {[&](double value, double factor, double gain) {
           return whole(sum(value, product(factor, gain)));
         },
         [&](double factor, double mean) { return whole(product(factor, mean)); }});
}

void exact(const ClaheParams& params, const ConstImageView& in, const ImageView& out) {
  const Frame frame(in, false);
  const std::vector<CurveTable> curves = curves_of(params, frame, in.desc);
  const auto change = [&](int v, int cell_x, int cell_y) -> Change {
    if (v == 0) return {0, 1};
    const Between x = between(params.tiles_x, frame.columns, cell_x);
    const Between y = between(params.tiles_y, frame.rows, cell_y);
    const double place = static_cast<double>(v) * frame.cells / frame.m;
    const int i = std::min(static_cast<int>(place), frame.cells - 1);
    const auto at = [&](int tile_x, int tile_y) {
      const CurveTable& curve = curves[static_cast<std::size_t>(tile_y * params.tiles_x + tile_x)];
      const double low = i == 0 ? 0.0 : curve[static_cast<std::size_t>(i)];
      const double high = curve[static_cast<std::size_t>(i) + 1];
      return (low + (place - i) * (high - low)) / 4194304.0;
    };
    const double right = static_cast<double>(x.past) / x.way;
    const double below = static_cast<double>(y.past) / y.way;
    const double above_mix = at(x.first, y.first) * (1 - right) + at(x.second, y.first) * right;
    const double below_mix = at(x.first, y.second) * (1 - right) + at(x.second, y.second) * right;
    const double value = (above_mix * (1 - below) + below_mix * below) * frame.m / frame.cells;
    return {value, value / v};
  };
  const auto whole = [](double x) { return static_cast<int>(std::floor(x + 0.5)); };
  scale(frame, in, out, change,
        {[&](double value, double factor, double gain) { return whole(value + factor * gain); },
         [&](double factor, double mean) { return whole(factor * mean); }});
}

}  // namespace deep_definition

void reference_deep_clahe(const ClaheParams& params, const ConstImageView& in, const ImageView& out,
                          bool interlaced) {
  deep_definition::reference(params, in, out, interlaced);
}

void exact_deep_clahe(const ClaheParams& params, const ConstImageView& in, const ImageView& out) {
  deep_definition::exact(params, in, out);
}

}  // namespace equalux::test
