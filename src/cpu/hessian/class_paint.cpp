#include "src/cpu/hessian/class_paint.h"

#include <algorithm>
#include <cstring>

#include "src/format/layout.h"

namespace equalux {
namespace {

void copy_row(const ConstImageView& in, const ImageView& out, int plane, int y) {
  if (in.row(plane, y) != out.row(plane, y)) {
    std::memcpy(out.row(plane, y), in.row(plane, y), row_bytes(in.desc, plane));
  }
}

/// Calls tint(x, class) for every pixel of a row with a class.
template <typename Tint>
void for_classes(const std::uint8_t* classes, int width, const Tint& tint) {
  for (int x = 0; x < width; ++x) {
    if (classes[x] != 0) tint(x, classes[x]);
  }
}

void tint_packed_row(const RgbLayout& at, const std::uint8_t* classes, int width,
                     const ClassColours& colours, std::uint8_t* row) {
  for_classes(classes, width, [&](int x, std::uint8_t k) {
    std::uint8_t* pixel = row + std::ptrdiff_t{x} * at.step;
    pixel[at.r] = tinted(pixel[at.r], colours[k].r);
    pixel[at.g] = tinted(pixel[at.g], colours[k].g);
    pixel[at.b] = tinted(pixel[at.b], colours[k].b);
  });
}

/// Tints a chroma row of a planar frame.
class ChromaTint {
 public:
  ChromaTint(const ImageView& out, const ClassPlane& classes, const ClassColours& colours,
             bool interlaced)
      : out_(out), classes_(classes), colours_(colours), interlaced_(interlaced) {}

  void row(int row) const {
    const Sampling sampling = sampling_of(out_.desc.format);
    const LumaRows rows = luma_rows_of(sampling, row, out_.desc.height, interlaced_);
    const int columns = cell_columns(sampling);
    const Samples<std::uint8_t> cb = samples_of(out_, 1);
    const Samples<std::uint8_t> cr = samples_of(out_, 2);
    for (int i = 0; i < cb.columns; ++i) {
      const Covered c = covered(rows, i * columns, std::min((i + 1) * columns, out_.desc.width));
      if (c.count == 0) continue;
      *cb.at(i, row) = tinted_chroma(*cb.at(i, row), c.cb, c.count, c.pixels);
      *cr.at(i, row) = tinted_chroma(*cr.at(i, row), c.cr, c.count, c.pixels);
    }
  }

 private:
  struct Covered {
    int pixels = 0;
    int count = 0;
    int cb = 0;
    int cr = 0;
  };

  [[nodiscard]] Covered covered(const LumaRows& rows, int begin, int end) const {
    Covered c;
    const auto add_row = [&](int y) {
      for (int x = begin; x < end; ++x) {
        const std::uint8_t k = classes_.row(y)[x];
        ++c.pixels;
        if (k == 0) continue;
        ++c.count;
        c.cb += colours_[k].cb;
        c.cr += colours_[k].cr;
      }
    };
    add_row(rows.first);
    if (rows.second != rows.first) add_row(rows.second);
    return c;
  }

  const ImageView& out_;
  const ClassPlane& classes_;
  const ClassColours& colours_;
  bool interlaced_;
};

}  // namespace

void paint_classes(const ConstImageView& in, const ImageView& out, const ClassPlane& classes,
                   const ClassColours& colours, bool interlaced, RowExecutor& executor) {
  const ColorModel model = traits(in.desc.format).model;
  executor.for_rows(in.desc.height, [&](int begin, int end, int) {
    for (int y = begin; y < end; ++y) {
      copy_row(in, out, 0, y);
      std::uint8_t* row = out.row(0, y);
      if (model == ColorModel::rgb) {
        tint_packed_row(rgb_layout(in.desc.format), classes.row(y), in.desc.width, colours, row);
        continue;
      }
      for_classes(classes.row(y), in.desc.width, [&](int x, std::uint8_t k) {
        row[x] = tinted(row[x], model == ColorModel::gray ? colours[k].gray : colours[k].y);
      });
    }
  });
  if (model != ColorModel::yuv) return;
  const ChromaTint chroma(out, classes, colours, interlaced);
  executor.for_rows(plane_rows(in.desc, 1), [&](int begin, int end, int) {
    for (int y = begin; y < end; ++y) {
      for (int p = 1; p < traits(in.desc.format).planes; ++p)
        copy_row(in, out, p, y);
      chroma.row(y);
    }
  });
}

void paint_heat(const ClassPlane& levels, const ImageView& out, RowExecutor& executor) {
  executor.for_rows(out.desc.height, [&](int begin, int end, int) {
    for (int y = begin; y < end; ++y) {
      std::uint8_t* pixel = out.row(0, y);
      const std::uint8_t* level = levels.row(y);
      for (int x = 0; x < out.desc.width; ++x, pixel += 3) {
        const int heat = 3 * level[x];
        pixel[0] = static_cast<std::uint8_t>(std::clamp(heat - 510, 0, 255));
        pixel[1] = static_cast<std::uint8_t>(std::clamp(heat - 255, 0, 255));
        pixel[2] = static_cast<std::uint8_t>(std::min(heat, 255));
      }
    }
  });
}

}  // namespace equalux
