#pragma once

/// What the gains of 8-bit codes are times in single precision.
namespace equalux::cuda {

/// 2^118: a code times 256, read as a float, is then a product that a sum rounds; see
/// scale_rounded(). The sum of four gains, of 255 at most each, is still a float.
inline constexpr int kGainExponent = 118;
inline constexpr float kGainScale = 0x1p118f;

}  // namespace equalux::cuda
