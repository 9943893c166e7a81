#include <cstdlib>
#include <cstring>
#include <new>

#include <equalux/error.h>
#include <equalux/image.h>

#include "src/common/frame_memory.h"
#include "src/options/option_values.h"

namespace equalux {
namespace {

int ceil_shift(int value, int shift) {
  return (value + (1 << shift) - 1) >> shift;
}

}  // namespace

std::optional<PixelFormat> pixel_format_from(std::string_view name) {
  const std::string lower = lower_case(std::string(name));
  for (int i = 0; i < kPixelFormatCount; ++i) {
    if (kFormatTraits[static_cast<std::size_t>(i)].name == lower)
      return static_cast<PixelFormat>(i);
  }
  return std::nullopt;
}

std::string_view to_string(ColorMatrix matrix) {
  switch (matrix) {
    case ColorMatrix::bt601:
      return "bt601";
    case ColorMatrix::bt709:
      return "bt709";
    case ColorMatrix::bt2020:
      return "bt2020";
  }
  return "unknown";
}

std::string_view to_string(ColorRange range) {
  return range == ColorRange::limited ? "limited" : "full";
}

std::size_t row_bytes(const ImageDesc& desc, int plane) {
  const FormatTraits& t = traits(desc.format);
  const auto step = static_cast<std::size_t>(t.step[static_cast<std::size_t>(plane)]);
  const bool packed_pairs = t.model == ColorModel::yuv && t.planes == 1;
  const bool subsampled = packed_pairs || (t.model == ColorModel::yuv && plane > 0);
  const int samples = subsampled ? ceil_shift(desc.width, t.chroma_shift_x) : desc.width;
  return static_cast<std::size_t>(samples) * step;
}

int plane_rows(const ImageDesc& desc, int plane) {
  const FormatTraits& t = traits(desc.format);
  return plane == 0 ? desc.height : ceil_shift(desc.height, t.chroma_shift_y);
}

std::size_t tight_bytes(const ImageDesc& desc) {
  std::size_t bytes = 0;
  for (int p = 0; p < traits(desc.format).planes; ++p) {
    bytes += row_bytes(desc, p) * static_cast<std::size_t>(plane_rows(desc, p));
  }
  return bytes;
}

void validate(const ImageDesc& desc) {
  std::string broken;
  const auto rule = [&](bool holds, const std::string& text) {
    if (!holds) broken += (broken.empty() ? "" : "; ") + text;
  };
  const auto side = [&](const char* name, int value) {
    rule(value >= 1 && value <= kMaxSide, std::string(name) + " is " + std::to_string(value) +
                                              ", must be 1 to " + std::to_string(kMaxSide));
  };
  side("width", desc.width);
  side("height", desc.height);
  if (broken.empty()) {
    const std::int64_t pixels = std::int64_t{desc.width} * desc.height;
    rule(pixels <= kMaxPixels, "the frame has " + std::to_string(pixels) +
                                   " pixels, must be at most " + std::to_string(kMaxPixels));
  }
  if (!broken.empty()) throw Error(ExitCode::usage, broken);
}

ImageLayout image_layout(const ImageDesc& desc) {
  ImageLayout layout;
  for (int p = 0; p < traits(desc.format).planes; ++p) {
    const auto i = static_cast<std::size_t>(p);
    const std::size_t stride =
        (row_bytes(desc, p) + kRowAlignment - 1) / kRowAlignment * kRowAlignment;
    layout.offset[i] = layout.bytes;
    layout.stride[i] = static_cast<std::ptrdiff_t>(stride);
    layout.bytes += stride * static_cast<std::size_t>(plane_rows(desc, p));
  }
  return layout;
}

ImageView ImageLayout::view(const ImageDesc& desc, std::uint8_t* first) const {
  ImageView view;
  view.desc = desc;
  view.stride = stride;
  for (int p = 0; p < traits(desc.format).planes; ++p) {
    const auto i = static_cast<std::size_t>(p);
    view.data[i] = first + offset[i];
  }
  return view;
}

Image::Image(const ImageDesc& desc) : Image(desc, {allocate_frame, std::free}) {}

Image::Image(const ImageDesc& desc, const ImageMemory& memory) {
  validate(desc);
  const ImageLayout layout = image_layout(desc);
  memory_ = std::unique_ptr<std::uint8_t, Free>(
      static_cast<std::uint8_t*>(memory.allocate(layout.bytes)), Free(memory.release));
  if (memory_ == nullptr) throw std::bad_alloc();
  view_ = layout.view(desc, memory_.get());
}

void copy_image(const ConstImageView& from, const ImageView& to) {
  if (from.desc.format != to.desc.format || from.desc.width != to.desc.width ||
      from.desc.height != to.desc.height) {
    throw Error(ExitCode::usage, "copy_image: format or size differ");
  }
  for (int p = 0; p < traits(from.desc.format).planes; ++p) {
    const std::size_t bytes = row_bytes(from.desc, p);
    for (int y = 0; y < plane_rows(from.desc, p); ++y) {
      std::memcpy(to.row(p, y), from.row(p, y), bytes);
    }
  }
}

}  // namespace equalux
