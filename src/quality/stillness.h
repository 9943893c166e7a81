#pragma once

#include "src/quality/blocks.h"

/// Where the original stands still from one frame to the next, whatever its light does.
namespace equalux::quality {

struct Stillness {
  double light = 1;  ///< of this frame over the last one's: the median ratio of the blocks' means
  BlockMask still;
  std::size_t count = 0;  ///< of still blocks
  /// Correlation of the blocks' means in the two frames: near 1 for light, noise and slow motion;
  /// 0 for pictures that have nothing in common, and where a frame is flat.
  double likeness = 0;
};

/// A block stands still where, with the light undone, it differs from the last frame by no more
/// than noise does: RMS difference at most 2 sqrt(1 + light^2) sigma + 0.75 levels, sigma as
/// noise_sigma() finds it in `now`; 0.75 is two roundings.
[[nodiscard]] Stillness find_stillness(const Planes& last, const Planes& now,
                                       const BlockGrid& grid);

}  // namespace equalux::quality
