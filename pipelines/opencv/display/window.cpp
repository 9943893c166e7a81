#include "pipelines/opencv/display/window.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <optional>
#include <utility>

#include <equalux/error.h>
#include <opencv2/core.hpp>
#include <opencv2/core/utils/logger.hpp>
#include <opencv2/highgui.hpp>
#include <opencv2/imgproc.hpp>

#include "pipelines/files/still.h"
#include "pipelines/opencv/display/frame_to_bgr.h"
#include "pipelines/opencv/display/window_display.h"
#include "pipelines/opencv/display/window_overlay.h"
#include "pipelines/opencv/display/window_view.h"
#include "pipelines/picture/convert_rgb.h"
#include "src/common/log.h"

namespace equalux {
namespace {

using namespace std::chrono_literals;

constexpr const char* kWindow = "equalux";
constexpr auto kTitlePeriod = 500ms;
constexpr auto kPumpSlice = 15ms;  // longest delay until a key or a cancel is noticed
constexpr auto kMessageTime = 2s;
constexpr auto kLongestHold = 2s;  // of the last frame

/// A copy of a frame, converted for the screen when it is shown.
class Picture {
 public:
  void keep(const ConstImageView& view, FieldOrder field_order) {
    if (raw_.empty() || raw_.desc() != view.desc) raw_ = Image(view.desc);
    copy_image(view, raw_.view());
    field_order_ = field_order;
    converted_ = false;
  }
  [[nodiscard]] bool empty() const { return raw_.empty(); }
  [[nodiscard]] const cv::Mat& bgr() {
    if (!converted_) frame_to_bgr(std::as_const(raw_).view(), field_order_, bgr_);
    converted_ = true;
    return bgr_;
  }
  /// Returns what a still of the frame stores: the samples themselves if a still can hold them.
  [[nodiscard]] ConstImageView for_still() {
    const ConstImageView raw = std::as_const(raw_).view();
    const ColorModel model = traits(raw.desc.format).model;
    if (model == ColorModel::gray || model == ColorModel::rgb) return raw;
    if (has_deep_samples(raw.desc.format)) {
      ImageDesc desc = raw.desc;
      desc.format = bgr_of_depth(desc.format);
      still_ = Image(desc);
      convert_to_rgb(raw, still_.view(), field_order_);
      return std::as_const(still_).view();
    }
    const cv::Mat& picture = bgr();
    ConstImageView view;
    view.desc = {.format = PixelFormat::bgr, .width = picture.cols, .height = picture.rows};
    view.data[0] = picture.ptr();
    view.stride[0] = static_cast<std::ptrdiff_t>(picture.step[0]);
    return view;
  }

 private:
  Image raw_;
  Image still_;  // more than 8 bits, as RGB
  cv::Mat bgr_;
  FieldOrder field_order_ = FieldOrder::progressive;
  bool converted_ = false;
};

/// Returns names of the next two stills that do not exist yet, for this second.
std::array<std::string, 2> still_names(const std::string& folder) {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  std::array<char, 32> stamp{};
  std::strftime(stamp.data(), stamp.size(), "%Y%m%d-%H%M%S", &local);
  for (int n = 1;; n += 2) {
    const auto name = [&](int number) {
      return (std::filesystem::path(folder) /
              ("equalux-" + std::string(stamp.data()) + "-" + std::to_string(number) + ".png"))
          .string();
    };
    std::array<std::string, 2> names{name(n), name(n + 1)};
    if (!std::filesystem::exists(names[0]) && !std::filesystem::exists(names[1])) return names;
  }
}

class WindowSink final : public Sink {
 public:
  explicit WindowSink(WindowOptions options) : options_(std::move(options)) {}
  ~WindowSink() override { close_window(); }
  WindowSink(const WindowSink&) = delete;
  WindowSink& operator=(const WindowSink&) = delete;

  void open(const StreamInfo& info) override {
    cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
    display_ = open_display();
    live_ = info.live;
    name_ = base_name_ = short_name(options_.title.empty() ? info.name : options_.title);
    shape_ = with_square_pixels({info.desc.width, info.desc.height}, info.pixel_aspect);
    try {
      const HighguiCall call;
      cv::namedWindow(kWindow, cv::WINDOW_NORMAL | cv::WINDOW_KEEPRATIO | cv::WINDOW_GUI_NORMAL);
      const cv::Size size = fit_to_screen(shape_);
      cv::resizeWindow(kWindow, size.width, size.height);
      cv::setWindowTitle(kWindow, window_title(name_, 0, state_));
    } catch (const cv::Exception& e) {
      logger().debug("window: {}", e.what());
      throw Error(ExitCode::unavailable, "window: OpenCV cannot open one on " + display_->name() +
                                             "; it needs an OpenCV built with Qt or GTK");
    }
    open_ = true;
  }

