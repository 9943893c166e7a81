#include "tests/support/media/surround_frames.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace equalux::test {
namespace {

bool in_octagon(int left, int width, int height, int x, int y) {
  const int cut = height / 4;
  const int from_side = std::min(x - left, left + width - 1 - x);
  const int from_end = std::min(y, height - 1 - y);
  return from_side >= 0 && from_side + from_end >= cut;
}

/// A line of narrow letters, bright strokes on black.
bool in_text(int width, int height, int x, int y) {
  const int top = height / 40;
  const int left = width / 60;
  if (y < top || y >= top + 12 || x < left || x >= left + width / 4) return false;
  return (x - left) % 9 < 2 || ((y - top) % 5 == 0 && (x - left) % 9 < 6);
}

}  // namespace

bool is_open(Opening opening, int width, int height, int x, int y) {
  const double from_middle_x = x + 0.5 - width / 2.0;
  const double from_middle_y = y + 0.5 - height / 2.0;
  const double away = std::hypot(from_middle_x, from_middle_y);
  const bool between_bars = y >= height / 8 && y < height - height / 8;
  const bool between_pillars = x >= width / 8 && x < width - width / 8;
  switch (opening) {
    case Opening::letterbox:
      return between_bars;
    case Opening::pillar_box:
      return between_pillars;
    case Opening::window:
      return between_bars && between_pillars;
    case Opening::disc:
      return away < height * 0.48;
    case Opening::cut_disc:
      return away < height * 0.62;
    case Opening::octagon:
      return in_octagon((width - height * 6 / 5) / 2, height * 6 / 5, height, x, y);
    case Opening::side_octagon:
      return in_octagon(width - height, height, height, x, y);
  }
  return true;
}

void close(const ImageView& view, Opening opening, bool text, std::uint32_t seed) {
  const FormatTraits& t = traits(view.desc.format);
  const int width = view.desc.width;
  const int height = view.desc.height;
  const bool limited = t.model == ColorModel::yuv && view.desc.range == ColorRange::limited;
  std::mt19937 random(seed);
  const auto level = [&](int x, int y) {
    const auto noise = static_cast<int>(random() % 4 + random() % 4);
    return static_cast<std::uint8_t>((limited ? 16 : 0) +
                                     (text && in_text(width, height, x, y) ? 180 : noise));
  };
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      if (is_open(opening, width, height, x, y)) continue;
      if (t.model != ColorModel::yuv) {
        const std::uint8_t black = level(x, y);
        std::fill_n(view.row(0, y) + x * t.step[0], t.step[0], black);
      } else if (t.planes > 1) {
        view.row(0, y)[x] = level(x, y);
        const int row = std::min(y >> t.chroma_shift_y, plane_rows(view.desc, 1) - 1);
        for (int p = 1; p < t.planes; ++p)
          std::fill_n(view.row(p, row) + (x >> t.chroma_shift_x) * t.step[1], t.step[1],
                      std::uint8_t{128});
      } else {
        const int luma = view.desc.format == PixelFormat::uyvy ? 1 : 0;
        view.row(0, y)[2 * x + luma] = level(x, y);
        view.row(0, y)[x / 2 * 4 + 1 - luma] = view.row(0, y)[x / 2 * 4 + 3 - luma] = 128;
      }
    }
  }
}

}  // namespace equalux::test
