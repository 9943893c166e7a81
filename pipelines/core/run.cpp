#include "pipelines/core/run.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <equalux/error.h>

#include "pipelines/core/bounded_queue.h"
#include "pipelines/core/frame_pool.h"
#include "pipelines/core/frame_time.h"
#include "pipelines/core/processor.h"
#include "pipelines/core/progress.h"
#include "pipelines/picture/alpha_plane.h"
#include "src/common/log.h"
#include "src/common/size_text.h"

namespace equalux {
namespace {

// Interval at which the stop token is read, since a signal handler cannot wake a thread.
constexpr std::chrono::milliseconds kStopPoll{20};

// Least numbers of frames with which anything moves: one at the source and one in transit; the
// processor's own, one at the sink and one in transit to it.
constexpr std::size_t kLeastInputs = 2;
constexpr std::size_t kLeastOutputs = 2;

struct PoolSize {
  std::size_t wanted;
  std::size_t least;
};

/// Makes a pool of the memory that the processor prefers; where even the least number does not fit
/// there, of ordinary memory, which is slower to copy.
void make_pool(std::optional<FramePool>& pool, const ImageDesc& desc, PoolSize size,
               const ImageMemory* memory) {
  if (memory != nullptr) {
    try {
      pool.emplace(desc, size.wanted, size.least, *memory);
      return;
    } catch (const std::bad_alloc&) {
      logger().debug("pinned memory is short; frames are in ordinary memory");
    }
  }
  pool.emplace(desc, size.wanted);
}

// Longest time in which a window's events are not handled.
constexpr std::chrono::milliseconds kIdlePeriod{10};

/// Returns what `make` returns, or the text of what it throws.
template <typename Make>
std::exception_ptr made_or_thrown(const Make& make) noexcept {
  try {
    return std::make_exception_ptr(make());
  } catch (...) {
    return std::current_exception();
  }
}

/// Turns a thread's exception into an Error on its way to where it is reported; exceptions of other
/// types get `code` and a name. std::bad_alloc stays what it is, and replaces the result where
/// there is no memory for a message.
std::exception_ptr as_error(std::exception_ptr thrown, ExitCode code,
                            const std::function<std::string()>& name) noexcept {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error&) {
    return thrown;
  } catch (const std::bad_alloc&) {
    return thrown;
  } catch (const std::exception& error) {
    return made_or_thrown([&] { return Error(code, name() + ": " + error.what()); });
  } catch (...) {
    return thrown;
  }
}

/// Turns a processor's failure before its first result into ProcessorFailed, if its device failed.
std::exception_ptr as_processor_failure(std::exception_ptr thrown) noexcept {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    if (error.code() != ExitCode::unavailable) return thrown;
    return made_or_thrown([&] { return ProcessorFailed(error.what()); });
  } catch (...) {
    return thrown;
  }
}

/// Returns the text of an exception.
std::string message_of(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    return "memory is short";
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "unknown error";
  }
}

/// One run: its threads, what they share, and how they end.
///
///    capture()  --input_-->  process()  --output_-->  run_sink()
///
/// An end that keeps every frame travels down this line: capture() closes input_, process() drains
/// it and closes output_, and the sink drains that. An end that drops frames (a failure, a closed
/// sink) is abort(), which wakes all waiting threads, and all return at once.
class Engine {
 public:
  static constexpr std::chrono::milliseconds kProgressPeriod{500};

  Engine(Source& source, Processor& processor, Sink& sink, const RunOptions& options,
         const StopToken& stop);

  /// Runs to the end. Called once.
  RunResult run();

 private:
  /// Why capture() stopped reading.
  enum class End : std::uint8_t { of_source, source_failed, limit, stopped, aborted };

  void prepare();
  void open_source();
  [[nodiscard]] ImageDesc configured(const ImageDesc& input);
  void settle_transparency();
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
  [[nodiscard]] bool is_wanted() const;
  bool pass_unseen(const Frame& frame);
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
  bool timed_;  // frames are timed: measure_ is set, or the source is live
  const bool on_main_thread_;
  const bool keep_original_;

