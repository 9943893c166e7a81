#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <equalux/image.h>

#include "src/format/layout.h"
#include "src/format/pixel_math.h"

/// Value channel of single pixels of any 8-bit format, for code that needs only a few.
namespace equalux {

/// Samples of a frame in host or device memory.
struct PixelValues {
  ColorModel model = ColorModel::gray;
  Samples<const std::uint8_t> pixels;  ///< luma, or the first colour byte of each pixel
  Samples<const std::uint8_t> cb;
  Samples<const std::uint8_t> cr;
  int shift_x = 0;
  int shift_y = 0;
  bool interlaced = false;
  YuvWeights weights{};

  [[nodiscard]] EQUALUX_HD int chroma_row(int y) const {
    return chroma_row_of(y, shift_y, cb.rows, interlaced);
  }

  [[nodiscard]] EQUALUX_HD std::int32_t operator()(int x, int y) const {
    const std::uint8_t* at = pixels.at(x, y);
    if (model == ColorModel::gray) return at[0];
    if (model == ColorModel::rgb) {
      const std::uint8_t most = at[0] > at[1] ? at[0] : at[1];
      return most > at[2] ? most : at[2];
    }
    return yuv_value(weights, at[0], above_luma(x >> shift_x, chroma_row(y)));
  }

  /// Calls use(v) for pixels begin .. end - 1 of a row in host memory.
  template <typename Use>
  void visit_row(int y, int begin, int end, const Use& use) const {
    const std::uint8_t* at = pixels.at(begin, y);
    if (model == ColorModel::gray) {
      for (int x = begin; x < end; ++x, ++at)
        use(std::int32_t{*at});
      return;
    }
    if (model == ColorModel::rgb) {
      for (int x = begin; x < end; ++x, at += pixels.step)
        use(std::int32_t{std::max({at[0], at[1], at[2]})});
      return;
    }
    const int row = chroma_row(y);
    for (int x = begin; x < end;) {
      const std::int32_t above = above_luma(x >> shift_x, row);
      // First pixel of the next chroma sample.
      const int next = std::min(((x >> shift_x) + 1) << shift_x, end);
      for (; x < next; ++x, at += pixels.step)
        use(yuv_value(weights, *at, above));
    }
  }

 private:
  [[nodiscard]] EQUALUX_HD std::int32_t above_luma(int column, int row) const {
    return value_above_luma(weights, *cb.at(column, row), *cr.at(column, row));
  }
};

/// Makes the PixelValues of a frame of any 8-bit format. `weights` are read for YCbCr only.
[[nodiscard]] inline PixelValues pixel_values(const ConstImageView& in, const YuvWeights& weights,
                                              bool interlaced) {
  const FormatTraits& t = traits(in.desc.format);
  PixelValues values;
  values.model = t.model;
  values.pixels = samples_of(in, 0);
  if (t.model == ColorModel::rgb)
    values.pixels.first += rgb_layout(in.desc.format).first() - t.offset[0];
  values.weights = weights;
  values.interlaced = interlaced;
  if (t.model != ColorModel::yuv) return values;
  values.shift_x = t.chroma_shift_x;
  values.shift_y = t.chroma_shift_y;
  values.cb = samples_of(in, 1);
  values.cr = samples_of(in, 2);
  return values;
}

}  // namespace equalux
