#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "pipelines/core/frame.h"
#include "pipelines/live/steering.h"

/// What a window shows, and when: keys and pacing, without a window.
namespace equalux {

enum class WindowPicture : std::uint8_t { after, before, split };

struct WindowState {
  WindowPicture picture = WindowPicture::after;
  bool tones = false;  ///< the histogram and tone-curve panel
  bool paused = false;
  bool closed = false;
  bool still_wanted = false;  ///< until it is written
  friend bool operator==(const WindowState&, const WindowState&) = default;
};

/// The state after a key as waitKey() gives it: q and Esc close, space shows before or after, s
/// splits, h shows the tones, p pauses, w asks for a still. Other keys, and -1, change nothing.
[[nodiscard]] WindowState after_key(WindowState state, int key);

/// Does what a key says of the filter, where it does: f switches it, [ and ] change strength, - and
/// = (or +) the clip limit, comma and full stop the time constant, n and b take the next preset and
/// the one before, r starts and stops a recording. True where the key was one of these.
bool steer_by_key(Steering& steering, int key);

/// "equalux: clip.mkv - 29.9 fps - before, paused".
[[nodiscard]] std::string window_title(const std::string& name, double fps,
                                       const WindowState& state);

/// Decides when a frame of a file is due, so that it plays at its own speed.
///
/// A frame that is late is due at once; one that is very late, or whose timestamp goes back, sets
/// the clock again: what follows keeps its pace and nothing is played faster to catch up.
class Pacer {
 public:
  [[nodiscard]] Clock::time_point due(std::int64_t pts_ns, Clock::time_point now);
  /// The clock stood still for so long (a pause).
  void delay(Clock::duration by);

 private:
  std::optional<Clock::time_point> start_;  // when pts 0 was or would have been due
  std::int64_t last_pts_ns_ = 0;
};

/// Frames a second over the last second or so.
class FrameRateMeter {
 public:
  void count(Clock::time_point now);
  [[nodiscard]] double fps() const { return fps_; }

 private:
  std::optional<Clock::time_point> since_;
  int frames_ = 0;
  double fps_ = 0;
};

}  // namespace equalux
