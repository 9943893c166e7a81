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

/// The engine that moves frames from a source through a processor to a sink, each in a thread of
/// its own.
namespace equalux {

/// Asks a run to end early; set from a signal handler or another thread.
struct StopToken {
  std::atomic<int> signal{0};  ///< 0, SIGINT or SIGTERM
};

struct RunProgress {
  std::uint64_t frames = 0;  ///< that the sink is done with
  std::optional<std::uint64_t> expected;
  double fps = 0;  ///< over about the last second
  double elapsed_s = 0;
  std::optional<double> fraction;  ///< 0 to 1, from frames or timestamps
};

/// A place in a stream from which a later run can continue, with the same frames as this one.
struct Checkpoint {
  std::uint64_t frames = 0;       ///< before it
  std::int64_t first_pts_ns = 0;  ///< of the first of them
  std::int64_t media_end_ns = 0;  ///< the latest end of any of them
  std::string filters;            ///< result of Processor::save()
  std::string sink;               ///< result of Sink::checkpoint()
};

struct RunOptions {
  std::uint64_t max_frames = 0;  ///< 0 = all
  std::size_t queue_depth = 3;   ///< frames in each queue; live sources use 1
  /// Called once on the calling thread, before on_open, with the source's own stream.
  std::function<void(const StreamInfo&)> on_source;
  /// Called once on the calling thread, before the sink opens, with the stream that the sink will
  /// get: the source's, in the filters' format.
  std::function<void(const StreamInfo&)> on_open;
  /// Called on the sink's thread for each frame that the sink is done with, with complete timings;
  /// if unset, nothing is measured.
  std::function<void(const Frame&)> on_frame;
  /// Called with each filtered frame before the sink writes it (frame hashes).
  std::function<void(const Frame&)> on_result;
  /// Frames between checkpoints, counted from the source's first; 0 = none. With checkpoints, a run
  /// that is stopped, or fails after the first one, ends as Ending::suspended.
  std::uint64_t checkpoint_every = 0;
  /// Called on the sink's thread once the sink has made its part of a checkpoint.
  std::function<void(const Checkpoint&)> on_checkpoint;
  /// Checkpoint to continue from. Source and filters must be those of the run that made it, and so
  /// must the sink, made with `Checkpoint::sink`. Frames before it are read and dropped.
  std::optional<Checkpoint> resume_from;
  /// Called with each frame before the processor gets it, on the processing thread, from which
  /// Processor::update() may be called: for parameters that change while frames move.
  std::function<void(Processor&, Frame&)> on_submit;
  /// Asked on the processing thread before each frame that the sink does not want
  /// (Sink::wants_frames()): true if on_frame or on_result want it. If nobody does, the frame is
  /// not filtered and reaches them as Frame::unseen. Unset = on_result wants all frames.
  std::function<bool()> wants_frames;
  /// True where frames in on_frame and on_result carry their originals.
  bool keep_original = false;
  /// True where frames in on_result keep their transparency even if the sink does not.
  bool keep_alpha = false;
  /// Called once, on a thread of its own, when the run is being stopped.
  std::function<void()> on_stop;
  /// Called about twice a second on the calling thread.
  std::function<void(const RunProgress&)> on_progress;
};

struct RunResult {
  ExitCode code = ExitCode::done;  ///< done, partial, interrupted or terminated
  std::uint64_t frames_in = 0;     ///< with those before resume_from, and dropped ones of a live
                                   ///< source
  std::uint64_t frames_out = 0;    ///< includes those before resume_from
  std::uint64_t dropped = 0;       ///< in the queues, or by a live source itself
  std::uint64_t in_flight = 0;     ///< the rest of frames_in: in flight when the run ended
  bool live = false;               ///< frames arrived in real time
  std::uint64_t late = 0;          ///< live: frames whose latency exceeded the duration of a frame
  std::uint64_t reconnects = 0;    ///< live: times that the source was opened again
  std::uint64_t placeholders = 0;  ///< live: part of frames_in, not from the source
  double elapsed_s = 0;            ///< from the request of the first frame to the sink's end
  double media_s = 0;              ///< of the frames written, by their timestamps
  std::string partial_reason;      ///< set where code is partial
  bool suspended = false;          ///< the output is kept under its partial name to be continued
  bool processor_failed = false;   ///< after the first frame: a device was lost
};

/// Runs to the end of the source, a closed sink, max_frames or `stop`. An exception of any stage
/// ends the other stages, closes the sink and is rethrown here: as Error(write_failed, ...) for
/// sinks. A source that fails after its first frame leaves a partial output instead, and so does a
/// processor after its first result; before that it throws ProcessorFailed if its device failed.
/// Throws CannotResume where resume_from does not fit.
RunResult run(Source& source, Processor& processor, Sink& sink, const RunOptions& options,
              const StopToken& stop);

}  // namespace equalux
