#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include <gst/sdp/gstsdpmessage.h>

#include "pipelines/core/sound.h"
#include "pipelines/gstreamer/decode/file_source.h"
#include "pipelines/gstreamer/decode/picture_tap.h"
#include "pipelines/gstreamer/gst_formats.h"
#include "pipelines/gstreamer/launch.h"
#include "pipelines/gstreamer/sound_tap.h"
#include "pipelines/live/stream_address.h"
#include "src/common/log.h"

namespace equalux {

namespace {

using namespace std::chrono_literals;

/// Limit from start to the first picture; a camera or a network peer may need some time.
constexpr auto kFirstLaunchPicture = 4500ms;
constexpr auto kFirstLivePicture = 15s;
/// Time to wait for announced sound, which comes a little after a camera's first picture.
constexpr auto kFirstSound = 2s;
constexpr const char* kNetworkSource = "equalux_network";

/// Appends caps of the accepted formats for which `wanted` is true.
void append_caps(GstCaps* caps, const FormatPredicate& accepts, const FormatPredicate& wanted) {
  GValue formats = G_VALUE_INIT;
  g_value_init(&formats, GST_TYPE_LIST);
  for (int i = 0; i < kPixelFormatCount; ++i) {
    const auto format = static_cast<PixelFormat>(i);
    const GstVideoFormat theirs = gst::to_gst(format);
    if (theirs == GST_VIDEO_FORMAT_UNKNOWN || !accepts(format) || !wanted(format)) continue;
    GValue name = G_VALUE_INIT;
    g_value_init(&name, G_TYPE_STRING);
    g_value_set_string(&name, gst_video_format_to_string(theirs));
    gst_value_list_append_and_take_value(&formats, &name);
  }
  if (gst_value_list_get_size(&formats) > 0) {
    GstStructure* structure = gst_structure_new_empty("video/x-raw");
    gst_structure_set_value(structure, "format", &formats);
    gst_caps_append_structure(caps, structure);
  }
  g_value_unset(&formats);
}

/// Returns caps of every accepted format; a pipeline that can choose takes one of 8 bits.
gst::CapsPtr accepted_caps(const FormatPredicate& accepts) {
  gst::CapsPtr caps(gst_caps_new_empty());
  append_caps(caps.get(), accepts, has_byte_samples);
  append_caps(caps.get(), accepts, has_deep_samples);
  return caps;
}

/// Arrival of a picture at the end of a live pipeline, and how many were not read.
struct Arrival {
  Clock::time_point time;
  std::uint64_t number = 0;  ///< counts the pictures that arrived, from 0, including dropped ones
};

/// Stores the time in a reference timestamp meta, and the number in its duration.
GstCaps* reference() {
  static GstStaticCaps caps = GST_STATIC_CAPS("timestamp/x-equalux-arrival");
  return gst_static_caps_get(&caps);
}

GstPadProbeReturn mark(GstPad*, GstPadProbeInfo* info, gpointer count) {
  GstBuffer* buffer = gst_buffer_make_writable(GST_PAD_PROBE_INFO_BUFFER(info));
  const auto now =
      static_cast<GstClockTime>(std::chrono::nanoseconds(Clock::now().time_since_epoch()).count());
  const gst::CapsPtr caps(reference());
  gst_buffer_add_reference_timestamp_meta(buffer, caps.get(), now,
                                          (*static_cast<std::uint64_t*>(count))++);
  GST_PAD_PROBE_INFO_DATA(info) = buffer;
  return GST_PAD_PROBE_OK;
}

/// Marks every buffer that reaches the element's sink pad from now on.
void mark_arrivals(GstElement* element) {
  const gst::PadPtr pad(gst_element_get_static_pad(element, "sink"));
  gst_pad_add_probe(pad.get(), GST_PAD_PROBE_TYPE_BUFFER, mark, new std::uint64_t(0),
                    [](gpointer count) { delete static_cast<std::uint64_t*>(count); });
}

/// Returns a buffer's mark; nothing where it has none.
std::optional<Arrival> arrival_of(GstBuffer* buffer) {
  const gst::CapsPtr caps(reference());
  const GstReferenceTimestampMeta* meta =
      gst_buffer_get_reference_timestamp_meta(buffer, caps.get());
  if (meta == nullptr) return std::nullopt;
  const std::chrono::nanoseconds since_epoch(static_cast<std::int64_t>(meta->timestamp));
  return Arrival{Clock::time_point(std::chrono::duration_cast<Clock::duration>(since_epoch)),
                 meta->duration};
}

class LaunchSource final : public Source {
 public:
  LaunchSource(std::string launch, std::string name, std::chrono::milliseconds stall)
      : launch_(std::move(launch)), name_(std::move(name)), stall_(stall) {}

