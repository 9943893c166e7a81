#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <equalux/export.h>
#include <equalux/params.h>

/// Tone curves kept beyond their frames, so that clips stay comparable: docs/algorithm.md, "One
/// curve for a whole study".
namespace equalux {

/// Sums of the curves of frames.
struct CurveSum {
  ToneCurve form;                     ///< space, frames and options; without levels
  std::vector<std::uint64_t> levels;  ///< by level, in ToneCurve's unit

  /// Adds another's frames, whose space is the same; the number of levels stays that of the first.
  EQUALUX_EXPORT void add(const CurveSum& other);
  /// The mean, each level rounded once, halves up. At least one frame.
  [[nodiscard]] EQUALUX_EXPORT ToneCurve mean() const;

  friend bool operator==(const CurveSum&, const CurveSum&) = default;
};

/// The curves that a filter makes of its frames, added up on demand. The filter's thread.
class EQUALUX_EXPORT FilterCurves {
 public:
  /// Adds the curves up from the next configure() on. False where there are none to add: for the
  /// staged chain, and where one curve is given for all frames.
  virtual bool collect() = 0;
  /// What was added up since configure(), the frames under way included; nothing where nothing was
  /// asked for. No part of the temporal state.
  [[nodiscard]] virtual std::optional<CurveSum> sum() const = 0;

 protected:
  ~FilterCurves() = default;
};

/// A curve as the text of a file: JSON with a version.
[[nodiscard]] EQUALUX_EXPORT std::string curve_text(const ToneCurve& curve);
/// Reads the text that curve_text() gave. Throws Error(bad_input) that begins with `name` and tells
/// what is wrong.
[[nodiscard]] EQUALUX_EXPORT ToneCurve curve_from_text(std::string_view text,
                                                       std::string_view name);
/// Reads the curve in a file. Throws Error(no_input) where there is none, and Error(bad_input).
[[nodiscard]] EQUALUX_EXPORT ToneCurve read_curve(const std::string& path);

}  // namespace equalux
