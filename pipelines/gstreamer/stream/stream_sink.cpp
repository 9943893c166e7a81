#include "pipelines/gstreamer/stream/stream_sink.h"

#include <optional>
#include <utility>

#include "pipelines/container/input/probe.h"
#include "pipelines/core/pace.h"
#include "pipelines/core/sound.h"
#include "pipelines/gstreamer/encode/encoder_table.h"
#include "pipelines/gstreamer/encode/encoders.h"
#include "pipelines/gstreamer/gst_formats.h"
#include "pipelines/gstreamer/sound_tap.h"
#include "pipelines/gstreamer/stream/live_encoder.h"
#include "pipelines/gstreamer/stream/live_sound.h"
#include "pipelines/gstreamer/stream/packet_sender.h"
#include "pipelines/picture/alpha_plane.h"
#include "src/common/log.h"

namespace equalux {
namespace {

class StreamSink final : public Sink, gst::PacketMaker {
 public:
  explicit StreamSink(StreamSinkOptions options)
      : options_(std::move(options)), name_(without_secrets(options_.address)) {
    hide_secrets(options_.address);
  }
  ~StreamSink() override { close(); }

  void open(const StreamInfo& info) override;
  void write(Frame& frame) override {
    if (!live_) pace_.wait_for(frame);
    sender_->check();
    if (sound_) sound_->set_position(frame.pts_ns);
    if (!frame.unseen) encoder_->offer(frame);
  }
  bool wants_frames() const override { return encoder_->is_wanted(); }
  void finish(Ending ending) override {
    if (ending != Ending::failed && sender_) sender_->end();
    close();
  }
  void cancel() noexcept override { pace_.cancel(); }
  std::string why_opaque(const StreamInfo& info) const override {
    const bool transparent = info.transparent || has_alpha(info.desc.format);
    return transparent ? "a stream has opaque pictures alone" : "";
  }
  std::string name() const override { return name_; }
  std::string summary() const override { return summary_; }

 private:
  // Methods of gst::PacketMaker.
  void set_wanted(bool wanted) override {
    encoder_->set_wanted(wanted);
    if (sound_) sound_->set_wanted(wanted);
  }
  void force_keyframe() override { encoder_->force_keyframe(); }

  void start_encoder(const StreamInfo& info);
  void start_sound(const StreamInfo& info);
  void make_encoder(const gst::EncoderSpec& spec, const StreamInfo& info);
  void tell_of_changes(const StreamInfo& info) const;
  void close();

