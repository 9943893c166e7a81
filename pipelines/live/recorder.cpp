#include "pipelines/live/recorder.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <filesystem>
#include <new>
#include <system_error>
#include <utility>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "pipelines/files/partial_file.h"
#include "pipelines/picture/alpha_plane.h"
#include "src/common/log.h"

namespace equalux {
namespace {

/// Memory for frames that wait for the encoder: a second of frames, if they fit.
constexpr std::size_t kMostWaitingBytes = std::size_t{256} << 20U;
constexpr double kUsualRate = 30;
constexpr std::size_t kLeastWaiting = 4;

bool is_there(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

/// Completes the message about a file that failed.
std::string what_is_left(const std::string& path) {
  const std::string partial = partial_path(path);
  return is_there(partial) ? ", and " + partial + " is left" : "";
}

std::size_t frames_waiting(const StreamInfo& info) {
  const double rate = info.frame_rate.num > 0 ? info.frame_rate.value() : kUsualRate;
  const auto second = static_cast<std::size_t>(std::ceil(std::min(rate, 1000.0)));
  const std::size_t alpha = info.transparent ? tight_bytes(alpha_desc(info.desc)) : 0;
  const std::size_t fitting =
      kMostWaitingBytes / std::max<std::size_t>(1, tight_bytes(info.desc) + alpha);
  return std::max(kLeastWaiting, std::min(second, fitting));
}

/// Gives large blocks mappings of their own. An encoder holds tens of megabytes. By default glibc
/// raises the size from which a block gets its own mapping each time a large block is freed; later
/// blocks then come from arenas, which successive encoders fragment, so that some megabytes stay
/// allocated. A fixed threshold, here glibc's initial one, does not rise.
void keep_large_blocks_apart() noexcept {
#ifdef __GLIBC__
  ::mallopt(M_MMAP_THRESHOLD, 128 * 1024);
#endif
}

/// Returns freed small blocks of an encoder, which glibc would otherwise keep in one of several
/// arenas while the next file's encoder uses another.
void give_back_free_memory() noexcept {
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

}  // namespace

Recorder::Recorder(RecordOptions options, RecordSwitch& wanted)
    : options_(std::move(options)), wanted_(wanted), names_(options_.path) {}

Recorder::~Recorder() {
  finish();
}

void Recorder::open(const StreamInfo& info) {
  keep_large_blocks_apart();
  info_ = info;
  info_.container_path.clear();  // Copies nothing from the input but its pictures.
  settle_transparency();
  begin_file();
  if (!wanted_.on) end_file();
  pool_.emplace(info.desc, frames_waiting(info_));
  if (info_.transparent) pool_->add_alpha();
  try {
    worker_ = std::thread([this] { work(); });
  } catch (const std::system_error& error) {
    end_file();
    throw Error(ExitCode::unavailable, options_.path + ": no thread can be started to record in (" +
                                           error.code().message() +
                                           "), must be a machine with fewer at work");
  }
}

void Recorder::settle_transparency() {
  if (!info_.transparent && !has_alpha(info_.desc.format)) return;
  const std::string why_opaque = options_.make_sink(options_.path)->why_opaque(info_);
  if (why_opaque.empty()) return;
  info_.transparent = false;
  logger().warn("{}: transparency is lost, {}", options_.path, why_opaque);
}

void Recorder::add(const Frame& frame) {
  if (!pool_) return;
  const bool wanted = wanted_.on;
  const bool ended = taking_ && (broken_.exchange(false) || !wanted);
  if (ended) push(nullptr);
  if (wanted && (ended || !taking_)) {  // A new recording begins.
    const std::lock_guard lock(mutex_);
    counts_.failure.clear();
  }
  taking_ = wanted;
  if (!wanted || frame.unseen) return;
  FramePtr copy = info_.live ? pool_->try_acquire() : pool_->acquire();
  if (!copy) {
    const std::lock_guard lock(mutex_);
    ++counts_.dropped;
    return;
  }
  copy_image(frame.image, copy->pixels.view());
  copy_alpha(frame, *copy);
  copy->place() = frame;
  push(std::move(copy));
}

void Recorder::push(FramePtr frame) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back(std::move(frame));
  changed_.notify_one();
}

void Recorder::finish() noexcept {
  if (!worker_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    finished_ = true;
    changed_.notify_one();
  }
  worker_.join();
}

void Recorder::work() noexcept {
  for (;;) {
    FramePtr frame;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return !waiting_.empty() || finished_; });
      if (waiting_.empty()) break;
      frame = std::move(waiting_.front());
      waiting_.pop_front();
    }
    if (frame) {
      write(*frame);
    } else {
      end_file();
      failed_ = broken_ = false;
      ++recording_;
    }
  }
  end_file();
  if (closing_.joinable()) closing_.join();
}

