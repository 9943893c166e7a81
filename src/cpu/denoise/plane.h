#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/cpu/denoise/denoise_rows.h"

namespace equalux::denoise {

/// Samples of a plane in rows of their own, with kMargin more on each side of every row.
template <typename Sample>
class Plane {
 public:
  Plane() = default;
  Plane(int width, int height)
      : width_(width),
        height_(height),
        stride_((static_cast<std::size_t>(width) + 63) / 64 * 64 + 2 * kMargin),
        samples_(stride_ * static_cast<std::size_t>(height)) {}

  [[nodiscard]] int width() const { return width_; }
  [[nodiscard]] int height() const { return height_; }

  /// Samples from a row to the one below.
  [[nodiscard]] std::ptrdiff_t stride() const { return static_cast<std::ptrdiff_t>(stride_); }

  /// Row y, or the nearest that there is.
  [[nodiscard]] Sample* row(int y) { return samples_.data() + at(y); }
  [[nodiscard]] const Sample* row(int y) const { return samples_.data() + at(y); }

  /// Repeats the row's first and last sample in its margins.
  void pad(int y) {
    Sample* const first = row(y);
    std::fill_n(first - kMargin, kMargin, first[0]);
    std::fill(first + width_, first + (stride_ - kMargin), first[width_ - 1]);
  }
  /// The same with a value.
  void pad(int y, Sample value) {
    Sample* const first = row(y);
    std::fill_n(first - kMargin, kMargin, value);
    std::fill(first + width_, first + (stride_ - kMargin), value);
  }

  /// The same of a row of `width` samples, `count` times on each side.
  void repeat_ends(int y, int width, int count) {
    Sample* const first = row(y);
    std::fill_n(first - count, count, first[0]);
    std::fill_n(first + width, count, first[width - 1]);
  }

 private:
  [[nodiscard]] std::size_t at(int y) const {
    return stride_ * static_cast<std::size_t>(std::clamp(y, 0, height_ - 1)) + kMargin;
  }

  int width_ = 0;
  int height_ = 0;
  std::size_t stride_ = 0;
  std::vector<Sample> samples_;
};

}  // namespace equalux::denoise