  /// Tells that the launch string is one uridecodebin, kNetworkSource.
  void from_network(NetworkSound sound) {
    network_ = true;
    takes_sound_ = sound == NetworkSound::taken;
  }

  StreamInfo open(const FormatPredicate& accepts) override;
  bool lends_buffers() const override { return true; }
  bool read(Frame& frame) override;
  void cancel() noexcept override {
    const std::lock_guard lock(tap_mutex_);
    cancelled_ = true;
    if (tap_) tap_->cancel();
  }

 private:
  bool start(GstElement* sink);
  GstVideoInfo start_up_to_first(GstElement* sink, bool& live);
  void note_arrival(GstBuffer* buffer, Frame& frame);
  void warn_of_lost_bits(PixelFormat format, const FormatPredicate& accepts) const;
  [[nodiscard]] std::shared_ptr<SoundFeed> find_sound() const;

  std::string launch_;
  std::string name_;
  std::chrono::milliseconds stall_;
  bool network_ = false;
  bool takes_sound_ = false;
  std::shared_ptr<std::atomic<bool>> announces_sound_ = std::make_shared<std::atomic<bool>>(false);
  std::atomic<bool> cancelled_ = false;
  std::uint64_t frames_ = 0;
  std::int64_t last_pts_ns_ = 0;
  std::optional<std::uint64_t> arrivals_;  // up to the last frame
  std::unique_ptr<gst::Pipeline> pipeline_;
  std::unique_ptr<gst::PictureTap> tap_;
  std::mutex tap_mutex_;  // cancel() comes from other threads, also while open() makes the tap
};

void take_newest(GstElement* sink) {
  gst::set_up_appsink(sink, gst::WhenFull::drop);
  mark_arrivals(sink);
}

/// Shared with signal handlers of elements, which may outlive the source if they do not stop.
using Flag = std::shared_ptr<std::atomic<bool>>;

/// Notes whether an RTSP session announces sound.
void read_session(GstElement*, GstSDPMessage* session, gpointer announced) {
  for (guint i = 0; i < gst_sdp_message_medias_len(session); ++i) {
    const gchar* media = gst_sdp_media_get_media(gst_sdp_message_get_media(session, i));
    if (g_strcmp0(media, "audio") == 0) **static_cast<Flag*>(announced) = true;
  }
}

/// Sets up the source within uridecodebin, whose default jitter buffer of 2 s is no live picture.
void set_up_network(GstElement*, GstElement* source, gpointer announces_sound) {
  constexpr guint kJitterMs = 200;
  if (g_object_class_find_property(G_OBJECT_GET_CLASS(source), "latency") != nullptr) {
    g_object_set(source, "latency", kJitterMs, nullptr);
  }
  if (g_signal_lookup("on-sdp", G_OBJECT_TYPE(source)) != 0) {
    gst::connect(source, "on-sdp", G_CALLBACK(read_session), *static_cast<Flag*>(announces_sound));
  }
}

/// Sets up the demuxer of a camera's multipart stream, which has one part that repeats and never
/// announces the end of its pads.
void set_up_demuxer(GstBin*, GstBin*, GstElement* element, gpointer) {
  if (g_object_class_find_property(G_OBJECT_GET_CLASS(element), "single-stream") != nullptr) {
    g_object_set(element, "single-stream", TRUE, nullptr);
  }
}

/// Starts the pipeline. Returns true where it is live: it gives no preroll picture.
bool LaunchSource::start(GstElement* sink) {
  GstElement* pipeline = pipeline_->get();
  GstStateChangeReturn result = gst_element_set_state(pipeline, GST_STATE_PAUSED);
  const bool live = result == GST_STATE_CHANGE_NO_PREROLL;
  if (live) take_newest(sink);
  if (result != GST_STATE_CHANGE_FAILURE) {
    result = gst_element_set_state(pipeline, GST_STATE_PLAYING);
  }
  if (result == GST_STATE_CHANGE_FAILURE) {
    gst::Messages& messages = tap_->messages();
    messages.poll(100ms);
    if (messages.failed()) throw messages.error(name_, gst::Role::input);
    throw Error(ExitCode::unavailable, name_ + ": does not start");
  }
  return live;
}

GstVideoInfo LaunchSource::start_up_to_first(GstElement* sink, bool& live) {
  try {
    live = start(sink);
    return tap_->first(live || network_ ? kFirstLivePicture : kFirstLaunchPicture);
  } catch (const Error& error) {
    // uridecodebin names the element that talks to the server "source".
    const bool unreachable = network_ && tap_->messages().failed_element() == "source";
    if (!unreachable || error.code() == ExitCode::unavailable) throw;
    logger().debug("{}", error.what());
    throw Error(ExitCode::no_input, name_ + ": gives no stream (" + tap_->messages().reason() +
                                        "); is the address right, and is its server running?");
  }
}

std::shared_ptr<SoundFeed> LaunchSource::find_sound() const {
  const auto until = Clock::now() + kFirstSound;
  for (;;) {
    std::shared_ptr<SoundFeed> sound = gst::SoundTap::of(pipeline_->get());
    if (sound || !*announces_sound_ || cancelled_ || Clock::now() > until) return sound;
    std::this_thread::sleep_for(10ms);
  }
}

/// Warns where videoconvert reduces pictures to 8 bits: where the filters take no more, and also
/// where no accepted format has all of the bits, since it then takes the first one.
void LaunchSource::warn_of_lost_bits(PixelFormat format, const FormatPredicate& accepts) const {
  const gst::PadPtr pad(
      gst_element_get_static_pad(gst::element_of(pipeline_->get(), "equalux_convert"), "sink"));
  const gst::CapsPtr caps(gst_pad_get_current_caps(pad.get()));
  GstVideoInfo video{};
  if (!caps || gst_video_info_from_caps(&video, caps.get()) == FALSE) return;
  const auto depth = static_cast<int>(GST_VIDEO_FORMAT_INFO_DEPTH(video.finfo, 0));
  if (depth <= traits(format).depth) return;
  const auto deepest = gst::deepest_format(GST_VIDEO_INFO_FORMAT(&video), accepts);
  if (!network_ && deepest && traits(*deepest).depth > traits(format).depth) {
    logger().warn(
        "{}: {}-bit pictures become {}-bit; end it with ! videoconvert ! "
        "video/x-raw,format={} to keep {}",
        name_, depth, traits(format).depth, gst_video_format_to_string(gst::to_gst(*deepest)),
        traits(*deepest).depth);
    return;
  }
  logger().warn("{}: {}-bit pictures become {}-bit, the filters take no more", name_, depth,
                traits(format).depth);
}

StreamInfo LaunchSource::open(const FormatPredicate& accepts) {
  pipeline_ = std::make_unique<gst::Pipeline>(gst::parse_launch(
      launch_ + " ! videoconvert name=equalux_convert dither=none ! appsink name=equalux_out" +
          (takes_sound_ ? " " + std::string(kNetworkSource) + ". ! " + gst::kSoundChain : ""),
      launch_, "a source ends with video, as in gst:videotestsrc ! videoscale"));
  GstElement* sink = gst::element_of(pipeline_->get(), "equalux_out");
  if (network_) {
    gst::connect(gst::element_of(pipeline_->get(), kNetworkSource), "source-setup",
                 G_CALLBACK(set_up_network), announces_sound_);
    g_signal_connect(pipeline_->get(), "deep-element-added", G_CALLBACK(set_up_demuxer), nullptr);
  }
  gst::set_up_appsink(sink, gst::WhenFull::wait);
  const gst::CapsPtr caps = accepted_caps(accepts);
  g_object_set(sink, "caps", caps.get(), nullptr);
  {
    const std::lock_guard lock(tap_mutex_);
    tap_ = std::make_unique<gst::PictureTap>(name_, pipeline_->get(), GST_APP_SINK(sink));
    if (cancelled_) tap_->cancel();
  }

  StreamInfo info;
  info.name = name_;
  info.frame_rate = {0, 1};
  const GstVideoInfo video = start_up_to_first(sink, info.live);
  info.colorimetry = gst::colorimetry_text(video.colorimetry);
  if (GST_VIDEO_INFO_IS_RGB(&video)) info.colorimetry.clear();
  gst::read_video_info(video, info);
  info.field_order = tap_->first_fields();
  warn_of_lost_bits(info.desc.format, accepts);
  gint64 duration = 0;
  if (!info.live && gst_element_query_duration(pipeline_->get(), GST_FORMAT_TIME, &duration) &&
      duration > 0) {
    info.duration_ns = duration;
  }
  if (!info.live && network_ && !info.duration_ns) {  // A stream without an end is live.
    info.live = true;
    take_newest(sink);
  }
  if (takes_sound_ && info.live) info.sound = find_sound();
  tap_->expect(info.desc, info.live ? stall_ : gst::PictureTap::kStall);
  return info;
}

bool LaunchSource::read(Frame& frame) {
  if (cancelled_) return false;
  const gst::SamplePtr sample = tap_->next();
  if (!sample) return false;
  tap_->lend(sample.get(), frame);
  const GstBuffer* buffer = gst_sample_get_buffer(sample.get());
  const GstClockTime time = gst_segment_to_running_time(gst_sample_get_segment(sample.get()),
                                                        GST_FORMAT_TIME, GST_BUFFER_PTS(buffer));
  if (GST_BUFFER_DURATION_IS_VALID(buffer)) {
    frame.duration_ns = static_cast<std::int64_t>(GST_BUFFER_DURATION(buffer));
  }
  // A picture without a time follows the previous one.
  frame.pts_ns = GST_CLOCK_TIME_IS_VALID(time) ? static_cast<std::int64_t>(time)
                                               : last_pts_ns_ + (frames_ > 0 ? 1 : 0);
  frame.discontinuity = frames_ > 0 && GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_DISCONT);
  note_arrival(gst_sample_get_buffer(sample.get()), frame);
  last_pts_ns_ = frame.pts_ns + frame.duration_ns;
  ++frames_;
  return true;
}

void LaunchSource::note_arrival(GstBuffer* buffer, Frame& frame) {
  const std::optional<Arrival> arrival = arrival_of(buffer);
  if (!arrival) return;
  frame.captured = arrival->time;
  if (arrivals_) frame.timings.dropped_before = arrival->number - *arrivals_ - 1;
  if (frame.timings.dropped_before > 0) frame.discontinuity = true;
  arrivals_ = arrival->number;
}

/// Quotes a text as launch strings do.
std::string quoted(const std::string& text) {
  std::string result(1, '"');
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  result += '"';
  return result;
}

/// A file on a web server is read like any file, with all that its container has; other addresses
/// are streams, of which only the pictures are taken.
class NetworkSource final : public Source {
 public:
  NetworkSource(std::string url, std::unique_ptr<Source> stream)
      : url_(std::move(url)), stream_(std::move(stream)) {}

