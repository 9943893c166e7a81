#include "pipelines/gstreamer/stream/live_encoder.h"

#include <chrono>
#include <utility>

#include <equalux/error.h>

namespace equalux::gst {
namespace {

using namespace std::chrono_literals;

/// Interval at which a wait for a packet checks for a newer frame.
constexpr auto kPacketLook = 2ms;
/// Time after which an encoder that takes nothing counts as stalled, and the limit for stopping.
constexpr auto kEncoderStall = 20s;
constexpr auto kEncoderStop = 500ms;

}  // namespace

LiveEncoder::LiveEncoder(const EncoderSpec& spec, const StreamInfo& info,
                         const EncodeSettings& settings,
                         std::function<void(const EncodedPicture&)> take)
    : bin_(spec, info, settings),
      take_(std::move(take)),
      waiting_pixels_(info.desc),
      now_pixels_(info.desc),
      thread_([this] { work(); }) {}

LiveEncoder::~LiveEncoder() {
  stop();
}

void LiveEncoder::stop() noexcept {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
  bin_.stop(kEncoderStop);
}

void LiveEncoder::offer(const Frame& frame) {
  {
    const std::lock_guard lock(mutex_);
    if (failure_) std::rethrow_exception(failure_);
    if (!wanted_ || stop_) return;
    if (std::exchange(is_waiting_, true)) ++counts_.dropped;
    copy_image(frame.image, waiting_pixels_.view());
    waiting_ = frame;
  }
  changed_.notify_all();
}

void LiveEncoder::set_wanted(bool wanted) {
  const std::lock_guard lock(mutex_);
  if (std::exchange(wanted_, wanted) == wanted) return;
  is_waiting_ = false;
  keyframe_ = true;
}

bool LiveEncoder::is_wanted() const {
  const std::lock_guard lock(mutex_);
  return (wanted_ || failure_) && !stop_;  // offer() throws the failure.
}

void LiveEncoder::force_keyframe() {
  const std::lock_guard lock(mutex_);
  keyframe_ = true;
}

StreamCounts LiveEncoder::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

/// Takes the waiting frame, or waits for one; returns false at the end.
bool LiveEncoder::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return is_waiting_ || stop_; });
  if (stop_) return false;
  is_waiting_ = false;
  std::swap(waiting_pixels_, now_pixels_);
  now_.place() = waiting_;
  now_.image = std::as_const(now_pixels_).view();
  if (std::exchange(keyframe_, false)) bin_.force_keyframe();
  return true;
}

/// Passes on a packet; returns false where there was none.
bool LiveEncoder::hand_on(std::chrono::milliseconds wait) {
  bool any = false;
  while (const std::optional<EncodedPicture> picture = bin_.pull(any ? 0ms : wait)) {
    any = true;
    take_(*picture);
    const std::lock_guard lock(mutex_);
    ++counts_.frames;
  }
  return any;
}

bool LiveEncoder::is_due() const {
  const std::lock_guard lock(mutex_);
  return is_waiting_ || stop_;
}

void LiveEncoder::work() {
  try {
    while (next()) {
      for (auto since = Clock::now(); !bin_.wants_frame();) {
        if (hand_on(kPacketLook)) since = Clock::now();
        if (Clock::now() - since > kEncoderStall) {
          throw Error(ExitCode::write_failed, "the encoder takes no more frames");
        }
        const std::lock_guard lock(mutex_);
        if (stop_) return;
      }
      bin_.push(now_);
      while (!hand_on(kPacketLook) && !is_due()) {
      }
    }
  } catch (...) {
    const std::lock_guard lock(mutex_);
    failure_ = std::current_exception();
  }
}

}  // namespace equalux::gst
