#pragma once

#include <optional>

#include "src/quality/planes.h"

/// Structural similarity of two pictures.
namespace equalux::quality {

/// Side of the window, pixels.
inline constexpr int kSsimWindow = 11;

/// Returns the structural similarity of luma (Wang et al. 2004): 11x11 Gaussian window of sigma
/// 1.5, K1 = 0.01, K2 = 0.03, 255 levels, mean over the windows inside the frame; 1 for equal
/// frames. Nothing for a side under 11 pixels. Sizes must be equal.
[[nodiscard]] std::optional<double> ssim(const Planes& a, const Planes& b);

}  // namespace equalux::quality
