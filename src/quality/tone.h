#pragma once

#include <array>
#include <cstdint>

#include "src/quality/planes.h"

/// Distribution of levels, over the frame and within its blocks.
namespace equalux::quality {

using LevelHistogram = std::array<std::uint64_t, 256>;
[[nodiscard]] LevelHistogram value_histogram(const Planes& planes);
/// Returns the histogram of luma, rounded half up.
[[nodiscard]] LevelHistogram luma_histogram(const Planes& planes);

/// Returns the Shannon entropy, -sum of p log2 p: 0 for one level, 8 bits for 256 equally frequent
/// levels. It is taken on luma: a tone curve on V merges levels of V and can only lower V's
/// entropy.
[[nodiscard]] double entropy_bits(const LevelHistogram& histogram);

/// Returns the mean level; of V, as a rule. AMBE, the absolute mean brightness error, is its
/// absolute difference between a frame and its original.
[[nodiscard]] double mean_level(const LevelHistogram& histogram);

/// Side of the blocks of eme_db(), pixels.
inline constexpr int kEmeBlock = 8;

/// Returns the measure of enhancement (EME, Agaian et al.): the mean over whole blocks of 8x8
/// pixels of 20 log10((max V + 1) / (min V + 1)), decibels; the + 1 keeps blocks with black finite.
/// Columns and rows beyond the last whole block are left out; a side of the frame under 8 pixels is
/// a block's side.
[[nodiscard]] double eme_db(const Planes& planes);

}  // namespace equalux::quality
