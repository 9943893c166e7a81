#include "tests/clahe/reference_clahe.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <vector>

#include "tests/clahe/tile_definition.h"

namespace equalux::test {
namespace {

/// Where a sample lies: its cell, and its row and column among the frame's.
struct Place {
  int cell_x;
  int cell_y;
};

/// What the definition needs of a frame: v of every pixel, and who shares chroma.
class Frame {
 public:
  Frame(const ConstImageView& in, bool interlaced) : in_(in), t_(traits(in.desc.format)) {
    yuv_ = yuv_weights(in.desc.matrix, in.desc.range);
    if (t_.model != ColorModel::yuv) yuv_.luma_max = 255;
    columns = (in.desc.width + (1 << t_.chroma_shift_x) - 1) >> t_.chroma_shift_x;
    rows = (in.desc.height + (1 << t_.chroma_shift_y) - 1) >> t_.chroma_shift_y;
    row_of_.assign(static_cast<std::size_t>(in.desc.height), 0);
    for (int line = 0; line < rows; ++line) {
      if (t_.chroma_shift_y == 0) {
        row_of_[static_cast<std::size_t>(line)] = line;
        continue;
      }
      const LumaRows pair = luma_rows_of(line, in.desc.height, interlaced);
      row_of_[static_cast<std::size_t>(pair.first)] = line;
      row_of_[static_cast<std::size_t>(pair.second)] = line;
    }
  }

  [[nodiscard]] Place place(int x, int y) const {
    return {x >> t_.chroma_shift_x, row_of_[static_cast<std::size_t>(y)]};
  }
  [[nodiscard]] int max_value() const { return yuv_.luma_max; }
  [[nodiscard]] int offset() const { return yuv_.luma_offset; }

  /// Byte offset of a luma sample in row y of plane 0.
  [[nodiscard]] int luma_at(int x) const {
    if (in_.desc.format == PixelFormat::yuy2) return 2 * x;
    if (in_.desc.format == PixelFormat::uyvy) return 2 * x + 1;
    return x;
  }
  /// The sample of Cb (0) or Cr (1) of a cell.
  [[nodiscard]] std::array<int, 3> chroma_at(Place p, int which) const {
    switch (in_.desc.format) {
      case PixelFormat::nv12:
        return {1, p.cell_y, 2 * p.cell_x + which};
      case PixelFormat::yuy2:
        return {0, p.cell_y, 4 * p.cell_x + 1 + 2 * which};
      case PixelFormat::uyvy:
        return {0, p.cell_y, 4 * p.cell_x + 2 * which};
      default:
        return {1 + which, p.cell_y, p.cell_x};
    }
  }
  [[nodiscard]] int chroma(Place p, int which) const {
    const auto [plane, row, byte] = chroma_at(p, which);
    return in_.row(plane, row)[byte];
  }
  /// v, and 0 below black, where nothing is scaled; the histogram counts the clamped v alike.
  [[nodiscard]] int value(int x, int y) const {
    if (t_.model != ColorModel::yuv) {
      const std::uint8_t* p = in_.row(0, y) + t_.step[0] * x;
      return std::max({p[t_.offset[0]], p[t_.offset[1]], p[t_.offset[2]]});
    }
    const Place p = place(x, y);
    return yuv_value(yuv_, in_.row(0, y)[luma_at(x)],
                     value_above_luma(yuv_, chroma(p, 0), chroma(p, 1)));
  }

  int columns;
  int rows;

