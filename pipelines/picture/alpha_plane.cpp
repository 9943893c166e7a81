#include "pipelines/picture/alpha_plane.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include <equalux/error.h>

namespace equalux {
namespace {

void require(bool fits, const ConstImageView& plane, const ConstImageView& packed) {
  if (fits && has_alpha(packed.desc.format) && plane.desc.width == packed.desc.width &&
      plane.desc.height == packed.desc.height) {
    return;
  }
  throw Error(ExitCode::usage, "transparency of " + std::string(to_string(plane.desc.format)) +
                                   " does not fit " + std::string(to_string(packed.desc.format)) +
                                   " pictures; depth and size must be the same");
}

}  // namespace

bool has_alpha(PixelFormat format) {
  switch (format) {
    case PixelFormat::rgba:
    case PixelFormat::bgra:
    case PixelFormat::argb:
    case PixelFormat::abgr:
    case PixelFormat::rgba64_le:
    case PixelFormat::bgra64_le:
    case PixelFormat::argb64_le:
    case PixelFormat::abgr64_le:
      return true;
    default:
      return false;
  }
}

bool is_opaque(const ConstImageView& image) {
  if (!has_alpha(image.desc.format)) return true;
  const FormatTraits& form = traits(image.desc.format);
  const auto step = static_cast<std::size_t>(form.step[0]);
  const int bytes = has_deep_samples(image.desc.format) ? 2 : 1;
  for (int y = 0; y < image.desc.height; ++y) {
    const std::uint8_t* sample = image.row(0, y) + form.alpha_offset;
    for (int x = 0; x < image.desc.width; ++x, sample += step) {
      if (sample[0] != 255 || sample[bytes - 1] != 255) return false;
    }
  }
  return true;
}

ImageDesc alpha_desc(const ImageDesc& picture) {
  ImageDesc desc = picture;
  desc.format = has_deep_samples(picture.format) ? PixelFormat::gray16_le : PixelFormat::gray8;
  return desc;
}

void copy_alpha(const Frame& from, Frame& to) {
  if (!from.has_alpha_plane() || to.alpha_pixels.empty()) return;
  copy_image(from.alpha, to.alpha_pixels.view());
  to.alpha = std::as_const(to.alpha_pixels).view();
}

void put_alpha(const ConstImageView& plane, int depth, const ImageView& to) {
  const bool deep = depth > 8;
  require(plane.desc.format == (deep ? PixelFormat::gray16_le : PixelFormat::gray8) &&
              has_deep_samples(to.desc.format) == deep,
          plane, to);
  const FormatTraits& form = traits(to.desc.format);
  const auto step = static_cast<std::size_t>(form.step[0]);
  const std::uint32_t most = (1U << static_cast<unsigned>(depth)) - 1;
  for (int y = 0; y < to.desc.height; ++y) {
    const std::uint8_t* in = plane.row(0, y);
    std::uint8_t* out = to.row(0, y) + form.alpha_offset;
    for (int x = 0; x < to.desc.width; ++x, out += step) {
      if (!deep) {
        *out = *in++;
        continue;
      }
      const std::uint32_t code = (in[0] | static_cast<std::uint32_t>(in[1]) << 8U) & most;
      const std::uint32_t value = (code * 65535U + most / 2) / most;
      out[0] = static_cast<std::uint8_t>(value & 255U);
      out[1] = static_cast<std::uint8_t>(value >> 8U);
      in += 2;
    }
  }
}

void take_alpha(const ConstImageView& from, const ImageView& plane) {
  require(plane.desc.format == PixelFormat::gray8 && has_byte_samples(from.desc.format), plane,
          from);
  const FormatTraits& form = traits(from.desc.format);
  const auto step = static_cast<std::size_t>(form.step[0]);
  for (int y = 0; y < from.desc.height; ++y) {
    const std::uint8_t* in = from.row(0, y) + form.alpha_offset;
    std::uint8_t* out = plane.row(0, y);
    for (int x = 0; x < from.desc.width; ++x, in += step)
      out[x] = *in;
  }
}

}  // namespace equalux
