#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include <equalux/filter.h>

#include "cpu/fused_rows.h"
#include "cpu/parallel.h"
#include "tone_curve.h"

/// The production path on the CPU: histogram of v, gains, apply. No HSV image exists in memory.
namespace equalux {

/// The gains that equalize a frame with these counts. `max_value` is M, `bins` 2 to 65,536.
/// Values that the frame does not have get gain 1.
void make_gains(const ValueHistogram& counts, Scaler scaler, int bins, std::int32_t max_value,
                std::int32_t max_code, const RowKernels& kernels, GainTables& gains);

/// One thread at a time.
class FusedChain {
 public:
  /// `kernels` outlive the chain.
  FusedChain(const EqualizeParams& params, RowExecutor& executor, const RowKernels& kernels);
  ~FusedChain();

  /// Allocates scratch memory for frames of `desc`, any 8-bit format.
  void configure(const ImageDesc& desc);
  /// Filters one frame; `in` and `out` may be the same memory with the same strides.
  void process(const ConstImageView& in, const ImageView& out, const FrameContext& context);

 private:
  struct Scratch;
  struct Job;
  void count_rows(const Job& job, int begin, int end, int slot);
  void apply_rows(const Job& job, int begin, int end, int slot);
  void count_yuv_row(const Job& job, int row, Scratch& scratch);
  void apply_yuv_row(const Job& job, int row, Scratch& scratch);
  YuvRowIn gather_yuv_row(const ConstImageView& in, int row, LumaRows rows, Scratch& scratch) const;
  /// Where a row's bytes lie, whatever they hold: all of them, once each.
  [[nodiscard]] YuvRowIn packed_yuv_row(const ConstImageView& in, int row) const;
  [[nodiscard]] LumaRows luma_rows(int row) const;
  [[nodiscard]] YuvLayout layout() const;
  void sum_histograms();
  [[nodiscard]] bool counts_pairs() const;

  EqualizeParams params_;
  RowExecutor& executor_;
  const RowKernels& kernels_;
  ImageDesc desc_;
  YuvWeights weights_{};
  int bins_ = 256;
  bool interlaced_ = false;
  std::vector<std::unique_ptr<Scratch>> scratch_;  // by slot
  ValueHistogram counts_{};
  std::unique_ptr<GainTables> gains_;
};

}  // namespace equalux
