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

/// One thread at a time. Does nothing until start().
class CurveCollector {
 public:
  void start() { active_ = true; }
  [[nodiscard]] bool active() const { return active_; }

  /// Prepares for values from 0 to `max_value`; forgets what was added.
  void configure(int max_value);

  /// A frame's curve: one with limits or over time,
  void add(const CurveTable& curve);
  /// the plain one of its counts,
  void add_plain(const ValueHistogram& counts, Scaler scaler, int bins);
  /// or one of deep samples, W of every value.
  void add_deep(const DeepSamples& form, const std::vector<std::uint32_t>& curve);

  /// The sum of the curves; nothing before start().
  [[nodiscard]] std::optional<CurveSum> sum(const EqualizeParams& params) const;

 private:
  bool active_ = false;
  std::uint64_t frames_ = 0;
  std::vector<std::uint64_t> levels_;
};

}  // namespace equalux
