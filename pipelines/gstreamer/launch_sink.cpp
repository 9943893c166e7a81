#include <cerrno>
#include <chrono>
#include <functional>
#include <optional>
#include <utility>

#include "pipelines/gstreamer/frame_feed.h"
#include "pipelines/gstreamer/gst_formats.h"
#include "pipelines/gstreamer/launch.h"
#include "pipelines/v4l2/v4l2_output.h"
#include "src/common/log.h"
#include "src/common/system_error.h"

namespace equalux {

namespace {

using namespace std::chrono_literals;

/// Time after which a sink that takes nothing counts as stalled.
constexpr auto kLaunchStall = 30s;
/// Time that a sink may need for its queued frames after the last one.
constexpr auto kEnd = 10s;
/// kLaunchStall and kEnd once the run is being stopped, and the limit for stopping its elements.
constexpr auto kLaunchStallWhenStopped = 1500ms;
constexpr auto kEndWhenStopped = 2000ms;
constexpr auto kStopLaunchWhenStopped = 500ms;
/// Interval at which a waiting write() checks again.
constexpr auto kLaunchLook = 2ms;

class LaunchSink : public Sink {
 public:
  /// `launch_for` returns the launch string for frames of a size and format, and may throw Error.
  using LaunchFor = std::function<std::string(const ImageDesc&)>;
  LaunchSink(std::string name, LaunchFor launch_for)
      : name_(std::move(name)), launch_for_(std::move(launch_for)) {}

  void open(const StreamInfo& info) override;
  void write(Frame& frame) override;
  void finish(Ending ending) override;
  void cancel() noexcept override { patience_.cancel(); }
  std::string why_opaque(const StreamInfo& info) const override {
    const bool takes =
        !info.transparent || gst::with_alpha(info.desc.format) != GST_VIDEO_FORMAT_UNKNOWN;
    return takes ? "" : Sink::why_opaque(info);
  }
  std::string name() const override { return name_; }

 private:
  void check(GstElement* pipeline);
  void refuse_loose_end(GstElement* pipeline) const;

