#include "pipelines/picture/orientation.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include <equalux/error.h>

#include "src/format/layout.h"

namespace equalux {
namespace {

using Stored = Samples<const std::uint8_t>;

/// Direction in which stored samples are read, so that they come in the order of the turned ones.
struct Walk {
  bool from_right;   ///< through stored columns
  bool from_bottom;  ///< through stored rows
};

Walk walk_of(Orientation orientation) {
  switch (orientation) {
    case Orientation::upright:
    case Orientation::transposed:
      return {false, false};
    case Orientation::mirrored:
    case Orientation::counter_clockwise:
      return {true, false};
    case Orientation::upside_down:
    case Orientation::transverse:
      return {true, true};
    case Orientation::flipped:
    case Orientation::clockwise:
      return {false, true};
  }
  return {false, false};
}

/// Side of the squares in which a picture is transposed: each row that is written reads a column,
/// and the columns of a square stay in the cache.
constexpr int kSquare = 32;

/// `repeat` is the number of columns of the picture for each stored one; `columns` is their total
/// number.
template <std::size_t Bytes>
void turn_samples(const Stored& from, std::uint8_t* to, std::ptrdiff_t to_stride,
                  Orientation orientation, int repeat, int columns) {
  const Walk walk = walk_of(orientation);
  const bool from_right = walk.from_right;  // no binding: clang 14 lets no lambda use one
  const bool from_bottom = walk.from_bottom;
  const bool swap = swaps_sides(orientation);
  const int width = swap ? from.rows : from.columns;
  const int height = swap ? columns : from.rows;
  const auto stored = [&](int x, int y) {
    int column = swap ? y : x;
    int row = swap ? x : y;
    const int all = swap ? columns : from.columns;
    if (from_right) column = all - 1 - column;
    if (from_bottom) row = from.rows - 1 - row;
    if (swap) column /= repeat;
    return from.first + column * from.step + row * from.stride;
  };
  for (int top = 0; top < height; top += kSquare) {
    for (int left = 0; left < width; left += kSquare) {
      const int right = std::min(width, left + kSquare);
      for (int y = top; y < std::min(height, top + kSquare); ++y) {
        const std::uint8_t* source = stored(left, y);
        const std::ptrdiff_t step = swap ? (from_bottom ? -from.stride : from.stride)
                                         : (from_right ? -from.step : from.step);
        std::uint8_t* out = to + y * to_stride + left * static_cast<std::ptrdiff_t>(Bytes);
        for (int x = left; x < right; ++x, source += step, out += Bytes)
          std::memcpy(out, source, Bytes);
      }
    }
  }
}

void turn_samples(std::size_t bytes, const Stored& from, std::uint8_t* to, std::ptrdiff_t to_stride,
                  Orientation orientation, int repeat, int columns) {
  switch (bytes) {
    case 1:
      return turn_samples<1>(from, to, to_stride, orientation, repeat, columns);
    case 2:
      return turn_samples<2>(from, to, to_stride, orientation, repeat, columns);
    case 3:
      return turn_samples<3>(from, to, to_stride, orientation, repeat, columns);
    case 4:
      return turn_samples<4>(from, to, to_stride, orientation, repeat, columns);
    case 6:
      return turn_samples<6>(from, to, to_stride, orientation, repeat, columns);
    default:
      return turn_samples<8>(from, to, to_stride, orientation, repeat, columns);
  }
}

/// Returns the samples of plane `p` of the turned frame, wherever they are stored.
Stored stored_samples(const ConstImageView& image, int p) {
  const ImageDesc& desc = image.desc;
  if (traits(desc.format).model == ColorModel::yuv && traits(desc.format).planes == 1)
    return samples_of(image, p);
  const auto at = static_cast<std::size_t>(p);
  const int step = traits(desc.format).step[at];
  return {image.data[at], image.stride[at], static_cast<int>(row_bytes(desc, p)) / step,
          plane_rows(desc, p), step};
}

PixelFormat turned_format(PixelFormat format, bool swap) {
  switch (format) {
    case PixelFormat::yuy2:
    case PixelFormat::uyvy:
    case PixelFormat::y42b:
      return swap ? PixelFormat::y444 : PixelFormat::y42b;
    case PixelFormat::i422_10le:
      return swap ? PixelFormat::y444_10le : format;
    case PixelFormat::i422_12le:
      return swap ? PixelFormat::y444_12le : format;
    default:
      return format;
  }
}

}  // namespace

ImageDesc turned(ImageDesc desc, Orientation orientation) {
  if (orientation == Orientation::upright) return desc;
  desc.format = turned_format(desc.format, swaps_sides(orientation));
  if (swaps_sides(orientation)) std::swap(desc.width, desc.height);
  return desc;
}

FieldOrder turned(FieldOrder order, int height, Orientation orientation) {
  if (order == FieldOrder::progressive || swaps_sides(orientation)) return FieldOrder::progressive;
  if (!walk_of(orientation).from_bottom || height % 2 != 0) return order;
  return order == FieldOrder::top_first ? FieldOrder::bottom_first : FieldOrder::top_first;
}

void turn_image(const ConstImageView& from, const ImageView& to, Orientation orientation) {
  if (to.desc != turned(from.desc, orientation)) {
    throw Error(ExitCode::usage, "turn_image: the target is of another size or format");
  }
  if (orientation == Orientation::upright) return copy_image(from, to);
  const bool wider =
      traits(to.desc.format).chroma_shift_x < traits(from.desc.format).chroma_shift_x;
  for (int p = 0; p < traits(to.desc.format).planes; ++p) {
    const auto at = static_cast<std::size_t>(p);
    const Stored samples = stored_samples(from, p);
    const int repeat = p > 0 && wider ? 2 : 1;
    const int columns = repeat == 2 ? from.desc.width : samples.columns;
    const auto bytes = static_cast<std::size_t>(traits(to.desc.format).step[at]);
    turn_samples(bytes, samples, to.data[at], to.stride[at], orientation, repeat, columns);
  }
}

}  // namespace equalux
