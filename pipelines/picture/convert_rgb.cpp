#include "pipelines/picture/convert_rgb.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>

#include <equalux/error.h>

#include "pipelines/picture/luma_weights.h"
#include "src/format/layout.h"

namespace equalux {
namespace {

constexpr int kShift = 16;
constexpr std::uint8_t kOpaque = 255;

/// Integer weights of Y', Cb', Cr' for R, G, B.
template <typename Int>
struct Weights {
  Int luma_offset, luma, red_cr, green_cb, green_cr, blue_cb;
};

/// Weights of 8-bit codes for 8-bit channels, times `scale`.
template <typename Int>
Weights<Int> weights_of(const ImageDesc& desc, double scale) {
  const auto [red, green, blue] = luma_weights(desc.matrix);
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

void convert_yuv(const ConstImageView& from, const ImageView& to, bool interlaced) {
  const FormatTraits& form = traits(from.desc.format);
  const Samples<const std::uint8_t> luma_samples = samples_of(from, 0);
  const Samples<const std::uint8_t> cb_samples = samples_of(from, 1);
  const Samples<const std::uint8_t> cr_samples = samples_of(from, 2);
  const RgbLayout out = rgb_layout(to.desc.format);
  const auto w = weights_of<int>(from.desc, 1 << kShift);
  for (int y = 0; y < from.desc.height; ++y) {
    const int row = chroma_row_of(y, form.chroma_shift_y, cb_samples.rows, interlaced);
    std::uint8_t* pixel = to.row(0, y);
    for (int x = 0; x < from.desc.width; ++x, pixel += out.step) {
      const int column = x >> form.chroma_shift_x;
      const int luma = (*luma_samples.at(x, y) - w.luma_offset) * w.luma;
      const int cb = *cb_samples.at(column, row) - 128;
      const int cr = *cr_samples.at(column, row) - 128;
      pixel[out.r] = to_byte(luma + w.red_cr * cr);
      pixel[out.g] = to_byte(luma - w.green_cb * cb - w.green_cr * cr);
      pixel[out.b] = to_byte(luma + w.blue_cb * cb);
      if (out.alpha >= 0) pixel[out.alpha] = kOpaque;
    }
  }
}

void convert_packed(const ConstImageView& from, const ImageView& to) {
  const RgbLayout in = rgb_layout(from.desc.format);
  const RgbLayout out = rgb_layout(to.desc.format);
  for (int y = 0; y < from.desc.height; ++y) {
    const std::uint8_t* pixel = from.row(0, y);
    std::uint8_t* result = to.row(0, y);
    for (int x = 0; x < from.desc.width; ++x, pixel += in.step, result += out.step) {
      result[out.r] = pixel[in.r];
      result[out.g] = pixel[in.g];
      result[out.b] = pixel[in.b];
      if (out.alpha >= 0) result[out.alpha] = in.alpha >= 0 ? pixel[in.alpha] : kOpaque;
    }
  }
}

// ---- More than 8 bits: every pixel by way of 16 bits a channel.

constexpr std::int64_t kFull16 = 65535;
constexpr int kDeepShift = 24;

/// Red, green, blue, alpha.
using Pixel16 = std::array<std::int64_t, 4>;

std::int64_t code_at(const std::uint8_t* sample, const FormatTraits& form) {
  if (form.depth == 8) return *sample;
  const int word = sample[0] | sample[1] << 8;
  return (word >> form.shift) & ((1 << form.depth) - 1);
}

/// Rescales a full-range code to a maximum of `most`, rounded to nearest.
std::int64_t rescaled(std::int64_t code, std::int64_t code_most, std::int64_t most) {
  return (2 * code * most + code_most) / (2 * code_most);
}

/// Returns the channels of a gray or RGB pixel as 16 bits.
Pixel16 packed_pixel(const ConstImageView& view, int x, int y) {
  const FormatTraits& form = traits(view.desc.format);
  const RgbLayout at = rgb_layout(view.desc.format);
  const std::int64_t most = (1 << form.depth) - 1;
  const std::uint8_t* pixel = view.row(0, y) + std::ptrdiff_t{x} * at.step;
  const auto channel = [&](int offset) {
    return rescaled(code_at(pixel + offset, form), most, kFull16);
  };
  return {channel(at.r), channel(at.g), channel(at.b), at.alpha < 0 ? kFull16 : channel(at.alpha)};
}

/// Converts YCbCr of more than 8 bits to channels of 16.
class DeepYuv {
 public:
  DeepYuv(const ConstImageView& view, bool interlaced)
      : form_(traits(view.desc.format)),
        luma_(samples_of(view, 0)),
        cb_(samples_of(view, 1)),
        cr_(samples_of(view, 2)),
        interlaced_(interlaced) {
    const bool limited = view.desc.range == ColorRange::limited;
    const int eight = 1 << (form_.depth - 8);
    const double white = limited ? 255.0 * eight : (1 << form_.depth) - 1;
    weights_ = weights_of<std::int64_t>(view.desc, kFull16 / white * (1 << kDeepShift));
    weights_.luma_offset *= eight;
  }

  [[nodiscard]] Pixel16 at(int x, int y) const {
    const int cy = chroma_row_of(y, form_.chroma_shift_y, cb_.rows, interlaced_);
    const int cx = x >> form_.chroma_shift_x;
    const std::int64_t middle = std::int64_t{1} << (form_.depth - 1);
    const std::int64_t luma =
        (code_at(luma_.at(x, y), form_) - weights_.luma_offset) * weights_.luma;
    const std::int64_t cb = code_at(cb_.at(cx, cy), form_) - middle;
    const std::int64_t cr = code_at(cr_.at(cx, cy), form_) - middle;
    return {to_16(luma + weights_.red_cr * cr),
            to_16(luma - weights_.green_cb * cb - weights_.green_cr * cr),
            to_16(luma + weights_.blue_cb * cb), kFull16};
  }

 private:
  static std::int64_t to_16(std::int64_t fixed) {
    return std::clamp((fixed + (1 << (kDeepShift - 1))) >> kDeepShift, std::int64_t{0}, kFull16);
  }

  const FormatTraits& form_;
  Samples<const std::uint8_t> luma_, cb_, cr_;
  bool interlaced_;
  Weights<std::int64_t> weights_{};
};

void put_pixel(const ImageView& to, const RgbLayout& layout, int x, int y, const Pixel16& pixel) {
  const bool deep = has_deep_samples(to.desc.format);
  std::uint8_t* first = to.row(0, y) + std::ptrdiff_t{x} * layout.step;
  const auto put = [&](int offset, std::int64_t value) {
    if (!deep) {
      first[offset] = static_cast<std::uint8_t>(rescaled(value, kFull16, 255));
      return;
    }
    first[offset] = static_cast<std::uint8_t>(value & 255);
    first[offset + 1] = static_cast<std::uint8_t>(value >> 8);
  };
  put(layout.r, pixel[0]);
  put(layout.g, pixel[1]);
  put(layout.b, pixel[2]);
  if (layout.alpha >= 0) put(layout.alpha, pixel[3]);
}

void convert_deep(const ConstImageView& from, const ImageView& to, bool interlaced) {
  if (traits(from.desc.format).model == ColorModel::yuv && has_byte_samples(from.desc.format)) {
    throw Error(ExitCode::usage, "frames of " + std::string(to_string(from.desc.format)) +
                                     " cannot be converted to more than 8 bits");
  }
  const RgbLayout layout = rgb_layout(to.desc.format);
  const bool yuv = traits(from.desc.format).model == ColorModel::yuv;
  for (int y = 0; y < from.desc.height; ++y) {
    if (yuv) {
      const DeepYuv source(from, interlaced);
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
  const bool interlaced = field_order != FieldOrder::progressive;
  if (has_deep_samples(from.desc.format) || has_deep_samples(to.desc.format)) {
    convert_deep(from, to, interlaced);
  } else if (traits(from.desc.format).model == ColorModel::yuv) {
    convert_yuv(from, to, interlaced);
  } else {
    convert_packed(from, to);
  }
}

PixelFormat bgr_of_depth(PixelFormat format) {
  return has_deep_samples(format) ? PixelFormat::bgr48_le : PixelFormat::bgr;
}

}  // namespace equalux
