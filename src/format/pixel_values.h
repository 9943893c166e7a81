#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <equalux/image.h>

#include "src/format/layout.h"
#include "src/format/pixel_math.h"

/// Value channel of single pixels of any format of whole numbers, for code that needs only a few.
namespace equalux {

/// Samples of a frame in host or device memory. Values are codes of the frame's depth.
struct PixelValues {
  ColorModel model = ColorModel::gray;
  std::int32_t depth = 8;
  std::int32_t unused_bits = 0;        ///< of a word, below the code; words have any alignment
  Samples<const std::uint8_t> pixels;  ///< luma, or the first colour of each pixel
  Samples<const std::uint8_t> cb;
  Samples<const std::uint8_t> cr;
  int shift_x = 0;
  int shift_y = 0;
  bool interlaced = false;
  YuvWeights weights{};  ///< offset and maximum in codes of this depth

  [[nodiscard]] EQUALUX_HD int chroma_row(int y) const {
    return chroma_row_of(y, shift_y, cb.rows, interlaced);
  }

  [[nodiscard]] EQUALUX_HD std::int32_t operator()(int x, int y) const {
    return depth == 8 ? value<1>(x, y) : value<2>(x, y);
  }

  /// Calls use(v) for pixels begin .. end - 1 of a row in host memory.
  template <typename Use>
  void visit_row(int y, int begin, int end, const Use& use) const {
    if (depth == 8) return visit<1>(y, begin, end, use);
    visit<2>(y, begin, end, use);
  }

 private:
  template <int kBytes>
  [[nodiscard]] EQUALUX_HD std::int32_t code(const std::uint8_t* at) const {
    if constexpr (kBytes == 1) return at[0];
    return (at[0] | at[1] << 8) >> unused_bits & ((1 << depth) - 1);
  }

  template <int kBytes>
  [[nodiscard]] EQUALUX_HD std::int32_t largest_colour(const std::uint8_t* at) const {
    const std::int32_t first = code<kBytes>(at);
    const std::int32_t second = code<kBytes>(at + kBytes);
    const std::int32_t third = code<kBytes>(at + 2 * kBytes);
    const std::int32_t most = first > second ? first : second;
    return most > third ? most : third;
  }

  template <int kBytes>
  [[nodiscard]] EQUALUX_HD std::int32_t above_luma(int column, int row) const {
    if constexpr (kBytes == 1)
      return value_above_luma(weights, *cb.at(column, row), *cr.at(column, row));
    const std::int32_t middle = 1 << (depth - 1);
    return deep_value_above_luma(weights, code<kBytes>(cb.at(column, row)) - middle,
                                 code<kBytes>(cr.at(column, row)) - middle);
  }

  template <int kBytes>
  [[nodiscard]] EQUALUX_HD std::int32_t value(int x, int y) const {
    const std::uint8_t* at = pixels.at(x, y);
    if (model == ColorModel::gray) return code<kBytes>(at);
    if (model == ColorModel::rgb) return largest_colour<kBytes>(at);
    return yuv_value(weights, code<kBytes>(at), above_luma<kBytes>(x >> shift_x, chroma_row(y)));
  }

  template <int kBytes, typename Use>
  void visit(int y, int begin, int end, const Use& use) const {
    const std::uint8_t* at = pixels.at(begin, y);
    if (model == ColorModel::gray) {
      for (int x = begin; x < end; ++x, at += kBytes)
        use(code<kBytes>(at));
      return;
    }
    if (model == ColorModel::rgb) {
      for (int x = begin; x < end; ++x, at += pixels.step)
        use(largest_colour<kBytes>(at));
      return;
    }
    const int row = chroma_row(y);
    for (int x = begin; x < end;) {
      const std::int32_t above = above_luma<kBytes>(x >> shift_x, row);
      // First pixel of the next chroma sample.
      const int next = std::min(((x >> shift_x) + 1) << shift_x, end);
      for (; x < next; ++x, at += pixels.step)
        use(yuv_value(weights, code<kBytes>(at), above));
    }
  }
};

/// Makes the PixelValues of a frame of any format of whole numbers. `weights` are read for YCbCr
/// only.
[[nodiscard]] inline PixelValues pixel_values(const ConstImageView& in, const YuvWeights& weights,
                                              bool interlaced) {
  const FormatTraits& t = traits(in.desc.format);
  PixelValues values;
  values.model = t.model;
  values.depth = t.depth;
  values.unused_bits = t.shift;
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
