#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <equalux/convolve.h>

#include "cpu/parallel.h"
#include "exact_kernel.h"

/// Convolution of a frame's first plane on the CPU. Rows are rows of bytes, a sample's neighbours
/// lie `step` bytes beside it.
namespace equalux {

/// Samples outside the frame.
struct BorderRule {
  Border border = Border::replicate;
  std::uint8_t value = 0;  ///< where border is constant
};

/// The report's reference: one sample after another, plain loops. One thread at a time.
class SequentialConvolution {
 public:
  SequentialConvolution(ExactKernel kernel, const BorderRule& border);

  /// Allocates for frames of `desc`.
  void configure(const ImageDesc& desc);
  /// Convolves plane 0 of a frame; `in` and `out` must not overlap. A fourth byte is copied.
  void process(const ConstImageView& in, const ImageView& out) const;

 private:
  [[nodiscard]] std::uint8_t sample(const ConstImageView& in, int x, int y, int channel) const;

  ExactKernel kernel_;
  BorderRule border_;
  std::vector<std::int64_t> weights_;  // size · size
  std::vector<int> columns_;  // byte offset of the pixel for position x - radius, -1 = constant
  std::vector<int> lines_;    // row for position y - radius, -1 = constant
};

}  // namespace equalux
