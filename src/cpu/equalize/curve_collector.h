#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include <equalux/curve.h>
#include <equalux/params.h>

#include "src/cpu/equalize/curve_maker.h"
#include "src/equalize/deep_curve.h"

/// Adds up the curves of a stream of frames on the CPU.
namespace equalux {

/// Sum of curves, which does nothing before start(). One thread at a time.
class CurveCollector {
 public:
  void start() { active_ = true; }
  [[nodiscard]] bool active() const { return active_; }

  /// Prepares for levels 0 to `max_value` and forgets the sum.
  void configure(int max_value);

  /// Adds a frame's curve with limits or over time.
  void add(const CurveTable& curve);
  /// Adds the plain curve of a histogram.
  void add_plain(const ValueHistogram& counts, Scaler scaler, int bins);
  /// Adds a curve of deep samples, W of every level.
  void add_deep(const DeepSamples& form, const std::vector<std::uint32_t>& curve);

  /// Returns the sum of the curves; nothing before start().
  [[nodiscard]] std::optional<CurveSum> sum(const EqualizeParams& params) const;

 private:
  bool active_ = false;
  std::uint64_t frames_ = 0;
  std::vector<std::uint64_t> levels_;
};

}  // namespace equalux