  StreamInfo info_;                      // of the source
  StreamInfo output_info_;               // of what the sink gets
  std::string why_opaque_;               // why transparency is lost; empty where it is not
  std::optional<FramePool> input_pool_;  // before the queues, since pools must outlive their frames
  std::optional<FramePool> output_pool_;
  std::optional<BoundedQueue<FramePtr>> input_;
  std::optional<BoundedQueue<FramePtr>> output_;

  std::atomic<bool> enough_{false};   // max_frames of a live source have been read
  std::atomic<bool> aborted_{false};  // all threads should return at once

  std::mutex mutex_;  // guards error_, sink_done_ and run_done_
  std::condition_variable changed_;
  std::exception_ptr error_;
  bool sink_done_ = false;
  bool run_done_ = false;
  bool sink_is_short_ = false;  // the finished output lacks something; used by the sink's thread,
                                // and when that has ended

  // Used by capture() only, until its thread has ended.
  End end_ = End::of_source;
  std::uint64_t frames_in_ = 0;
  std::uint64_t next_index_ = 0;
  std::uint64_t dropped_ = 0;
  std::uint64_t dropped_by_source_ = 0;  // part of dropped_; frames_in_ does not count them
  std::exception_ptr source_error_;
  std::optional<std::string> shortfall_;

  // Used by process() only.
  std::uint64_t expected_index_ = 0;
  std::size_t in_flight_ = 0;
  bool forwarded_ = false;      // a frame has been passed to the sink
  bool unseen_before_ = false;  // the previous frame was not filtered, since nobody wanted it
  std::exception_ptr processor_error_;  // after the first result; set before output_ is closed

  // Used by the sink's thread only, until that has ended.
  bool closed_ = false;          // the sink wants no more frames
  bool has_checkpoint_ = false;  // of this run or of an earlier one
  RunResult result_;
  std::optional<std::int64_t> first_pts_ns_;
  std::int64_t media_end_ns_ = 0;
  ProgressMeter progress_;
};

Engine::Engine(Source& source, Processor& processor, Sink& sink, const RunOptions& options,
               const StopToken& stop)
    : source_(source),
      processor_(processor),
      sink_(sink),
      options_(options),
      stop_(stop),
      measure_(static_cast<bool>(options.on_frame)),
      timed_(measure_),
      on_main_thread_(sink.needs_main_thread()),
      keep_original_(sink.wants_original() || options.keep_original) {}

RunResult Engine::run() {
  std::thread watcher([this] { watch(); });
  try {
    prepare();
    if (stop_asked()) {
      end_ = End::stopped;
    } else if (on_main_thread_) {
      run_sink();
    } else {
      std::thread sink_thread([this] { run_sink(); });
      report_until_sink_ends();
      sink_thread.join();
    }
  } catch (...) {
    // Ignores the error of a source whose opening was interrupted by a stop.
    if (stop_asked()) {
      end_ = End::stopped;
    } else {
      fail(std::current_exception());
    }
  }
  {
    const std::lock_guard lock(mutex_);
    run_done_ = true;
    changed_.notify_all();
  }
  watcher.join();
  if (error_) std::rethrow_exception(error_);
  conclude();
  return std::move(result_);
}

void Engine::prepare() {
  // Originals that are shown must be on the host.
  const int device = keep_original_ ? -1 : processor_.frame_device();
  if (device >= 0) source_.offer_device(device);
  open_source();
  try {
    output_info_.desc = configured(info_.desc);
    if (device >= 0 && processor_.frame_device() != device) {  // The CPU has taken over.
      source_.offer_device(-1);
      open_source();
      output_info_.desc = configured(info_.desc);
    }
    settle_transparency();
    make_pools(info_.desc, output_info_.desc);
  } catch (const std::bad_alloc&) {
    throw Error(ExitCode::bad_input, info_.name + ": frames of " + size_text(info_.desc) +
                                         " do not fit in memory; scale the input down");
  }
  if (options_.on_source) options_.on_source(info_);
  if (options_.on_open) options_.on_open(output_info_);
  resume();
  progress_.start(info_, options_.max_frames, result_.frames_out);
}

