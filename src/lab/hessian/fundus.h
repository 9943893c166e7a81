#pragma once

#include <cstdint>

#include <equalux/image.h>

#include "src/lab/frame_size.h"

/// Pictures for the Hessian report's experiments, whose data sets are not ours to ship.
namespace equalux::cli::lab {

/// A picture like that of the back of an eye, bgr: a lit disc on black, in it a bright spot from
/// which dark vessels branch, and noise. Widths grow with the size. The same for a seed anywhere.
[[nodiscard]] Image fundus_image(const FrameSize& size, std::uint32_t seed);

}  // namespace equalux::cli::lab
