#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <equalux/convolve.h>

#include "src/convolve/exact_kernel.h"
#include "src/cpu/common/parallel.h"
#include "src/cpu/convolve/bordered_rows.h"
#include "src/cpu/convolve/convolve_rows.h"
#include "src/cpu/convolve/separable.h"

/// Convolution of a frame's first plane on the CPU. Rows are rows of bytes; neighbouring samples
/// are `step` bytes apart.
namespace equalux {

/// Reference of the report: one sample after another in plain loops. One thread at a time.
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
  std::vector<std::int64_t> weights_;  // size · size, row by row
  std::vector<int> columns_;           // byte offset of the pixel at x - radius, -1 = constant
  std::vector<int> lines_;             // row at y - radius, -1 = constant
};

/// Production convolution. One thread at a time; its rows run on the executor's threads.
class Convolution {
 public:
  /// Makes the convolution; `executor` must outlive it.
  Convolution(ExactKernel kernel, const BorderRule& border, RowExecutor& executor,
              const ConvolveRows& loops);
  ~Convolution();

  /// Allocates for frames of `desc`.
  void configure(const ImageDesc& desc);
  /// Convolves plane 0 of a frame; `in` and `out` must not overlap. A fourth byte is copied.
  void process(const ConstImageView& in, const ImageView& out);

 private:
  /// Width of the sums of kernels that are not separable.
  enum class Sums : std::uint8_t { short_taps, long_taps };
  struct Scratch;

  void make_taps();
  void direct_row(Scratch& scratch, const RowOut& to) const;
  void direct_strip(Scratch& scratch, std::size_t first, std::size_t count, const RowOut& to) const;
  void run_taps(const std::uint8_t* const* rows, const RowOut& to) const;
  /// Returns RowOut::copied.
  [[nodiscard]] const std::uint8_t* copied() const {
    return copied_.empty() ? nullptr : copied_.data();
  }

  ExactKernel kernel_;
  BorderRule border_;
  RowExecutor& executor_;
  ConvolveRows loops_;
  Sums sums_ = Sums::long_taps;
  std::optional<SeparableConvolution> separable_;  // used for separable kernels, in place of taps
  BorderedRows rows_;
  ShortTaps short_taps_;
  LongTaps long_taps_;
  std::vector<std::uint8_t> copied_;               // kConvolveBytes of RowOut::copied, or empty
  std::vector<std::unique_ptr<Scratch>> scratch_;  // one for each thread, unless separable
};

}  // namespace equalux
