#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pipelines/core/frame.h"
#include "pipelines/live/steering.h"

/// State of a window: what it shows, and when. Keys and pacing, without a window.
namespace equalux {

enum class WindowPicture : std::uint8_t { after, before, split };

struct WindowState {
  WindowPicture picture = WindowPicture::after;
  bool tones = false;  ///< the panel of histograms and tone curve
  bool help = false;   ///< the panel of keys
  bool full = false;   ///< fills the screen
  bool paused = false;
  bool closed = false;
  bool still_wanted = false;  ///< until it is written
  friend bool operator==(const WindowState&, const WindowState&) = default;
};

/// Returns the state after a key as waitKey() gives it: q and Esc close, space shows before or
/// after, s splits, h shows the tones, ? the keys, Enter fills the screen, p pauses, w asks for a
/// still. Other keys, and -1, change nothing.
[[nodiscard]] WindowState after_key(WindowState state, int key);

/// Steers the filter by a key: f switches it, [ and ] change strength, - and = (or +) the clip
/// limit, comma and full stop the time constant, n and b take the next preset and the previous one,
/// r starts and stops a recording; other signs are those of the filters' options. Returns true
/// where the key was one of these. Throws Error(usage) where this run has nothing that the key
/// changes.
bool steer_by_key(Steering& steering, int key);

/// Returns the keys of a window with what they do; those of a steering, which may be null, come
/// last.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> window_keys(
    const Steering* steering);

/// Shortens the name of a stream, for titles that must show what comes behind it: a launch string
/// may have hundreds of letters.
[[nodiscard]] std::string short_name(const std::string& name);

/// Returns a title such as "equalux: clip.mkv - 29.9 fps - before, paused".
[[nodiscard]] std::string window_title(const std::string& name, double fps,
                                       const WindowState& state);

/// Decides when a frame of a file is due, so that it plays at its own speed.
///
/// A late frame is due at once. A very late one, or one whose timestamp goes back, sets the clock
/// again: later frames keep their distance, and nothing is played faster to catch up.
class Pacer {
 public:
  [[nodiscard]] Clock::time_point due(std::int64_t pts_ns, Clock::time_point now);
  /// Moves the clock by the length of a pause.
  void delay(Clock::duration by);

 private:
  std::optional<Clock::time_point> start_;  // when pts 0 was or would have been due
  std::int64_t last_pts_ns_ = 0;
};

/// Measures frames per second over about the last second.
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