  void write(Frame& frame) override {
    pump(0ms);
    hold(live_ ? Clock::now() : pacer_.due(frame.pts_ns, Clock::now()));
    if (closed()) return;
    after_.keep(frame.image, frame.field_order);
    const bool has_original = frame.original != nullptr &&
                              frame.original->image.desc.width == frame.image.desc.width &&
                              frame.original->image.desc.height == frame.image.desc.height;
    before_.keep(has_original ? frame.original->image : frame.image, frame.field_order);
    end_of_last_ns_ = frame.pts_ns + frame.duration_ns;
    meter_.count(Clock::now());
    show();
    pump(1ms);
  }

  void idle() override {
    pump(1ms);
    if (redraw_) show();
  }

  void finish(Ending ending) override {
    const bool wanted = ending == Ending::complete || ending == Ending::shortened;
    if (wanted && !live_ && !closed() && !after_.empty()) {
      const auto now = Clock::now();
      hold(std::min(pacer_.due(end_of_last_ns_, now), now + kLongestHold));
    }
    close_window();
  }

  [[nodiscard]] bool needs_main_thread() const override { return true; }
  [[nodiscard]] bool wants_original() const override { return true; }
  [[nodiscard]] bool closed() const override { return state_.closed; }
  void cancel() noexcept override { cancelled_ = true; }

 private:
  [[nodiscard]] cv::Size fit_to_screen(cv::Size size) const {
    // Leaves room for the title bar and the desktop's panels; a small window where the screen is
    // unknown.
    const double width = display_->width() > 0 ? display_->width() * 0.9 : 1150;
    const double height = display_->height() > 0 ? display_->height() * 0.85 : 650;
    const double scale = std::min({1.0, width / size.width, height / size.height});
    return {std::max(160, static_cast<int>(size.width * scale)),
            std::max(120, static_cast<int>(size.height * scale))};
  }

  void check_display() {
    if (display_ != nullptr && display_->alive()) return;
    open_ = false;
    throw Error(ExitCode::write_failed, "window: the display server of " + name_of_display() +
                                            " went away; nothing more can be shown");
  }
  [[nodiscard]] std::string name_of_display() const {
    return display_ == nullptr ? std::string("the window") : display_->name();
  }

  /// Runs the toolkit's event loop for `time`, and acts on a key.
  void pump(std::chrono::milliseconds time) {
    if (closed()) return;
    check_display();
    int key = -1;
    bool visible = true;
    {
      const HighguiCall call;
      key = time > 0ms ? cv::waitKey(static_cast<int>(time.count())) : cv::pollKey();
      visible = cv::getWindowProperty(kWindow, cv::WND_PROP_VISIBLE) >= 1;
    }
    if (options_.steering != nullptr) steer(key);
    const WindowState next = after_key(state_, key);
    redraw_ = redraw_ || next != state_;
    if (next.full != state_.full) {
      const HighguiCall call;
      cv::setWindowProperty(kWindow, cv::WND_PROP_FULLSCREEN,
                            next.full ? cv::WINDOW_FULLSCREEN : cv::WINDOW_NORMAL);
    }
    state_ = next;
    if (!said_.empty() && Clock::now() - said_at_ > kMessageTime) {
      said_.clear();
      redraw_ = true;
    }
    if (!visible) state_.closed = true;
    if (std::exchange(state_.still_wanted, false)) write_still_pair();
  }

  void steer(int key) {
    try {
      if (!steer_by_key(*options_.steering, key)) return;
      const std::string change = options_.steering->last_change();
      name_ = base_name_ + ", " + change;
      titled_at_ = {};
      say(change);
    } catch (const Error& e) {
      logger().warn("{}", e.what());
      say(e.what());
    }
  }

  /// Shows words over the picture for a while: a full screen has no title bar, nor have windows of
  /// some desktops.
  void say(const std::string& words) {
    said_ = words;
    said_at_ = Clock::now();
    redraw_ = true;
  }

