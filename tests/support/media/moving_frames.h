#pragma once

#include <cstdint>

#include <equalux/filter.h>
#include <equalux/image.h>

/// A stream in which everything happens that a curve over time reacts to.
namespace equalux::test {

/// Frame `number` of the stream with that seed, the same on every machine: a picture whose light
/// flickers and fades, cuts to other pictures, something bright that comes and goes, black frames,
/// white ones and ones of a single colour.
void fill_moving(const ImageView& view, int number, std::uint32_t seed = 1);

/// What a filter is told of frame `number`: its index, and its time at 25 frames a second.
[[nodiscard]] FrameContext moving_context(int number);

}  // namespace equalux::test
