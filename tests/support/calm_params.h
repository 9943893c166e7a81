#pragma once

#include <equalux/params.h>

namespace equalux::test {

/// Every limit of the curve, and a curve over time that brightens faster than it darkens.
inline EqualizeParams calm_params() {
  EqualizeParams params;
  params.strength = 0.8;
  params.clip_limit = 3;
  params.max_gain = 6;
  params.min_gain = 0.8;
  params.floor = 0.5;
  params.ceiling = 99.5;
  params.temporal_ms = 1000;
  params.brighten_ms = 400;
  return params;
}

}  // namespace equalux::test
