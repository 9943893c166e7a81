#include "pipelines/gstreamer/video_writer.h"

#ifdef EQUALUX_HAVE_LIBAV

namespace equalux::gst {

std::unique_ptr<ContainerWriter> make_video_writer(const ContainerWriterOptions& options) {
  return make_container_writer(options);
}

}  // namespace equalux::gst

#else

#include <chrono>
#include <filesystem>
#include <utility>

#include <gst/app/gstappsrc.h>
#include <unistd.h>

#include "pipelines/core/frame.h"
#include "pipelines/files/partial_file.h"
#include "pipelines/gstreamer/encoder_table.h"
#include "pipelines/gstreamer/gst_common.h"
#include "src/common/log.h"

namespace equalux::gst {

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

/// Decoding times may lie before 0; GStreamer's have no sign, its segments do.
constexpr std::int64_t kShift = 36'000'000'000'000;  // ns, ten hours
/// How long a muxer may take to end, or to make room.
constexpr auto kLimit = 10s;
/// Bytes on their way to the muxer.
constexpr guint64 kQueued = 8U << 20U;

std::string partial_name(const std::string& path) {
  fs::path name(path);
  const std::string extension = name.extension().string();
  name.replace_extension();
  return name.string() + ".partial" + extension;
}

class MuxWriter final : public ContainerWriter {
 public:
  explicit MuxWriter(const ContainerWriterOptions& options)
      : path_(options.output_path),
        partial_(partial_name(path_)),
        muxer_(muxer_for(path_)),
        keep_partial_(options.keep_partial) {
    if (!options.copy_from.empty()) {
      logger().warn(
          "{}: holds the video alone, this build copies no other streams (no libavformat)", path_);
    }
  }
  ~MuxWriter() override { abandon(); }

  void check(const std::string& codec) override;
  void start(const EncodedVideoFormat& video) override;
  void write(const EncodedPacket& packet) override;
  std::uint64_t checkpoint() override { return 0; }
  void suspend() noexcept override { pipeline_.reset(); }
  void finish(bool cut_at_video_end) override;
  void abandon() noexcept override;
  std::vector<std::string> dropped_streams() const override { return {}; }

 private:
  /// True for mp4 and mov.
  [[nodiscard]] bool is_iso() const {
    return std::string_view(muxer_) != "matroskamux" && std::string_view(muxer_) != "webmmux";
  }
  static const char* muxer_for(const std::string& path);
  static void set_timescale(GstElement* before_muxer);
  void throw_failure();

