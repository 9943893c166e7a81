#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <equalux/filter.h>

#include "src/cpu/common/parallel.h"
#include "src/cpu/common/round_rows.h"
#include "src/cpu/equalize/curve_chain.h"
#include "src/cpu/equalize/deep/deep_excluded.h"
#include "src/cpu/equalize/deep/deep_rows.h"
#include "src/cpu/equalize/deep/deep_saturation_pass.h"
#include "src/equalize/deep_curve.h"

/// Equalization of frames of more than 8 bits on the CPU: histogram of v, curve, gains, apply.
namespace equalux {

/// Makes W of every v, 0 to M. `counts` is the histogram of v, with one pixel at least; `bin_ends`
/// is last_of_bin() of each v, empty where every level has a bin of its own; `levels` has room for
/// as many.
void make_deep_curve(const std::vector<std::uint32_t>& counts,
                     const std::vector<std::uint32_t>& bin_ends, Scaler scaler,
                     const DeepRows& loops, std::vector<std::uint32_t>& levels);

/// Chain for formats of more than 8 bits. One thread at a time.
class DeepChain final : public CurveChain {
 public:
  /// Makes a chain; `loops` must outlive it.
  DeepChain(const EqualizeParams& params, RowExecutor& executor, const DeepRows& loops);

  void round_to(std::optional<PixelFormat> format) override;
  /// Allocates for frames of `desc`, of any format with has_deep_samples().
  void configure(const ImageDesc& desc) override;
  void process(const ConstImageView& in, const ImageView& out,
               const FrameContext& context) override;
  void update(const EqualizeParams& params) override;

 private:
  struct Job;
  /// Counters of one thread: two tables, so that equal neighbours do not wait for each other.
  struct Scratch {
    std::vector<std::uint32_t> even;
    std::vector<std::uint32_t> odd;
    // Buffers for rounding: rows of both lumas or of the pixels, then of chroma, with their
    // fractions; and as many bytes of a packed row.
    std::vector<std::uint8_t> fine;
    std::vector<std::uint8_t> levels;
  };

  void count_rows(const Job& job, int begin, int end, Scratch& scratch) const;
  void apply_rows(const Job& job, int begin, int end) const;
  void apply_rounded(const Job& job, int begin, int end, Scratch& scratch) const;
  void round_yuv(const Job& job, int y, const YuvRowIn& in, Scratch& scratch) const;
  void sum_histograms();
  void make_curve(const ConstImageView& in, const FrameContext& context);
  void shape_curve(const std::vector<std::uint32_t>& included, const tone::Frame& frame);
  void make_factors(const saturation::Rule& rule, const CurveTable& curve);
  void make_gains();
  /// Scale rows by the curve and saturation of the present frame.
  void scale_rgb(Stores stores, const std::uint8_t* in, std::uint8_t* out) const;
  void scale_yuv(Stores stores, LumaRows rows, const YuvRowIn& in, const YuvRowOut& out) const;
  void set_bins() override;
  void fix_curve() override;
  [[nodiscard]] std::size_t levels() const;
  [[nodiscard]] LumaRows luma_rows(const Job& job, int row) const;
  [[nodiscard]] DeepYuvForm yuv_form(LumaRows rows) const;

  RowExecutor& executor_;
  const DeepRows& loops_;
  ImageDesc desc_;
  DeepSamples form_{};
  std::vector<Scratch> scratch_;  // one for each thread
  DeepExcluded not_counted_;      // configured where pixels are excluded
  // Tables by v, 0 to M.
  std::vector<std::uint32_t> counts_;
  std::vector<std::uint32_t> bin_ends_;  // empty where every level has a bin of its own
  DeepGains gains_;
  bool saturates_ = false;                  // the present frame has some k other than 1
  DeepSaturation saturation_;               // valid where saturates_
  DeepSaturationPass colours_;              // second step where the curve is over luma
  std::optional<FractionRounder> rounder_;  // nothing where frames hold whole levels
};

}  // namespace equalux
