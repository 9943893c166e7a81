#pragma once

#include "src/cpu/equalize/fused/fused_rows.h"

/// Interface between fused_rows.cpp and fused_saturate_rgb.cpp, for each target.
namespace equalux {

/// Loops of one target for the saturation of packed RGB, and the tests of their tables; the members
/// are those of FusedRows.
struct SaturatingRgbRows {
  decltype(FusedRows::saturate_rgb) row;
  decltype(FusedRows::saturates_exactly) exactly;
  decltype(FusedRows::word_range) word_range;
  decltype(FusedRows::word_lines) word_lines;
  decltype(FusedRows::word_gains_step) word_gains_step;
};

}  // namespace equalux
