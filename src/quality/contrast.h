#pragma once

#include "src/quality/planes.h"

/// Local contrast.
namespace equalux::quality {

/// Side of the blocks, pixels.
inline constexpr int kEmeBlock = 8;

/// Measure of enhancement (Agaian et al.): the mean over whole blocks of 8x8 pixels of
/// 20 log10((max V + 1) / (min V + 1)), in decibels. The 1 keeps blocks with black in them finite:
/// V of 0 counts as one level. Columns and rows beyond the last whole block are left out; a frame
/// under 8 pixels a side is one block.
[[nodiscard]] double eme_db(const Planes& planes);

}  // namespace equalux::quality