  void offer_device(int device) override { device_ = device; }
  StreamInfo open(const FormatPredicate& accepts) override;
  bool lends_buffers() const override { return now_->lends_buffers(); }
  bool read(Frame& frame) override { return now_->read(frame); }
  void cancel() noexcept override {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
    if (now_ != nullptr) now_->cancel();
  }
  std::optional<std::string> shortfall() const override { return now_->shortfall(); }

 private:
  void use(Source* source) {
    const std::lock_guard lock(mutex_);
    now_ = source;
    if (cancelled_ && source != nullptr) source->cancel();
  }

  bool is_cancelled() {
    const std::lock_guard lock(mutex_);
    return cancelled_;
  }

  std::string url_;
  std::unique_ptr<Source> stream_;
  std::unique_ptr<Source> file_;
  int device_ = -1;
  std::mutex mutex_;  // cancel() comes from other threads
  Source* now_ = nullptr;
  bool cancelled_ = false;
};

StreamInfo NetworkSource::open(const FormatPredicate& accepts) {
  // libavformat's messages would show a password.
  const bool plain = url_.starts_with("http") && without_secrets(url_) == url_;
  if (plain) {
    try {
      use(nullptr);
      file_ = make_file_source(url_);
      file_->offer_device(device_);
      use(file_.get());
      return file_->open(accepts);
    } catch (const Error& error) {
      if (is_cancelled()) throw;
      logger().debug("{}: is read as a stream: {}", url_, error.what());
    }
  }
  use(stream_.get());
  file_.reset();
  StreamInfo info = stream_->open(accepts);
  static std::atomic<bool> said = false;
  if (!said.exchange(true)) {
    logger().info("{}: {}, of which the pictures {} taken", info.name,
                  plain ? "is a stream" : "is read as a stream",
                  info.sound ? "and the sound are" : "alone are");
  }
  return info;
}

}  // namespace

std::unique_ptr<Source> make_launch_source(const std::string& launch,
                                           std::chrono::milliseconds stall) {
  return std::make_unique<LaunchSource>(launch, "gst:" + launch, stall);
}

std::unique_ptr<Source> make_network_source(const std::string& url, NetworkSound sound,
                                            std::chrono::milliseconds stall) {
  hide_secrets(url);
  std::string launch("uridecodebin name=");
  launch.append(kNetworkSource).append(" uri=").append(quoted(url));
  auto source = std::make_unique<LaunchSource>(launch, without_secrets(url), stall);
  source->from_network(sound);
  return std::make_unique<NetworkSource>(url, std::move(source));
}

}  // namespace equalux
