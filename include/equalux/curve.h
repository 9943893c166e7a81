#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <equalux/export.h>
#include <equalux/params.h>

/// Tone curves kept beyond their frames, so that clips stay comparable: docs/algorithm.md, "One
/// curve for a whole study".
namespace equalux {

/// Curves of frames, added up.
struct CurveSum {
  ToneCurve form;                     ///< space, frames and options; without levels
  std::vector<std::uint64_t> levels;  ///< by level, in ToneCurve's unit

  /// Adds another's frames, whose space is the same; the number of levels stays that of the first.
  EQUALUX_EXPORT void add(const CurveSum& other);
  /// The mean, each level rounded once, halves up. At least one frame.
  [[nodiscard]] EQUALUX_EXPORT ToneCurve mean() const;

  friend bool operator==(const CurveSum&, const CurveSum&) = default;
};

/// A curve as the text of a file: JSON with a version.
[[nodiscard]] EQUALUX_EXPORT std::string curve_text(const ToneCurve& curve);
/// What curve_text() gave. Throws Error(bad_input) that begins with `name` and tells what is wrong.
[[nodiscard]] EQUALUX_EXPORT ToneCurve curve_from_text(std::string_view text,
                                                       std::string_view name);
/// The curve in a file. Throws Error(no_input) where there is none, Error(bad_input) as above.
[[nodiscard]] EQUALUX_EXPORT ToneCurve read_curve(const std::string& path);

}  // namespace equalux
