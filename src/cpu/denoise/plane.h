#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#include "src/common/frame_memory.h"
#include "src/cpu/denoise/denoise_rows.h"

namespace equalux::denoise {

/// Rows stored beyond a plane's first and last one.
struct RowsBeyond {
  int above = 0;
  int below = 0;
};

/// Plane of samples with a margin of kMargin samples on each side of every row; zeros at first.
template <typename Sample>
class Plane {
 public:
  Plane() = default;
  Plane(int width, int height, RowsBeyond beyond = {})
      : width_(width),
        height_(height),
        beyond_(beyond),
        stride_(stride_of(static_cast<std::size_t>(width))) {
    const std::size_t count =
        stride_ * static_cast<std::size_t>(beyond.above + height + beyond.below);
    samples_.reset(static_cast<Sample*>(allocate_frame(count * sizeof(Sample))));
    if (samples_ == nullptr) throw std::bad_alloc();
    std::fill_n(samples_.get(), count, Sample{});
  }

  [[nodiscard]] int width() const { return width_; }
  [[nodiscard]] int height() const { return height_; }

  /// Distance from a row to the one below, in samples.
  [[nodiscard]] std::ptrdiff_t stride() const { return static_cast<std::ptrdiff_t>(stride_); }

  /// Row y, or the nearest one.
  [[nodiscard]] Sample* row(int y) { return samples_.get() + at(nearest(y)); }
  [[nodiscard]] const Sample* row(int y) const { return samples_.get() + at(nearest(y)); }

  /// Returns true where rows `first` to `last` - 1 are stored, in the plane or beyond it.
  [[nodiscard]] bool holds(int first, int last) const {
    return first >= -beyond_.above && last <= height_ + beyond_.below;
  }
  /// Row y, for which holds() must be true. Rows beyond the plane are those of repeat_end_rows().
  [[nodiscard]] const Sample* row_or_beyond(int y) const { return samples_.get() + at(y); }
  /// Copies the plane's first and last row, with their padding, to the rows beyond.
  void repeat_end_rows() {
    const auto copy = [this](int from, int to) {
      std::copy_n(samples_.get() + at(from) - kPadding, width_ + 2 * kPadding,
                  samples_.get() + at(to) - kPadding);
    };
    for (int k = 1; k <= beyond_.above; ++k)
      copy(0, -k);
    for (int k = 0; k < beyond_.below; ++k)
      copy(height_ - 1, height_ + k);
  }

  /// Pads a row with its first and last sample, kPadding on each side.
  void pad(int y) {
    Sample* const first = row(y);
    std::fill_n(first - kPadding, kPadding, first[0]);
    std::fill_n(first + width_, kPadding, first[width_ - 1]);
  }
  /// Pads a row with a value, kPadding on each side.
  void pad(int y, Sample value) {
    Sample* const first = row(y);
    std::fill_n(first - kPadding, kPadding, value);
    std::fill_n(first + width_, kPadding, value);
  }

  /// Pads a row of `width` samples with its first and last one, `count` on each side.
  void repeat_ends(int y, int width, int count) {
    Sample* const first = row(y);
    std::fill_n(first - count, count, first[0]);
    std::fill_n(first + width, count, first[width - 1]);
  }

 private:
  /// Stride: an odd number of cache lines, so that rows below each other do not compete for the
  /// same cache sets.
  static std::size_t stride_of(std::size_t width) {
    constexpr std::size_t kLine = kRowAlignment / sizeof(Sample);
    const std::size_t lines = (width + 63) / 64 * 64 / kLine + 2 * kMargin / kLine;
    return (lines | 1) * kLine;
  }
  [[nodiscard]] int nearest(int y) const { return std::clamp(y, 0, height_ - 1); }
  [[nodiscard]] std::size_t at(int y) const {
    return stride_ * static_cast<std::size_t>(beyond_.above + y) + kMargin;
  }

  int width_ = 0;
  int height_ = 0;
  RowsBeyond beyond_;
  std::size_t stride_ = 0;
  std::unique_ptr<Sample[], FreeFrame> samples_;
};

}  // namespace equalux::denoise
