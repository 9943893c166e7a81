#include "pipelines/pipewire/pipewire_source.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <mutex>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include <equalux/error.h>

#include "pipelines/picture/convert_picture.h"
#include "pipelines/pipewire/camera_list.h"
#include "pipelines/pipewire/capture_stream.h"
#include "pipelines/pipewire/connection.h"
#include "pipelines/pipewire/formats.h"
#include "src/common/log.h"

namespace equalux {
namespace {

using namespace std::chrono_literals;
using pipewire::CameraList;
using pipewire::CaptureStream;
using pipewire::FormatWish;
using pipewire::ListedCamera;
using pipewire::TakenFrame;

constexpr auto kCameraAnswer = 5000ms;
constexpr auto kCancelPeriod = 50ms;
/// Size that is preferred where the camera leaves it open.
constexpr int kUsualWidth = 1280;
constexpr int kUsualHeight = 720;

/// Returns true where YCbCr keeps all of its chroma.
bool keeps_chroma(PixelFormat from, PixelFormat to) {
  const FormatTraits& a = traits(from);
  const FormatTraits& b = traits(to);
  if (a.model != ColorModel::yuv || b.model != ColorModel::yuv) return true;
  return a.chroma_shift_x == b.chroma_shift_x && a.chroma_shift_y == b.chroma_shift_y;
}

/// Returns the format in which frames of `from` are given: the same, or another one without loss.
std::optional<PixelFormat> given_as(PixelFormat from, const FormatPredicate& accepts) {
  if (accepts(from)) return from;
  std::vector<PixelFormat> others{PixelFormat::bgr, PixelFormat::rgb, PixelFormat::bgrx,
                                  PixelFormat::rgbx};
  const std::vector<PixelFormat> known = pipewire::known_formats();
  others.insert(others.end(), known.begin(), known.end());
  const auto at = std::find_if(others.begin(), others.end(), [&](PixelFormat to) {
    return accepts(to) && converts_to(from, to) && keeps_chroma(from, to);
  });
  if (at == others.end()) return std::nullopt;
  return *at;
}

class PipewireSource final : public Source {
 public:
  explicit PipewireSource(PipewireSourceOptions options)
      : options_(std::move(options)), name_("pipewire:" + options_.camera) {}
  ~PipewireSource() override;
  PipewireSource(const PipewireSource&) = delete;
  PipewireSource& operator=(const PipewireSource&) = delete;

  StreamInfo open(const FormatPredicate& accepts) override;
  bool read(Frame& frame) override;
  void cancel() noexcept override;

 private:
  [[nodiscard]] ListedCamera find_camera() const;
  [[nodiscard]] std::vector<FormatWish> wishes(const std::vector<CameraMode>& modes,
                                               const FormatPredicate& accepts) const;
  void await_format();
  void fail(const std::string& why);
  void on_news();
  void take(const TakenFrame& taken);
  [[nodiscard]] std::string failure();
  [[nodiscard]] bool is_stopped();
  [[nodiscard]] bool give(Frame& frame);
  [[noreturn]] void throw_no_frame();

  const PipewireSourceOptions options_;
  std::string name_;
  pipewire::VideoFormat format_;  // of the camera
  ImageDesc given_;
  std::optional<Clock::time_point> first_;
  // Newest frame, in turns with the previous one; bytes where frames are JPEGs.
  Image mine_;
  std::vector<std::uint8_t> my_jpeg_;

  // Guards the members from cancelled_ to lost_. Taken inside the loop's lock, never around it.
  std::mutex mutex_;
  std::condition_variable changed_;
  bool cancelled_ = false;
  std::string failure_;
  bool filled_ = false;
  Image newest_;
  std::vector<std::uint8_t> newest_jpeg_;
  Clock::time_point taken_;
  std::uint64_t lost_ = 0;