ImageDesc Engine::configured(const ImageDesc& input) {
  try {
    return processor_.configure(input);
  } catch (const Error& error) {
    if (error.code() == ExitCode::unavailable) throw ProcessorFailed(error.what());
    throw;
  }
}

void Engine::open_source() {
  info_ = source_.open([this](PixelFormat format) { return processor_.accepts(format); });
  output_info_ = info_;
  timed_ = measure_ || info_.live;
}

/// Decides whether transparency is carried along: only as long as some stage keeps it. The line
/// that tells of its loss is logged after the sink has opened, so that a run that cannot start
/// reports only its error.
void Engine::settle_transparency() {
  why_opaque_.clear();
  const bool packed = has_alpha(info_.desc.format);
  if (!info_.transparent && !packed) return;
  const ImageDesc& from = info_.desc;
  const ImageDesc& to = output_info_.desc;
  const bool kept_by_filters =
      packed ? has_alpha(to.format)
             : from.format == to.format && from.width == to.width && from.height == to.height;
  why_opaque_ = kept_by_filters
                    ? sink_.why_opaque(output_info_)
                    : "the filters make " + std::string(to_string(to.format)) + " pictures of it";
  if (why_opaque_.empty()) return;
  if (!kept_by_filters || !options_.keep_alpha) output_info_.transparent = false;
}

void Engine::make_pools(const ImageDesc& input, const ImageDesc& output) {
  // Live frames grow old in a queue; one place keeps the threads independent and frames recent.
  const std::size_t queue = info_.live ? 1 : std::max<std::size_t>(1, options_.queue_depth);
  const std::size_t depth = std::max<std::size_t>(1, processor_.depth());
  // Counts frames in the queue and the processor, and three more: at capture(), at process(), and
  // between them. An original also goes through the second queue and the sink.
  const std::size_t inputs = queue + depth + 3 + (keep_original_ ? queue + 2 : 0);
  const std::size_t outputs = queue + depth + 3;
  const ImageMemory* memory = processor_.frame_memory();
  if (source_.lends_buffers()) {
    input_pool_.emplace(input, inputs, true);
  } else {
    make_pool(input_pool_, input, {inputs, kLeastInputs}, memory);
  }
  make_pool(output_pool_, output, {outputs, depth + kLeastOutputs}, memory);
  if (output_info_.transparent) output_pool_->add_alpha();
  input_.emplace(queue);
  output_.emplace(queue);
}

void Engine::watch() {
  bool told = false;
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, kStopPoll, [this] { return run_done_; })) {
    if (told || !stop_asked()) continue;
    told = true;
    lock.unlock();
    source_.cancel();
    sink_.cancel();
    if (options_.on_stop) options_.on_stop();
    lock.lock();
  }
}

void Engine::report_until_sink_ends() {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, kProgressPeriod, [this] { return sink_done_; })) {
    if (!options_.on_progress) continue;
    lock.unlock();
    try {
      options_.on_progress(progress_.report());
    } catch (...) {
      fail(std::current_exception());
    }
    lock.lock();
  }
}

// ---- capture: source -> input_

void Engine::capture() {
  try {
    end_ = capture_frames();
    input_->close();  // Lets the other threads end while the source checks its input.
    if (end_ == End::of_source) shortfall_ = source_.shortfall();
  } catch (...) {
    const auto source_name = [this] { return info_.name; };
    // A cancelled source may throw instead of returning false.
    if (aborted_) {
      end_ = End::aborted;
    } else if (stop_asked()) {
      end_ = End::stopped;
    } else if (enough_) {
      end_ = End::limit;
    } else if (options_.resume_from && frames_in_ < options_.resume_from->frames) {
      // Keeps what was written before, which is worth more than a shorter output.
      end_ = End::aborted;
      fail(as_error(std::current_exception(), ExitCode::bad_input, source_name));
    } else {
      end_ = End::source_failed;
      source_error_ = as_error(std::current_exception(), ExitCode::bad_input, source_name);
    }
    input_->close();
  }
}

