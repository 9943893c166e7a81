#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <string>

#include "pipelines/core/bounded_queue.h"
#include "pipelines/core/frame_pool.h"
#include "pipelines/core/progress.h"
#include "pipelines/core/run.h"

/// One run: the threads, what they share, and how they end.
///
///   capture()  --input_-->  process()  --output_-->  run_sink()
///
/// An end that keeps every frame travels down this line: capture() closes input_, process() drains
/// it and closes output_, the sink drains that. An end that keeps nothing (a failure, a sink that
/// was closed) is abort(): it wakes whoever waits, and everybody leaves at once.
namespace equalux {

class Engine {
 public:
  static constexpr std::chrono::milliseconds kProgressPeriod{500};

  Engine(Source& source, Processor& processor, Sink& sink, const RunOptions& options,
         const StopToken& stop);

  /// Called once.
  RunResult run();

 private:
  /// Why capture() read no more.
  enum class End : std::uint8_t { of_source, source_failed, limit, stopped, aborted };

  void prepare();
  void open_source();
  [[nodiscard]] ImageDesc configured(const ImageDesc& input);
  void resume();
  void make_pools(const ImageDesc& input, const ImageDesc& output);
  void watch();
  void report_until_sink_ends();

  void capture();
  End capture_frames();
  bool skip_frames();
  bool read_frame(Frame& frame);
  bool enqueue(FramePtr frame);

  void process();
  FramePtr next_input();
  void mark_gap(Frame& frame);
  bool forward(bool wait);
  void forward_to_checkpoint();
  [[nodiscard]] bool ends_segment(std::uint64_t index) const;
  void make_checkpoint(std::string filters);
  void discard_in_flight() noexcept;
  void processor_failed(std::exception_ptr error) noexcept;

  void run_sink() noexcept;
  [[nodiscard]] bool open_sink();
  void move_frames();
  void deliver();
  void deliver_frame(Frame& frame);
  void finish_sink();
  [[nodiscard]] Ending ending_of_output();
  [[nodiscard]] std::exception_ptr no_frame_error() const;
  void add_media_time(const Frame& frame);
  void take_times(Frame& frame, Clock::time_point start);

  void conclude();
  [[nodiscard]] bool stop_asked() const { return stop_.signal.load() != 0; }
  [[nodiscard]] bool failed();

  void fail(std::exception_ptr error) noexcept;
  void abort() noexcept;

  Source& source_;
  Processor& processor_;
  Sink& sink_;
  const RunOptions& options_;
  const StopToken& stop_;
  const bool measure_;
  bool timed_;  // as measure_, or the source is live
  const bool on_main_thread_;
  const bool keep_original_;

  StreamInfo info_;                      // of the source
  StreamInfo output_info_;               // of what the sink gets
  std::optional<FramePool> input_pool_;  // before the queues: pools outlive the frames in them
  std::optional<FramePool> output_pool_;
  std::optional<BoundedQueue<FramePtr>> input_;
  std::optional<BoundedQueue<FramePtr>> output_;

  std::atomic<bool> enough_{false};   // max_frames of a live source are there
  std::atomic<bool> aborted_{false};  // leave at once

  std::mutex mutex_;  // guards the three below and changed_
  std::condition_variable changed_;
  std::exception_ptr error_;
  bool sink_done_ = false;
  bool run_done_ = false;

  // capture()'s alone until its thread has ended.
  End end_ = End::of_source;
  std::uint64_t frames_in_ = 0;
  std::uint64_t next_index_ = 0;
  std::uint64_t dropped_ = 0;
  std::uint64_t dropped_by_source_ = 0;  // of these; frames_in_ are without them
  std::exception_ptr source_error_;
  std::optional<std::string> shortfall_;

  // process()'s alone.
  std::uint64_t expected_index_ = 0;
  std::size_t in_flight_ = 0;
  bool forwarded_ = false;              // a frame has gone to the sink
  std::exception_ptr processor_error_;  // after that; set before output_ is closed

  // The sink's thread's alone until it has ended.
  bool closed_ = false;          // the sink wants no more
  bool has_checkpoint_ = false;  // of this run or the one before it
  RunResult result_;
  std::optional<std::int64_t> first_pts_ns_;
  std::int64_t media_end_ns_ = 0;
  ProgressMeter progress_;
};

}  // namespace equalux
