#include "pipelines/live/reconnecting_source.h"

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include <equalux/error.h>

#include "pipelines/core/sound.h"
#include "pipelines/picture/placeholder.h"
#include "src/common/log.h"
#include "src/common/size_text.h"

namespace equalux {
namespace {

/// Difference between a live source's clock and ours from which it counts as set again: more than
/// any network buffer holds, and more than clocks drift in a day.
constexpr std::int64_t kClockJumpNs = 5'000'000'000;
/// Least distance between frames: the tick of the coarsest container, Matroska.
constexpr std::int64_t kLeastGapNs = 1'000'000;

std::string seconds_of(Clock::duration duration) {
  const auto tenths = static_cast<long>(milliseconds(duration) / 100);
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s";
}

/// Opens a source again and again, in a thread of its own, until it succeeds. The wait before each
/// attempt doubles. cancel() reaches the source that is being opened.
class Reopener {
 public:
  Reopener(const SourceFactory& make, const ReconnectOptions& options)
      : make_(make), options_(options) {}
  ~Reopener() {
    cancel();
    if (thread_.joinable()) thread_.join();
  }
  Reopener(const Reopener&) = delete;
  Reopener& operator=(const Reopener&) = delete;

  /// Releases `old` first, because a device may allow only one user.
  void start(std::unique_ptr<Source> old, const ImageDesc& desc) {
    if (thread_.joinable()) thread_.join();
    thread_ = std::thread([this, old = std::move(old), desc]() mutable {
      old.reset();
      reopen(desc);
    });
  }

  /// Returns the sound of the source that wait() returned.
  std::shared_ptr<SoundFeed> take_sound() {
    const std::lock_guard lock(mutex_);
    return std::move(ready_sound_);
  }

  /// Returns the open source, or null after `limit`. Throws where reopening is impossible.
  std::unique_ptr<Source> wait(std::chrono::milliseconds limit) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, limit, [this] { return ready_ || failure_ || cancelled_; });
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    return std::move(ready_);
  }

  void cancel() noexcept {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
    if (opening_ != nullptr) opening_->cancel();
    changed_.notify_all();
  }

 private:
  void reopen(const ImageDesc& desc) {
    auto wait = options_.first_wait;
    for (;; wait = std::min(2 * wait, options_.longest_wait)) {
      {
        std::unique_lock lock(mutex_);
        if (changed_.wait_for(lock, wait, [this] { return cancelled_; })) return;
      }
      try {
        if (try_once(desc)) return;
      } catch (const Error& error) {
        logger().debug("not back yet: {}", error.what());
      } catch (...) {
        const std::lock_guard lock(mutex_);
        failure_ = std::current_exception();
        changed_.notify_all();
        return;
      }
    }
  }

  /// Returns false where it was cancelled meanwhile. Throws what making and opening the source
  /// throw.
  bool try_once(const ImageDesc& desc) {
    std::unique_ptr<Source> source = make_();
    {
      const std::lock_guard lock(mutex_);
      if (cancelled_) return true;
      opening_ = source.get();
    }
    std::optional<StreamInfo> info;
    std::exception_ptr thrown;
    try {
      info = source->open([&](PixelFormat format) { return format == desc.format; });
    } catch (...) {
      thrown = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    opening_ = nullptr;
    if (cancelled_) return true;
    if (thrown) std::rethrow_exception(thrown);
    if (info->desc.width != desc.width || info->desc.height != desc.height) {
      failure_ = std::make_exception_ptr(
          Error(ExitCode::bad_input, info->name + ": came back with frames of " +
                                         size_and_format(info->desc) + " where they were " +
                                         size_and_format(desc) + "; start again"));
    } else {
      ready_ = std::move(source);
      ready_sound_ = std::move(info->sound);
    }
    changed_.notify_all();
    return true;
  }

  const SourceFactory& make_;
  const ReconnectOptions& options_;
  std::thread thread_;
  std::mutex mutex_;  // guards the rest
  std::condition_variable changed_;
  bool cancelled_ = false;
  Source* opening_ = nullptr;
  std::unique_ptr<Source> ready_;
  std::shared_ptr<SoundFeed> ready_sound_;
  std::exception_ptr failure_;
};

class ReconnectingSource final : public Source {
 public:
  ReconnectingSource(SourceFactory make, const ReconnectOptions& options)
      : make_(std::move(make)), options_(options), reopener_(make_, options_) {}
  ~ReconnectingSource() override { reopener_.cancel(); }
  ReconnectingSource(const ReconnectingSource&) = delete;
  ReconnectingSource& operator=(const ReconnectingSource&) = delete;