void Recorder::write(Frame& frame) {
  try {
    if (!failed_) {
      if (file_ && is_full(frame)) end_file();
      if (!file_) begin_file();
      if (file_->frames == 0) file_->start_ns = frame.pts_ns;
      frame.pts_ns -= file_->start_ns;
      file_->sink->write(frame);
      const bool first = file_->frames++ == 0;
      const std::lock_guard lock(mutex_);
      ++counts_.frames;
      if (first) ++counts_.files;
      return;
    }
  } catch (const Error& error) {
    stop_at(error);
  } catch (const std::exception& error) {
    stop_at(Error(ExitCode::write_failed, options_.path + ": " + error.what()));
  }
  const std::lock_guard lock(mutex_);
  ++counts_.dropped;
}

bool Recorder::is_full(const Frame& frame) const {
  if (file_->frames == 0) return false;
  if (options_.split_ns && frame.pts_ns - file_->start_ns >= *options_.split_ns) return true;
  if (!options_.split_bytes) return false;
  std::error_code absent;  // The first bytes come late, since encoders look ahead.
  const std::uintmax_t bytes = std::filesystem::file_size(partial_path(file_->path), absent);
  return !absent && bytes >= *options_.split_bytes;
}

void Recorder::watch(const std::shared_ptr<Sink>& sink) {
  const std::lock_guard lock(sinks_mutex_);
  std::erase_if(sinks_, [](const auto& each) { return each.expired(); });
  sinks_.push_back(sink);
  if (cancelled_) sink->cancel();
}

void Recorder::cancel() noexcept {
  const std::lock_guard lock(sinks_mutex_);
  cancelled_ = true;
  for (const auto& each : sinks_) {
    if (const std::shared_ptr<Sink> sink = each.lock()) sink->cancel();
  }
}

void Recorder::begin_file() {
  for (;;) {
    File file;
    file.path = names_.next();
    file.recording = recording_;
    file.sink = options_.make_sink(file.path);
    watch(file.sink);
    try {
      file.sink->open(info_);
    } catch (const OutputBusy&) {
      names_.advance();  // Another recording took the name first.
      continue;
    }
    file_ = std::move(file);
    return;
  }
}

/// Ends a file in the background: closing takes as long as an encoder looks ahead, and for mp4 as
/// long as copying the file, and the next file's frames must not wait for that.
void Recorder::end_file() {
  if (!file_) return;
  File file = std::move(*file_);
  file_.reset();
  if (file.frames == 0) {
    close(std::move(file));
    return;
  }
  names_.advance();
  if (closing_.joinable()) closing_.join();
  // Kept here, too, so that the file survives a thread that cannot start.
  const auto ended = std::make_shared<File>(std::move(file));
  try {
    closing_ = std::thread([this, ended] { close(std::move(*ended)); });
  } catch (const std::system_error& error) {
    logger().debug("{}: is closed without a thread of its own: {}", ended->path, error.what());
    close(std::move(*ended));
  }
}

void Recorder::close(File file) noexcept {
  const auto fail = [&](const Error& error) {
    // The next file would end likewise, and encoders deliver all of a short file only at its end.
    // A recording that began since goes on.
    if (file.recording == recording_) {
      wanted_.on = false;
      broken_ = true;
    }
    note_failure(error, &file);
    logger().error("{}; recording has stopped{}", error.what(), what_is_left(file.path));
  };
  try {
    file.sink->finish(file.frames > 0 ? Ending::complete : Ending::failed);
    if (file.frames > 0) logger().info("recorded {}", file.path);
  } catch (const Error& error) {
    fail(error);
  } catch (const std::exception& error) {
    fail(Error(ExitCode::write_failed, file.path + ": " + error.what()));
  }
  file.sink.reset();
  give_back_free_memory();
  if (pool_) pool_->forget_idle(kLeastWaiting);
}

/// Notes why a recording failed, and that the frames of `file`, or null, are lost where nothing is
/// left of it.
void Recorder::note_failure(const Error& error, const File* file) noexcept {
  const std::lock_guard lock(mutex_);
  if (code_ == ExitCode::done) code_ = error.code();
  try {
    counts_.failure = error.what();
    if (file == nullptr || file->frames == 0 || is_there(file->path) ||
        is_there(partial_path(file->path))) {
      return;
    }
    counts_.frames -= file->frames;
    counts_.dropped += file->frames;
    --counts_.files;
  } catch (const std::bad_alloc&) {
    counts_.failure = "no memory";  // fits without allocation
  }
}

void Recorder::stop_at(const Error& error) noexcept {
  failed_ = true;
  wanted_.on = false;
  broken_ = true;
  std::string left;
  if (file_) {
    try {
      file_->sink->finish(Ending::failed);
    } catch (const std::exception& again) {
      logger().debug("{}: {}", file_->path, again.what());
    }
    left = what_is_left(file_->path);
    if (file_->frames > 0) names_.advance();
  }
  note_failure(error, file_ ? &*file_ : nullptr);
  file_.reset();
  logger().error("{}; recording has stopped{}", error.what(), left);
}

RecordCounts Recorder::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

ExitCode Recorder::code() const {
  const std::lock_guard lock(mutex_);
  return code_;
}

}  // namespace equalux