  StreamSinkOptions options_;
  std::string name_;
  bool live_ = false;
  Pace pace_;
  std::unique_ptr<gst::LiveEncoder> encoder_;
  std::unique_ptr<gst::LiveSound> sound_;  // null where there is none
  std::unique_ptr<gst::PacketSender> sender_;
  std::string summary_;
};

void StreamSink::open(const StreamInfo& info) {
  gst::start_up();
  live_ = info.live;
  start_encoder(info);
  start_sound(info);
  const std::string& address = options_.address;
  const gst::Tracks tracks = sound_ ? gst::Tracks::pictures_and_sound : gst::Tracks::pictures;
  sender_ = is_served_stream(address)
                ? gst::make_rtsp_server(name_, parse_served_stream(address), tracks, *this)
                : gst::make_pusher(name_, parse_pushed_stream(address), tracks, *this);
  tell_of_changes(info);
}

void StreamSink::make_encoder(const gst::EncoderSpec& spec, const StreamInfo& info) {
  gst::EncodeSettings settings;
  settings.name = name_;
  settings.quality = options_.quality;
  settings.streamed = true;
  StreamInfo opaque = info;
  opaque.transparent = false;
  // No frame is offered before there is a server.
  encoder_ = std::make_unique<gst::LiveEncoder>(
      spec, opaque, settings,
      [this](const gst::EncodedPicture& picture) { sender_->send(picture); });
}

void StreamSink::start_encoder(const StreamInfo& info) {
  const bool may_use_gpu = options_.prefers_gpu && options_.encoder.empty() && !options_.quality;
  StreamInfo plain = info;
  plain.desc.format = PixelFormat::nv12;
  if (const gst::EncoderSpec* spec = may_use_gpu ? gst::gpu_encoder(plain) : nullptr) {
    try {
      make_encoder(*spec, info);
      logger().debug("{}: encoded by {}", name_, spec->name);
      return;
    } catch (const Error& error) {
      // Falls back where the GPU's encoder was chosen automatically: some can encode only a few
      // streams at a time.
      logger().warn("{}; {} encodes {}", error.what(), kDefaultEncoder, name_);
    }
  }
  const std::string encoder =
      options_.encoder.empty() ? std::string(kDefaultEncoder) : options_.encoder;
  check_encoder(encoder, options_.quality, false);
  check_encoder_fits(encoder, options_.address);
  make_encoder(gst::encoder_spec(encoder), info);
}

void StreamSink::tell_of_changes(const StreamInfo& info) const {
  const FormatTraits& t = traits(info.desc.format);
  const bool yuv = t.model == ColorModel::yuv;
  if (yuv && (t.chroma_shift_x != 1 || t.chroma_shift_y != 1)) {
    logger().info("{}: its pictures are streamed as 4:2:0, which every player takes", name_);
  }
  if (t.depth > 8) {
    logger().info("{}: {}-bit pictures are streamed with 8 bits, which every player takes", name_,
                  t.depth);
  }
}

/// Takes sound from a live source, or from the file that the frames come from.
void StreamSink::start_sound(const StreamInfo& info) {
  if (options_.mute) return;
  std::shared_ptr<SoundFeed> feed = info.sound;
  if (!feed && !info.container_path.empty()) {
    const ContainerInfo file = probe_container(info.container_path);
    // GStreamer's times of a transport stream begin at 0, the file's own do not.
    const std::int64_t start = file.format.starts_with("mpeg") ? file.video_start_ns : 0;
    if (file.sound_streams > 0) {
      feed = gst::make_file_sound(name_, info.container_path, info.container_part.shift_ns + start);
    }
  }
  if (!feed) return;
  if (const std::string absent = gst::LiveSound::why_absent(); !absent.empty()) {
    logger().warn("{}: the sound of {} is not streamed: GStreamer does not encode AAC here, {}",
                  name_, info.name, absent);
    return;
  }
  sound_ = std::make_unique<gst::LiveSound>(
      std::move(feed),
      info.live ? gst::LiveSound::Pace::as_it_comes : gst::LiveSound::Pace::with_frames,
      [this](const gst::EncodedSound& sound) { sender_->send_sound(sound); });
}

void StreamSink::close() {
  if (!sender_) return;
  const gst::StreamCounts counts = encoder_->counts();
  const gst::SenderCounts sent = sender_->counts();
  summary_ = name_ + ": ";
  if (sent.viewers) {
    summary_ += counted(*sent.viewers, "viewer") + ", ";
  }
  summary_ +=
      counted(counts.frames, "frame") + " encoded, " + std::to_string(counts.dropped) + " dropped";
  if (sent.not_taken > 0) {
    summary_ += ", " + counted(sent.not_taken, "packet") + " that " +
                (sent.viewers ? "slow viewers" : "the connection") + " did not take";
  }
  if (sent.reconnects > 0) summary_ += "; " + std::to_string(sent.reconnects) + " reconnected";
  encoder_->stop();  // Its thread sends nothing after this.
  if (sound_) sound_->stop();
  sender_.reset();
  encoder_.reset();
  sound_.reset();
}

}  // namespace

std::unique_ptr<Sink> make_stream_sink(const StreamSinkOptions& options) {
  return std::make_unique<StreamSink>(options);
}

}  // namespace equalux
