#include "pipelines/core/engine.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <new>
#include <thread>
#include <utility>

#include "src/common/log.h"

namespace equalux {
namespace {

// A signal handler can wake nobody, so the token is looked at this often.
constexpr std::chrono::milliseconds kStopPoll{20};

// With fewer frames nothing moves: one at the source and one on its way; the processor's, one at
// the sink and one on its way there.
constexpr std::size_t kLeastInputs = 2;
constexpr std::size_t kLeastOutputs = 2;

std::string size_of(const ImageDesc& desc) {
  return std::to_string(desc.width) + "x" + std::to_string(desc.height);
}

struct PoolSize {
  std::size_t wanted;
  std::size_t least;
};

/// A pool of the memory that the processor would like best; where there is not even the least of
/// that, one of ordinary memory, which is slower to copy.
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

}  // namespace

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
    // What a source says when a stop interrupts its opening is no news.
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
  // Who shows originals needs them on the host.
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
    make_pools(info_.desc, output_info_.desc);
  } catch (const std::bad_alloc&) {
    throw Error(ExitCode::bad_input, info_.name + ": frames of " + size_of(info_.desc) +
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

void Engine::make_pools(const ImageDesc& input, const ImageDesc& output) {
  // Live frames age in a queue; one place keeps the threads apart and the newest frame near.
  const std::size_t queue = info_.live ? 1 : std::max<std::size_t>(1, options_.queue_depth);
  const std::size_t depth = std::max<std::size_t>(1, processor_.depth());
  // In the queue and the processor, and one each with capture(), process() and the moment between.
  // An original goes on to the second queue, the sink and the moment before it.
  const std::size_t inputs = queue + depth + 3 + (keep_original_ ? queue + 2 : 0);
  const std::size_t outputs = queue + depth + 3;
  const ImageMemory* memory = processor_.frame_memory();
  if (source_.lends_buffers()) {
    input_pool_.emplace(input, inputs, true);
  } else {
    make_pool(input_pool_, input, {inputs, kLeastInputs}, memory);
  }
  make_pool(output_pool_, output, {outputs, depth + kLeastOutputs}, memory);
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
  } else if (end_ == End::source_failed || shortfall_ || processor_error_) {
    result_.code = ExitCode::partial;
  }
}

}  // namespace equalux
