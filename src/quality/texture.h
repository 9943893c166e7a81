#pragma once

#include "src/quality/planes.h"

/// How much of a picture's fine detail a result has kept.
namespace equalux::quality {

/// Sums over the pixels where the original has detail.
struct TextureSums {
  double common = 0;    ///< of detail of the original times that of the result, levels^2
  double original = 0;  ///< of the square of the original's detail, levels^2
};

/// Detail is luma less its blur by the binomial weights of 5x5 (1 4 6 4 1), and lies in the cells
/// of 8x8 pixels where its RMS in the original is 1 level or more, and 3 times what noise of
/// `sigma` levels has there. `common` over `original` is the transfer of detail: the cross spectrum
/// of both over the spectrum of the original (Kirk et al. 2014, for charts of dead leaves), here as
/// one number over the fine frequencies. 1 has kept all, 0 none, and over 1 has been sharpened;
/// what a result adds without relation to the original, noise above all, counts for nothing. Cells
/// that come nearer than 2 pixels to a side of the frame are left out.
[[nodiscard]] TextureSums texture_sums(const Planes& original, const Planes& result, double sigma);

}  // namespace equalux::quality
