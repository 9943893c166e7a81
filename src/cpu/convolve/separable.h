#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "src/convolve/exact_kernel.h"
#include "src/cpu/common/parallel.h"
#include "src/cpu/convolve/bordered_rows.h"
#include "src/cpu/convolve/convolve_rows.h"

/// Convolution with the separable kernels `gaussian` and `box` in one pass over the frame.
namespace equalux {

/// Convolution in strips of columns. A thread walks down a strip, sums each row once along itself,
/// and keeps the sums of the rows under the kernel in a ring that fits in a cache: L1 for a
/// Gaussian, which reads every row again for each two rows of results; L2 for a box, where one row
/// enters and one leaves. One frame at a time; strips run on the executor's threads.
class SeparableConvolution {
 public:
  /// Makes the convolution; `executor` must outlive it.
  SeparableConvolution(const ExactKernel& kernel, RowExecutor& executor, const ConvolveRows& loops);
  ~SeparableConvolution();

  /// Allocates for frames with these rows; `copied` as in RowOut.
  void configure(const BorderedRows& rows, const std::uint8_t* copied);
  void process(const ConstImageView& in, const ImageView& out, Stores stores);

 private:
  struct Scratch;
  /// Piece of a strip: columns in bytes, and rows.
  struct Job {
    std::size_t first = 0;
    std::size_t count = 0;
    int begin = 0;
    int end = 0;
  };
  struct Frame {
    const ConstImageView& in;
    const ImageView& out;
    Stores stores;
  };

  [[nodiscard]] Job job(int index) const;
  [[nodiscard]] const std::uint8_t* samples(const Frame& frame, const Job& job, int y,
                                            Scratch& scratch) const;
  [[nodiscard]] RowOut result(const Frame& frame, const Job& job, int y, std::uint8_t* spare) const;
  void finish(const Frame& frame, const Job& job, int y, const RowOut& to) const;
  void run_gaussian(const Frame& frame, const Job& job, Scratch& scratch) const;
  void run_box(const Frame& frame, const Job& job, Scratch& scratch) const;

  [[nodiscard]] int size() const { return 2 * radius_ + 1; }

  RowExecutor& executor_;
  ConvolveRows loops_;
  bool box_;
  int radius_ = 0;
  GaussianWeights weights_;  // unless a box
  BorderedRows rows_;
  const std::uint8_t* copied_ = nullptr;
  std::size_t before_ = 0;  // bytes read before a strip, and at most as many behind
  std::size_t strip_ = 0;   // bytes of each strip but the last
  std::size_t pitch_ = 0;   // distance of the ring's rows, in samples
  std::size_t tile_ = 0;    // columns of a Gaussian's results that are made at a time
  int held_ = 0;            // rows of the ring
  int strips_ = 1;
  int bands_ = 1;
  std::vector<std::unique_ptr<Scratch>> scratch_;  // one for each thread
};

}  // namespace equalux
