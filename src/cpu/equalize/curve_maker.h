#pragma once

#include <array>
#include <cstdint>

#include "src/cpu/equalize/fused/fused_rows.h"
#include "src/equalize/fixed_curve.h"
#include "src/equalize/tone/tone_control.h"

/// Curves with limits and over time on the CPU; tone_limits.h and tone_history.h have the
/// arithmetic.
namespace equalux {

/// Makes the curves of one stream of frames. One thread at a time.
class CurveMaker {
 public:
  /// Prepares for levels 0 to `max_value` and forgets the frames seen so far.
  void configure(int max_value);
  /// Sets the number of bins, 2 to 65,536. Call it after configure().
  void set_bins(int bins);

  /// Returns the curve of the next frame, whose histogram has at least one pixel; valid until the
  /// next call.
  const CurveTable& make(const ValueHistogram& counts, const tone::Frame& frame);

  [[nodiscard]] const tone::History& history() const { return history_; }
  void set_history(const tone::History& history) { history_ = history; }

 private:
  using Quantiles = std::array<std::uint32_t, tone::kQuantiles>;

  void measure(const ValueHistogram& counts);
  std::uint32_t absorb_last_frame();
  [[nodiscard]] bool follow(const tone::Rates& rates);
  void start_history();
  [[nodiscard]] tone::FoundEnds ends_of(const tone::Limits& limits) const;
  [[nodiscard]] std::uint32_t evenness_between(const tone::Ends& ends) const;
  void follow_history(const tone::Limits& limits, std::uint32_t brighter);
  void start_curve(const tone::Frame& frame);
  void make_limited(const tone::Limits& limits, const tone::Ends& ends, std::uint32_t evenness);
  void unflicker();

  std::uint32_t max_value_ = 255;
  std::array<std::uint8_t, 256> last_of_bin_{};
  tone::History history_;

  // Intermediate results of the present frame.
  CurveTable frame_{};         ///< cumulative distribution of the frame
  CurveTable distribution_{};  ///< distribution that the curve is made from
  CurveTable curve_{};
  std::uint32_t min_gain_ = 0;  ///< least gain that belongs to the curve
  CurveTable stretched_{};
  std::uint32_t inverse_flicker_ = tone::kUnit;
};

}  // namespace equalux