Engine::End Engine::capture_frames() {
  const std::uint64_t limit = info_.live ? 0 : options_.max_frames;
  if (!skip_frames()) return stop_asked() ? End::stopped : End::aborted;
  if (limit > 0 && frames_in_ >= limit) return End::limit;
  for (;;) {
    if (stop_asked()) return End::stopped;
    FramePtr frame = input_pool_->acquire();
    if (!frame) return End::aborted;
    const bool more = read_frame(*frame);
    if (aborted_) return End::aborted;
    if (enough_) return End::limit;
    if (!more) return stop_asked() ? End::stopped : End::of_source;
    if (!enqueue(std::move(frame))) return End::aborted;
    if (limit > 0 && frames_in_ == limit) return End::limit;
  }
}

bool Engine::read_frame(Frame& frame) {
  const Clock::time_point start = timed_ ? Clock::now() : Clock::time_point{};
  if (!source_.read(frame)) return false;
  const ImageDesc& desc = frame.image.desc;
  if (desc.format != info_.desc.format || desc.width != info_.desc.width ||
      desc.height != info_.desc.height) {
    throw Error(ExitCode::bad_input, info_.name + ": changes from " + size_and_format(info_.desc) +
                                         " to " + size_and_format(desc) +
                                         "; frames must keep their size");
  }
  dropped_ += frame.timings.dropped_before;
  dropped_by_source_ += frame.timings.dropped_before;
  next_index_ += frame.timings.dropped_before;
  frame.index = next_index_++;
  ++frames_in_;
  if (timed_) {
    const Clock::time_point now = Clock::now();
    if (frame.captured == Clock::time_point{}) frame.captured = now;
    if (!frame.timings.capture_ms) frame.timings.capture_ms = milliseconds(now - start);
  }
  return true;
}

bool Engine::enqueue(FramePtr frame) {
  if (!info_.live) return input_->push(std::move(frame));
  if (input_->push_newest(std::move(frame)) && !aborted_) ++dropped_;
  return !aborted_;
}

// ---- process: input_ -> processor -> output_

void Engine::process() {
  const std::uint64_t limit = info_.live ? options_.max_frames : 0;
  const std::size_t depth = std::max<std::size_t>(1, processor_.depth());
  std::uint64_t submitted = 0;
  try {
    while (FramePtr frame = next_input()) {
      if (measure_) frame->timings.queue_ms = milliseconds(Clock::now() - frame->captured);
      mark_gap(*frame);
      if (options_.on_submit) options_.on_submit(processor_, *frame);
      if (!is_wanted()) {
        if (!pass_unseen(*frame)) break;
      } else {
        if (in_flight_ >= depth) forward(true);
        FramePtr out = output_pool_->acquire();
        if (!out) break;
        const std::uint64_t index = frame->index;
        if (std::exchange(unseen_before_, false)) frame->discontinuity = true;
        processor_.submit(std::move(frame), std::move(out), measure_, keep_original_);
        ++in_flight_;
        if (ends_segment(index)) forward_to_checkpoint();
        while (in_flight_ > 0 && forward(false)) {
        }
      }
      if (limit > 0 && ++submitted == limit) {
        enough_ = true;
        source_.cancel();
        break;
      }
    }
    while (in_flight_ > 0 && !aborted_)
      forward(true);
  } catch (...) {
    processor_failed(std::current_exception());
  }
  if (aborted_ || processor_error_) discard_in_flight();
  output_->close();
}

/// Handles a processor's failure. Before the first result there is nothing to keep. After it the
/// output ends here with what it has, so that a device lost half way leaves the first half.
void Engine::processor_failed(std::exception_ptr error) noexcept {
  if (!forwarded_) {
    fail(as_processor_failure(std::move(error)));
    return;
  }
  processor_error_ = std::move(error);
  source_.cancel();
  input_->close();
  input_pool_->stop();
}

