#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "src/cpu/equalize/curve_collector.h"
#include "src/cpu/equalize/curve_maker.h"
#include "src/equalize/equalize_chain.h"
#include "src/equalize/tone_control.h"

/// What the CPU's chains that make curves share.
namespace equalux {

/// Limits and history of a stream's curves, and their sum. One thread at a time.
class CurveChain : public EqualizeChain {
 public:
  void update(const EqualizeParams& params) override;
  void reset() override { control_.reset(); }
  [[nodiscard]] std::string save() const override;
  void load(std::string_view state) override;
  void collect_curves() final { collector_.start(); }
  [[nodiscard]] std::optional<CurveSum> curve_sum() const final { return collector_.sum(params_); }

 protected:
  explicit CurveChain(const EqualizeParams& params) : params_(params), control_(params) {}

  /// The part of configure() that is alike: curves of levels up to `max_value`, as the parameters
  /// ask for. Calls the two below, for which the chain must be ready.
  void start_curves(int max_value);
  /// Takes over how many bins the parameters ask for.
  virtual void set_bins();
  /// Makes what apply() needs of the curve that the parameters bring, for all frames.
  virtual void fix_curve() = 0;

  EqualizeParams params_;
  tone::Control control_;
  CurveMaker curves_;
  CurveCollector collector_;

 private:
  int max_value_ = 0;  // 0 until configured
};

}  // namespace equalux
