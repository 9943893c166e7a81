#include "src/cpu/hessian/field_of_view.h"

#include <algorithm>
#include <array>

#include "src/format/layout.h"
#include "src/hessian/vessel_math.h"

namespace equalux {
namespace {

void brightness(const ConstImageView& in, int y, int begin, int end, std::uint8_t* out) {
  const std::uint8_t* pixel = in.row(0, y);
  if (traits(in.desc.format).model != ColorModel::rgb) {
    std::copy(pixel + begin, pixel + end, out);
    return;
  }
  const RgbLayout at = rgb_layout(in.desc.format);
  pixel += std::ptrdiff_t{begin} * at.step;
  for (int x = begin; x < end; ++x, pixel += at.step) {
    *out++ = std::max({pixel[at.r], pixel[at.g], pixel[at.b]});
  }
}

}  // namespace

VignetteFinder::VignetteFinder(const ImageDesc& desc, int margin)
    : desc_(desc),
      black_(black_level(desc)),
      margin_(margin),
      plane_(static_cast<std::size_t>(desc.width) * static_cast<std::size_t>(desc.height)),
      levels_(static_cast<std::size_t>(desc.width)),
      since_(static_cast<std::size_t>(desc.width)),
      components_(desc.width, desc.height, Connectivity::four) {}

bool VignetteFinder::find(const ConstImageView& in) {
  int corner = 0;
  for (const int y : {0, desc_.height - 1}) {
    for (const int x : {0, desc_.width - 1}) {
      std::uint8_t level = 0;
      brightness(in, y, x, x + 1, &level);
      corner = std::max<int>(corner, level);
    }
  }
  // Most frames end here, before their pixels are read.
  if (corner > dark_level(255, black_)) return false;
  const int dark = dark_level_of(in);
  if (corner > dark) return false;
  mark_vignette(in, dark);
  widen_rows();
  widen_columns();
  return true;
}

int VignetteFinder::dark_level_of(const ConstImageView& in) {
  std::array<std::int64_t, 256> counts{};
  std::int64_t pixels = 0;
  for (int y = 0; y < desc_.height; y += kVignetteRowStep) {
    brightness(in, y, 0, desc_.width, levels_.data());
    for (const std::uint8_t level : levels_)
      ++counts[level];
    pixels += desc_.width;
  }
  std::int64_t below = 0;
  for (int level = 0; level < 256; ++level) {
    below += counts[static_cast<std::size_t>(level)];
    if (10 * below >= 9 * pixels) return dark_level(level, black_);
  }
  return dark_level(0, black_);
}

void VignetteFinder::mark_vignette(const ConstImageView& in, int dark) {
  components_.clear();
  for (int y = 0; y < desc_.height; ++y) {
    brightness(in, y, 0, desc_.width, levels_.data());
    for (std::uint8_t& level : levels_)
      level = level <= dark ? 1 : 0;
    components_.add_row(levels_.data());
  }
  for (const int y : {0, desc_.height - 1}) {
    for (const int x : {0, desc_.width - 1})
      components_.mark(x, y);
  }
}

/// Widens the vignette by the margin to the left and right.
void VignetteFinder::widen_rows() {
  std::fill(plane_.begin(), plane_.end(), std::uint8_t{0});
  for (int y = 0; y < desc_.height; ++y) {
    for (std::size_t i = components_.first_run(y); i < components_.last_run(y); ++i) {
      if (!components_.marked(i)) continue;
      const PixelRun run = components_.run(i);
      std::fill(row(y) + std::max(0, run.begin - margin_),
                row(y) + std::min(desc_.width, run.end + margin_), std::uint8_t{1});
    }
  }
}

/// Widens it up and down: bit 0 marks the widened rows, bit 1 pixels within the margin of them.
void VignetteFinder::widen_columns() {
  const auto pass = [&](int y) {
    std::uint8_t* at = row(y);
    for (std::size_t x = 0; x < since_.size(); ++x) {
      since_[x] = (at[x] & 1) != 0 ? 0 : since_[x] + 1;
      if (since_[x] <= margin_) at[x] |= 2;
    }
  };
  std::fill(since_.begin(), since_.end(), margin_ + 1);
  for (int y = 0; y < desc_.height; ++y)
    pass(y);
  std::fill(since_.begin(), since_.end(), margin_ + 1);
  for (int y = desc_.height - 1; y >= 0; --y)
    pass(y);
}

}  // namespace equalux
