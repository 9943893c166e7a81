#include "src/cpu/staged/staged_stages.h"
#include "src/format/layout.h"
#include "src/format/pixel_math.h"

namespace equalux {

void hsv_to_rgb(const HsvImage& in, const ConstImageView& original, const ImageView& out,
                RowExecutor& executor) {
  const RgbLayout at = rgb_layout(out.desc.format);
  const auto width = static_cast<std::size_t>(out.desc.width);
  executor.for_rows(out.desc.height, [&](int begin, int end, int) {
    for (int y = begin; y < end; ++y) {
      const std::uint8_t* from = original.row(0, y);
      std::uint8_t* pixel = out.row(0, y);
      const std::size_t first = static_cast<std::size_t>(y) * width;
      for (std::size_t i = first; i < first + width; ++i, pixel += at.step, from += at.step) {
        const Rgb rgb = hsv_to_rgb_pixel({in.h[i], in.s[i], in.v[i]});
        if (at.alpha >= 0) pixel[at.alpha] = from[at.alpha];
        pixel[at.r] = rgb.r;
        pixel[at.g] = rgb.g;
        pixel[at.b] = rgb.b;
      }
    }
  });
}

}  // namespace equalux
