#include "convert_rgb.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>

#include <equalux/error.h>

namespace equalux {
namespace {

constexpr int kShift = 16;
constexpr std::uint8_t kOpaque = 255;

/// Where the bytes of a packed RGB pixel are.
struct Layout {
  std::size_t step, red, green, blue;
  int alpha;  // -1 = none
};

bool red_first(PixelFormat format) {
  return to_string(format).find('r') < to_string(format).find('b');
}

Layout layout_of(PixelFormat format) {
  const FormatTraits& form = traits(format);
  const auto first = static_cast<std::size_t>(form.color_offset);
  const std::size_t red = first + (red_first(format) ? 0 : 2);
  const std::size_t blue = first + (red_first(format) ? 2 : 0);
  return {static_cast<std::size_t>(form.step[0]), red, first + 1, blue, form.alpha_offset};
}

/// Integer weights of R, G, B on Y', Cb', Cr', scaled by 2^16.
struct Weights {
  int luma_offset, luma, red_cr, green_cb, green_cr, blue_cb;
};

Weights weights_of(const ImageDesc& desc) {
  struct Primaries {
    double red, blue;
  };
  constexpr std::array<Primaries, 3> kPrimaries{
      {{0.299, 0.114}, {0.2126, 0.0722}, {0.2627, 0.0593}}};
  const auto [red, blue] = kPrimaries[static_cast<std::size_t>(desc.matrix)];
  const double green = 1 - red - blue;
  const bool limited = desc.range == ColorRange::limited;
  const double chroma = limited ? 255.0 / 224 : 1.0;
  const auto fixed = [](double value) {
    return static_cast<int>(std::lround(value * (1 << kShift)));
  };
  return {limited ? 16 : 0,
          fixed(limited ? 255.0 / 219 : 1.0),
          fixed(chroma * 2 * (1 - red)),
          fixed(chroma * 2 * blue * (1 - blue) / green),
          fixed(chroma * 2 * red * (1 - red) / green),
          fixed(chroma * 2 * (1 - blue))};
}

std::uint8_t to_byte(int fixed) {
  return static_cast<std::uint8_t>(std::clamp((fixed + (1 << (kShift - 1))) >> kShift, 0, 255));
}

/// One row's samples, whatever the format: a pointer and a distance for each of Y, Cb, Cr.
struct YuvRow {
  std::array<const std::uint8_t*, 3> at;
  std::array<std::size_t, 3> step;
  int chroma_shift;
};

int chroma_row(int y, int shift, FieldOrder field_order) {
  if (shift == 0) return y;
  if (field_order == FieldOrder::progressive) return y >> 1;
  return ((y >> 2) << 1) | (y & 1);  // Rows of one field are two apart, in luma and in chroma.
}

YuvRow yuv_row(const ConstImageView& view, int y, FieldOrder field_order) {
  const FormatTraits& form = traits(view.desc.format);
  const int rows = form.planes > 1 ? plane_rows(view.desc, 1) : 0;
  const int c = std::min(chroma_row(y, form.chroma_shift_y, field_order), std::max(0, rows - 1));
  switch (view.desc.format) {
    case PixelFormat::nv12:
      return {{view.row(0, y), view.row(1, c), view.row(1, c) + 1}, {1, 2, 2}, 1};
    case PixelFormat::yuy2:
      return {{view.row(0, y), view.row(0, y) + 1, view.row(0, y) + 3}, {2, 4, 4}, 1};
    case PixelFormat::uyvy:
      return {{view.row(0, y) + 1, view.row(0, y), view.row(0, y) + 2}, {2, 4, 4}, 1};
    default:
      return {{view.row(0, y), view.row(1, c), view.row(2, c)}, {1, 1, 1}, form.chroma_shift_x};
  }
}

void convert_yuv(const ConstImageView& from, const ImageView& to, FieldOrder field_order) {
  const Layout out = layout_of(to.desc.format);
  const Weights w = weights_of(from.desc);
  for (int y = 0; y < from.desc.height; ++y) {
    const YuvRow row = yuv_row(from, y, field_order);
    std::uint8_t* pixel = to.row(0, y);
    for (std::size_t x = 0; x < static_cast<std::size_t>(from.desc.width); ++x, pixel += out.step) {
      const std::size_t c = x >> row.chroma_shift;
      const int luma = (row.at[0][x * row.step[0]] - w.luma_offset) * w.luma;
      const int cb = row.at[1][c * row.step[1]] - 128;
      const int cr = row.at[2][c * row.step[2]] - 128;
      pixel[out.red] = to_byte(luma + w.red_cr * cr);
      pixel[out.green] = to_byte(luma - w.green_cb * cb - w.green_cr * cr);
      pixel[out.blue] = to_byte(luma + w.blue_cb * cb);
      if (out.alpha >= 0) pixel[out.alpha] = kOpaque;
    }
  }
}

void convert_packed(const ConstImageView& from, const ImageView& to, const Layout& in) {
  const Layout out = layout_of(to.desc.format);
  for (int y = 0; y < from.desc.height; ++y) {
    const std::uint8_t* pixel = from.row(0, y);
    std::uint8_t* result = to.row(0, y);
    for (int x = 0; x < from.desc.width; ++x, pixel += in.step, result += out.step) {
      result[out.red] = pixel[in.red];
      result[out.green] = pixel[in.green];
      result[out.blue] = pixel[in.blue];
      if (out.alpha >= 0) result[out.alpha] = in.alpha >= 0 ? pixel[in.alpha] : kOpaque;
    }
  }
}

}  // namespace

bool converts_to_rgb(PixelFormat format) {
  return traits(format).model != ColorModel::real;
}

void convert_to_rgb(const ConstImageView& from, const ImageView& to, FieldOrder field_order) {
  if (from.desc.width != to.desc.width || from.desc.height != to.desc.height ||
      !converts_to_rgb(from.desc.format) || traits(to.desc.format).model != ColorModel::rgb) {
    throw Error(ExitCode::usage, "frames of " + std::string(to_string(from.desc.format)) +
                                     " cannot be converted to " +
                                     std::string(to_string(to.desc.format)) +
                                     "; the target must be a packed RGB form of the same size");
  }
  switch (traits(from.desc.format).model) {
    case ColorModel::yuv:
      convert_yuv(from, to, field_order);
      break;
    case ColorModel::gray:
      convert_packed(from, to, Layout{1, 0, 0, 0, -1});
      break;
    default:
      convert_packed(from, to, layout_of(from.desc.format));
      break;
  }
}

}  // namespace equalux
