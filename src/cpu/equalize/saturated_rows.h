#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "src/equalize/deep_curve.h"
#include "src/format/layout.h"

/// Rows of the fused and of the deep chain where saturation is changed too: plain C++, one channel
/// after the other. Counterparts of apply_rgb and apply_yuv of FusedRows and DeepRows, which
/// serve wherever k is 1; `n` counts pixels, and rows lie as there.
namespace equalux {

/// What a frame's pixels become.
struct SaturatedCurve {
  const std::uint32_t* levels;  ///< W by v, 0 to M; black stays black
  std::uint32_t saturation;     ///< k of saturation::kOne
};

/// The same for 8 bits.
struct SaturatedGains {
  SaturatedCurve curve;
  /// A channel is this times saturation::part(), which is rounded: W / (v 2^30), and a little more.
  std::array<double, 256> scales;
};
/// Fills `scales` of v = 1 to 255.
void make_scales(SaturatedGains& gains);

/// Packed RGB of 8 bits; W has tone::kCurveBits.
void saturate_rgb(const SaturatedGains& gains, const RgbLayout& at, const std::uint8_t* in,
                  std::size_t n, std::uint8_t* out);
/// YCbCr of 8 bits; `gain48` is gain_48() by v.
void saturate_yuv(const SaturatedGains& gains, const std::uint64_t* gain48, Sampling sampling,
                  const YuvWeights& weights, const YuvRowIn& in, std::size_t n,
                  const YuvRowOut& out);

/// Packed RGB of more bits; W has kDeepCurveBits.
void saturate_deep_rgb(const SaturatedCurve& curve, const DeepSamples& form, const RgbLayout& at,
                       const std::uint8_t* in, std::size_t n, std::uint8_t* out);
/// YCbCr of more bits: `rows` of luma, 1 or 2, `columns` of it to a chroma sample, 1 or 2, and
/// `chroma_step` bytes from that to the next. `gains` is deep_gain() by v.
struct DeepCells {
  int rows;
  int columns;
  std::size_t chroma_step;
};
void saturate_deep_yuv(const SaturatedCurve& curve, const std::uint64_t* gains,
                       const DeepSamples& form, const DeepCells& cells, const YuvRowIn& in,
                       std::size_t n, const YuvRowOut& out);

}  // namespace equalux
