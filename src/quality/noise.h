#pragma once

#include <optional>

#include "src/quality/blocks.h"

/// Noise estimates from a single frame.
namespace equalux::quality {

/// Returns the blocks without structure: of the blocks with a mean luma of 8 to 247, where noise is
/// not clipped, the quarter, at least four, whose sixteen 4x4 parts differ least in mean luma, in
/// which noise averages out. Chosen in the original and used for its result too; none where fewer
/// than four blocks are in range.
[[nodiscard]] BlockMask flat_blocks(const Planes& planes, const BlockGrid& grid);

/// Returns the standard deviation of luma noise, levels, as root mean square over the flat blocks
/// (Immerkaer 1996: sqrt(pi/2) / 6 times the mean absolute response to the difference of two
/// Laplacians, which is 0 on flat areas and slopes); nothing where there are no blocks.
[[nodiscard]] std::optional<double> noise_sigma(const Planes& planes, const BlockGrid& grid,
                                                const BlockMask& flat);

}  // namespace equalux::quality