 private:
  ConstImageView in_;
  const FormatTraits& t_;
  YuvWeights yuv_{};
  std::vector<int> row_of_;
};

/// W of every tile, row after row.
std::vector<CurveTable> curves_of(const ClaheParams& params, const Frame& frame,
                                  const ImageDesc& desc) {
  const auto count = static_cast<std::size_t>(params.tiles_x * params.tiles_y);
  std::vector<ValueHistogram> counts(count, ValueHistogram{});
  for (int y = 0; y < desc.height; ++y) {
    for (int x = 0; x < desc.width; ++x) {
      const Place p = frame.place(x, y);
      const int tile = tile_of(params.tiles_y, frame.rows, p.cell_y) * params.tiles_x +
                       tile_of(params.tiles_x, frame.columns, p.cell_x);
      ++counts[static_cast<std::size_t>(tile)][static_cast<std::size_t>(frame.value(x, y))];
    }
  }
  return tile_curves(params.curve, counts, frame.max_value());
}

using GainAt = std::function<double(int v, Place place)>;
using Round = std::function<int(double)>;

/// Scales a frame by the gain of every sample.
void scale(const Frame& frame, const ConstImageView& in, const ImageView& out, const GainAt& gain,
           const Round& round) {
  const FormatTraits& t = traits(in.desc.format);
  copy_image(in, out);
  const auto store = [](std::uint8_t& to, int value) {
    to = static_cast<std::uint8_t>(std::clamp(value, 0, 255));
  };
  struct Sum {
    // By column of the cell, so that they are added in the definition's order.
    std::array<float, 2> column{};
    std::array<int, 2> samples{};
  };
  std::vector<Sum> sums(static_cast<std::size_t>(frame.columns) *
                        static_cast<std::size_t>(frame.rows));
  for (int y = 0; y < in.desc.height; ++y) {
    for (int x = 0; x < in.desc.width; ++x) {
      const Place p = frame.place(x, y);
      const int v = frame.value(x, y);
      if (t.model != ColorModel::yuv) {
        const std::size_t channels = t.model == ColorModel::gray ? 1 : 3;
        for (std::size_t c = 0; c < channels; ++c) {
          const int at = t.step[0] * x + t.offset[c];
          store(out.row(0, y)[at], round(in.row(0, y)[at] * gain(v, p)));
        }
        continue;
      }
      const int luma = in.row(0, y)[frame.luma_at(x)] - frame.offset();
      const double g = gain(luma < 0 ? 0 : v, p);
      if (luma >= 0) store(out.row(0, y)[frame.luma_at(x)], frame.offset() + round(luma * g));
      Sum& sum = sums[static_cast<std::size_t>(p.cell_y) * static_cast<std::size_t>(frame.columns) +
                      static_cast<std::size_t>(p.cell_x)];
      const auto column = static_cast<std::size_t>(x - (p.cell_x << t.chroma_shift_x));
      sum.column[column] += static_cast<float>(g);
      ++sum.samples[column];
    }
  }
  if (t.model != ColorModel::yuv) return;
  for (int cy = 0; cy < frame.rows; ++cy) {
    for (int cx = 0; cx < frame.columns; ++cx) {
      const Sum& sum = sums[static_cast<std::size_t>(cy) * static_cast<std::size_t>(frame.columns) +
                            static_cast<std::size_t>(cx)];
      const float all = sum.column[0] + sum.column[1];
      const double mean = all / static_cast<double>(sum.samples[0] + sum.samples[1]);
      for (int which = 0; which < 2; ++which) {
        const auto [plane, row, byte] = frame.chroma_at({cx, cy}, which);
        store(out.row(plane, row)[byte], 128 + round((in.row(plane, row)[byte] - 128) * mean));
      }
    }
  }
}

}  // namespace

void reference_clahe(const ClaheParams& params, const ConstImageView& in, const ImageView& out,
                     bool interlaced) {
  const Frame frame(in, interlaced);
  const std::vector<CurveTable> curves = curves_of(params, frame, in.desc);
  const auto level = [&](int tile_x, int tile_y, int v) -> long long {
    if (v == 0) return 64;
    const auto tile = static_cast<std::size_t>(tile_y * params.tiles_x + tile_x);
    return (static_cast<long long>(curves[tile][static_cast<std::size_t>(v)]) + 32768) / 65536;
  };
  const auto gain = [&](int v, Place p) {
    const Between x = between(params.tiles_x, frame.columns, p.cell_x);
    const Between y = between(params.tiles_y, frame.rows, p.cell_y);
    const long long below = 256LL * y.past / y.way;
    const long long right = 256LL * x.past / x.way;
    const auto column = [&](int tile_x) {
      return (level(tile_x, y.first, v) * (256 - below) + level(tile_x, y.second, v) * below +
              128) /
             256;
    };
    const long long mixed = column(x.first) * (256 - right) + column(x.second) * right;
    const float inverse = static_cast<float>(1.0 / (32768.0 * std::max(v, 1)));
    return static_cast<double>(static_cast<float>(2 * mixed + 1) * inverse);
  };
  scale(frame, in, out, gain, [](double x) { return static_cast<int>(std::nearbyint(x)); });
}

void exact_clahe(const ClaheParams& params, const ConstImageView& in, const ImageView& out) {
  const Frame frame(in, false);
  const std::vector<CurveTable> curves = curves_of(params, frame, in.desc);
  const auto gain = [&](int v, Place p) {
    if (v == 0) return 1.0;
    const Between x = between(params.tiles_x, frame.columns, p.cell_x);
    const Between y = between(params.tiles_y, frame.rows, p.cell_y);
    const auto at = [&](int tile_x, int tile_y) {
      return curves[static_cast<std::size_t>(tile_y * params.tiles_x + tile_x)]
                   [static_cast<std::size_t>(v)] /
             4194304.0;
    };
    const double right = static_cast<double>(x.past) / x.way;
    const double below = static_cast<double>(y.past) / y.way;
    const double above_mix = at(x.first, y.first) * (1 - right) + at(x.second, y.first) * right;
    const double below_mix = at(x.first, y.second) * (1 - right) + at(x.second, y.second) * right;
    return (above_mix * (1 - below) + below_mix * below) / v;
  };
  scale(frame, in, out, gain, [](double x) { return static_cast<int>(std::floor(x + 0.5)); });
}

}  // namespace equalux::test
