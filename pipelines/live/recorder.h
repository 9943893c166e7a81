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

/// Records the frames of a run beside what else becomes of them, in files of bounded length.
namespace equalux {

struct RecordOptions {
  std::string path;                          ///< see RecordNames
  std::optional<std::int64_t> split_ns;      ///< a new file after so long, by timestamps
  std::optional<std::uint64_t> split_bytes;  ///< a new file once this one has so many
  /// Makes the sink of one file.
  std::function<std::unique_ptr<Sink>(const std::string& path)> make_sink;
};

/// Whether to record, as a key, a request or the page wants it. Any thread.
struct RecordSwitch {
  std::atomic<bool> on{false};
};

struct RecordCounts {
  std::uint64_t frames = 0;   ///< given to a file
  std::uint64_t dropped = 0;  ///< of those that were to be recorded
  std::uint64_t files = 0;    ///< begun
  std::string failure = {};   ///< why the last recording ended before its time; empty = it did not
};

/// Each file begins with a frame that the one before has not, at time 0, under a sink of its own,
/// so that it begins with a key frame too. Frames are copied and written in a thread of its own: a
/// second's worth waits at most, and what comes on top of a live source is dropped and counted,
/// while other sources wait. Where a file cannot be written the recording stops, the switch goes
/// off, and code() tells; what there is of that file stays under its partial name. It may be
/// switched on again.
///
/// open(), add() and finish() belong to the run, the rest to anybody.
class Recorder {
 public:
  /// `wanted` must outlive it.
  Recorder(RecordOptions options, RecordSwitch& wanted);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  /// Opens the first file, to find what is wrong with it before any frame. Throws Error.
  void open(const StreamInfo& info);
  /// Takes a copy, where the switch is on. Does not wait for a live source's.
  void add(const Frame& frame);
  /// Writes what waits and closes.
  void finish() noexcept;
  /// The run is being stopped: files whose encoder does nothing are given up within seconds.
  void cancel() noexcept;

  [[nodiscard]] RecordCounts counts() const;
  /// done, or that of the first failure.
  [[nodiscard]] ExitCode code() const;

 private:
  struct File {
    std::string path;
    std::shared_ptr<Sink> sink;
    std::int64_t start_ns = 0;
    std::uint64_t frames = 0;
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
  void note_failure(const Error& error) noexcept;
  void stop_at(const Error& error) noexcept;

  const RecordOptions options_;
  RecordSwitch& wanted_;
  StreamInfo info_;
  std::optional<FramePool> pool_;
  bool taking_ = false;  // add()'s: the last frame was to be recorded

  // work()'s.
  RecordNames names_;
  std::optional<File> file_;
  bool failed_ = false;  // what follows is dropped up to the next end
  std::thread closing_;  // the file before, whose end takes its time

  mutable std::mutex mutex_;  // guards the rest
  std::condition_variable changed_;
  std::deque<FramePtr> waiting_;  // null = end of a recording
  bool finished_ = false;
  std::atomic<bool> broken_{false};  // add() has to say where the recording that failed ended
  RecordCounts counts_;
  ExitCode code_ = ExitCode::done;

  std::mutex sinks_mutex_;  // guards the two below
  std::vector<std::weak_ptr<Sink>> sinks_;
  bool cancelled_ = false;

  std::thread worker_;
};

}  // namespace equalux
