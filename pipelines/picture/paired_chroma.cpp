#include "pipelines/picture/paired_chroma.h"

#include <cstddef>
#include <cstdint>

#include <equalux/error.h>

#include "src/format/layout.h"

namespace equalux {
namespace {

/// Copies words that are `step` bytes apart, and moves their values from the high bits to the low
/// ones.
void copy_words(const std::uint8_t* from, std::size_t step, int shift, std::uint8_t* to,
                std::size_t count) {
  for (std::size_t i = 0; i < count; ++i, from += step, to += 2) {
    const int value = (from[0] | from[1] << 8) >> shift;
    to[0] = static_cast<std::uint8_t>(value & 255);
    to[1] = static_cast<std::uint8_t>(value >> 8);
  }
}

}  // namespace

PixelFormat planar_form(PixelFormat format) {
  if (format == PixelFormat::p010_10le) return PixelFormat::i420_10le;
  if (format == PixelFormat::p012_le) return PixelFormat::i420_12le;
  return format;
}

void copy_as_planes(const ConstImageView& from, const ImageView& to) {
  const PixelFormat format = from.desc.format;
  if (planar_form(format) == format || to.desc.format != planar_form(format) ||
      from.desc.width != to.desc.width || from.desc.height != to.desc.height) {
    throw Error(ExitCode::usage, "copy_as_planes: format or size do not fit");
  }
  const int shift = traits(format).shift;
  for (int plane = 0; plane < 3; ++plane) {
    const Samples<const std::uint8_t> words = samples_of(from, plane);
    for (int y = 0; y < words.rows; ++y) {
      copy_words(words.row(y), static_cast<std::size_t>(words.step), shift, to.row(plane, y),
                 static_cast<std::size_t>(words.columns));
    }
  }
}

}  // namespace equalux
