#pragma once

#include <array>
#include <cstdint>

#include "src/quality/planes.h"

/// How levels are distributed, over the frame and within its blocks.
namespace equalux::quality {

using LevelHistogram = std::array<std::uint64_t, 256>;
[[nodiscard]] LevelHistogram value_histogram(const Planes& planes);
/// The histogram of luma, rounded.
[[nodiscard]] LevelHistogram luma_histogram(const Planes& planes);

/// Shannon entropy, -sum of p log2 p: 0 for one level, 8 bits for 256 equally frequent ones. Taken
/// of luma: a curve on V merges levels of V and can only lower V's own entropy.
[[nodiscard]] double entropy_bits(const LevelHistogram& histogram);

/// Mean level; of V, as a rule. Its absolute difference between a frame and its original is the
/// frame's absolute mean brightness error (AMBE).
[[nodiscard]] double mean_level(const LevelHistogram& histogram);

/// Side of the blocks of eme_db(), pixels.
inline constexpr int kEmeBlock = 8;

/// Measure of enhancement (Agaian et al.): the mean over whole blocks of 8x8 pixels of
/// 20 log10((max V + 1) / (min V + 1)), in decibels. The 1 keeps blocks with black in them finite:
/// V of 0 counts as one level. Columns and rows beyond the last whole block are left out; a frame
/// under 8 pixels a side is one block.
[[nodiscard]] double eme_db(const Planes& planes);

}  // namespace equalux::quality
