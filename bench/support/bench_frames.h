#pragma once

#include <vector>

#include <equalux/image.h>

/// Frames that all benchmarks share.
namespace equalux::bench {

/// Draws `count` frames of a textured, unevenly lit scene that moves from frame to frame: natural
/// in its histogram and in the similarity of neighbouring pixels.
[[nodiscard]] std::vector<Image> natural_frames(const ImageDesc& desc, int count);

/// Returns the number of frames that exceed the last-level cache, so that each comes from memory;
/// at least 6.
[[nodiscard]] int ring_length(const ImageDesc& desc);

}  // namespace equalux::bench
