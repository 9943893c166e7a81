#pragma once

/// The power of two by which gains of 8-bit codes are multiplied in single precision.
namespace equalux::cuda {

/// 2^118, with which the product of a gain and the denormal float of 256 code gets the exponent
/// that one addition rounds; see scale_rounded(). The sum of four gains of at most 255 each is
/// still below the largest float.
inline constexpr int kGainExponent = 118;
inline constexpr float kGainScale = 0x1p118f;

}  // namespace equalux::cuda
