#include "src/lab/hessian/pictures.h"

#include <algorithm>

#include "src/cpu/common/rgb_layout.h"
#include "src/hessian/hessian_math.h"
#include "src/lab/hessian/fundus.h"

namespace equalux::cli::lab {
namespace {

constexpr int kMarginPart = 16;  // cuts of a user's image move within such a part of a side
constexpr int kCuts = 8;

Image cut(const ConstImageView& image, const FrameSize& size, int x, int y) {
  ConstImageView part = image;
  part.desc.width = size.width;
  part.desc.height = size.height;
  part.data[0] = image.row(0, y) + std::ptrdiff_t{x} * traits(image.desc.format).step[0];
  Image copy(part.desc);
  copy_image(part, copy.view());
  return copy;
}

}  // namespace

Image picture_of(const Lab& lab, const FrameSize& size, int index) {
  if (lab.image().empty()) return fundus_image(size, static_cast<std::uint32_t>(index + 1));
  const FrameSize larger{std::min(size.width + size.width / kMarginPart, kMaxSide),
                         std::min(size.height + size.height / kMarginPart, kMaxSide)};
  const Image whole = scaled(lab.image().view(), larger);
  const int step = index % kCuts;
  return cut(whole.view(), size, (larger.width - size.width) * step / (kCuts - 1),
             (larger.height - size.height) * ((step * 3) % kCuts) / (kCuts - 1));
}

Image channel_of(const ConstImageView& image, HessianChannel channel) {
  const ImageDesc& desc = image.desc;
  Image gray({PixelFormat::gray8, desc.width, desc.height});
  if (traits(desc.format).model == ColorModel::gray) {
    copy_image(image, gray.view());
    return gray;
  }
  const RgbLayout at = rgb_layout(desc.format);
  const int step = traits(desc.format).step[0];
  for (int y = 0; y < desc.height; ++y) {
    const std::uint8_t* pixel = image.row(0, y);
    std::uint8_t* out = gray.view().row(0, y);
    for (int x = 0; x < desc.width; ++x, pixel += step) {
      out[x] =
          static_cast<std::uint8_t>(channel_of_rgb(channel, pixel[at.r], pixel[at.g], pixel[at.b]));
    }
  }
  return gray;
}

}  // namespace equalux::cli::lab