/// Returns the next frame. While there is none, finished frames are moved on, because a live frame
/// must not wait in the device for its successor.
FramePtr Engine::next_input() {
  while (!aborted_) {
    if (std::optional<FramePtr> frame = input_->try_pop()) return std::move(*frame);
    if (in_flight_ > 0) {
      forward(true);
    } else {
      std::optional<FramePtr> frame = input_->pop();
      return frame ? std::move(*frame) : nullptr;
    }
  }
  return nullptr;
}

void Engine::mark_gap(Frame& frame) {
  frame.timings.dropped_before = frame.index - expected_index_;
  if (frame.timings.dropped_before > 0) frame.discontinuity = true;
  expected_index_ = frame.index + 1;
}

bool Engine::is_wanted() const {
  if (sink_.wants_frames()) return true;
  return options_.wants_frames ? options_.wants_frames() : options_.on_result != nullptr;
}

/// Passes on a frame that is not filtered, after those in flight. Returns false where the run ends.
bool Engine::pass_unseen(const Frame& frame) {
  while (in_flight_ > 0)
    forward(true);
  FramePtr out = output_pool_->acquire();
  if (!out) return false;
  inherit_place(*out, frame);
  out->unseen = unseen_before_ = forwarded_ = true;
  return output_->push(std::move(out));
}

/// Moves one finished frame on. Returns false where there was none.
bool Engine::forward(bool wait) {
  FramePtr frame = processor_.collect(wait);
  if (!frame) {
    if (wait) in_flight_ = 0;
    return false;
  }
  --in_flight_;
  forwarded_ = true;
  output_->push(std::move(frame));  // Refused only after abort(), which every loop checks.
  return true;
}

/// Takes back frames in flight, which must not outlive the pools in a processor that outlives them.
void Engine::discard_in_flight() noexcept {
  try {
    while (processor_.collect(true)) {
    }
  } catch (...) {
    // Ignored, since it failed before: the pools' destructors release what it keeps.
  }
}

// ---- sink: output_ -> sink

/// Opens the sink. Returns false where a stop interrupted its wait; its error is then ignored.
bool Engine::open_sink() {
  try {
    sink_.open(output_info_);
    if (!why_opaque_.empty()) {
      logger().warn("{}: its transparency is lost, {}", info_.name, why_opaque_);
    }
    return true;
  } catch (const Error&) {
    if (!stop_asked()) throw;
    end_ = End::stopped;
    return false;
  }
}

void Engine::run_sink() noexcept {
  try {
    if (open_sink()) {
      move_frames();
      finish_sink();
    }
  } catch (...) {
    const auto sink_name = [this] { return sink_.name(); };
    fail(as_error(std::current_exception(), ExitCode::write_failed, sink_name));
  }
  const std::lock_guard lock(mutex_);
  sink_done_ = true;
  changed_.notify_all();
}

void Engine::move_frames() {
  const Clock::time_point start = Clock::now();
  std::thread capturing;
  std::thread processing;
  try {
    capturing = std::thread([this] { capture(); });
    processing = std::thread([this] { process(); });
    deliver();
  } catch (...) {
    const auto sink_name = [this] { return sink_.name(); };
    fail(as_error(std::current_exception(), ExitCode::write_failed, sink_name));
  }
  if (processing.joinable()) processing.join();
  if (capturing.joinable()) capturing.join();
  result_.elapsed_s = std::chrono::duration<double>(Clock::now() - start).count();
}

void Engine::deliver() {
  Clock::time_point next_report = Clock::now() + kProgressPeriod;
  while (!aborted_) {
    std::optional<FramePtr> frame =
        on_main_thread_ ? output_->pop_until(Clock::now() + kIdlePeriod) : output_->pop();
    if (frame) {
      deliver_frame(**frame);
    } else if (output_->finished()) {
      break;
    }
    if (on_main_thread_) {
      if (!frame) sink_.idle();
      if (options_.on_progress && Clock::now() >= next_report) {
        next_report += kProgressPeriod;
        options_.on_progress(progress_.report());
      }
    }
    if (sink_.closed()) {
      closed_ = true;
      abort();
    }
  }
}

