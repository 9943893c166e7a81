#pragma once

#include "src/cpu/equalize/fused/fused_rows.h"

/// What fused_rows.cpp takes of fused_saturate_rgb.cpp for each target.
namespace equalux {

/// One target's loops that change the saturation of packed RGB, and how their tables are tried, as
/// FusedRows has them.
struct SaturatingRgbRows {
  decltype(FusedRows::saturate_rgb) row;
  decltype(FusedRows::saturates_exactly) exactly;
  decltype(FusedRows::word_range) word_range;
  decltype(FusedRows::word_lines) word_lines;
  decltype(FusedRows::word_gains_step) word_gains_step;
};

}  // namespace equalux