  void offer_device(int device) override { device_ = device; }

  StreamInfo open(const FormatPredicate& accepts) override {
    hold(make_());
    source_->offer_device(device_);
    info_ = source_->open(accepts);
    if (info_.live) {
      if (info_.sound) {
        sound_ = std::make_shared<RelayedSound>();
        sound_->follow(std::exchange(info_.sound, sound_));
      }
      sign_ = Image(info_.desc);
      draw_placeholder(sign_.view());
    }
    return info_;
  }

  // Placeholders are always lent; a source that fills the pool's memory needs frames with memory.
  [[nodiscard]] bool lends_buffers() const override { return source_->lends_buffers(); }

  bool read(Frame& frame) override {
    for (;;) {
      if (cancelled()) return false;
      if (source_ == nullptr && !come_back()) {
        if (cancelled()) return false;
        give_placeholder(frame);
        return true;
      }
      if (info_.live) {
        if (read_live(frame)) return true;
        if (source_ != nullptr) return false;  // It ended; it was not lost.
      } else {
        return source_->read(frame);
      }
    }
  }

  void cancel() noexcept override {
    {
      const std::lock_guard lock(mutex_);
      cancelled_ = true;
      if (current_ != nullptr) current_->cancel();
    }
    reopener_.cancel();
  }

  [[nodiscard]] std::optional<std::string> shortfall() const override {
    return source_ == nullptr ? std::nullopt : source_->shortfall();
  }

 private:
  void hold(std::unique_ptr<Source> source) {
    const std::lock_guard lock(mutex_);
    source_ = std::move(source);
    current_ = source_.get();
    if (cancelled_ && current_ != nullptr) current_->cancel();
  }
  [[nodiscard]] bool cancelled() {
    const std::lock_guard lock(mutex_);
    return cancelled_;
  }

  /// Reads a frame of a live source. Returns false where none came; source_ is then null, unless
  /// the stream ended.
  bool read_live(Frame& frame) {
    std::string what = info_.name + ": the stream ended";
    try {
      if (source_->read(frame)) {
        stamp(frame);
        return true;
      }
      if (cancelled() || !options_.end_is_loss) return false;
    } catch (const Error& error) {
      if (cancelled()) return false;
      what = error.what();
    }
    lose(what);
    return false;
  }

  void lose(const std::string& what) {
    logger().warn("{}; waiting for it to come back", what);
    lost_ = what;
    lost_at_ = Clock::now();
    if (sound_) sound_->follow(nullptr);
    gap_ = first_placeholder_ = true;
    std::unique_ptr<Source> old;
    {
      const std::lock_guard lock(mutex_);
      old = std::move(source_);
      current_ = nullptr;
    }
    reopener_.start(std::move(old), info_.desc);
  }

  /// Waits up to a placeholder's period; returns true once the source is back.
  bool come_back() {
    const auto wait =
        first_placeholder_ ? std::chrono::milliseconds(0) : options_.placeholder_period;
    std::unique_ptr<Source> source = reopener_.wait(wait);
    const auto gone = Clock::now() - lost_at_;
    if (source == nullptr) {
      if (options_.give_up && gone > *options_.give_up) {
        throw Error(ExitCode::bad_input,
                    lost_ + "; it did not come back within " + seconds_of(*options_.give_up));
      }
      return false;
    }
    hold(std::move(source));
    if (sound_) sound_->follow(reopener_.take_sound());
    ++reconnects_;
    offset_ns_.reset();
    last_own_pts_ns_.reset();
    logger().warn("{}: back after {}", info_.name, seconds_of(gone));
    return true;
  }

