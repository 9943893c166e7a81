#pragma once

#include <memory>
#include <string>

#include <equalux/error.h>

#include "pipelines/core/frame.h"
#include "pipelines/core/source.h"

/// Destinations of frames: a file, a window, a pipe.
namespace equalux {

/// Kinds of ends of a stream, which decide what a sink does with its output.
enum class Ending : std::uint8_t {
  complete,   ///< every frame is there
  shortened,  ///< ended early on request: enough frames, or a closed window
  partial,    ///< closed, playable and given its final name, but short
  failed,     ///< nothing may be left under the final name
  suspended,  ///< ended early, to be continued: NAME.partial.EXT stays, playable
};

/// Thrown where the rest of an output cannot be continued, and the output has to be started again.
class CannotResume : public Error {
 public:
  explicit CannotResume(const std::string& message) : Error(ExitCode::usage, message) {}
};

/// Takes frames. All calls come from one thread: the sink's, or the main thread where
/// needs_main_thread().
class Sink {
 public:
  virtual ~Sink() = default;

  /// Prepares the output for frames of `info.desc` (the filters' output format). Everything that
  /// can be found wrong is found here. Throws Error(cannot_create, usage, unavailable), after
  /// cleaning up: finish() is then not called.
  virtual void open(const StreamInfo& info) = 0;

  /// Takes one frame; may wait. Throws Error(write_failed).
  virtual void write(Frame& frame) = 0;

  /// Makes everything written so far independent of what follows, so that it survives the end of
  /// this process. Returns what a sink of the same output needs to continue from here, in a form of
  /// its own; empty where it cannot. Throws Error(write_failed).
  [[nodiscard]] virtual std::string checkpoint() { return {}; }

  /// Ends the output. Called once after an open() that returned, also after a failure, and with
  /// `failed` where no frame came. Throws Error(write_failed).
  virtual void finish(Ending ending) = 0;

  /// Returns true for windows: open, write, idle and finish are then called on the main thread.
  [[nodiscard]] virtual bool needs_main_thread() const { return false; }
  /// Returns true where frames should carry their originals (before/after display).
  [[nodiscard]] virtual bool wants_original() const { return false; }
  /// False while nobody sees what is written: frames may then come as Frame::unseen, and none is
  /// filtered for this sink. Any thread may ask between open() and finish().
  [[nodiscard]] virtual bool wants_frames() const { return true; }
  /// Returns true where the output itself stores how its pictures have to be turned, or nobody
  /// looks at them.
  [[nodiscard]] virtual bool keeps_orientation(const StreamInfo& info) const {
    (void)info;
    return false;
  }
  /// Returns why transparency is lost here and what keeps it, in words that follow "it is lost, ";
  /// empty where the output keeps it. Asked before open() about frames with Frame::alpha, and about
  /// packed RGB with an alpha sample, which most outputs that take it pass on.
  [[nodiscard]] virtual std::string why_opaque(const StreamInfo& info) const {
    return info.transparent ? "the output holds opaque pictures alone" : "";
  }
  /// Returns true once the sink wants no more frames (a window was closed): the run ends as
  /// complete.
  [[nodiscard]] virtual bool closed() const { return false; }
  /// Called when the run is being stopped: an open or a write that waits for others (a full pipe, a
  /// paused window, an encoder that gives nothing) should give up within seconds, all of them
  /// together within five. Any thread may call it, also before open().
  virtual void cancel() noexcept {}
  /// Called between frames where needs_main_thread(), to handle a window's events while no frames
  /// come.
  virtual void idle() {}

  /// Returns what the output lacks of the input, though every frame was written; nothing where it
  /// is whole. Asked after finish(), and makes the result partial.
  [[nodiscard]] virtual std::optional<std::string> shortfall() const { return std::nullopt; }
  /// Returns a line about the result for the end of the run; empty where there is nothing to tell.
  /// Asked after finish().
  [[nodiscard]] virtual std::string summary() const { return {}; }
  /// Returns the final path, for messages; empty where there is none.
  [[nodiscard]] virtual std::string name() const { return {}; }
};

/// Speed at which frames that are not live are dropped.
enum class NullPace : std::uint8_t {
  none,      ///< as fast as they come, to time everything before the sink
  of_times,  ///< at the pace of their times, for those who watch a run or steer it
};

/// Makes the sink `null`, which drops every frame.
[[nodiscard]] std::unique_ptr<Sink> make_null_sink(NullPace pace = NullPace::none);

}  // namespace equalux
