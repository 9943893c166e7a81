#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#include "src/common/frame_memory.h"
#include "src/cpu/denoise/denoise_rows.h"

namespace equalux::denoise {

/// Rows beyond a plane's first and last one.
struct RowsBeyond {
  int above = 0;
  int below = 0;
};

/// Samples of a plane in rows of their own, with kMargin more on each side of every row; 0 at
/// first.
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

  /// Samples from a row to the one below.
  [[nodiscard]] std::ptrdiff_t stride() const { return static_cast<std::ptrdiff_t>(stride_); }

  /// Row y, or the nearest that there is.
  [[nodiscard]] Sample* row(int y) { return samples_.get() + at(nearest(y)); }
  [[nodiscard]] const Sample* row(int y) const { return samples_.get() + at(nearest(y)); }

  /// Whether rows `first` to `last` - 1 are in the plane or among those beyond it.
  [[nodiscard]] bool holds(int first, int last) const {
    return first >= -beyond_.above && last <= height_ + beyond_.below;
  }
  /// Row y, one that holds() says is there. Those beyond the plane are what repeat_end_rows() made
  /// of them.
  [[nodiscard]] const Sample* row_or_beyond(int y) const { return samples_.get() + at(y); }
  /// Makes the rows beyond the plane what its first and last one are now, with their padding.
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

  /// Repeats the row's first and last sample kPadding times on each side.
  void pad(int y) {
    Sample* const first = row(y);
    std::fill_n(first - kPadding, kPadding, first[0]);
    std::fill_n(first + width_, kPadding, first[width_ - 1]);
  }
  /// The same with a value.
  void pad(int y, Sample value) {
    Sample* const first = row(y);
    std::fill_n(first - kPadding, kPadding, value);
    std::fill_n(first + width_, kPadding, value);
  }

  /// The same of a row of `width` samples, `count` times on each side.
  void repeat_ends(int y, int width, int count) {
    Sample* const first = row(y);
    std::fill_n(first - count, count, first[0]);
    std::fill_n(first + width, count, first[width - 1]);
  }

 private:
  /// An odd number of cache lines: rows one below the other do not compete for the same place in
  /// the cache.
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
