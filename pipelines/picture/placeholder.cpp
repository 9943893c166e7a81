#include "pipelines/picture/placeholder.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "src/format/layout.h"

namespace equalux {
namespace {

constexpr int kField = 40;  // of 255
constexpr int kDiagonal = 96;

/// Returns true where (x, y) is on one of the diagonals, which are a fortieth of the height wide.
bool on_diagonal(const ImageDesc& desc, int x, int y) {
  const std::int64_t width = desc.width;
  const std::int64_t height = desc.height;
  const std::int64_t reach = std::max<std::int64_t>(1, height / 80) * width;
  const std::int64_t falling = x * height - y * width;
  const std::int64_t rising = (width - 1 - x) * height - y * width;
  return std::min(std::abs(falling), std::abs(rising)) <= reach;
}

/// Returns a sample's code in its format: `of_255` scaled to the depth, or to luma's range.
unsigned code_of(const ImageDesc& desc, int of_255) {
  const FormatTraits& form = traits(desc.format);
  const bool limited = form.model == ColorModel::yuv && desc.range == ColorRange::limited;
  const auto level = static_cast<unsigned>(limited ? 16 + of_255 * 219 / 255 : of_255);
  return level << (form.depth - 8) << form.shift;
}

void put(std::uint8_t* to, unsigned code, int bytes) {
  to[0] = static_cast<std::uint8_t>(code & 0xFFU);
  if (bytes == 2) to[1] = static_cast<std::uint8_t>(code >> 8U);
}

/// Fills a row of a plane that is neutral chroma, or alpha, throughout.
void fill_row(std::uint8_t* row, std::size_t bytes, unsigned code, int sample) {
  for (std::size_t at = 0; at < bytes; at += static_cast<std::size_t>(sample))
    put(row + at, code, sample);
}

}  // namespace

void draw_placeholder(const ImageView& to) {
  const ImageDesc& desc = to.desc;
  const FormatTraits& form = traits(desc.format);
  const bool floats = form.model == ColorModel::real;
  const int sample = sample_bytes(desc.format);
  for (int plane = 0; plane < form.planes; ++plane) {
    for (int y = 0; y < plane_rows(desc, plane); ++y) {
      if (floats) {
        std::memset(to.row(plane, y), 0, row_bytes(desc, plane));
      } else {
        const unsigned neutral = form.model == ColorModel::yuv ? 128U : 255U;
        fill_row(to.row(plane, y), row_bytes(desc, plane),
                 neutral << (form.depth - 8) << form.shift, sample);
      }
    }
  }
  if (floats) return;

  const unsigned field = code_of(desc, kField);
  const unsigned diagonal = code_of(desc, kDiagonal);
  for (int c = 0; c < (form.model == ColorModel::rgb ? 3 : 1); ++c) {
    const Samples<std::uint8_t> samples = samples_of(to, c);
    for (int y = 0; y < desc.height; ++y) {
      for (int x = 0; x < desc.width; ++x)
        put(samples.at(x, y), on_diagonal(desc, x, y) ? diagonal : field, sample);
    }
  }
}

}  // namespace equalux
