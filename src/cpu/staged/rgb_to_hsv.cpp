#include "src/cpu/staged/staged_stages.h"
#include "src/format/layout.h"
#include "src/format/pixel_math.h"

namespace equalux {

void rgb_to_hsv(const ConstImageView& in, HsvImage& out, RowExecutor& executor) {
  const RgbLayout at = rgb_layout(in.desc.format);
  const auto width = static_cast<std::size_t>(in.desc.width);
  executor.for_rows(in.desc.height, [&](int begin, int end, int) {
    for (int y = begin; y < end; ++y) {
      const std::uint8_t* pixel = in.row(0, y);
      const std::size_t first = static_cast<std::size_t>(y) * width;
      for (std::size_t i = first; i < first + width; ++i, pixel += at.step) {
        const Hsv hsv = rgb_to_hsv_pixel(pixel[at.r], pixel[at.g], pixel[at.b]);
        out.h[i] = hsv.h;
        out.s[i] = hsv.s;
        out.v[i] = hsv.v;
      }
    }
  });
}

}  // namespace equalux
