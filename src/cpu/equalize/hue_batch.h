#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "src/cpu/equalize/hue_rows.h"
#include "src/cpu/hessian/hessian_rows.h"
#include "src/equalize/space.h"
#include "src/format/layout.h"

namespace equalux {

/// Pixels of lightness that take more than a table, gathered from wherever they lie, so that the
/// vectors that map them are full. As space_at_same_hue() for each that is not gray.
class HueBatch {
 public:
  /// Results are written as `layout` has it; the tables must outlive the batch.
  HueBatch(const SpaceTables& tables, const RgbLayout& layout) : tables_(tables), layout_(layout) {}
  HueBatch(const HueBatch&) = delete;
  HueBatch& operator=(const HueBatch&) = delete;

  void add(const SpacePixel& pixel, std::uint64_t gain, std::uint8_t* result) {
    red_[count_] = light_of_code(tables_, pixel.red);
    green_[count_] = light_of_code(tables_, pixel.green);
    blue_[count_] = light_of_code(tables_, pixel.blue);
    gain_[count_] = light_gain(gain);
    results_[count_] = result;
    if (++count_ == kPixels) flush();
  }

  /// Writes what was added and not written yet.
  void flush() {
    kernels_.map(red_.data(), green_.data(), blue_.data(), gain_.data(), count_);
    for (std::size_t i = 0; i < count_; ++i) {
      std::uint8_t* q = results_[i];
      q[layout_.r] = static_cast<std::uint8_t>(code_of_light(tables_, red_[i]));
      q[layout_.g] = static_cast<std::uint8_t>(code_of_light(tables_, green_[i]));
      q[layout_.b] = static_cast<std::uint8_t>(code_of_light(tables_, blue_[i]));
    }
    count_ = 0;
  }

 private:
  static constexpr std::size_t kPixels = 256;
  using Row = std::array<float, kPixels + kRowSlack>;

  const SpaceTables& tables_;
  RgbLayout layout_;
  const HueKernels& kernels_ = hue_kernels();
  std::size_t count_ = 0;
  Row red_{}, green_{}, blue_{}, gain_{};
  std::array<std::uint8_t*, kPixels> results_{};
};

}  // namespace equalux
