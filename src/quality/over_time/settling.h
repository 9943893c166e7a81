#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "src/quality/planes.h"

/// How long a result takes to find its tone after a cut.
namespace equalux::quality {

/// What a result makes of the original's levels: the mean V of the pixels whose original V lies in
/// each class of eight levels.
struct ToneCurve {
  static constexpr std::size_t kClasses = 32;
  std::array<double, kClasses> level{};
  std::array<std::uint32_t, kClasses> pixels{};
};
[[nodiscard]] ToneCurve tone_curve_of(const Planes& original, const Planes& result);

/// How far two curves are apart: RMS over the classes that hold at least 0.5 % of both frames,
/// weighted by their pixels; levels. Nothing where no class does.
[[nodiscard]] std::optional<double> tone_distance(const ToneCurve& a, const ToneCurve& b);

/// How far per-frame equalization would move its curve between two frames, because the original's
/// own histogram moved: 255 times the difference of the cumulative shares of the classes, RMS,
/// weighted by pixels; levels.
[[nodiscard]] double histogram_move(const ToneCurve& a, const ToneCurve& b);

/// Frames after a cut in which the tone must have settled, and those behind whose mean it settles
/// to.
inline constexpr std::size_t kSettleWithin = 20;
inline constexpr std::size_t kSettledOver = 10;
inline constexpr double kSettleTolerance = 2;  ///< levels

/// Frames after a cut until the curve comes near the mean curve of its later frames, kSettleWithin
/// to kSettleWithin + kSettledOver after the cut (the last kSettledOver of a shorter shot), and
/// stays there: 0 = from its first frame on; kSettleWithin = not within those. Near is within
/// kSettleTolerance and what the original's histogram has moved since. `curves` is the shot's, from
/// the cut on. Nothing for shots under 2 kSettledOver frames.
[[nodiscard]] std::optional<std::size_t> frames_to_settle(const std::vector<ToneCurve>& curves);

}  // namespace equalux::quality
