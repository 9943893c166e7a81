#include "pipelines/picture/convert_rgb.h"

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

/// Where the samples of a packed RGB pixel are; `step` in bytes.
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

/// Integer weights of R, G, B on Y', Cb', Cr'.
template <typename Int>
struct Weights {
  Int luma_offset, luma, red_cr, green_cb, green_cr, blue_cb;
};

/// Weights of 8-bit codes on 8-bit channels, times `scale`.
template <typename Int>
Weights<Int> weights_of(const ImageDesc& desc, double scale) {
  struct Primaries {
    double red, blue;
  };
  constexpr std::array<Primaries, 3> kPrimaries{
      {{0.299, 0.114}, {0.2126, 0.0722}, {0.2627, 0.0593}}};
  const auto [red, blue] = kPrimaries[static_cast<std::size_t>(desc.matrix)];
  const double green = 1 - red - blue;
  const bool limited = desc.range == ColorRange::limited;
  const double chroma = limited ? 255.0 / 224 : 1.0;
  const auto fixed = [&](double value) { return static_cast<Int>(std::llround(value * scale)); };
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
  const auto w = weights_of<int>(from.desc, 1 << kShift);
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

// ---- More than 8 bits: every pixel by way of 16 bits a channel.

constexpr std::int64_t kFull16 = 65535;
constexpr int kDeepShift = 24;

/// Red, green, blue, alpha.
using Pixel16 = std::array<std::int64_t, 4>;

std::int64_t sample_at(const std::uint8_t* row, std::size_t index, const FormatTraits& form) {
  if (form.depth == 8) return row[index];
  const int word = row[2 * index] | row[2 * index + 1] << 8;
  return (word >> form.shift) & ((1 << form.depth) - 1);
}

/// A full-range code as one of `most`, rounded to nearest.
std::int64_t rescaled(std::int64_t code, std::int64_t code_most, std::int64_t most) {
  return (2 * code * most + code_most) / (2 * code_most);
}

/// Channels of a gray or RGB pixel as 16 bits.
Pixel16 packed_pixel(const ConstImageView& view, int x, int y) {
  const FormatTraits& form = traits(view.desc.format);
  const std::int64_t most = (1 << form.depth) - 1;
  const auto channel = [&](std::size_t index) {
    return rescaled(sample_at(view.row(0, y), index, form), most, kFull16);
  };
  const auto column = static_cast<std::size_t>(x);
  if (form.model == ColorModel::gray) {
    const std::int64_t gray = channel(column);
    return {gray, gray, gray, kFull16};
  }
  const Layout at = layout_of(view.desc.format);
  const std::size_t first =
      column * (at.step / static_cast<std::size_t>(sample_bytes(view.desc.format)));
  return {channel(first + at.red), channel(first + at.green), channel(first + at.blue),
          at.alpha < 0 ? kFull16 : channel(first + static_cast<std::size_t>(at.alpha))};
}

/// YCbCr of more than 8 bits to channels of 16.
class DeepYuv {
 public:
  DeepYuv(const ConstImageView& view, FieldOrder field_order)
      : view_(view), form_(traits(view.desc.format)), field_order_(field_order) {
    const bool limited = view.desc.range == ColorRange::limited;
    const int eight = 1 << (form_.depth - 8);
    const double white = limited ? 255.0 * eight : (1 << form_.depth) - 1;
    weights_ = weights_of<std::int64_t>(view.desc, kFull16 / white * (1 << kDeepShift));
    weights_.luma_offset *= eight;
  }

  [[nodiscard]] Pixel16 at(int x, int y) const {
    const int rows = plane_rows(view_.desc, 1);
    const int cy = std::min(chroma_row(y, form_.chroma_shift_y, field_order_), rows - 1);
    const auto cx = static_cast<std::size_t>(x >> form_.chroma_shift_x);
    const bool pairs = form_.planes == 2;
    const std::int64_t middle = std::int64_t{1} << (form_.depth - 1);
    const std::int64_t luma =
        (sample_at(view_.row(0, y), static_cast<std::size_t>(x), form_) - weights_.luma_offset) *
        weights_.luma;
    const std::int64_t cb = sample_at(view_.row(1, cy), pairs ? 2 * cx : cx, form_) - middle;
    const std::int64_t cr =
        sample_at(view_.row(pairs ? 1 : 2, cy), pairs ? 2 * cx + 1 : cx, form_) - middle;
    return {to_16(luma + weights_.red_cr * cr),
            to_16(luma - weights_.green_cb * cb - weights_.green_cr * cr),
            to_16(luma + weights_.blue_cb * cb), kFull16};
  }

 private:
  static std::int64_t to_16(std::int64_t fixed) {
    return std::clamp((fixed + (1 << (kDeepShift - 1))) >> kDeepShift, std::int64_t{0}, kFull16);
  }

  const ConstImageView& view_;
  const FormatTraits& form_;
  FieldOrder field_order_;
  Weights<std::int64_t> weights_{};
};

void put_pixel(const ImageView& to, const Layout& layout, int x, int y, const Pixel16& pixel) {
  const bool deep = has_deep_samples(to.desc.format);
  std::uint8_t* first = to.row(0, y) + static_cast<std::size_t>(x) * layout.step;
  const auto put = [&](std::size_t index, std::int64_t value) {
    if (!deep) {
      first[index] = static_cast<std::uint8_t>(rescaled(value, kFull16, 255));
      return;
    }
    first[2 * index] = static_cast<std::uint8_t>(value & 255);
    first[2 * index + 1] = static_cast<std::uint8_t>(value >> 8);
  };
  put(layout.red, pixel[0]);
  put(layout.green, pixel[1]);
  put(layout.blue, pixel[2]);
  if (layout.alpha >= 0) put(static_cast<std::size_t>(layout.alpha), pixel[3]);
}

void convert_deep(const ConstImageView& from, const ImageView& to, FieldOrder field_order) {
  if (traits(from.desc.format).model == ColorModel::yuv && has_byte_samples(from.desc.format)) {
    throw Error(ExitCode::usage, "frames of " + std::string(to_string(from.desc.format)) +
                                     " cannot be converted to more than 8 bits");
  }
  const Layout layout = layout_of(to.desc.format);
  const bool yuv = traits(from.desc.format).model == ColorModel::yuv;
  for (int y = 0; y < from.desc.height; ++y) {
    if (yuv) {
      const DeepYuv source(from, field_order);
      for (int x = 0; x < from.desc.width; ++x)
        put_pixel(to, layout, x, y, source.at(x, y));
    } else {
      for (int x = 0; x < from.desc.width; ++x)
        put_pixel(to, layout, x, y, packed_pixel(from, x, y));
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
  if (has_deep_samples(from.desc.format) || has_deep_samples(to.desc.format)) {
    convert_deep(from, to, field_order);
    return;
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

PixelFormat bgr_of_depth(PixelFormat format) {
  return has_deep_samples(format) ? PixelFormat::bgr48_le : PixelFormat::bgr;
}

}  // namespace equalux
