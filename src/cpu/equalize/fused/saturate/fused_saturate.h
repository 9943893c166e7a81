#pragma once

#include "src/cpu/equalize/fused/fused_rows.h"

/// Interface between fused_rows.cpp and the files fused_saturate_*.cpp, for each target.
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

/// Loop of one target for the saturation of YCbCr of one sampling: FusedRows::saturate_yuv without
/// that.
using SaturateYuvRow = void(const SaturatedGains& gains, const std::uint64_t* gain48,
                            const YuvWeights& k, Stores stores, const YuvRowIn& in, std::size_t n,
                            const YuvRowOut& out);

}  // namespace equalux
