#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <utility>

#include "pipelines/core/engine.h"
#include "pipelines/core/frame_time.h"
#include "pipelines/core/thrown.h"

namespace equalux {
namespace {

// How long a window may go without a look at its events.
constexpr std::chrono::milliseconds kIdlePeriod{10};

std::string size_of(const ImageDesc& desc) {
  return std::to_string(desc.width) + "x" + std::to_string(desc.height) + " " +
         std::string(to_string(desc.format));
}

}  // namespace

// ---- capture: source -> input_

void Engine::capture() {
  try {
    end_ = capture_frames();
    input_->close();  // The rest of the line ends while the source looks back at its input.
    if (end_ == End::of_source) shortfall_ = source_.shortfall();
  } catch (...) {
    const auto source_name = [this] { return info_.name; };
    // A cancelled source may throw as well as return false.
    if (aborted_) {
      end_ = End::aborted;
    } else if (stop_asked()) {
      end_ = End::stopped;
    } else if (enough_) {
      end_ = End::limit;
    } else if (options_.resume_from && frames_in_ < options_.resume_from->frames) {
      // What was written before is worth more than a shorter output.
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
    throw Error(ExitCode::bad_input, info_.name + ": changes from " + size_of(info_.desc) + " to " +
                                         size_of(desc) + "; frames must keep their size");
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
      if (in_flight_ >= depth) forward(true);
      FramePtr out = output_pool_->acquire();
      if (!out) break;
      const std::uint64_t index = frame->index;
      if (options_.on_submit) options_.on_submit(processor_, *frame);
      processor_.submit(std::move(frame), std::move(out), measure_, keep_original_);
      ++in_flight_;
      if (ends_segment(index)) forward_to_checkpoint();
      while (in_flight_ > 0 && forward(false)) {
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

/// Before the first frame there is nothing to keep. After it the output ends here, with what it
/// has: a device that was lost half way leaves the first half.
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

/// The next frame; while there is none, what the processor still holds moves on: a live frame must
/// not wait on the device for the next one to push it out.
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

/// Moves one finished frame on. False where there was none.
bool Engine::forward(bool wait) {
  FramePtr frame = processor_.collect(wait);
  if (!frame) {
    if (wait) in_flight_ = 0;
    return false;
  }
  --in_flight_;
  forwarded_ = true;
  output_->push(std::move(frame));  // Refused only after abort(), which every loop looks at.
  return true;
}

/// Frames must not outlive the pools inside a processor that goes on living.
void Engine::discard_in_flight() noexcept {
  try {
    while (processor_.collect(true)) {
    }
  } catch (...) {
    // It failed before: the pools' destructors let go of what it keeps.
  }
}

// ---- sink: output_ -> sink

/// False where a stop ended its wait for somebody else: what it says then is no news.
bool Engine::open_sink() {
  try {
    sink_.open(output_info_);
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

/// What is wrong with a source that gave no frame and was not told to stop; null where it was.
std::exception_ptr Engine::no_frame_error() const {
  if (result_.frames_out > 0 || closed_ || end_ == End::stopped) return nullptr;
  if (source_error_) return source_error_;
  return std::make_exception_ptr(
      Error(ExitCode::bad_input,
            info_.name + ": " + shortfall_.value_or("holds no frame that can be decoded")));
}

/// A source that was stopped or cut short, or a processor that failed, has told how much is
/// missing.
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
  result_.elapsed_s += std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace equalux
