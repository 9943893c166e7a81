#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "pipelines/v4l2/v4l2_access.h"

/// A camera's own controls: exposure, gain, mains frequency. Some of them work against the filter.
namespace equalux {

struct CameraControl {
  std::uint32_t id = 0;
  std::string name;  ///< as v4l2-ctl spells it, "exposure_time_absolute"
  std::int32_t least = 0;
  std::int32_t most = 0;
  std::int32_t usual = 0;  ///< the driver's default
  std::int32_t value = 0;
  bool inactive = false;  ///< another control overrules it at present
  std::vector<std::pair<std::int32_t, std::string>> choices;  ///< of a menu; empty = a number
  std::string advice;  ///< what to do where it works against the filter; else empty
};

/// Lists the controls that have a number, a switch or a choice, in the driver's order.
[[nodiscard]] std::vector<CameraControl> list_controls(const V4l2Access& node);

/// Sets one control by name: a number, on or off, or a choice by its number or text, in any case.
/// `camera` starts messages. Throws Error(usage) for an unknown name or an invalid value,
/// Error(unavailable) where the camera refuses it.
void set_control(const V4l2Access& node, const std::string& camera, const std::string& name,
                 const std::string& value);

/// Returns "auto_exposure = 3 (aperture priority mode), 0 to 3", without the advice.
[[nodiscard]] std::string describe(const CameraControl& control);

}  // namespace equalux
