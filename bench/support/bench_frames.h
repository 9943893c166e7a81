#pragma once

#include <vector>

#include <equalux/image.h>

/// Frames that every benchmark shares.
namespace equalux::bench {

/// `count` frames of a textured, unevenly lit scene that moves from one to the next: natural in
/// histogram and in how neighbouring pixels resemble each other.
[[nodiscard]] std::vector<Image> natural_frames(const ImageDesc& desc, int count);

/// As many frames as exceed the last-level cache, so that each comes from memory; at least 6.
[[nodiscard]] int ring_length(const ImageDesc& desc);

}  // namespace equalux::bench
