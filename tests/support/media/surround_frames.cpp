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
  const int bytes = has_deep_samples(view.desc.format) ? 2 : 1;
  const bool limited = t.model == ColorModel::yuv && view.desc.range == ColorRange::limited;
  std::mt19937 random(seed);
  // Levels of 8 bits, and what more bits hold below them.
  const auto level = [&](int x, int y) {
    const auto noise = static_cast<int>(random() % 4 + random() % 4);
    const int code = (limited ? 16 : 0) + (text && in_text(width, height, x, y) ? 180 : noise);
    if (bytes == 1) return code;
    return (code << (t.depth - 8)) + static_cast<int>(random() & ((1U << (t.depth - 8)) - 1));
  };
  const auto put = [&](std::uint8_t* at, int code) {
    for (int i = 0; i < bytes; ++i)
      at[i] = static_cast<std::uint8_t>(code << t.shift >> (8 * i));
  };
  const int middle = 1 << (t.depth - 1);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      if (is_open(opening, width, height, x, y)) continue;
      if (t.model != ColorModel::yuv) {
        const int black = level(x, y);
        for (int byte = 0; byte < t.step[0]; byte += bytes)
          put(view.row(0, y) + x * t.step[0] + byte, black);
      } else if (t.planes > 1) {
        put(view.row(0, y) + bytes * x, level(x, y));
        const int row = std::min(y >> t.chroma_shift_y, plane_rows(view.desc, 1) - 1);
        for (int p = 1; p < t.planes; ++p) {
          for (int byte = 0; byte < t.step[1]; byte += bytes)
            put(view.row(p, row) + (x >> t.chroma_shift_x) * t.step[1] + byte, middle);
        }
      } else {
        const int luma = view.desc.format == PixelFormat::uyvy ? 1 : 0;
        put(view.row(0, y) + 2 * x + luma, level(x, y));
        put(view.row(0, y) + x / 2 * 4 + 1 - luma, middle);
        put(view.row(0, y) + x / 2 * 4 + 3 - luma, middle);
      }
    }
  }
}

}  // namespace equalux::test