  std::string name_;
  LaunchFor launch_for_;
  bool live_ = false;
  std::optional<std::int64_t> first_pts_ns_;
  std::unique_ptr<gst::Pipeline> pipeline_;
  std::optional<gst::Messages> messages_;
  std::optional<gst::FrameFeed> feed_;
  gst::Patience patience_;
};

void LaunchSink::open(const StreamInfo& info) {
  const std::string launch = launch_for_(info.desc);
  pipeline_ = std::make_unique<gst::Pipeline>(
      gst::parse_launch("appsrc name=equalux_in ! videoconvert ! " + launch, launch,
                        "a sink starts with video, as in gst:videoconvert ! autovideosink"));
  messages_.emplace(pipeline_->get());
  GstElement* source = gst::element_of(pipeline_->get(), "equalux_in");
  feed_.emplace(
      name_, source, info,
      info.transparent ? gst::with_alpha(info.desc.format) : gst::to_gst(info.desc.format));
  live_ = info.live;
  // Live frames are shown when they arrive, others at their timestamps.
  g_object_set(source, "is-live", live_ ? TRUE : FALSE, "do-timestamp", live_ ? TRUE : FALSE,
               nullptr);
  if (gst_element_set_state(pipeline_->get(), GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE) {
    messages_->poll(100ms);
    check(pipeline_->get());
    throw Error(ExitCode::unavailable, name_ + ": does not start");
  }
}

/// Returns the name of an element whose result nobody takes, empty where there is none. Pads that
/// come and go, as those of a demuxer, may be left alone.
std::string loose_end(GstElement* pipeline) {
  for (const GList* each = GST_BIN_CHILDREN(pipeline); each != nullptr; each = each->next) {
    auto* element = GST_ELEMENT(each->data);
    for (const GList* at = element->srcpads; at != nullptr; at = at->next) {
      auto* pad = GST_PAD(at->data);
      const GstPadTemplate* made_of = GST_PAD_PAD_TEMPLATE(pad);
      if (made_of != nullptr && GST_PAD_TEMPLATE_PRESENCE(made_of) == GST_PAD_ALWAYS &&
          gst_pad_is_linked(pad) == FALSE) {
        return GST_OBJECT_NAME(element);
      }
    }
  }
  return {};
}

void LaunchSink::check(GstElement* pipeline) {
  if (!messages_->failed()) return;
  refuse_loose_end(pipeline);
  throw messages_->error(name_, gst::Role::output);
}

/// Throws Error(usage) where that is why the launch string failed.
void LaunchSink::refuse_loose_end(GstElement* pipeline) const {
  const std::string end = loose_end(pipeline);
  if (end.empty()) return;
  throw Error(ExitCode::usage, name_ + ": nothing takes what " + end +
                                   " gives; a sink ends with one that does, as in "
                                   "gst:videoconvert ! autovideosink");
}

void LaunchSink::write(Frame& frame) {
  // Once cancelled, frames shown at their timestamps are no sign that the rest will soon be done.
  if (!patience_.is_cancelled()) patience_.renew();
  messages_->poll();
  check(pipeline_->get());
  while (!feed_->wants_frame()) {
    messages_->poll(kLaunchLook);
    check(pipeline_->get());
    if (patience_.is_over(kLaunchStall, kLaunchStallWhenStopped)) {
      throw Error(ExitCode::write_failed, name_ + ": takes no more frames");
    }
  }
  if (!first_pts_ns_) first_pts_ns_ = frame.pts_ns;
  feed_->push(frame, live_ ? -1 : frame.pts_ns - *first_pts_ns_, frame.duration_ns);
}

void LaunchSink::finish(Ending ending) {
  if (!pipeline_) return;
  const std::unique_ptr<gst::Pipeline> pipeline = std::move(pipeline_);
  struct Stop {
    const LaunchSink& sink;
    gst::Pipeline& pipeline;
    ~Stop() {
      if (sink.patience_.is_cancelled()) pipeline.stop(kStopLaunchWhenStopped);
    }
  } const stop{*this, *pipeline};
  if (ending == Ending::failed || !feed_) return;
  feed_->end();
  patience_.renew();
  while (!messages_->ended() && !messages_->failed() && !patience_.is_over(kEnd, kEndWhenStopped)) {
    messages_->poll(100ms);
  }
  check(pipeline->get());
  if (messages_->ended()) return;
  refuse_loose_end(pipeline->get());
  throw Error(ExitCode::write_failed, name_ + ": does not end");
}

class V4l2Sink final : public LaunchSink {
 public:
  using LaunchSink::LaunchSink;
  std::string why_opaque(const StreamInfo& info) const override { return Sink::why_opaque(info); }
};

/// Sets the format of an output device, which is closed afterwards: v4l2sink opens it again, and
/// some drivers allow only one user. Returns the launch string for it.
std::string prepare_v4l2(const std::string& device, const ImageDesc& desc) {
  const V4l2Node node(device);
  if (node.error() != 0) {
    const bool missing = node.error() == ENOENT || node.error() == ENODEV || node.error() == ENXIO;
    const bool forbidden = node.error() == EACCES || node.error() == EPERM;
    throw Error(missing ? ExitCode::no_input : ExitCode::cannot_create,
                device + ": " + system_error_text(node.error()) + ", must be " +
                    (forbidden ? "one that you may write; equalux doctor says how"
                               : "a video output device" + v4l2_output_remedy(device)));
  }
  const V4l2Output output = set_v4l2_output(node, device, desc);
  const std::string difference = size_difference(output, desc);
  if (!difference.empty()) logger().warn("v4l2:{}: {}", device, difference);
  logger().debug("v4l2:{}: takes {}x{} {}", device, output.width, output.height, output.format);
  return v4l2_launch(device, output);
}

}  // namespace

std::unique_ptr<Sink> make_launch_sink(const std::string& launch) {
  return std::make_unique<LaunchSink>("gst:" + launch,
                                      [launch](const ImageDesc&) { return launch; });
}

std::unique_ptr<Sink> make_v4l2_sink(const std::string& device) {
  return std::make_unique<V4l2Sink>(
      "v4l2:" + device, [device](const ImageDesc& desc) { return prepare_v4l2(device, desc); });
}

}  // namespace equalux
