#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "src/quality/planes.h"

/// Time that a result takes to settle its tone after a cut.
namespace equalux::quality {

/// Tone curve as measured on a result: the mean V of the pixels whose original V lies in each class
/// of eight levels.
struct ToneCurve {
  static constexpr std::size_t kClasses = 32;
  std::array<double, kClasses> level{};
  std::array<std::uint32_t, kClasses> pixels{};
};
[[nodiscard]] ToneCurve tone_curve_of(const Planes& original, const Planes& result);

/// Returns the RMS distance of two curves, levels, over the classes that hold at least 0.5 % of
/// both frames, weighted by the pixels of `a`; nothing where there is no such class.
[[nodiscard]] std::optional<double> tone_distance(const ToneCurve& a, const ToneCurve& b);

/// Returns how far equalization of each frame by itself would move its tone curve from `a` to `b`,
/// as the original's histogram moved: 255 times the RMS difference of the cumulative shares of the
/// classes, weighted by the pixels of `a`; levels.
[[nodiscard]] double histogram_move(const ToneCurve& a, const ToneCurve& b);

/// Frames after a cut within which the tone should settle, and the number of later frames whose
/// mean curve is the settled one.
inline constexpr std::size_t kSettleWithin = 20;
inline constexpr std::size_t kSettledOver = 10;
inline constexpr double kSettleTolerance = 2;  ///< levels

/// Returns the number of frames after a cut until the tone curve is near the settled one and stays
/// there. The settled curve is the mean over kSettledOver frames that begin kSettleWithin after the
/// cut, or the last kSettledOver of a shorter shot. Near means within kSettleTolerance plus
/// histogram_move() to the settled curve. 0 = settled from the first frame; at most the number of
/// frames before the settled ones, which means not settled earlier. `curves`: those of the shot,
/// from the cut on. Nothing for a shot of fewer than 2 kSettledOver frames.
[[nodiscard]] std::optional<std::size_t> frames_to_settle(const std::vector<ToneCurve>& curves);

}  // namespace equalux::quality
