#include "pipelines/picture/convert_picture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include <equalux/error.h>

#include "pipelines/picture/convert_rgb.h"
#include "pipelines/picture/luma_weights.h"
#include "src/format/layout.h"

namespace equalux {
namespace {

constexpr int kWeightShift = 16;
/// Largest number of rows for which programs assume the matrix of BT.601.
constexpr int kMostRowsOfBt601 = 576;

bool is_yuv(PixelFormat format) {
  return traits(format).model == ColorModel::yuv;
}

bool has_same_chroma(PixelFormat a, PixelFormat b) {
  return traits(a).chroma_shift_x == traits(b).chroma_shift_x &&
         traits(a).chroma_shift_y == traits(b).chroma_shift_y;
}

/// Columns and rows of luma that a chroma sample covers.
struct Cover {
  int x, y;  // the first one
  int columns, rows;
  int step;  // between its rows: fields alternate

  [[nodiscard]] int shift() const { return (columns == 2 ? 1 : 0) + (rows == 2 ? 1 : 0); }
};

Cover cover_of(const ImageDesc& desc, int column, int row, bool interlaced) {
  const Sampling sampling = sampling_of(desc.format);
  const LumaRows rows = luma_rows_of(sampling, row, desc.height, interlaced);
  const int x = column * cell_columns(sampling);
  return {x, rows.first, std::min(cell_columns(sampling), desc.width - x),
          rows.second == rows.first ? 1 : 2, rows.second - rows.first};
}

// ---- YCbCr to YCbCr.

int byte_code(const std::uint8_t* sample, const FormatTraits& form) {
  if (form.depth == 8) return *sample;
  const int code = ((sample[0] | sample[1] << 8) >> form.shift) & ((1 << form.depth) - 1);
  const int cut = form.depth - 8;
  return std::min((code + (1 << (cut - 1))) >> cut, 255);
}

void copy_codes(const Samples<const std::uint8_t>& from, const FormatTraits& form,
                const Samples<std::uint8_t>& to) {
  for (int y = 0; y < to.rows; ++y) {
    const std::uint8_t* in = from.row(y);
    std::uint8_t* out = to.row(y);
    for (int x = 0; x < to.columns; ++x, in += from.step, out += to.step)
      *out = static_cast<std::uint8_t>(byte_code(in, form));
  }
}

/// Resamples one component of chroma to another subsampling.
void resample_chroma(const ConstImageView& from, const ImageView& to, int component,
                     bool interlaced) {
  const FormatTraits& form = traits(from.desc.format);
  const Samples<const std::uint8_t> in = samples_of(from, component);
  const Samples<std::uint8_t> out = samples_of(to, component);
  for (int row = 0; row < out.rows; ++row) {
    for (int column = 0; column < out.columns; ++column) {
      const Cover cover = cover_of(to.desc, column, row, interlaced);
      int sum = 0;
      for (int y = 0; y < cover.rows; ++y) {
        const int above =
            chroma_row_of(cover.y + y * cover.step, form.chroma_shift_y, in.rows, interlaced);
        for (int x = 0; x < cover.columns; ++x)
          sum += byte_code(in.at((cover.x + x) >> form.chroma_shift_x, above), form);
      }
      const int shift = cover.shift();
      *out.at(column, row) = static_cast<std::uint8_t>((sum + ((1 << shift) >> 1)) >> shift);
    }
  }
}

void convert_between_yuv(const ConstImageView& from, const ImageView& to, bool interlaced) {
  const FormatTraits& form = traits(from.desc.format);
  copy_codes(samples_of(from, 0), form, samples_of(to, 0));
  for (const int component : {1, 2}) {
    if (has_same_chroma(from.desc.format, to.desc.format)) {
      copy_codes(samples_of(from, component), form, samples_of(to, component));
    } else {
      resample_chroma(from, to, component, interlaced);
    }
  }
}

// ---- RGB and gray of 8 bits to YCbCr.

struct Mix {
  int offset;
  int red, green, blue;
};

struct Mixes {
  Mix luma, cb, cr;
};

/// Weights of R', G', B' for Y', Cb', Cr', the inverse of convert_to_rgb().
Mixes mixes_of(const ImageDesc& desc) {
  const LumaWeights k = luma_weights(desc.matrix);
  const bool limited = desc.range == ColorRange::limited;
  const auto fixed = [](double value) {
    return static_cast<int>(std::lround(value * (1 << kWeightShift)));
  };
  const double levels = limited ? 219.0 / 255 : 1;
  const double chroma = limited ? 224.0 / 255 : 1;
  const auto difference = [&](double own, double first, double second) {
    const int a = fixed(-chroma * first / (2 * (1 - own)));
    const int b = fixed(-chroma * second / (2 * (1 - own)));
    return std::array<int, 3>{-a - b, a, b};  // grays have none
  };
  const auto [cb_blue, cb_red, cb_green] = difference(k.blue, k.red, k.green);
  const auto [cr_red, cr_green, cr_blue] = difference(k.red, k.green, k.blue);
  const int red = fixed(levels * k.red);
  const int blue = fixed(levels * k.blue);
  return {{limited ? 16 : 0, red, fixed(levels) - red - blue, blue},
          {128, cb_red, cb_green, cb_blue},
          {128, cr_red, cr_green, cr_blue}};
}

struct ColourSum {
  int red = 0;
  int green = 0;
  int blue = 0;
};

/// Computes a component from sums of 2^shift pixels.
std::uint8_t mixed(const Mix& mix, const ColourSum& sum, int shift) {
  const int bits = kWeightShift + shift;
  const int level = mix.red * sum.red + mix.green * sum.green + mix.blue * sum.blue;
  return static_cast<std::uint8_t>(
      std::clamp(mix.offset + ((level + (1 << (bits - 1))) >> bits), 0, 255));
}

ColourSum colour_sum(const ConstImageView& from, const RgbLayout& at, const Cover& cover) {
  ColourSum sum;
  for (int y = 0; y < cover.rows; ++y) {
    const std::uint8_t* pixel =
        from.row(0, cover.y + y * cover.step) + std::ptrdiff_t{cover.x} * at.step;
    for (int x = 0; x < cover.columns; ++x, pixel += at.step) {
      sum.red += pixel[at.r];
      sum.green += pixel[at.g];
      sum.blue += pixel[at.b];
    }
  }
  return sum;
}

void convert_rgb_to_yuv(const ConstImageView& from, const ImageView& to, bool interlaced) {
  const RgbLayout at = rgb_layout(from.desc.format);
  const Mixes mixes = mixes_of(to.desc);
  const Samples<std::uint8_t> luma = samples_of(to, 0);
  for (int y = 0; y < luma.rows; ++y) {
    const std::uint8_t* pixel = from.row(0, y);
    std::uint8_t* out = luma.row(y);
    for (int x = 0; x < luma.columns; ++x, pixel += at.step, out += luma.step)
      *out = mixed(mixes.luma, {pixel[at.r], pixel[at.g], pixel[at.b]}, 0);
  }
  const Samples<std::uint8_t> cb = samples_of(to, 1);
  const Samples<std::uint8_t> cr = samples_of(to, 2);
  for (int row = 0; row < cb.rows; ++row) {
    for (int column = 0; column < cb.columns; ++column) {
      const Cover cover = cover_of(to.desc, column, row, interlaced);
      const ColourSum sum = colour_sum(from, at, cover);
      *cb.at(column, row) = mixed(mixes.cb, sum, cover.shift());
      *cr.at(column, row) = mixed(mixes.cr, sum, cover.shift());
    }
  }
}

}  // namespace

bool converts_to(PixelFormat from, PixelFormat to) {
  const bool yuv_or_rgb = is_yuv(to) || traits(to).model == ColorModel::rgb;
  return from == to || (converts_to_rgb(from) && yuv_or_rgb && has_byte_samples(to));
}

ImageDesc converted_desc(const ImageDesc& from, PixelFormat format) {
  ImageDesc desc = from;
  desc.format = format;
  if (is_yuv(format) && !is_yuv(from.format)) {
    desc.range = ColorRange::limited;
    desc.matrix = from.height <= kMostRowsOfBt601 ? ColorMatrix::bt601 : ColorMatrix::bt709;
  }
  return desc;
}

void convert_picture(const ConstImageView& from, const ImageView& to, FieldOrder field_order) {
  const PixelFormat format = to.desc.format;
  if (!converts_to(from.desc.format, format) || converted_desc(from.desc, format) != to.desc) {
    throw Error(ExitCode::usage, "frames of " + std::string(to_string(from.desc.format)) +
                                     " cannot be converted to " + std::string(to_string(format)) +
                                     "; the target must be YCbCr or packed RGB of 8 bits and of "
                                     "the same size");
  }
  const bool interlaced = field_order != FieldOrder::progressive;
  if (from.desc.format == format) {
    copy_image(from, to);
  } else if (!is_yuv(format)) {
    convert_to_rgb(from, to, field_order);
  } else if (is_yuv(from.desc.format)) {
    convert_between_yuv(from, to, interlaced);
  } else if (has_byte_samples(from.desc.format)) {
    convert_rgb_to_yuv(from, to, interlaced);
  } else {
    Image bytes(converted_desc(from.desc, PixelFormat::rgb));
    convert_to_rgb(from, bytes.view(), field_order);
    convert_rgb_to_yuv(bytes.view(), to, interlaced);
  }
}

}  // namespace equalux
