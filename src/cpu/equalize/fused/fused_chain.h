#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include <equalux/filter.h>

#include "src/cpu/common/parallel.h"
#include "src/cpu/equalize/curve_chain.h"
#include "src/cpu/equalize/fused/fused_excluded.h"
#include "src/cpu/equalize/fused/fused_rows.h"
#include "src/cpu/equalize/saturated_rows.h"
#include "src/cpu/equalize/saturation_pass.h"

/// Production chain on the CPU for value and luma: histogram of v, gains, apply. No HSV image
/// exists in memory.
namespace equalux {

/// Chain for 8-bit formats. One thread at a time.
class FusedChain final : public CurveChain {
 public:
  /// Makes a chain; `loops` must outlive it.
  FusedChain(const EqualizeParams& params, RowExecutor& executor, const FusedRows& loops);
  ~FusedChain() override;

  /// Allocates scratch memory for frames of `desc`, of any 8-bit format.
  void configure(const ImageDesc& desc) override;
  void process(const ConstImageView& in, const ImageView& out,
               const FrameContext& context) override;
  void update(const EqualizeParams& params) override;

 private:
  struct Scratch;
  struct Job;
  void count_rows(const Job& job, int begin, int end, int slot);
  void apply_rows(const Job& job, int begin, int end, int slot);
  void count_yuv_row(const Job& job, int row, Scratch& scratch);
  void apply_yuv_row(const Job& job, int row, Scratch& scratch);
  [[nodiscard]] LumaRows luma_rows(int row) const;
  void prepare_colours();
  void sum_histograms();
  void make_curve(const ConstImageView& in, const FrameContext& context);
  /// Makes the gains of a curve for the levels that `present` counts.
  void make_gains_of(const ValueHistogram& present, const CurveTable& curve);
  void set_bins() override;
  void fix_curve() override;
  [[nodiscard]] bool counts_pairs() const;

  RowExecutor& executor_;
  const FusedRows& loops_;
  ImageDesc desc_;
  Sampling sampling_ = Sampling::gray;
  CellCount cells_{};
  YuvWeights weights_{};
  int bins_ = 256;
  bool rgb_luma_ = false;  // v is the luma of packed RGB
  bool interlaced_ = false;
  std::vector<std::unique_ptr<Scratch>> scratch_;  // one for each thread
  ValueHistogram counts_{};
  bool saturates_ = false;     // the present frame has some k other than 1
  SaturatedGains saturated_;   // valid where saturates_
  SaturationPass colours_;     // second step where the curve is over luma
  FusedExcluded not_counted_;  // configured where pixels are excluded
  std::unique_ptr<GainTables> gains_;
};

}  // namespace equalux
