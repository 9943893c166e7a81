#include "pipelines/opencv/camera.h"

#include <array>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include <equalux/error.h>

namespace equalux {
namespace {

/// State shared by the source and its reading thread. The thread holds a reference, so that a
/// driver call that never returns uses only memory that is still alive.
struct Mailbox {
  std::mutex mutex;
  std::condition_variable changed;
  bool cancelled = false;
  std::optional<CaptureFormat> format;  // set once the camera is open
  std::exception_ptr failure;
  bool ended = false;  // no more frames will come

  Image newest;  // valid where `filled`
  bool filled = false;
  Clock::time_point arrived;
  std::uint64_t dropped = 0;  // overwritten since the last one was taken
};

void publish(Mailbox& box, Image& frame, Clock::time_point arrived) {
  const std::lock_guard lock(box.mutex);
  if (box.filled) ++box.dropped;
  std::swap(box.newest, frame);
  box.filled = true;
  box.arrived = arrived;
  box.changed.notify_all();
}

void read_frames(Mailbox& box, CaptureDevice& device, const FormatPredicate& accepts) {
  const CaptureFormat format = device.open(accepts);
  Image frame(format.desc);
  {
    const std::lock_guard lock(box.mutex);
    box.newest = Image(format.desc);
    box.format = format;
    box.changed.notify_all();
  }
  while (device.read(frame.view())) {
    publish(box, frame, Clock::now());
    const std::lock_guard lock(box.mutex);
    if (box.cancelled) return;
  }
}

void reader_main(const std::shared_ptr<Mailbox>& box, std::unique_ptr<CaptureDevice> device,
                 const FormatPredicate& accepts) {
  std::exception_ptr failure;
  try {
    read_frames(*box, *device, accepts);
  } catch (...) {
    failure = std::current_exception();
  }
  // Closes the camera before the source learns of the end, so that it can be opened again at once.
  device.reset();
  const std::lock_guard lock(box->mutex);
  box->failure = failure;
  box->ended = true;
  box->changed.notify_all();
}

/// Stores the answers of `accepts` now, because a thread that outlives the filters must not ask
/// them.
FormatPredicate remember(const FormatPredicate& accepts) {
  std::array<bool, kPixelFormatCount> answers{};
  for (std::size_t i = 0; i < answers.size(); ++i)
    answers[i] = accepts(static_cast<PixelFormat>(i));
  return [answers](PixelFormat format) { return answers[static_cast<std::size_t>(format)]; };
}

class CameraSource final : public Source {
 public:
  CameraSource(std::unique_ptr<CaptureDevice> device, std::string name,
               std::chrono::milliseconds deadline)
      : device_(std::move(device)), name_(std::move(name)), deadline_(deadline) {}

  ~CameraSource() override {
    cancel();
    if (!thread_.joinable()) return;
    // Waits a frame's time, which a working camera needs at most; one that hangs is abandoned.
    std::unique_lock lock(box_->mutex);
    const bool ended =
        box_->changed.wait_for(lock, std::chrono::milliseconds(300), [&] { return box_->ended; });
    lock.unlock();
    if (ended)
      thread_.join();
    else
      thread_.detach();
  }
  CameraSource(const CameraSource&) = delete;
  CameraSource& operator=(const CameraSource&) = delete;

  StreamInfo open(const FormatPredicate& accepts) override {
    thread_ = std::thread(
        [box = box_, device = std::move(device_), accepts = remember(accepts)]() mutable {
          reader_main(box, std::move(device), accepts);
        });
    std::unique_lock lock(box_->mutex);
    const bool answered = box_->changed.wait_for(lock, deadline_, [&] {
      return box_->format.has_value() || box_->ended || box_->cancelled;
    });
    // A camera that opened and then failed is reported by read(), after the frames that it gave.
    if (!box_->format.has_value()) {
      if (box_->failure != nullptr) std::rethrow_exception(box_->failure);
      throw Error(ExitCode::unavailable, no_answer(answered));
    }
    format_ = *box_->format;
    mine_ = Image(format_.desc);

    StreamInfo info;
    info.desc = format_.desc;
    info.frame_rate = format_.frame_rate;
    info.live = true;
    info.name = name_;
    return info;
  }

  bool read(Frame& frame) override {
    std::unique_lock lock(box_->mutex);
    box_->changed.wait_for(lock, deadline_,
                           [&] { return box_->filled || box_->ended || box_->cancelled; });
    if (box_->cancelled) return false;
    if (!box_->filled) throw_no_frame();
    std::swap(mine_, box_->newest);
    box_->filled = false;
    const std::uint64_t dropped = std::exchange(box_->dropped, 0);
    const Clock::time_point arrived = box_->arrived;
    lock.unlock();

    copy_image(mine_.view(), frame.pixels.view());
    if (!first_.has_value()) first_ = arrived;
    frame.image = std::as_const(frame.pixels).view();
    frame.captured = arrived;
    frame.pts_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(arrived - *first_).count();
    frame.duration_ns = format_.frame_rate.num > 0
                            ? format_.frame_rate.den * 1'000'000'000 / format_.frame_rate.num
                            : 0;
    frame.discontinuity = dropped > 0;
    frame.field_order = FieldOrder::progressive;
    frame.timings.dropped_before = dropped;
    return true;
  }

  void cancel() noexcept override {
    const std::lock_guard lock(box_->mutex);
    box_->cancelled = true;
    box_->changed.notify_all();
  }

 private:
  [[nodiscard]] std::string seconds() const {
    std::string text = std::to_string(static_cast<double>(deadline_.count()) / 1000);
    return text.substr(0, text.find('.') + 2) + " s";
  }
  [[nodiscard]] std::string no_answer(bool answered) const {
    if (answered) return name_ + ": opening it was stopped";
    return name_ + ": did not open within " + seconds() + "; unplug it and plug it in again";
  }
  [[noreturn]] void throw_no_frame() const {
    if (box_->failure != nullptr) std::rethrow_exception(box_->failure);
    if (box_->ended)
      throw Error(ExitCode::bad_input, name_ + ": stopped giving frames; is it still plugged in?");
    throw Error(ExitCode::bad_input,
                name_ + ": gave no frame for " + seconds() + "; unplug it and plug it in again");
  }

  std::unique_ptr<CaptureDevice> device_;
  std::string name_;
  std::chrono::milliseconds deadline_;
  std::shared_ptr<Mailbox> box_ = std::make_shared<Mailbox>();
  std::thread thread_;
  CaptureFormat format_;
  Image mine_;
  std::optional<Clock::time_point> first_;
};

}  // namespace

std::unique_ptr<Source> make_camera_source(std::unique_ptr<CaptureDevice> device, std::string name,
                                           std::chrono::milliseconds deadline) {
  return std::make_unique<CameraSource>(std::move(device), std::move(name), deadline);
}

std::unique_ptr<Source> make_camera_source(const CameraOptions& options) {
  return make_camera_source(make_v4l2_device(options), "camera:" + std::to_string(options.number),
                            options.deadline);
}

}  // namespace equalux
