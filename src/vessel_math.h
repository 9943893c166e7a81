#pragma once

#include <cstdint>
#include <limits>

#include <equalux/hessian.h>

#include "hessian_math.h"

/// Arithmetic of `vessel` and `shapes` on single pixels, written once for host and device.
/// Formulas: docs/hessian.md.
namespace equalux {

/// Largest threshold that is accepted; a contrast can't get near it.
inline constexpr double kMaxVesselThreshold = 10;

/// Where a measure becomes a vessel, resolved.
struct VesselThresholds {
  double low;
  double high;
};
[[nodiscard]] inline VesselThresholds vessel_thresholds(const VesselParams& params) {
  const bool frangi = params.measure == VesselMeasure::frangi;
  return {params.low.value_or(frangi ? 0.15 : 0.08), params.high.value_or(frangi ? 0.4 : 0.16)};
}

}  // namespace equalux
