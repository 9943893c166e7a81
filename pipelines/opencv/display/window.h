#pragma once

#include <memory>
#include <string>

#include "pipelines/core/sink.h"
#include "pipelines/live/steering.h"

/// Frames on the screen, through OpenCV's highgui.
namespace equalux {

struct WindowOptions {
  std::string title;             ///< in the title bar; empty = the stream's name
  std::string still_folder;      ///< where key `w` writes; empty = the current folder
  Steering* steering = nullptr;  ///< changed by the filter's keys; null = they do nothing
};

/// Makes a sink that shows frames: live ones at once, a file's at their timestamps. Keys: q or Esc
/// quits, space shows before or after, s splits the picture between them, h overlays histograms of
/// V and the tone curve, ? the keys, Enter fills the screen, p pauses, w writes both as
/// equalux-YYYYMMDD-HHMMSS-N.png (before, then after). With a steering: f filter on or off, [ ]
/// strength, - = clip limit, comma and full stop time constant, n b next and previous preset.
/// Closing the window quits. Frames larger than the screen are scaled down.
///
/// needs_main_thread(). open() throws Error(unavailable) where no display answers, write() and
/// idle() throw Error(write_failed) where it goes away. At most one at a time.
[[nodiscard]] std::unique_ptr<Sink> make_window_sink(const WindowOptions& options = {});

}  // namespace equalux
