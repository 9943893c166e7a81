#pragma once

#include <equalux/hessian.h>

#include "src/lab/lab.h"

/// What the experiments of the Hessian report look at: several pictures a size.
namespace equalux::cli::lab {

/// Picture number `index`, from 0 on, of a size: an eye that the program draws, bgr, or the user's
/// image, scaled and cut at a place of its own.
[[nodiscard]] Image picture_of(const Lab& lab, const FrameSize& size, int index);

/// A channel of a gray8 or packed RGB image as gray8; the filters read the same.
[[nodiscard]] Image channel_of(const ConstImageView& image, HessianChannel channel);

}  // namespace equalux::cli::lab