  [[nodiscard]] std::int64_t now_ns(Clock::time_point now) {
    if (!start_) start_ = now;
    const auto passed = std::chrono::duration_cast<std::chrono::nanoseconds>(now - *start_).count();
    return std::max(first_pts_ns_ + passed, last_pts_ns_ + kLeastGapNs);
  }

  void stamp(Frame& frame) {
    const Clock::time_point now =
        frame.captured == Clock::time_point{} ? Clock::now() : frame.captured;
    if (!start_) {
      start_ = now;
      first_pts_ns_ = frame.pts_ns;
      last_pts_ns_ = frame.pts_ns - kLeastGapNs;
      offset_ns_ = 0;
    }
    const std::int64_t arrived_ns = now_ns(now);
    const std::int64_t own_pts_ns = frame.pts_ns;
    // The source's clock stands still or was set; time continues by our clock.
    const bool stands = last_own_pts_ns_ && own_pts_ns <= *last_own_pts_ns_;
    if (stands || (offset_ns_ && std::abs(own_pts_ns + *offset_ns_ - arrived_ns) > kClockJumpNs)) {
      offset_ns_.reset();
    }
    if (!offset_ns_) offset_ns_ = arrived_ns - own_pts_ns;
    last_own_pts_ns_ = own_pts_ns;
    frame.pts_ns = std::max(own_pts_ns + *offset_ns_, last_pts_ns_ + kLeastGapNs);
    if (sound_) sound_->set_shift(*offset_ns_);
    last_pts_ns_ = frame.pts_ns;
    if (std::exchange(gap_, false)) frame.discontinuity = true;
    frame.timings.reconnects = reconnects_;
  }

  void give_placeholder(Frame& frame) {
    frame.image = std::as_const(sign_).view();
    frame.placeholder = true;
    frame.captured = Clock::now();
    frame.pts_ns = last_pts_ns_ = now_ns(frame.captured);
    frame.duration_ns =
        std::chrono::duration_cast<std::chrono::nanoseconds>(options_.placeholder_period).count();
    frame.field_order = info_.field_order;
    frame.discontinuity = std::exchange(first_placeholder_, false);
    frame.timings.reconnects = reconnects_;
  }

  SourceFactory make_;
  ReconnectOptions options_;
  int device_ = -1;
  StreamInfo info_;
  std::shared_ptr<RelayedSound> sound_;  // null where there is none
  Image sign_;

  std::mutex mutex_;  // guards cancelled_ and current_, and changes of source_
  bool cancelled_ = false;
  Source* current_ = nullptr;
  std::unique_ptr<Source> source_;  // null while it is lost

  std::string lost_;  // why it was lost
  Clock::time_point lost_at_;
  bool gap_ = false;                // the next frame comes after a gap
  bool first_placeholder_ = false;  // has not been given yet
  std::uint64_t reconnects_ = 0;
  std::optional<Clock::time_point> start_;  // of the first frame
  std::int64_t first_pts_ns_ = 0;
  std::int64_t last_pts_ns_ = -1;
  std::optional<std::int64_t> offset_ns_;  // from the present source's timestamps to ours
  std::optional<std::int64_t> last_own_pts_ns_;

  Reopener reopener_;  // last, because it calls make_ until it is destroyed
};

}  // namespace

std::unique_ptr<Source> make_reconnecting_source(SourceFactory make,
                                                 const ReconnectOptions& options) {
  return std::make_unique<ReconnectingSource>(std::move(make), options);
}

}  // namespace equalux
