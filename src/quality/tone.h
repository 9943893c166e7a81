#pragma once

#include <array>
#include <cstdint>

#include "quality/planes.h"

/// How levels are distributed.
namespace equalux::quality {

using ValueHistogram = std::array<std::uint64_t, 256>;
[[nodiscard]] ValueHistogram value_histogram(const Planes& planes);

/// Shannon entropy, -sum of p log2 p: 0 for one level, 8 bits for 256 equally frequent ones.
[[nodiscard]] double entropy_bits(const ValueHistogram& histogram);

/// Mean level of V. Its absolute difference between a frame and its original is the frame's
/// absolute mean brightness error (AMBE).
[[nodiscard]] double mean_level(const ValueHistogram& histogram);

}  // namespace equalux::quality
