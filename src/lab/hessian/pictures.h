#pragma once

#include <cstdint>

#include <equalux/hessian.h>

#include "src/lab/lab.h"

/// Pictures for the experiments of the Hessian report, several per size; its own data sets may not
/// be shipped.
namespace equalux::cli::lab {

/// Returns picture `index`, from 0 on, of a size: a synthetic fundus image, bgr, or the user's
/// image, scaled and cropped at a place that depends on `index`.
[[nodiscard]] Image picture_of(const Lab& lab, const FrameSize& size, int index);

/// Returns a channel of a gray8 or packed RGB image as gray8, as the filters read it.
[[nodiscard]] Image channel_of(const ConstImageView& image, HessianChannel channel);

/// Draws a synthetic fundus image, bgr: a lit disc on black with a bright optic disc, dark vessels
/// that branch from it, and noise. Widths scale with the size. Equal seeds give equal images on any
/// machine.
[[nodiscard]] Image fundus_image(const FrameSize& size, std::uint32_t seed);

}  // namespace equalux::cli::lab
