#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <equalux/filter.h>

#include "cpu/curve_collector.h"
#include "cpu/curve_maker.h"
#include "cpu/excluded_pixels.h"
#include "cpu/fused_rows.h"
#include "cpu/parallel.h"
#include "tone_control.h"

/// The production path on the CPU: histogram of v, gains, apply. No HSV image exists in memory.
namespace equalux {

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

  /// Other parameters of the curve and its bins, from the next frame on.
  void update(const EqualizeParams& params);
  /// As of a Filter. load() comes after configure().
  void reset();
  [[nodiscard]] std::string save() const;
  void load(std::string_view state);
  void collect_curves() { collector_.start(); }
  [[nodiscard]] std::optional<CurveSum> curve_sum() const { return collector_.sum(params_); }

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
  void make_curve(const ConstImageView& in, const FrameContext& context);
  void set_bins();
  /// Makes the gains of the parameters' curve, which then hold for all frames.
  void fix_gains();
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
  ExcludedPixels excluded_;
  tone::Control control_;
  CurveMaker curves_;
  CurveCollector collector_;
  std::unique_ptr<GainTables> gains_;
};

}  // namespace equalux
