#pragma once

#include <array>
#include <cstdint>

#include "src/quality/planes.h"

/// How levels are distributed.
namespace equalux::quality {

using LevelHistogram = std::array<std::uint64_t, 256>;
[[nodiscard]] LevelHistogram value_histogram(const Planes& planes);
/// Of luma, rounded.
[[nodiscard]] LevelHistogram luma_histogram(const Planes& planes);

/// Shannon entropy, -sum of p log2 p: 0 for one level, 8 bits for 256 equally frequent ones. Taken
/// of luma: a curve on V merges levels of V and can only lower V's own entropy.
[[nodiscard]] double entropy_bits(const LevelHistogram& histogram);

/// Mean level; of V, as a rule. Its absolute difference between a frame and its original is the
/// frame's absolute mean brightness error (AMBE).
[[nodiscard]] double mean_level(const LevelHistogram& histogram);

}  // namespace equalux::quality
