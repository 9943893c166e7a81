#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "pipelines/core/frame_pool.h"
#include "pipelines/core/sink.h"
#include "pipelines/live/record_names.h"

/// Recording of a run's frames beside its other output, in files of bounded length.
namespace equalux {

struct RecordOptions {
  std::string path;                          ///< see RecordNames
  std::optional<std::int64_t> split_ns;      ///< a new file after this time, by timestamps
  std::optional<std::uint64_t> split_bytes;  ///< a new file once this one has so many bytes
  /// Makes the sink of one file.
  std::function<std::unique_ptr<Sink>(const std::string& path)> make_sink;
};

/// Switch for recording, set by a key, a request or the page. Any thread.
struct RecordSwitch {
  std::atomic<bool> on{false};
};

struct RecordCounts {
  std::uint64_t frames = 0;   ///< passed to a file of which something is there
  std::uint64_t dropped = 0;  ///< frames that should have been recorded
  std::uint64_t files = 0;    ///< started, without those of which nothing is left
  std::string failure = {};   ///< why the last recording ended early; empty = it did not
};

/// Records frames. Each file begins with a frame that the previous one does not have, at time 0,
/// with a sink of its own, and therefore with a key frame. Frames are copied and written in a
/// thread of its own: up to a second of frames waits; further frames of a live source are dropped
/// and counted, while other sources wait. Where a file cannot be written or closed the recording
/// stops, the switch goes off, and code() tells; what exists of that file stays under its partial
/// name.
/// Recording may be switched on again.
///
/// The run calls open(), add() and finish(); any thread may call the rest.
class Recorder {
 public:
  /// `wanted` must outlive this object.
  Recorder(RecordOptions options, RecordSwitch& wanted);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  /// Opens the first file, to find errors before any frame. Throws Error.
  void open(const StreamInfo& info);
  /// Copies a frame, if the switch is on. Does not wait if the source is live.
  void add(const Frame& frame);
  /// Writes waiting frames and closes.
  void finish() noexcept;
  /// Called when the run is being stopped: files whose encoder is stuck are abandoned within
  /// seconds.
  void cancel() noexcept;

  [[nodiscard]] RecordCounts counts() const;
  /// Returns done, or the code of the first failure.
  [[nodiscard]] ExitCode code() const;

 private:
  struct File {
    std::string path;
    std::shared_ptr<Sink> sink;
    std::int64_t start_ns = 0;
    std::uint64_t frames = 0;
    std::uint64_t recording = 0;  ///< that it belongs to
  };

  void settle_transparency();
  void push(FramePtr frame);
  void work() noexcept;
  void write(Frame& frame);
  void begin_file();
  void watch(const std::shared_ptr<Sink>& sink);
  void end_file();
  [[nodiscard]] bool is_full(const Frame& frame) const;
  void close(File file) noexcept;
  void note_failure(const Error& error, const File* file) noexcept;
  void stop_at(const Error& error) noexcept;

  const RecordOptions options_;
  RecordSwitch& wanted_;
  StreamInfo info_;
  std::optional<FramePool> pool_;
  bool taking_ = false;  // used by add(): the last frame was to be recorded

  // Used by work() only.
  RecordNames names_;
  std::optional<File> file_;
  bool failed_ = false;  // frames up to the next end are dropped
  std::thread closing_;  // closes the previous file, which takes time

  mutable std::mutex mutex_;  // guards waiting_, finished_, counts_ and code_
  std::condition_variable changed_;
  std::deque<FramePtr> waiting_;  // null = end of a recording
  bool finished_ = false;
  std::atomic<bool> broken_{false};          // add() has to end the recording that failed
  std::atomic<std::uint64_t> recording_{0};  // number of the recording that files belong to
  RecordCounts counts_;
  ExitCode code_ = ExitCode::done;

  std::mutex sinks_mutex_;  // guards sinks_ and cancelled_
  std::vector<std::weak_ptr<Sink>> sinks_;
  bool cancelled_ = false;

  std::thread worker_;
};

}  // namespace equalux
