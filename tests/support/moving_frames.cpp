#include "support/moving_frames.h"

#include <algorithm>
#include <random>

#include "support/test_images.h"

namespace equalux::test {
namespace {

/// Samples of every plane times `gain` / 256; chroma stays about its middle.
void scale(const ImageView& view, int gain) {
  const bool yuv = traits(view.desc.format).model == ColorModel::yuv;
  for (int p = 0; p < traits(view.desc.format).planes; ++p) {
    const int zero = yuv && p > 0 ? 128 : 0;
    for (int y = 0; y < plane_rows(view.desc, p); ++y) {
      std::uint8_t* row = view.row(p, y);
      for (std::size_t x = 0; x < row_bytes(view.desc, p); ++x) {
        row[x] = static_cast<std::uint8_t>(
            std::clamp(zero + (row[x] - zero) * gain / 256, 0, 255));
      }
    }
  }
}

/// Something bright over the first `rows` rows of the first plane.
void cover(const ImageView& view, int rows) {
  for (int y = 0; y < std::min(rows, plane_rows(view.desc, 0)); ++y) {
    std::uint8_t* row = view.row(0, y);
    for (std::size_t x = 0; x < row_bytes(view.desc, 0); ++x)
      row[x] = static_cast<std::uint8_t>(200 + (x + static_cast<std::size_t>(y)) % 40);
  }
}

}  // namespace

void fill_moving(const ImageView& view, int number, std::uint32_t seed) {
  constexpr int kScene = 40;
  const int scene = number / kScene;
  const int at = number % kScene;
  std::mt19937 random(seed * 7919 + static_cast<std::uint32_t>(number));
  if (scene % 5 == 3 && at < 6) {
    constexpr Content kRare[]{Content::black, Content::white, Content::single_bin,
                              Content::constant, Content::nearly_flat, Content::noise};
    fill(view, kRare[at], seed + static_cast<std::uint32_t>(number));
    return;
  }
  fill(view, scene % 3 == 2 ? Content::ramp : Content::natural,
       seed + static_cast<std::uint32_t>(scene));
  int gain = 90 + 40 * (scene % 4) + static_cast<int>(random() % 13) - 6;
  if (scene % 4 == 1) gain = gain * (kScene + 4 - at) / kScene;  // a fade
  scale(view, gain);
  const int height = plane_rows(view.desc, 0);
  if (scene % 2 == 0) cover(view, std::min(at, kScene - at) * height / (3 * kScene));
}

}  // namespace equalux::test