void Engine::deliver_frame(Frame& frame) {
  if (options_.on_result) options_.on_result(frame);
  const Clock::time_point start = timed_ ? Clock::now() : Clock::time_point{};
  sink_.write(frame);
  if (timed_) take_times(frame, start);
  ++result_.frames_out;
  add_media_time(frame);
  progress_.add(frame);
  if (measure_) options_.on_frame(frame);
  if (frame.state) make_checkpoint(std::move(*frame.state));
}

void Engine::take_times(Frame& frame, Clock::time_point start) {
  constexpr std::int64_t kUsualFrameNs = 1'000'000'000 / 30;
  const Clock::time_point end = Clock::now();
  frame.timings.sink_ms = milliseconds(end - start);
  frame.timings.latency_ms = milliseconds(end - frame.captured);
  if (!info_.live) return;
  if (frame.placeholder) ++result_.placeholders;
  result_.reconnects = frame.timings.reconnects;
  std::int64_t frame_ns = frame_time_ns(1, info_.frame_rate);
  if (frame_ns <= 0) frame_ns = frame.duration_ns > 0 ? frame.duration_ns : kUsualFrameNs;
  frame.timings.late =
      !frame.placeholder && *frame.timings.latency_ms > static_cast<double>(frame_ns) * 1e-6;
  if (frame.timings.late) ++result_.late;
}

void Engine::add_media_time(const Frame& frame) {
  std::int64_t duration_ns = frame.duration_ns;
  if (duration_ns == 0) duration_ns = frame_time_ns(1, info_.frame_rate);
  if (!first_pts_ns_) first_pts_ns_ = frame.pts_ns;
  media_end_ns_ = std::max(media_end_ns_, frame.pts_ns + duration_ns);
  result_.media_s = static_cast<double>(media_end_ns_ - *first_pts_ns_) * 1e-9;
}

/// Returns the error of a source that gave no frame; null where it was told to stop.
std::exception_ptr Engine::no_frame_error() const {
  if (result_.frames_out > 0 || closed_ || end_ == End::stopped) return nullptr;
  if (source_error_) return source_error_;
  return std::make_exception_ptr(
      Error(ExitCode::bad_input,
            info_.name + ": " + shortfall_.value_or("holds no frame that can be decoded")));
}

/// Returns how the output ended. A source that was stopped or cut short, or a processor that
/// failed, has set how much is missing.
Ending Engine::ending_of_output() {
  const bool resumable = options_.checkpoint_every > 0;
  if (failed()) return resumable && has_checkpoint_ ? Ending::suspended : Ending::failed;
  if (result_.frames_out == 0) return Ending::failed;
  if (resumable && !closed_ && (end_ == End::stopped || processor_error_)) return Ending::suspended;
  if (closed_) return Ending::shortened;
  if (end_ == End::stopped || source_error_ || shortfall_ || processor_error_) {
    return Ending::partial;
  }
  return end_ == End::limit ? Ending::shortened : Ending::complete;
}

void Engine::finish_sink() {
  const Clock::time_point start = Clock::now();
  if (!failed()) {
    if (std::exception_ptr error = no_frame_error()) fail(std::move(error));
  }
  const Ending ending = ending_of_output();
  if (ending == Ending::partial || ending == Ending::suspended) {
    if (source_error_) result_.partial_reason = message_of(source_error_);
    if (shortfall_) result_.partial_reason = *shortfall_;
    if (processor_error_) result_.partial_reason = message_of(processor_error_);
  }
  result_.suspended = ending == Ending::suspended;
  sink_.finish(ending);
  if (const std::optional<std::string> lacking = sink_.shortfall()) {
    sink_is_short_ = true;
    if (result_.partial_reason.empty()) result_.partial_reason = *lacking;
  }
  result_.elapsed_s += std::chrono::duration<double>(Clock::now() - start).count();
}

