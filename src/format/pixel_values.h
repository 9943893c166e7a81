#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <equalux/image.h>

#include "src/format/pixel_math.h"

/// The value channel of single pixels of any 8-bit format, for those who look at a few of them.
namespace equalux {

/// The row of chroma that covers luma row `y`; undoes luma_rows_of().
EQUALUX_HD int chroma_row_of(int y, int shift_y, int chroma_rows, bool interlaced) {
  if (shift_y == 0) return y;
  const int row = interlaced ? 2 * (y / 4) + (y & 1) : y / 2;
  return row < chroma_rows ? row : chroma_rows - 1;
}

/// Where the samples of a frame's pixels lie, in host or device memory.
struct PixelValues {
  ColorModel model = ColorModel::gray;
  const std::uint8_t* first = nullptr;  ///< luma, or the first colour byte, of the first pixel
  const std::uint8_t* cb = nullptr;
  const std::uint8_t* cr = nullptr;
  std::ptrdiff_t stride = 0;
  std::ptrdiff_t cb_stride = 0;
  std::ptrdiff_t cr_stride = 0;
  int step = 1;  ///< bytes from pixel to pixel
  int chroma_step = 1;
  int shift_x = 0;
  int shift_y = 0;
  int chroma_rows = 0;
  bool interlaced = false;
  YuvWeights weights{};

  [[nodiscard]] EQUALUX_HD std::int32_t operator()(int x, int y) const {
    const std::uint8_t* at = first + y * stride + static_cast<std::ptrdiff_t>(x) * step;
    if (model == ColorModel::gray) return at[0];
    if (model == ColorModel::rgb) {
      const std::uint8_t most = at[0] > at[1] ? at[0] : at[1];
      return most > at[2] ? most : at[2];
    }
    const std::ptrdiff_t row = chroma_row_of(y, shift_y, chroma_rows, interlaced);
    const std::ptrdiff_t column = static_cast<std::ptrdiff_t>(x >> shift_x) * chroma_step;
    const std::int32_t above =
        value_above_luma(weights, cb[row * cb_stride + column], cr[row * cr_stride + column]);
    return yuv_value(weights, at[0], above);
  }

  /// Calls use(v) for the pixels begin .. end - 1 of a row in host memory.
  template <typename Use>
  void visit_row(int y, int begin, int end, const Use& use) const {
    const std::uint8_t* at = first + y * stride + static_cast<std::ptrdiff_t>(begin) * step;
    if (model == ColorModel::gray) {
      for (int x = begin; x < end; ++x, ++at)
        use(std::int32_t{*at});
      return;
    }
    if (model == ColorModel::rgb) {
      for (int x = begin; x < end; ++x, at += step)
        use(std::int32_t{std::max({at[0], at[1], at[2]})});
      return;
    }
    const std::ptrdiff_t row = chroma_row_of(y, shift_y, chroma_rows, interlaced);
    for (int x = begin; x < end;) {
      const std::ptrdiff_t column = static_cast<std::ptrdiff_t>(x >> shift_x) * chroma_step;
      const std::int32_t above =
          value_above_luma(weights, cb[row * cb_stride + column], cr[row * cr_stride + column]);
      const int next = std::min(((x >> shift_x) + 1) << shift_x, end);  // of another chroma sample
      for (; x < next; ++x, at += step)
        use(yuv_value(weights, *at, above));
    }
  }
};

/// The pixels of a frame of any 8-bit format; `weights` are its own, or anything where it has none.
[[nodiscard]] inline PixelValues pixel_values(const ConstImageView& in, const YuvWeights& weights,
                                              bool interlaced) {
  const FormatTraits& t = traits(in.desc.format);
  PixelValues values;
  values.model = t.model;
  values.first = in.data[0];
  values.stride = in.stride[0];
  values.step = t.step[0];
  values.weights = weights;
  values.interlaced = interlaced;
  if (t.model == ColorModel::rgb) values.first += t.color_offset;
  if (t.model != ColorModel::yuv) return values;
  values.shift_x = t.chroma_shift_x;
  values.shift_y = t.chroma_shift_y;
  values.chroma_rows = plane_rows(in.desc, t.planes - 1);
  if (t.planes == 1) {
    const int luma = in.desc.format == PixelFormat::uyvy ? 1 : 0;
    values.first += luma;
    values.step = 2;
    values.cb = in.data[0] + 1 - luma;
    values.cr = values.cb + 2;
    values.cb_stride = values.cr_stride = in.stride[0];
    values.chroma_step = 4;
    return values;
  }
  values.cb = in.data[1];
  values.cb_stride = in.stride[1];
  values.cr = t.planes == 2 ? in.data[1] + 1 : in.data[2];
  values.cr_stride = in.stride[t.planes == 2 ? 1 : 2];
  values.chroma_step = t.step[1];
  return values;
}

}  // namespace equalux
