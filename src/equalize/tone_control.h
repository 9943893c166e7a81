#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <equalux/filter.h>
#include <equalux/params.h>

#include "src/equalize/saturation.h"
#include "src/equalize/tone_history.h"
#include "src/equalize/tone_limits.h"

/// The host's part of curves with limits or a history: what each frame's curve is made with. The
/// same for both backends, so that they agree to the bit.
namespace equalux::tone {

/// True where parameters ask for more than plain equalization.
[[nodiscard]] bool shapes_curve(const EqualizeParams& params);

/// What the curve of one frame is made with.
struct Frame {
  Limits limits;
  Rates rates;
  saturation::Rule saturation;  ///< of the factor of S
  bool over_time = false;       ///< the curve follows from the history and this frame
  bool fresh = false;           ///< whatever the history holds is not of the frames before
};

/// One thread at a time.
class Control {
 public:
  explicit Control(const EqualizeParams& params);

  /// False where the curve is plain and exact_gain_fraction serves.
  [[nodiscard]] bool active() const { return active_; }

  /// What the next frame's curve is made with; moves on by its timestamp.
  [[nodiscard]] Frame next(const FrameContext& context);

  /// Takes new limits and time constants. With a time constant they are eased in over the next
  /// frames, else they hold at once.
  void update(const EqualizeParams& params);
  void reset();

  /// The control's own state and a history as JSON text; the history fits frames with levels up to
  /// `max_value`.
  [[nodiscard]] std::string save(const History& current, int max_value) const;
  /// What save() wrote. Throws Error(usage) where the text is nothing of the kind, or of other
  /// levels.
  [[nodiscard]] History load(std::string_view state, int max_value);

 private:
  /// Limits on the way to what they were set to. Clip limit and gain go by their inverses, 0 =
  /// none; saturation and its bound by their part of 4. Flat strength and spread least
  /// gain are what strength auto has more in pictures without contrast, and min-gain auto in those
  /// that have it; the least span is the inverse of stretch.
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
  bool started_ = false;    ///< frames were seen; before, nothing is eased
  bool continues_ = false;  ///< the last frame left a history
  std::optional<std::int64_t> last_pts_ns_;
  std::int64_t step_ns_ = 33'333'333;  ///< from frame to frame, where timestamps don't tell
};

}  // namespace equalux::tone
