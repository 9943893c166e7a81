#include "tests/support/media/moving_frames.h"

#include <algorithm>
#include <random>

#include "tests/support/media/test_images.h"

namespace equalux::test {
namespace {

/// Calls change(code, x, y) for the samples of the first `rows` rows of a plane, and stores what
/// it returns.
template <typename Change>
void change_samples(const ImageView& view, int plane, int rows, Change change) {
  const FormatTraits& t = traits(view.desc.format);
  const bool deep = has_deep_samples(view.desc.format);
  const std::size_t columns = row_bytes(view.desc, plane) / (deep ? 2 : 1);
  for (int y = 0; y < std::min(rows, plane_rows(view.desc, plane)); ++y) {
    std::uint8_t* row = view.row(plane, y);
    for (std::size_t x = 0; x < columns; ++x) {
      if (!deep) {
        row[x] = static_cast<std::uint8_t>(change(row[x], x, y));
        continue;
      }
      const int word = change((row[2 * x] + 256 * row[2 * x + 1]) >> t.shift, x, y) << t.shift;
      row[2 * x] = static_cast<std::uint8_t>(word & 255);
      row[2 * x + 1] = static_cast<std::uint8_t>(word >> 8);
    }
  }
}

/// Samples of every plane times `gain` / 256; chroma stays about its middle.
void scale(const ImageView& view, int gain) {
  const FormatTraits& t = traits(view.desc.format);
  const int most = (1 << t.depth) - 1;
  for (int p = 0; p < t.planes; ++p) {
    const int zero = t.model == ColorModel::yuv && p > 0 ? 1 << (t.depth - 1) : 0;
    change_samples(view, p, view.desc.height, [&](int code, std::size_t, int) {
      return std::clamp(zero + (code - zero) * gain / 256, 0, most);
    });
  }
}

/// Something bright over the first `rows` rows of the first plane.
void cover(const ImageView& view, int rows) {
  const int more = traits(view.desc.format).depth - 8;
  change_samples(view, 0, rows, [more](int, std::size_t x, int y) {
    return (200 + static_cast<int>((x + static_cast<std::size_t>(y)) % 40)) << more;
  });
}

}  // namespace

void fill_moving(const ImageView& view, int number, std::uint32_t seed) {
  constexpr int kScene = 40;
  const int scene = number / kScene;
  const int at = number % kScene;
  std::mt19937 random(seed * 7919 + static_cast<std::uint32_t>(number));
  if (scene % 5 == 3 && at < 6) {
    constexpr Content kRare[]{Content::black,    Content::white,       Content::single_bin,
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

FrameContext moving_context(int number) {
  FrameContext context;
  context.index = static_cast<std::uint64_t>(number);
  context.pts_ns = number * std::int64_t{40'000'000};
  return context;
}

}  // namespace equalux::test
