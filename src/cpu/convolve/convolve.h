#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <equalux/convolve.h>

#include "src/convolve/exact_kernel.h"
#include "src/cpu/common/parallel.h"
#include "src/cpu/convolve/convolve_rows.h"

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

/// The production path. One thread at a time; its rows run on the executor's threads.
class Convolution {
 public:
  /// `executor` must live as long as this.
  Convolution(ExactKernel kernel, const BorderRule& border, RowExecutor& executor,
              const ConvolveKernels& kernels);
  ~Convolution();

  /// Allocates for frames of `desc`.
  void configure(const ImageDesc& desc);
  /// Convolves plane 0 of a frame; `in` and `out` must not overlap. A fourth byte is copied.
  void process(const ConstImageView& in, const ImageView& out);

 private:
  /// How sums are made.
  enum class Sums : std::uint8_t { short_taps, long_taps, separable };
  struct Scratch;

  void make_taps();
  void rows_of(const ConstImageView& in, int y, Scratch& scratch) const;
  void direct_row(Scratch& scratch, const RowOut& to) const;
  void direct_strip(Scratch& scratch, std::size_t first, std::size_t count, const RowOut& to) const;
  void separable_row(Scratch& scratch, const std::uint8_t* leaving, const RowOut& to) const;
  void sum_columns(Scratch& scratch, const std::uint8_t* leaving) const;
  void extend(std::uint32_t* sums) const;
  void gather(const std::uint8_t* row, std::ptrdiff_t first, std::size_t count,
              std::uint8_t* to) const;
  void run_taps(const std::uint8_t* const* rows, const RowOut& to) const;

  ExactKernel kernel_;
  BorderRule border_;
  RowExecutor& executor_;
  ConvolveKernels kernels_;
  Sums sums_ = Sums::separable;
  ImageDesc desc_;
  std::ptrdiff_t step_ = 1;  // bytes from a sample to the one beside it
  std::size_t bytes_ = 0;    // of a row
  ShortTaps short_taps_;
  LongTaps long_taps_;
  LongDivision division_;
  bool slides_ = false;  // separable: all of a column's weights are 1
  std::vector<std::uint8_t> constant_row_;
  std::vector<std::uint8_t> copied_;  // kConvolveBytes, or empty where all bytes are results
  std::vector<std::unique_ptr<Scratch>> scratch_;  // by slot
};

}  // namespace equalux
