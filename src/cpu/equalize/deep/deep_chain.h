#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <equalux/filter.h>

#include "src/cpu/common/parallel.h"
#include "src/cpu/common/round_rows.h"
#include "src/cpu/equalize/curve_chain.h"
#include "src/cpu/equalize/deep/deep_rows.h"
#include "src/cpu/equalize/deep/deep_saturation_pass.h"
#include "src/equalize/deep_curve.h"

/// Equalization of frames of more than 8 bits on the CPU: histogram of v, curve, gains, apply.
namespace equalux {

/// W of every v, 0 to M. `counts` holds the pixels of each v, one at least; `bin_ends`
/// last_of_bin() of each v, or nothing where every value has a bin of its own; `levels` has room
/// for as many.
void make_deep_curve(const std::vector<std::uint32_t>& counts,
                     const std::vector<std::uint32_t>& bin_ends, Scaler scaler,
                     const DeepRows& loops, std::vector<std::uint32_t>& levels);

/// One thread at a time.
class DeepChain final : public CurveChain {
 public:
  /// `loops` outlive the chain.
  DeepChain(const EqualizeParams& params, RowExecutor& executor, const DeepRows& loops);

  void round_to(std::optional<PixelFormat> format) override;
  /// Allocates for frames of `desc`, any format with has_deep_samples().
  void configure(const ImageDesc& desc) override;
  void process(const ConstImageView& in, const ImageView& out,
               const FrameContext& context) override;

 private:
  struct Job;
  /// What one thread counts: two tables, for neighbours of equal value not to wait on each other.
  struct Scratch {
    std::vector<std::uint32_t> even;
    std::vector<std::uint32_t> odd;
    // Where fractions are rounded: rows of both lumas, or of the pixels, and of chroma, one behind
    // the other, with their fractions; and as many bytes of a packed row.
    std::vector<std::uint8_t> fine;
    std::vector<std::uint8_t> levels;
  };

  void count_rows(const Job& job, int begin, int end, Scratch& scratch) const;
  void apply_rows(const Job& job, int begin, int end) const;
  void apply_rounded(const Job& job, int begin, int end, Scratch& scratch) const;
  void round_yuv(const Job& job, int y, const YuvRowIn& in, Scratch& scratch) const;
  void sum_histograms();
  void make_curve(const FrameContext& context);
  void shape_curve(const tone::Frame& frame);
  void make_factors(const saturation::Rule& rule, const CurveTable& curve);
  void make_gains();
  /// What the rows of a frame become, by its curve and saturation.
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
  std::vector<Scratch> scratch_;  // by slot
  // By v, 0 to M.
  std::vector<std::uint32_t> counts_;
  std::vector<std::uint32_t> bin_ends_;  // empty where every value has a bin of its own
  DeepGains gains_;
  bool saturates_ = false;                  // the frame at hand has a k that is not 1
  DeepSaturation saturation_;               // where that is so
  DeepSaturationPass colours_;              // of frames whose luma the curve is of
  std::optional<FractionRounder> rounder_;  // nothing where frames are whole
};

}  // namespace equalux