  std::optional<pipewire::Loop> loop_;
  // Used with the loop's lock held from here on.
  std::optional<pipewire::Connection> connection_;
  std::optional<CameraList> list_;
  std::optional<CaptureStream> stream_;
  std::optional<std::uint32_t> camera_id_;
};

PipewireSource::~PipewireSource() {
  if (!loop_) return;
  {
    const pipewire::Loop::Lock lock(*loop_);
    stream_.reset();
    list_.reset();
    connection_.reset();
  }
  loop_.reset();
}

StreamInfo PipewireSource::open(const FormatPredicate& accepts) {
  loop_.emplace(name_);
  const pipewire::Loop::Lock lock(*loop_);
  connection_.emplace(*loop_, name_, [this] { fail("PipeWire has gone"); });
  list_.emplace(*connection_, [this](std::uint32_t id) {
    if (id == camera_id_) fail("has gone; is it still plugged in?");
  });
  if (!list_->fill(kCameraAnswer)) {
    throw Error(ExitCode::unavailable, name_ +
                                           ": PipeWire does not answer; must be restarted "
                                           "(systemctl --user restart pipewire)");
  }
  const ListedCamera camera = find_camera();
  camera_id_ = camera.id;
  *options_.found = camera.name;
  if (options_.camera.empty()) name_ = "pipewire:" + camera.name;

  // Default of cameras for uncompressed video.
  ImageDesc usual;
  usual.matrix = ColorMatrix::bt601;
  usual.range = ColorRange::limited;
  stream_.emplace(
      *connection_, name_, camera, wishes(list_->modes(camera, kCameraAnswer), accepts), usual,
      [this](const TakenFrame& taken) { take(taken); }, [this] { on_news(); });
  await_format();
  format_ = *stream_->agreed();
  const std::optional<PixelFormat> given = given_as(format_.desc.format, accepts);
  if (!given) {
    throw Error(ExitCode::unavailable, name_ + ": gives " +
                                           std::string(to_string(format_.desc.format)) +
                                           " frames, which the filters do not take");
  }
  given_ = *given == format_.desc.format ? format_.desc : converted_desc(format_.desc, *given);
  validate(given_);

  StreamInfo info;
  info.desc = given_;
  info.frame_rate = format_.rate;
  info.pixel_aspect = format_.pixel_aspect;
  info.live = true;
  info.name = name_;
  return info;
}

ListedCamera PipewireSource::find_camera() const {
  const std::string& name = options_.found->empty() ? options_.camera : *options_.found;
  const auto camera = name.empty() ? list_->usual() : list_->find(name);
  if (!camera || camera->is_ours) {
    throw Error(ExitCode::no_input,
                name_ + ": " + (name.empty() ? "there is no default camera" : "is not there") +
                    "; " + describe_cameras(list_->cameras()));
  }
  if (list_->session_manager().empty()) {
    throw Error(ExitCode::unavailable,
                name_ +
                    ": no session manager runs that connects programs with cameras, must "
                    "(WirePlumber)");
  }
  return *camera;
}

/// Returns the chosen mode first, and then everything that can be taken: the camera's modes may be
/// unknown, and one that is being read already keeps its format.
std::vector<FormatWish> PipewireSource::wishes(const std::vector<CameraMode>& modes,
                                               const FormatPredicate& accepts) const {
  const auto compression = [&](std::uint32_t code) {
    if (code == pipewire::kJpegFourcc) {
      return options_.decode_jpeg != nullptr && given_as(PixelFormat::bgr, accepts) ? 2 : -1;
    }
    const auto format = pipewire::pixel_format_of_fourcc(code);
    if (!format || !given_as(*format, accepts)) return -1;
    return accepts(*format) ? 0 : 1;
  };
  const CameraMode mode = choose_mode(
      modes, {options_.width, options_.height, options_.fps.value()}, compression, name_);
  logger().debug("{}: {}", name_, explain_mode(modes, mode, compression));

  FormatWish wish;
  wish.any_size = options_.width == 0;
  wish.width = mode.width > 0 ? mode.width : kUsualWidth;
  wish.height = mode.height > 0 ? mode.height : kUsualHeight;
  wish.any_rate = true;
  wish.rate = options_.fps.num > 0 ? options_.fps : Rational{30, 1};
  std::vector<FormatWish> all;
  const auto add_of = [&](int kind) {
    for (const PixelFormat format : pipewire::known_formats()) {
      if (!given_as(format, accepts) || accepts(format) != (kind == 0)) continue;
      wish.format = format;
      all.push_back(wish);
    }
  };
  if (mode.fourcc != 0) {
    FormatWish chosen = wish;
    chosen.any_size = false;
    chosen.format = pipewire::pixel_format_of_fourcc(mode.fourcc);
    chosen.any_rate = options_.fps.num == 0;
    all.push_back(chosen);
    chosen.any_rate = true;
    all.push_back(chosen);
  }
  add_of(0);
  add_of(1);
  wish.format.reset();
  if (compression(pipewire::kJpegFourcc) == 2) all.push_back(wish);
  if (all.empty()) {
    throw Error(ExitCode::unavailable,
                name_ + ": cameras of PipeWire give none of the formats that the filters take");
  }
  return all;
}

void PipewireSource::await_format() {
  const auto deadline = Clock::now() + kCameraAnswer;
  while (!stream_->agreed() && !is_stopped() && Clock::now() < deadline) {
    static_cast<void>(loop_->wait_until(std::min(deadline, Clock::now() + kCancelPeriod)));
  }
  const std::string why = failure();
  if (stream_->agreed() && why.empty()) return;
  throw Error(ExitCode::unavailable,
              name_ + ": " +
                  (why.empty() ? "PipeWire did not connect it; is another program using it?"
                               : "gives no frames that are taken here: " + why));
}

void PipewireSource::fail(const std::string& why) {
  {
    const std::lock_guard guard(mutex_);
    if (failure_.empty()) failure_ = why;
    changed_.notify_all();
  }
  loop_->wake();
}

/// Called in the loop's thread.
void PipewireSource::on_news() {
  if (stream_ && !stream_->failure().empty()) fail(stream_->failure());
  loop_->wake();
}

std::string PipewireSource::failure() {
  const std::lock_guard guard(mutex_);
  return failure_;
}

bool PipewireSource::is_stopped() {
  const std::lock_guard guard(mutex_);
  return cancelled_ || !failure_.empty();
}

/// Called in the loop's thread.
void PipewireSource::take(const TakenFrame& taken) try {
  const std::lock_guard guard(mutex_);
  if (!taken.jpeg.empty()) {
    newest_jpeg_.assign(taken.jpeg.begin(), taken.jpeg.end());
  } else {
    if (newest_.desc() != taken.image.desc) newest_ = Image(taken.image.desc);
    copy_image(taken.image, newest_.view());
  }
  lost_ += taken.lost_before + (filled_ ? 1 : 0);
  filled_ = true;
  taken_ = taken.taken;
  changed_.notify_all();
} catch (const std::bad_alloc&) {
  // Must not throw, since libpipewire, which calls, is C.
  fail("gives frames that need more memory than there is");
}

bool PipewireSource::read(Frame& frame) {
  const auto deadline = Clock::now() + options_.deadline;
  for (;;) {
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, deadline, [&] { return filled_ || !failure_.empty() || cancelled_; });
    if (cancelled_) return false;
    if (!filled_) {
      lock.unlock();
      throw_no_frame();
    }
    filled_ = false;
    std::swap(mine_, newest_);
    std::swap(my_jpeg_, newest_jpeg_);
    frame.captured = taken_;
    const std::uint64_t lost = std::exchange(lost_, 0);
    lock.unlock();
    if (give(frame)) {
      frame.timings.dropped_before = lost;
      frame.discontinuity = lost > 0;
      return true;
    }
    lock.lock();
    lost_ += lost + 1;
  }
}

/// Returns false where the data are no picture.
bool PipewireSource::give(Frame& frame) {
  ImageView to = frame.pixels.view();
  // Keeps the format of the start, since a camera that came back may report another matrix.
  to.desc = given_;
  if (format_.jpegs) {
    const bool is_direct = given_.format == format_.desc.format;
    if (!is_direct && mine_.desc() != format_.desc) mine_ = Image(format_.desc);
    if (!options_.decode_jpeg(my_jpeg_, is_direct ? to : mine_.view())) return false;
    if (!is_direct) convert_picture(mine_.view(), to);
  } else if (given_.format == format_.desc.format) {
    copy_image(mine_.view(), to);
  } else {
    convert_picture(mine_.view(), to);
  }
  if (!first_) first_ = frame.captured;
  frame.image = std::as_const(frame.pixels).view();
  frame.pts_ns =
      std::chrono::duration_cast<std::chrono::nanoseconds>(frame.captured - *first_).count();
  frame.duration_ns =
      format_.rate.num > 0 ? format_.rate.den * 1'000'000'000 / format_.rate.num : 0;
  frame.field_order = FieldOrder::progressive;
  return true;
}

void PipewireSource::throw_no_frame() {
  std::string why = failure();
  if (why.empty()) {
    const pipewire::Loop::Lock lock(*loop_);
    why = "gave no frame for " + std::to_string(options_.deadline.count() / 1000) + " s";
    if (!stream_->trouble().empty()) why = stream_->trouble() + "; " + why;
  }
  throw Error(ExitCode::bad_input, name_ + ": " + why);
}

void PipewireSource::cancel() noexcept {
  const std::lock_guard guard(mutex_);
  cancelled_ = true;
  changed_.notify_all();
}

}  // namespace

std::unique_ptr<Source> make_pipewire_source(const PipewireSourceOptions& options) {
  return std::make_unique<PipewireSource>(options);
}

}  // namespace equalux
