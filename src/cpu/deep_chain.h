#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <equalux/filter.h>

#include "cpu/curve_collector.h"
#include "cpu/curve_maker.h"
#include "cpu/parallel.h"
#include "deep_curve.h"
#include "tone_control.h"

/// Equalization of frames of more than 8 bits on the CPU: histogram of v, curve, gains, apply.
namespace equalux {

/// W of every v, 0 to M. `counts` holds the pixels of each v, `bin_ends` last_of_bin() of each v;
/// `levels` has room for as many.
void make_deep_curve(const std::vector<std::uint32_t>& counts,
                     const std::vector<std::uint32_t>& bin_ends, Scaler scaler,
                     std::vector<std::uint32_t>& levels);

/// One thread at a time.
class DeepChain {
 public:
  DeepChain(const EqualizeParams& params, RowExecutor& executor);

  /// Allocates for frames of `desc`, any format with has_deep_samples().
  void configure(const ImageDesc& desc);
  /// Filters one frame; `in` and `out` may be the same memory with the same strides.
  void process(const ConstImageView& in, const ImageView& out, const FrameContext& context);

  /// Other parameters of the curve and its bins, from the next frame on.
  void update(const EqualizeParams& params);
  /// As of a Filter. load() comes after configure().
  void reset() { control_.reset(); }
  [[nodiscard]] std::string save() const;
  void load(std::string_view state);
  void collect_curves() { collector_.start(); }
  [[nodiscard]] std::optional<CurveSum> curve_sum() const { return collector_.sum(params_); }

 private:
  struct Job;
  /// What one thread counts: two tables, for neighbours of equal value not to wait on each other.
  struct Scratch {
    std::vector<std::uint32_t> even;
    std::vector<std::uint32_t> odd;
  };

  void count_rows(const Job& job, int begin, int end, Scratch& scratch) const;
  void apply_rows(const Job& job, int begin, int end) const;
  void sum_histograms();
  void make_curve(const FrameContext& context);
  void shape_curve(const tone::Frame& frame);
  void make_gains();
  /// Makes the gains of the parameters' curve, which then hold for all frames.
  void fix_gains();
  void set_bins();
  [[nodiscard]] std::size_t levels() const;

  EqualizeParams params_;
  RowExecutor& executor_;
  ImageDesc desc_;
  DeepSamples form_{};
  tone::Control control_;
  CurveMaker curves_;             // of the coarse levels
  CurveCollector collector_;
  std::vector<Scratch> scratch_;  // by slot
  // By v, 0 to M.
  std::vector<std::uint32_t> counts_;
  std::vector<std::uint32_t> bin_ends_;
  std::vector<std::uint32_t> curve_;  // W, of the values that the frame has
  std::vector<std::uint64_t> gains_;  // of the values that the frame has
  std::vector<std::uint16_t> words_;  // gray: the result, ready to be stored
};

}  // namespace equalux
