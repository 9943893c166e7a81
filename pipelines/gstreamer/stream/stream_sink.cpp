#include "pipelines/gstreamer/stream/stream_sink.h"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

#include "pipelines/container/input/probe.h"
#include "pipelines/gstreamer/encode/encoder_table.h"
#include "pipelines/gstreamer/encode/encoders.h"
#include "pipelines/gstreamer/gst_formats.h"
#include "pipelines/gstreamer/stream/live_encoder.h"
#include "pipelines/gstreamer/stream/rtsp_server.h"
#include "pipelines/picture/alpha_plane.h"
#include "src/common/log.h"

namespace equalux {
namespace {

/// Frames that are not live are shown when each one is due. One that comes later than so long is
/// due at once, and the next ones by its time.
constexpr auto kMostLate = std::chrono::seconds(1);

/// Waits for the time of a frame.
class Pace {
 public:
  void wait_for(const Frame& frame) {
    const auto now = Clock::now();
    const auto due = start_ + std::chrono::nanoseconds(frame.pts_ns - first_ns_);
    if (!started_ || now - due > kMostLate) {
      started_ = true;
      start_ = now;
      first_ns_ = frame.pts_ns;
      return;
    }
    std::unique_lock lock(mutex_);
    cancelled_now_.wait_until(lock, due, [this] { return cancelled_; });
  }
  void cancel() noexcept {
    {
      const std::lock_guard lock(mutex_);
      cancelled_ = true;
    }
    cancelled_now_.notify_all();
  }

 private:
  bool started_ = false;
  Clock::time_point start_;
  std::int64_t first_ns_ = 0;
  std::mutex mutex_;  // cancel() comes from other threads
  std::condition_variable cancelled_now_;
  bool cancelled_ = false;
};

/// The address of a server at `port`, as a client on the way that `listen` stands for writes it.
std::string client_address(const ServedStream& stream, int port) {
  std::string host = stream.listen;
  if (host == "0.0.0.0" || host == "::") host = g_get_host_name();
  if (host.find(':') != std::string::npos) host = "[" + host + "]";
  return "rtsp://" + host + ":" + std::to_string(port) + stream.path;
}

bool is_loopback(const std::string& listen) {
  return listen.starts_with("127.") || listen == "::1";
}

class RtspServerSink final : public Sink, gst::PacketMaker {
 public:
  explicit RtspServerSink(StreamSinkOptions options)
      : options_(std::move(options)),
        name_(without_password(options_.address)),
        stream_(parse_served_stream(options_.address)) {
    hide_password(options_.address);
  }
  ~RtspServerSink() override { close(); }

  void open(const StreamInfo& info) override;
  void write(Frame& frame) override {
    if (!live_) pace_.wait_for(frame);
    encoder_->offer(frame);
  }
  void finish(Ending ending) override {
    if (ending != Ending::failed && server_) server_->end();
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
  // Of gst::PacketMaker.
  void set_wanted(bool wanted) override { encoder_->set_wanted(wanted); }
  void force_keyframe() override { encoder_->force_keyframe(); }

  void start_encoder(const StreamInfo& info);
  void make_encoder(const gst::EncoderSpec& spec, const StreamInfo& info);
  void tell_of_changes(const StreamInfo& info) const;
  void tell_address() const;
  void close();

  StreamSinkOptions options_;
  std::string name_;
  ServedStream stream_;
  bool live_ = false;
  Pace pace_;
  std::unique_ptr<gst::LiveEncoder> encoder_;
  std::unique_ptr<gst::RtspServer> server_;
  std::string summary_;
};

void RtspServerSink::open(const StreamInfo& info) {
  gst::start_up();
  live_ = info.live;
  start_encoder(info);
  server_ = gst::make_rtsp_server(name_, stream_, *this);
  tell_of_changes(info);
  tell_address();
}

void RtspServerSink::make_encoder(const gst::EncoderSpec& spec, const StreamInfo& info) {
  gst::EncodeSettings settings;
  settings.name = name_;
  settings.quality = options_.quality;
  settings.streamed = true;
  StreamInfo opaque = info;
  opaque.transparent = false;
  // No frame is offered before there is a server.
  encoder_ = std::make_unique<gst::LiveEncoder>(
      spec, opaque, settings,
      [this](const gst::EncodedPicture& picture) { server_->send(picture); });
}

void RtspServerSink::start_encoder(const StreamInfo& info) {
  const bool may_use_gpu = options_.prefers_gpu && options_.encoder.empty() && !options_.quality;
  StreamInfo plain = info;
  plain.desc.format = PixelFormat::nv12;
  if (const gst::EncoderSpec* spec = may_use_gpu ? gst::gpu_encoder(plain) : nullptr) {
    try {
      make_encoder(*spec, info);
      logger().debug("{}: encoded by {}", name_, spec->name);
      return;
    } catch (const Error& error) {
      // One that nobody asked for may have no room left: some take a few streams at a time.
      logger().warn("{}; {} encodes {}", error.what(), kDefaultEncoder, name_);
    }
  }
  const std::string encoder =
      options_.encoder.empty() ? std::string(kDefaultEncoder) : options_.encoder;
  check_encoder(encoder, options_.quality, false);
  check_encoder_fits(encoder, options_.address);
  make_encoder(gst::encoder_spec(encoder), info);
}

void RtspServerSink::tell_of_changes(const StreamInfo& info) const {
  const FormatTraits& t = traits(info.desc.format);
  const bool yuv = t.model == ColorModel::yuv;
  if (yuv && (t.chroma_shift_x != 1 || t.chroma_shift_y != 1)) {
    logger().info("{}: its pictures are streamed as 4:2:0, which every player takes", name_);
  }
  if (t.depth > 8) {
    logger().info("{}: {}-bit pictures are streamed with 8 bits, which every player takes", name_,
                  t.depth);
  }
  if (info.container_path.empty()) return;
  if (probe_container(info.container_path).sound_streams > 0) {
    logger().warn("{}: the sound of {} is not streamed, its pictures alone are", name_, info.name);
  }
}

void RtspServerSink::tell_address() const {
  const std::string address = client_address(stream_, server_->port());
  if (is_loopback(stream_.listen)) {
    logger().info(
        "{}: served as {} to this machine alone; rtsp://USER:PASSWORD@:PORT/NAME serves "
        "the network",
        name_, address);
  } else if (stream_.user.empty()) {
    logger().warn(
        "{}: served as {} to everybody who reaches this machine; "
        "rtsp://USER:PASSWORD@:PORT/NAME asks who they are",
        name_, address);
  } else {
    logger().info("{}: served as {} to who knows the password", name_, address);
  }
}

void RtspServerSink::close() {
  if (!server_) return;
  const gst::StreamCounts counts = encoder_->counts();
  const std::uint64_t viewers = server_->viewers();
  summary_ = name_ + ": " + std::to_string(viewers) + (viewers == 1 ? " viewer, " : " viewers, ") +
             std::to_string(counts.frames) + " frames encoded, " + std::to_string(counts.dropped) +
             " dropped";
  if (const std::uint64_t late = server_->not_taken(); late > 0) {
    summary_ += ", " + std::to_string(late) + " packets that slow viewers did not take";
  }
  encoder_->stop();  // Its thread sends no more from here on.
  server_.reset();
  encoder_.reset();
}

}  // namespace

std::unique_ptr<Sink> make_stream_sink(const StreamSinkOptions& options) {
  return std::make_unique<RtspServerSink>(options);
}

}  // namespace equalux
