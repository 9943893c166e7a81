#pragma once

#include "src/quality/planes.h"

/// Fine detail that a result keeps of its original.
namespace equalux::quality {

/// Sums over the pixels where the original has detail.
struct TextureSums {
  double common = 0;    ///< sum of original's detail times result's detail, levels^2
  double original = 0;  ///< sum of the original's detail squared, levels^2
};

/// Sums detail, luma minus its 5x5 binomial blur (1 4 6 4 1), over the 8x8 cells in which its RMS
/// in the original is at least 1 level and at least 3 times that of noise of `sigma` levels.
/// `common` over `original` is the transfer of detail: cross spectrum over the original's power
/// spectrum (Kirk et al. 2014, for dead leaves charts), as one number for the fine frequencies. 1 =
/// all is kept, 0 = none, above 1 = sharpened; what a result adds without correlation to the
/// original, as noise, counts nothing. Cells begin 2 pixels inside the frame, as the blur needs.
[[nodiscard]] TextureSums texture_sums(const Planes& original, const Planes& result, double sigma);

}  // namespace equalux::quality
