#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <equalux/error.h>

#include "pipelines/core/processor.h"
#include "pipelines/core/sink.h"
#include "pipelines/core/source.h"

/// Moves frames from a source through a processor to a sink, each in a thread of its own.
namespace equalux {

/// Asks a run to end early; set from a signal handler or another thread.
struct StopToken {
  std::atomic<int> signal{0};  ///< 0, SIGINT or SIGTERM
};

struct RunProgress {
  std::uint64_t frames = 0;  ///< through the sink
  std::optional<std::uint64_t> expected;
  double fps = 0;  ///< over the last second or so
  double elapsed_s = 0;
  std::optional<double> fraction;  ///< 0 to 1, from frames or timestamps
};

/// A place in a stream that a later run can go on from, with the same frames as this one.
struct Checkpoint {
  std::uint64_t frames = 0;       ///< before it
  std::int64_t first_pts_ns = 0;  ///< of the first of them
  std::int64_t media_end_ns = 0;  ///< the latest end of any of them
  std::string filters;            ///< Processor::save()
  std::string sink;               ///< Sink::checkpoint()
};

struct RunOptions {
  std::uint64_t max_frames = 0;  ///< 0 = all
  std::size_t queue_depth = 3;   ///< frames each queue holds; live sources use 1
  /// Called once on the calling thread, before on_open, with the source's stream as it is.
  std::function<void(const StreamInfo&)> on_source;
  /// Called once on the calling thread, before the sink opens, with what the sink will be told:
  /// the source's stream with the filters' format.
  std::function<void(const StreamInfo&)> on_open;
  /// Called for each frame when the sink is through with it, with complete timings, on the sink's
  /// thread; unset means that nothing is measured.
  std::function<void(const Frame&)> on_frame;
  /// Called with each filtered frame before the sink writes it (frame hashes).
  std::function<void(const Frame&)> on_result;
  /// Frames from one checkpoint to the next, counted from the source's first; 0 = none. With
  /// checkpoints, a run that is stopped, or fails behind the first one, ends as Ending::suspended.
  std::uint64_t checkpoint_every = 0;
  /// Called on the sink's thread once the sink has made its side of a checkpoint.
  std::function<void(const Checkpoint&)> on_checkpoint;
  /// Where to go on; source and filters are those of the run that made it, and so is the sink, made
  /// with `Checkpoint::sink`. Frames before it are read and dropped.
  std::optional<Checkpoint> resume_from;
  /// Called with each frame before the processor gets it, on the processing thread, which is the
  /// one that Processor::update() wants: parameters that change while frames move.
  std::function<void(Processor&, Frame&)> on_submit;
  /// Asked before each frame that the sink does not want (Sink::wants_frames()), on the processing
  /// thread: whether on_frame or on_result do. Where nobody does, the frame is not filtered, and
  /// comes to them as Frame::unseen. Unset = on_result wants all there are.
  std::function<bool()> wants_frames;
  /// Frames that on_frame and on_result see carry their originals.
  bool keep_original = false;
  /// Frames that on_result sees keep their transparency, also where the sink does not.
  bool keep_alpha = false;
  /// The run is being stopped; called once, on a thread of its own.
  std::function<void()> on_stop;
  /// Called about twice a second on the calling thread.
  std::function<void(const RunProgress&)> on_progress;
};

struct RunResult {
  ExitCode code = ExitCode::done;  ///< done, partial, interrupted or terminated
  std::uint64_t frames_in = 0;   ///< with those before resume_from, and that a live source dropped
  std::uint64_t frames_out = 0;  ///< likewise those before resume_from
  std::uint64_t dropped = 0;     ///< on the way, or by a live source itself
  std::uint64_t in_flight = 0;   ///< the rest of frames_in: under way when the run was left
  bool live = false;             ///< frames came as time passed; the three below count then
  std::uint64_t late = 0;        ///< took longer from captured to through the sink than a frame's
                                 ///< time
  std::uint64_t reconnects = 0;  ///< the source was opened again
  std::uint64_t placeholders = 0;  ///< of frames_in, not from the source
  double elapsed_s = 0;            ///< from the first frame asked for to the sink's end
  double media_s = 0;              ///< of the frames written, by their timestamps
  std::string partial_reason;      ///< set where code is partial
  bool suspended = false;          ///< the output waits under its partial name to be continued
  bool processor_failed = false;   ///< behind the first frame: a device that was lost
};

/// Runs to the end of the source, a closed sink, max_frames or `stop`. Exceptions of any stage
/// end the others, close the sink and come out of here: as Error(write_failed, ...) for sinks;
/// a source that fails after its first frame leaves a partial output instead, and so does a
/// processor after its first result; before that it is ProcessorFailed where its device failed.
/// Throws CannotResume where resume_from does not fit.
RunResult run(Source& source, Processor& processor, Sink& sink, const RunOptions& options,
              const StopToken& stop);

}  // namespace equalux
