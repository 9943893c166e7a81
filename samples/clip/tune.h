// The sound of the sample clip: two slow chords, a few plucked notes, water.
#pragma once

#include <cstdint>
#include <vector>

namespace clip {

inline constexpr int kSampleRate = 48000;

// Interleaved stereo, 16 bit. From `dive_at` seconds on it is heard from under water.
std::vector<std::int16_t> play_tune(float seconds, float dive_at);

}  // namespace clip
