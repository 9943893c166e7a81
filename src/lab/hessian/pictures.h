#pragma once

#include <cstdint>

#include <equalux/hessian.h>

#include "src/lab/lab.h"

/// What the experiments of the Hessian report look at: several pictures a size. The report's own
/// data sets are not ours to ship.
namespace equalux::cli::lab {

/// Picture number `index`, from 0 on, of a size: an eye that the program draws, bgr, or the user's
/// image, scaled and cut at a place of its own.
[[nodiscard]] Image picture_of(const Lab& lab, const FrameSize& size, int index);

/// A channel of a gray8 or packed RGB image as gray8; the filters read the same.
[[nodiscard]] Image channel_of(const ConstImageView& image, HessianChannel channel);

/// A picture like that of the back of an eye, bgr: a lit disc on black, in it a bright spot from
/// which dark vessels branch, and noise. Widths grow with the size. The same for a seed anywhere.
[[nodiscard]] Image fundus_image(const FrameSize& size, std::uint32_t seed);

}  // namespace equalux::cli::lab