// ---- checkpoints: where a run can be continued, and how one continues

void Engine::resume() {
  if (!options_.resume_from) return;
  const Checkpoint& from = *options_.resume_from;
  try {
    processor_.load(from.filters);
  } catch (const Error& error) {
    // Output written before can be continued elsewhere.
    if (error.code() == ExitCode::unavailable) throw ProcessorFailed(error.what());
    throw CannotResume(info_.name + ": " + error.what());
  }
  has_checkpoint_ = true;
  expected_index_ = result_.frames_out = from.frames;
  first_pts_ns_ = from.first_pts_ns;
  media_end_ns_ = from.media_end_ns;
  result_.media_s = static_cast<double>(media_end_ns_ - *first_pts_ns_) * 1e-9;
}

/// Reads and drops the frames before the place where this run continues: decoding them again is
/// exact in every format, which seeking is not. Returns false where the run is to end.
bool Engine::skip_frames() {
  const std::uint64_t count = options_.resume_from ? options_.resume_from->frames : 0;
  while (frames_in_ < count) {
    if (stop_asked()) return false;
    const FramePtr frame = input_pool_->acquire();
    if (!frame) return false;
    const bool more = read_frame(*frame);
    if (aborted_ || stop_asked()) return false;
    if (!more) {
      throw CannotResume(info_.name + ": holds " + std::to_string(frames_in_) +
                         " frames, but had " + std::to_string(count) + " and more before");
    }
  }
  return true;
}

bool Engine::ends_segment(std::uint64_t index) const {
  return options_.checkpoint_every > 0 && (index + 1) % options_.checkpoint_every == 0;
}

/// Drains the processor, so that its state is that after the last frame it was given.
void Engine::forward_to_checkpoint() {
  while (in_flight_ > 1)
    forward(true);
  FramePtr last = processor_.collect(true);
  in_flight_ = 0;
  if (!last) return;
  last->state = processor_.save();
  forwarded_ = true;
  output_->push(std::move(last));
}

void Engine::make_checkpoint(std::string filters) {
  Checkpoint checkpoint;
  checkpoint.sink = sink_.checkpoint();
  if (checkpoint.sink.empty()) return;
  checkpoint.frames = result_.frames_out;
  checkpoint.first_pts_ns = first_pts_ns_.value_or(0);
  checkpoint.media_end_ns = media_end_ns_;
  checkpoint.filters = std::move(filters);
  has_checkpoint_ = true;
  if (options_.on_checkpoint) options_.on_checkpoint(checkpoint);
}

// ---- the end

void Engine::fail(std::exception_ptr error) noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::move(error);
  }
  abort();
}

bool Engine::failed() {
  const std::lock_guard lock(mutex_);
  return error_ != nullptr;
}

void Engine::abort() noexcept {
  aborted_ = true;
  source_.cancel();
  if (input_) input_->close();
  if (output_) output_->close();
  if (input_pool_) input_pool_->stop();
  if (output_pool_) output_pool_->stop();
}

void Engine::conclude() {
  result_.frames_in = frames_in_ + dropped_by_source_;
  result_.dropped = dropped_;
  const std::uint64_t known = result_.frames_out + result_.dropped;
  result_.in_flight = result_.frames_in > known ? result_.frames_in - known : 0;
  result_.processor_failed = processor_error_ != nullptr;
  result_.live = info_.live;
  if (closed_) return;
  if (end_ == End::stopped) {
    result_.code = stop_.signal == SIGTERM ? ExitCode::terminated : ExitCode::interrupted;
  } else if (end_ == End::source_failed || shortfall_ || processor_error_ || sink_is_short_) {
    result_.code = ExitCode::partial;
  }
}

}  // namespace

RunResult run(Source& source, Processor& processor, Sink& sink, const RunOptions& options,
              const StopToken& stop) {
  return Engine(source, processor, sink, options, stop).run();
}

}  // namespace equalux