  std::string path_;
  std::string partial_;
  const char* muxer_;
  bool keep_partial_;
  CapsPtr caps_;
  std::unique_ptr<Pipeline> pipeline_;
  std::unique_ptr<Messages> messages_;
  GstAppSrc* source_ = nullptr;
  std::optional<OutputLock> lock_;  // on the partial file
};

const char* MuxWriter::muxer_for(const std::string& path) {
  const std::string extension = fs::path(path).extension().string();
  if (extension == ".mp4" || extension == ".m4v") return "mp4mux";
  if (extension == ".mov") return "qtmux";
  if (extension == ".mkv") return "matroskamux";
  if (extension == ".webm") return "webmmux";
  throw Error(ExitCode::usage, path + ": the extension must be mp4, m4v, mov, mkv or webm");
}

void MuxWriter::check(const std::string& codec) {
  const fs::path parent = fs::path(path_).parent_path();
  const std::string folder = parent.empty() ? "." : parent.string();
  if (!fs::is_directory(folder)) {
    throw Error(ExitCode::cannot_create, path_ + ": its folder does not exist; create " + folder);
  }
  if (::access(folder.c_str(), W_OK) != 0 || fs::is_directory(path_)) {
    throw Error(ExitCode::cannot_create, path_ + ": cannot be written; give another name");
  }
  if (!lock_) lock_.emplace(partial_, path_);
  if (std::string_view(muxer_) == "webmmux" && codec != "vp9") {
    throw Error(ExitCode::usage, path_ + ": does not hold " + codec + " video; mkv does");
  }
  if (codec == "ffv1") {
    throw Error(ExitCode::unavailable, path_ +
                                           ": FFV1 is written by libavformat, which this build "
                                           "lacks; --encoder x264 --lossless needs none");
  }
  if (is_iso() && (codec == "mjpeg" || codec == "vp9")) {
    throw Error(ExitCode::usage, path_ + ": does not hold " + codec + " video; mkv does");
  }
}

void MuxWriter::start(const EncodedVideoFormat& video) {
  for (const EncoderSpec& spec : encoder_specs()) {
    if (spec.codec != video.codec) continue;
    caps_.reset(gst_caps_from_string(std::string(spec.stream_caps).c_str()));
    break;
  }
  gst_caps_set_simple(
      caps_.get(), "width", G_TYPE_INT, video.width, "height", G_TYPE_INT, video.height,
      "framerate", GST_TYPE_FRACTION, static_cast<int>(video.frame_rate.num),
      static_cast<int>(video.frame_rate.den), "pixel-aspect-ratio", GST_TYPE_FRACTION,
      static_cast<int>(video.pixel_aspect.num), static_cast<int>(video.pixel_aspect.den), nullptr);
  if (!video.codec_data.empty()) {
    const BufferPtr data(gst_buffer_new_allocate(nullptr, video.codec_data.size(), nullptr));
    gst_buffer_fill(data.get(), 0, video.codec_data.data(), video.codec_data.size());
    gst_caps_set_simple(caps_.get(), "codec_data", GST_TYPE_BUFFER, data.get(), nullptr);
  }
  pipeline_ = std::make_unique<Pipeline>();
  messages_ = std::make_unique<Messages>(pipeline_->get());
  GstElement* source = add_to(pipeline_->get(), make_element("appsrc"));
  source_ = GST_APP_SRC(source);
  g_object_set(source, "format", GST_FORMAT_TIME, "handle-segment-change", TRUE, "block", FALSE,
               "max-bytes", guint64{0}, nullptr);
  GstElement* muxer = add_to(pipeline_->get(), make_element(muxer_));
  if (is_iso()) {
    // Fragments while it grows, so that a kill leaves what was written; a plain file at the end.
    gst_util_set_object_arg(G_OBJECT(muxer), "fragment-duration", "1000");
    gst_util_set_object_arg(G_OBJECT(muxer), "fragment-mode", "first-moov-then-finalise");
  }
  GstElement* file = add_to(pipeline_->get(), make_element("filesink"));
  g_object_set(file, "location", partial_.c_str(), nullptr);
  gst_element_link_pads(source, "src", muxer, "video_%u");
  gst_element_link(muxer, file);
  set_timescale(source);
  if (gst_element_set_state(pipeline_->get(), GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE) {
    messages_->poll(100ms);
    throw_failure();
    throw Error(ExitCode::cannot_create, path_ + ": cannot be created");
  }
}

/// Fine enough for every rate; mp4mux would take the average frame rate's.
void MuxWriter::set_timescale(GstElement* before_muxer) {
  const PadPtr pad(gst_element_get_static_pad(before_muxer, "src"));
  const PadPtr peer(gst_pad_get_peer(pad.get()));
  GObjectClass* type = peer ? G_OBJECT_GET_CLASS(peer.get()) : nullptr;
  if (type != nullptr && g_object_class_find_property(type, "trak-timescale") != nullptr) {
    g_object_set(peer.get(), "trak-timescale", 90'000U, nullptr);
  }
}

void MuxWriter::throw_failure() {
  if (messages_->failed()) throw messages_->error(path_, Role::output);
}

void MuxWriter::write(const EncodedPacket& packet) {
  const auto deadline = Clock::now() + kLimit;
  messages_->poll();
  throw_failure();
  while (gst_app_src_get_current_level_bytes(source_) > kQueued) {
    messages_->poll(2ms);
    throw_failure();
    if (Clock::now() > deadline) throw Error(ExitCode::write_failed, path_ + ": takes no more");
  }
  const BufferPtr buffer(gst_buffer_new_allocate(nullptr, packet.data.size(), nullptr));
  gst_buffer_fill(buffer.get(), 0, packet.data.data(), packet.data.size());
  GST_BUFFER_PTS(buffer.get()) = static_cast<GstClockTime>(packet.pts_ns + kShift);
  GST_BUFFER_DTS(buffer.get()) = static_cast<GstClockTime>(packet.dts_ns + kShift);
  if (packet.duration_ns > 0) {
    GST_BUFFER_DURATION(buffer.get()) = static_cast<GstClockTime>(packet.duration_ns);
  }
  if (!packet.keyframe) GST_BUFFER_FLAG_SET(buffer.get(), GST_BUFFER_FLAG_DELTA_UNIT);
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.start = kShift;
  const SamplePtr sample(gst_sample_new(buffer.get(), caps_.get(), &segment, nullptr));
  gst_app_src_push_sample(source_, sample.get());
}

void MuxWriter::finish(bool) {
  gst_app_src_end_of_stream(source_);
  const auto deadline = Clock::now() + kLimit;
  while (!messages_->ended() && !messages_->failed() && Clock::now() < deadline) {
    messages_->poll(100ms);
  }
  throw_failure();
  if (!messages_->ended()) throw Error(ExitCode::write_failed, path_ + ": does not end");
  pipeline_.reset();
  std::error_code failure;
  fs::rename(partial_, path_, failure);
  if (failure) {
    throw Error(ExitCode::write_failed,
                path_ + ": cannot be renamed from " + partial_ + ": " + failure.message());
  }
}

void MuxWriter::abandon() noexcept {
  if (!pipeline_) return;
  pipeline_.reset();
  std::error_code failure;
  if (!keep_partial_) fs::remove(partial_, failure);
}

}  // namespace

std::unique_ptr<ContainerWriter> make_video_writer(const ContainerWriterOptions& options) {
  return std::make_unique<MuxWriter>(options);
}

}  // namespace equalux::gst

#endif
