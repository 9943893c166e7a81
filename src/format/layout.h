#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <equalux/image.h>

#include "src/format/pixel_math.h"

/// Memory layout of frames in the terms of loops over them, for host and device. All of it follows
/// from kFormatTraits.
namespace equalux {

/// Sampling structure, which defines the cell, the smallest part of a frame with its own colour: a
/// pixel of gray and RGB; of YCbCr a chroma sample with the luma it covers.
enum class Sampling : std::uint8_t { gray, rgb, s420, s422, s444 };

[[nodiscard]] constexpr Sampling sampling_of(PixelFormat format) {
  const FormatTraits& t = traits(format);
  if (t.model == ColorModel::rgb) return Sampling::rgb;
  if (t.model != ColorModel::yuv) return Sampling::gray;
  if (t.chroma_shift_y != 0) return Sampling::s420;
  return t.chroma_shift_x != 0 ? Sampling::s422 : Sampling::s444;
}

/// Columns and rows of a whole cell. Cells at the right and bottom edge may be cut in half.
[[nodiscard]] constexpr int cell_columns(Sampling sampling) {
  return sampling == Sampling::s420 || sampling == Sampling::s422 ? 2 : 1;
}
[[nodiscard]] constexpr int cell_rows(Sampling sampling) {
  return sampling == Sampling::s420 ? 2 : 1;
}

/// Number of cells of a frame, cut ones included.
struct CellCount {
  int columns;
  int rows;
};
[[nodiscard]] constexpr CellCount cells_of(const ImageDesc& desc) {
  const FormatTraits& t = traits(desc.format);
  const auto covered = [](int samples, int shift) { return (samples + (1 << shift) - 1) >> shift; };
  return {covered(desc.width, t.chroma_shift_x), covered(desc.height, t.chroma_shift_y)};
}

/// Layout of a component's samples in the rows of a plane.
struct Component {
  int plane;
  int offset;  ///< bytes before the first sample
  int step;    ///< bytes from one sample to the next
};

/// Component 0 to 2: R, G, B or Y, Cb, Cr. All three of gray are the same.
[[nodiscard]] constexpr Component component_of(PixelFormat format, int index) {
  const FormatTraits& t = traits(format);
  const int plane = t.planes == 3 ? index : (t.planes == 2 && index > 0 ? 1 : 0);
  const int step = t.step[static_cast<std::size_t>(plane)];
  // Packed 4:2:2 has two luma samples for each chroma sample.
  const bool in_pairs = t.planes == 1 && index == 0;
  return {plane, t.offset[static_cast<std::size_t>(index)],
          in_pairs ? step >> t.chroma_shift_x : step};
}

/// Samples of one component, or pixels of a plane.
template <typename Byte>
struct Samples {
  Byte* first = nullptr;
  std::ptrdiff_t stride = 0;  ///< bytes from a row to the one below; may be negative
  int columns = 0;
  int rows = 0;
  int step = 1;  ///< bytes from a sample to the next

  EQUALUX_HD Byte* row(int y) const { return first + y * stride; }
  EQUALUX_HD Byte* at(int x, int y) const { return row(y) + static_cast<std::ptrdiff_t>(x) * step; }
};

/// Samples of a component of a ConstImageView or ImageView.
template <typename View>
[[nodiscard]] auto samples_of(const View& view, int index) {
  const Component at = component_of(view.desc.format, index);
  const auto p = static_cast<std::size_t>(at.plane);
  return Samples<std::remove_reference_t<decltype(*view.data[p])>>{
      view.data[p] + at.offset, view.stride[p],
      index == 0 ? view.desc.width : cells_of(view.desc).columns, plane_rows(view.desc, at.plane),
      at.step};
}

/// Part of a frame from column x and row y on, where a cell must begin.
template <typename View>
[[nodiscard]] View part_of(View view, int x, int y, int width, int height) {
  ImageDesc before = view.desc;
  before.width = x;
  before.height = y;
  for (int plane = 0; plane < traits(before.format).planes; ++plane) {
    view.data[static_cast<std::size_t>(plane)] =
        view.row(plane, plane_rows(before, plane)) + row_bytes(before, plane);
  }
  view.desc.width = width;
  view.desc.height = height;
  return view;
}

/// Byte offsets within a packed pixel of `step` bytes; alpha, the copied fourth sample, is -1 where
/// there is none. In gray formats all channels are the one sample.
struct RgbLayout {
  int r;
  int g;
  int b;
  int alpha;
  int step;

