#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <equalux/export.h>
#include <equalux/params.h>

/// Tone curves that are kept beyond their frames, so that clips stay comparable: docs/algorithm.md,
/// "One curve for a whole study".
namespace equalux {

/// Sum of the tone curves of many frames, from which mean() makes one curve.
struct CurveSum {
  ToneCurve form;                     ///< space, number of frames, options; its levels stay empty
  std::vector<std::uint64_t> levels;  ///< sum for each level, in units of ToneCurve::kUnit

  /// Adds the frames of another sum of the same space. The number of levels stays that of the first
  /// sum; curves with the other number are interpolated.
  EQUALUX_EXPORT void add(const CurveSum& other);
  /// Returns the mean curve, each level rounded half up. Needs at least one frame.
  [[nodiscard]] EQUALUX_EXPORT ToneCurve mean() const;

  friend bool operator==(const CurveSum&, const CurveSum&) = default;
};

/// Access to the curves that a filter makes of its frames, added up on demand. Call it in the
/// thread that calls the filter.
class EQUALUX_EXPORT FilterCurves {
 public:
  /// Starts adding up curves with the next configure(). Returns false where no curve is made: for
  /// the staged chain, and where one curve is given for all frames.
  virtual bool collect() = 0;
  /// Returns the sum since configure(), frames still under way on a GPU included, or nothing where
  /// collect() was not called. The sum is no part of the temporal state: save() leaves it out.
  [[nodiscard]] virtual std::optional<CurveSum> sum() const = 0;

 protected:
  ~FilterCurves() = default;
};

/// Returns a curve as the text of a file: JSON with a version.
[[nodiscard]] EQUALUX_EXPORT std::string curve_text(const ToneCurve& curve);
/// Reads text that curve_text() made. Throws Error(bad_input), whose message begins with `name` and
/// says what is wrong.
[[nodiscard]] EQUALUX_EXPORT ToneCurve curve_from_text(std::string_view text,
                                                       std::string_view name);
/// Reads the curve in a file. Throws Error(no_input) where the file is missing, and
/// Error(bad_input) where it holds no curve.
[[nodiscard]] EQUALUX_EXPORT ToneCurve read_curve(const std::string& path);

}  // namespace equalux
