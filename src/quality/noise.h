#pragma once

#include <optional>

#include "src/quality/blocks.h"

/// How much noise a frame has, from the frame alone.
namespace equalux::quality {

/// Blocks without structure: the quarter of the frame's blocks whose sixteen parts of 4x4 pixels
/// differ least in mean luma (noise hardly shows there), of those whose mean luma is within 8 and
/// 247, where noise is not cut off. Chosen in the original, and used for its result too. None where
/// fewer than four blocks are left.
[[nodiscard]] BlockMask flat_blocks(const Planes& planes, const BlockGrid& grid);

/// Standard deviation of the noise of luma in those blocks, levels (Immerkaer 1996: the mean
/// absolute response of the difference of two Laplacians, which slopes and flat colours do not
/// have, times sqrt(pi/2) / 6), root mean square over the blocks; nothing where there are none.
[[nodiscard]] std::optional<double> noise_sigma(const Planes& planes, const BlockGrid& grid,
                                                const BlockMask& flat);

}  // namespace equalux::quality