  /// Waits until `due`, and for as long as the window is paused.
  void hold(Clock::time_point due) {
    while (!closed() && !cancelled_) {
      if (redraw_) show();
      const auto now = Clock::now();
      if (!state_.paused && now >= due) return;
      const bool paused = state_.paused;
      const auto slice =
          paused ? kPumpSlice
                 : std::min(kPumpSlice, std::chrono::ceil<std::chrono::milliseconds>(due - now));
      pump(slice);
      if (!paused) continue;
      const auto waited = Clock::now() - now;
      pacer_.delay(waited);
      due += waited;
    }
  }

  void show() {
    redraw_ = false;
    if (closed() || after_.empty()) return;
    compose();
    check_display();
    const HighguiCall call;
    const cv::Size size = cv::getWindowImageRect(kWindow).size();
    if (size.width > 0 && size.height > 0 && !std::exchange(fills_window_, true))
      cv::setWindowProperty(kWindow, cv::WND_PROP_ASPECT_RATIO, cv::WINDOW_FREERATIO);
    cv::imshow(kWindow, with_borders(size, canvas_, framed_));
    const auto now = Clock::now();
    if (state_ != titled_ || now - titled_at_ >= kTitlePeriod) {
      cv::setWindowTitle(kWindow, window_title(name_, meter_.fps(), state_) +
                                      (is_recording() ? ", recording" : ""));
      titled_ = state_;
      titled_at_ = now;
    }
  }

  [[nodiscard]] bool is_recording() const {
    return options_.steering != nullptr && options_.steering->recording();
  }

  void compose() {
    switch (state_.picture) {
      case WindowPicture::after:
        after_.bgr().copyTo(canvas_);
        break;
      case WindowPicture::before:
        before_.bgr().copyTo(canvas_);
        break;
      case WindowPicture::split:
        draw_split(before_.bgr(), after_.bgr(), canvas_);
        break;
    }
    if (canvas_.size() != shape_) cv::resize(canvas_, canvas_, shape_, 0, 0, cv::INTER_LINEAR);
    if (state_.tones) draw_tones(measure_tones(before_.bgr(), after_.bgr()), canvas_);
    if (state_.help) draw_keys(window_keys(options_.steering), canvas_);
    if (state_.paused) draw_pause(canvas_);
    if (state_.full && is_recording()) draw_recording(canvas_);
    draw_message(said_, canvas_);
  }

  void write_still_pair() {
    if (after_.empty()) return;
    const auto names = still_names(options_.still_folder);
    try {
      write_still(names[0], before_.for_still());
      write_still(names[1], after_.for_still());
      logger().info("wrote {} (before) and {} (after)", names[0], names[1]);
      say("wrote " + names[0]);
    } catch (const Error& e) {
      logger().warn("no still was written: {}", e.what());
      say("no still was written");
    }
  }

  void close_window() noexcept {
    if (!std::exchange(open_, false) || !display_->alive()) return;
    try {
      const HighguiCall call;
      if (cv::getWindowProperty(kWindow, cv::WND_PROP_VISIBLE) >= 1) {
        cv::destroyWindow(kWindow);
        cv::waitKey(1);
      }
    } catch (const cv::Exception& e) {
      logger().debug("window: {}", e.what());
    }
  }

  WindowOptions options_;
  std::unique_ptr<DisplayWatch> display_;
  std::string name_;       // in the title
  std::string base_name_;  // without the last change
  cv::Size shape_;
  bool live_ = false;
  bool open_ = false;
  bool fills_window_ = false;  // the canvas has the window's shape; the toolkit keeps none
  std::atomic<bool> cancelled_{false};

  WindowState state_;
  bool redraw_ = false;
  Pacer pacer_;
  FrameRateMeter meter_;
  std::int64_t end_of_last_ns_ = 0;

  Picture before_;
  Picture after_;
  cv::Mat canvas_;
  cv::Mat framed_;    // canvas_ with borders
  std::string said_;  // over the picture; empty = nothing
  Clock::time_point said_at_;
  WindowState titled_;
  Clock::time_point titled_at_;
};

}  // namespace

std::unique_ptr<Sink> make_window_sink(const WindowOptions& options) {
  return std::make_unique<WindowSink>(options);
}

}  // namespace equalux
