#pragma once

#include <optional>

#include "src/quality/planes.h"

/// Likeness of two pictures.
namespace equalux::quality {

/// Side of the window, pixels.
inline constexpr int kSsimWindow = 11;

/// Structural similarity of luma (Wang et al. 2004): Gaussian window of 11x11 and sigma 1.5,
/// K1 = 0.01, K2 = 0.03, 255 levels, mean over the windows that lie inside the frame; 1 for equal
/// frames. Nothing for frames under 11 pixels a side. Sizes must be equal.
[[nodiscard]] std::optional<double> ssim(const Planes& a, const Planes& b);

}  // namespace equalux::quality
