#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "src/cpu/equalize/curve_collector.h"
#include "src/cpu/equalize/curve_maker.h"
#include "src/cpu/equalize/excluded_pixels.h"
#include "src/equalize/equalize_chain.h"
#include "src/equalize/tone/tone_control.h"

/// Common part of the CPU's chains that make curves.
namespace equalux {

/// Limits, history and sum of a stream's curves, and the pixels that they leave out. One thread at
/// a time.
class CurveChain : public EqualizeChain {
 public:
  void update(const EqualizeParams& params) override;
  void reset() override;
  [[nodiscard]] std::string save() const override;
  void load(std::string_view state) override;
  void collect_curves() final { collector_.start(); }
  [[nodiscard]] std::optional<CurveSum> curve_sum() const final { return collector_.sum(params_); }

 protected:
  explicit CurveChain(const EqualizeParams& params) : params_(params), control_(params) {}

  /// Common part of configure(): curves of levels up to `max_value`, according to the parameters.
  /// Calls set_bins() and fix_curve(), for which the chain must be ready.
  void start_curves(int max_value);
  /// Takes over the number of bins from the parameters.
  virtual void set_bins();
  /// Makes the tables of a curve that the parameters give for all frames.
  virtual void fix_curve() = 0;

  EqualizeParams params_;
  tone::Control control_;
  CurveMaker curves_;
  CurveCollector collector_;
  std::unique_ptr<ExcludedPixels> excluded_;  // null in chains in which all pixels count

 private:
  int max_value_ = 0;  // 0 until configured
};

}  // namespace equalux