  /// Offset of the first colour in memory, for code that treats all three alike.
  [[nodiscard]] constexpr int first() const { return r < b ? r : b; }
};

[[nodiscard]] constexpr RgbLayout rgb_layout(PixelFormat format) {
  const FormatTraits& t = traits(format);
  return {t.offset[0], t.offset[1], t.offset[2], t.alpha_offset, t.step[0]};
}

/// First of the formats that differ from `format` only in the order of colours: for packed 8-bit
/// ones gray8, rgb, rgbx or xrgb.
[[nodiscard]] constexpr PixelFormat any_colour_order(PixelFormat format) {
  if (traits(format).model != ColorModel::rgb) return format;
  const auto alike = [](const RgbLayout& a, const RgbLayout& b) {
    return a.first() == b.first() && a.alpha == b.alpha && a.step == b.step;
  };
  int first = 0;
  while (traits(static_cast<PixelFormat>(first)).model != ColorModel::rgb ||
         !alike(rgb_layout(static_cast<PixelFormat>(first)), rgb_layout(format))) {
    ++first;
  }
  return static_cast<PixelFormat>(first);
}

/// Rows of a line of YCbCr cells, with samples next to each other. Where a cell has one row of
/// luma, or is cut at the bottom, luma[1] is luma[0].
template <typename Byte>
struct YuvRow {
  std::array<Byte*, 2> luma;
  Byte* cb;
  Byte* cr;
};
using YuvRowIn = YuvRow<const std::uint8_t>;
using YuvRowOut = YuvRow<std::uint8_t>;

/// Luma rows that one row of 4:2:0 chroma covers; equal where there is only one.
struct LumaRows {
  int first;
  int second;
};

/// Rows of line `line` of cells, with luma `rows`, in a planar ConstImageView or ImageView.
template <typename View>
[[nodiscard]] auto yuv_row_of(const View& view, int line, LumaRows rows) {
  return YuvRow<std::remove_pointer_t<decltype(view.row(0, 0))>>{
      {view.row(0, rows.first), view.row(0, rows.second)},
      samples_of(view, 1).row(line),
      samples_of(view, 2).row(line)};
}

/// Luma rows of chroma row `row` in a 4:2:0 frame of `height` luma rows. In interlaced frames a
/// chroma row belongs to one field and covers two luma rows of it; a last luma row whose field has
/// no chroma row left joins the last chroma row.
EQUALUX_HD LumaRows luma_rows_of(int row, int height, bool interlaced) {
  if (!interlaced) {
    const int first = 2 * row;
    return {first, first + 1 < height ? first + 1 : first};
  }
  const int first = 4 * (row / 2) + (row & 1);
  if (first + 2 < height) return {first, first + 2};
  const bool adopts = height % 4 == 2 && first == height - 2;
  return {first, adopts ? first + 1 : first};
}

/// Luma rows of chroma row `row` for any sampling.
EQUALUX_HD LumaRows luma_rows_of(Sampling sampling, int row, int height, bool interlaced) {
  return sampling == Sampling::s420 ? luma_rows_of(row, height, interlaced) : LumaRows{row, row};
}

/// Chroma row that covers luma row `y`, the inverse of luma_rows_of().
EQUALUX_HD int chroma_row_of(int y, int shift_y, int chroma_rows, bool interlaced) {
  if (shift_y == 0) return y;
  const int row = interlaced ? 2 * (y / 4) + (y & 1) : y / 2;
  return row < chroma_rows ? row : chroma_rows - 1;
}

}  // namespace equalux
