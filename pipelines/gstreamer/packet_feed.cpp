#include "packet_feed.h"

#ifdef EQUALUX_HAVE_LIBAV

#include <string_view>
#include <utility>

#include "../container/av_handles.h"
#include "../container/open_input.h"
#include "codec_caps.h"

namespace equalux::gst {

namespace {

/// GStreamer's times have no sign; the container's may be below 0 (before an edit's start).
constexpr std::int64_t kShift = 36'000'000'000'000;  // ns, ten hours

InputContext open_video(const std::string& path, int video_stream) {
  InputContext input = open_input(path);
  if (video_stream < 0 || std::cmp_greater_equal(video_stream, input->nb_streams)) return nullptr;
  for (unsigned i = 0; i < input->nb_streams; ++i) {
    if (std::cmp_not_equal(i, video_stream)) input->streams[i]->discard = AVDISCARD_ALL;
  }
  return input;
}

void free_packet(gpointer packet) {
  FreePacket()(static_cast<AVPacket*>(packet));
}

class LibavFeed final : public PacketFeed {
 public:
  LibavFeed(InputContext input, int video_stream, CapsPtr caps)
      : input_(std::move(input)), stream_(input_->streams[video_stream]), caps_(std::move(caps)) {
    if (std::string_view(input_->iformat->name) == "avi") {
      stamps_.take_by_order(stream_->codecpar->video_delay);
    }
  }

  const GstCaps* caps() const override { return caps_.get(); }
  BufferPtr next() override;
  Stamp stamp(GstClockTime pts) override {
    if (!GST_CLOCK_TIME_IS_VALID(pts)) return stamps_.take(std::nullopt);
    return stamps_.take(static_cast<std::int64_t>(pts) - kShift);
  }
  std::uint64_t lost() const override;
  std::string colorimetry() const override { return codec_colorimetry(*stream_->codecpar); }
  std::string chroma_site() const override { return codec_chroma_site(*stream_->codecpar); }
  std::string read_error() const override { return read_error_; }

 private:
  PacketPtr read_packet();
  std::optional<std::int64_t> nanoseconds(std::int64_t ticks) const;
  BufferPtr wrap(PacketPtr packet);

  InputContext input_;
  const AVStream* stream_;
  CapsPtr caps_;
  StampTable stamps_;
  std::string read_error_;
};

std::optional<std::int64_t> LibavFeed::nanoseconds(std::int64_t ticks) const {
  if (ticks == AV_NOPTS_VALUE) return std::nullopt;
  return av_rescale_q_rnd(ticks, stream_->time_base, kNanoseconds, AV_ROUND_NEAR_INF);
}

std::uint64_t LibavFeed::lost() const {
  switch (stream_->codecpar->codec_id) {
    case AV_CODEC_ID_VP8:
    case AV_CODEC_ID_VP9:
    case AV_CODEC_ID_AV1:
      return 0;  // these have packets that are never shown
    default:
      return stamps_.lost();
  }
}

PacketPtr LibavFeed::read_packet() {
  PacketPtr packet = make_packet();
  while (true) {
    const int result = av_read_frame(input_.get(), packet.get());
    if (result < 0) {
      if (result != AVERROR_EOF) read_error_ = av_text(result);
      return nullptr;
    }
    // An avi marks a repeated picture by an empty packet.
    if (packet->stream_index == stream_->index && packet->size > 0) return packet;
    av_packet_unref(packet.get());
  }
}

BufferPtr LibavFeed::wrap(PacketPtr packet) {
  const auto size = static_cast<gsize>(packet->size);
  std::uint8_t* data = packet->data;
  GstBuffer* buffer = gst_buffer_new();
  gst_buffer_append_memory(buffer, gst_memory_new_wrapped(GST_MEMORY_FLAG_READONLY, data, size, 0,
                                                          size, packet.release(), free_packet));
  return BufferPtr(buffer);
}

BufferPtr LibavFeed::next() {
  PacketPtr packet = read_packet();
  if (!packet) return nullptr;
  const auto pts = nanoseconds(packet->pts);
  const auto dts = nanoseconds(packet->dts);
  const auto duration = nanoseconds(packet->duration);
  const bool key = (packet->flags & AV_PKT_FLAG_KEY) != 0;
  stamps_.fed(pts, dts, duration.value_or(0), (packet->flags & AV_PKT_FLAG_DISCARD) != 0);

  BufferPtr buffer = wrap(std::move(packet));
  if (pts) GST_BUFFER_PTS(buffer.get()) = static_cast<GstClockTime>(*pts + kShift);
  if (dts) GST_BUFFER_DTS(buffer.get()) = static_cast<GstClockTime>(*dts + kShift);
  if (duration.value_or(0) > 0) {
    GST_BUFFER_DURATION(buffer.get()) = static_cast<GstClockTime>(*duration);
  }
  if (!key) GST_BUFFER_FLAG_SET(buffer.get(), GST_BUFFER_FLAG_DELTA_UNIT);
  return buffer;
}

}  // namespace

std::unique_ptr<PacketFeed> make_packet_feed(const std::string& path, int video_stream) {
  InputContext input = open_video(path, video_stream);
  if (!input) return nullptr;
  CapsPtr caps = codec_caps(*input->streams[video_stream]->codecpar);
  if (!caps) return nullptr;
  const AVRational rate = input->streams[video_stream]->avg_frame_rate;
  if (rate.num > 0 && rate.den > 0) {
    gst_caps_set_simple(caps.get(), "framerate", GST_TYPE_FRACTION, rate.num, rate.den, nullptr);
  }
  return std::make_unique<LibavFeed>(std::move(input), video_stream, std::move(caps));
}

}  // namespace equalux::gst

#else

namespace equalux::gst {

std::unique_ptr<PacketFeed> make_packet_feed(const std::string&, int) {
  return nullptr;
}

}  // namespace equalux::gst

#endif
