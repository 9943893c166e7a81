#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <equalux/filter.h>
#include <equalux/params.h>

#include "src/equalize/saturation.h"
#include "src/equalize/tone/tone_history.h"
#include "src/equalize/tone/tone_limits.h"

/// Host part of curves with limits or a history: the parameters of each frame's curve. Both
/// backends use it, so that they agree to the bit.
namespace equalux::tone {

/// Returns true where parameters ask for more than plain equalization.
[[nodiscard]] bool shapes_curve(const EqualizeParams& params);

/// Parameters of one frame's curve.
struct Frame {
  Limits limits;
  Rates rates;
  saturation::Rule saturation;  ///< rule for k of saturation
  bool over_time = false;       ///< the curve follows from the history and this frame
  bool fresh = false;           ///< the history is not of the frames before
};

/// Parameters that change over time. One thread at a time.
class Control {
 public:
  explicit Control(const EqualizeParams& params);

  /// Returns false where the curve is plain, so that the chains' exact gains apply.
  [[nodiscard]] bool active() const { return active_; }

  /// Returns the parameters of the next frame's curve; the frame's timestamp advances time.
  [[nodiscard]] Frame next(const FrameContext& context);

  /// Takes new limits and time constants. With a time constant limits change gradually over the
  /// next frames, else at once.
  void update(const EqualizeParams& params);
  void reset();

  /// Returns this state and a history as JSON text. The history is one of levels up to `max_value`.
  [[nodiscard]] std::string save(const History& current, int max_value) const;
  /// Restores a text of save(). Throws Error(usage) where it is none, or of other levels.
  [[nodiscard]] History load(std::string_view state, int max_value);

 private:
  /// Limits on their way to the set values. Clip limit and largest gain are inverses (0 = none),
  /// saturation and its bound divided by 4, least_span is the inverse of stretch. flat_strength and
  /// spread_min_gain are the additions of the auto settings, see Limits.
  struct Eased {
    double strength = 1;
    double floor = 0;
    double ceiling = 1;
    double inverse_clip = 0;
    double inverse_gain = 0;
    double min_gain = 0;
    double saturation = 0.25;
    double saturation_max = 0.25;
    double flat_strength = 0;
    double spread_min_gain = 0;
    double least_span = 1;
  };
  static Eased target_of(const EqualizeParams& params);
  [[nodiscard]] Limits limits() const;

  EqualizeParams params_;
  bool active_;
  Eased target_;
  Eased now_;
  bool started_ = false;    ///< frames were seen; before that, limits change at once
  bool continues_ = false;  ///< the last frame left a history
  std::optional<std::int64_t> last_pts_ns_;
  /// Last step between frames, for timestamps that do not rise.
  std::int64_t step_ns_ = 33'333'333;
};

}  // namespace equalux::tone
