#include "pipelines/gstreamer/decode/packet_feed.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <span>
#include <string_view>
#include <utility>

#include <gst/video/gstvideocodecalphameta.h>
#include <gst/video/video.h>

#include "pipelines/container/alpha_packet.h"
#include "pipelines/container/input/open_input.h"
#include "pipelines/gstreamer/decode/clean_entry.h"
#include "pipelines/gstreamer/decode/codec_caps.h"

namespace equalux::gst {

namespace {

/// Added to times: GStreamer's are unsigned, while the container's may be below 0 (before an edit's
/// start).
constexpr std::int64_t kShift = 36'000'000'000'000;  // ns, ten hours
/// Times given to decoders for first pictures whose own times are hidden, in steps up to this.
/// Without a time GStreamer would assign that of another picture.
constexpr std::int64_t kHidden = 3'600'000'000'000;  // ns, one hour
constexpr std::int64_t kHiddenStep = 1'000'000;      // ns
/// Rate of elementary streams that declare none, as in FFmpeg.
constexpr Rational kUsualRate{25, 1};

/// Leaves only the packets of one stream; null where the file has no such stream.
InputContext video_alone(InputContext input, int video_stream) {
  if (video_stream < 0 || std::cmp_greater_equal(video_stream, input->nb_streams)) return nullptr;
  for (unsigned i = 0; i < input->nb_streams; ++i) {
    if (std::cmp_not_equal(i, video_stream)) input->streams[i]->discard = AVDISCARD_ALL;
  }
  return input;
}

void free_packet(gpointer packet) {
  FreePacket()(static_cast<AVPacket*>(packet));
}

/// Returns the raw layout of nut files, whose end GStreamer's demuxer does not find; nothing for
/// all others.
std::optional<RawLayout> fed_raw(const AVFormatContext& input, const AVCodecParameters& codec) {
  return std::string_view(input.iformat->name) == "nut" ? raw_layout(codec) : std::nullopt;
}

}  // namespace

/// Computes presentation times of MPEG-1 and MPEG-2 packets, whose program streams give the same
/// time to several pictures: a reference picture is shown when the next reference picture is
/// decoded, all others when they are decoded.
class PictureTimes {
 public:
  explicit PictureTimes(const AVCodecParameters& codec)
      : applies_(codec.codec_id == AV_CODEC_ID_MPEG1VIDEO ||
                 codec.codec_id == AV_CODEC_ID_MPEG2VIDEO),
        delayed_(codec.video_delay > 0) {}

  /// Adds a packet; null at the end.
  void add(PacketPtr packet) {
    if (!packet) {
      if (waits_) due(end_);
      return;
    }
    const bool missing = applies_ && packet->pts == AV_NOPTS_VALUE;
    const bool reference = applies_ && delayed_ && is_reference(*packet);
    if (waits_ && reference) due(packet->dts);
    if (packet->dts != AV_NOPTS_VALUE) end_ = packet->dts + packet->duration;
    if (missing && !reference) packet->pts = packet->dts;
    if (missing && reference) waits_ = packet.get();
    packets_.push_back(std::move(packet));
  }
  /// Returns the next packet whose time is known; null where none is.
  PacketPtr take() {
    if (packets_.empty() || packets_.front().get() == waits_) return nullptr;
    PacketPtr packet = std::move(packets_.front());
    packets_.pop_front();
    return packet;
  }

 private:
  /// Reads the picture head: 10 bits of a number, then 3 bits of its type, which is 3 for a B
  /// picture.
  static bool is_reference(const AVPacket& packet) {
    for (int i = 0; i + 5 < packet.size; ++i) {
      const std::uint8_t* at = packet.data + i;
      if (at[0] == 0 && at[1] == 0 && at[2] == 1 && at[3] == 0) return (at[5] >> 3 & 7) != 3;
    }
    return true;
  }
  void due(std::int64_t time) {
    waits_->pts = time;
    waits_ = nullptr;
  }

  const bool applies_;
  const bool delayed_;
  std::deque<PacketPtr> packets_;
  AVPacket* waits_ = nullptr;  // one of packets_
  std::int64_t end_ = AV_NOPTS_VALUE;
};

PacketFeed::PacketFeed(InputContext input, int video_stream, CapsPtr caps,
                       const PacketFeedOptions& options, ReadStop* stop)
    : input_(std::move(input)),
      reader_(*input_, video_stream),
      stream_(input_->streams[video_stream]),
      caps_(std::move(caps)),
      times_(std::make_unique<PictureTimes>(*stream_->codecpar)),
      raw_(fed_raw(*input_, *stream_->codecpar)),
      rate_(options.rate),
      with_alpha_(options.with_alpha),
      stop_(stop) {
  if (rate_) stamps_.take_by_rate(*rate_);
  if (std::string_view(input_->iformat->name) == "avi") {
    stamps_.take_by_order(stream_->codecpar->video_delay);
  }
  // The decoder repeats the first picture's time.
  if (stream_->codecpar->codec_id == AV_CODEC_ID_GIF) stamps_.take_by_order(0);
}

PacketFeed::~PacketFeed() = default;

Stamp PacketFeed::stamp(GstClockTime pts) {
  // Belongs to a picture whose time is hidden, or was made up by the decoder.
  if (!GST_CLOCK_TIME_IS_VALID(pts) || pts < static_cast<GstClockTime>(kShift) / 2) {
    return stamps_.take(std::nullopt);
  }
  return stamps_.take(static_cast<std::int64_t>(pts) - kShift);
}

std::string PacketFeed::colorimetry() const {
  return codec_colorimetry(*stream_->codecpar);
}

std::string PacketFeed::chroma_site() const {
  return codec_chroma_site(*stream_->codecpar);
}

std::optional<std::int64_t> PacketFeed::nanoseconds(std::int64_t ticks) const {
  if (ticks == AV_NOPTS_VALUE) return std::nullopt;
  return av_rescale_q_rnd(ticks, stream_->time_base, kNanoseconds, AV_ROUND_NEAR_INF);
}

std::uint64_t PacketFeed::lost() const {
  switch (stream_->codecpar->codec_id) {
    case AV_CODEC_ID_VP8:
    case AV_CODEC_ID_VP9:
    case AV_CODEC_ID_AV1:
      return 0;  // these have packets that are never shown
    default:
      return stamps_.lost() + stamps_.rest().packets;
  }
}

PacketPtr PacketFeed::read_packet() {
  PacketPtr packet = make_packet();
  while (true) {
    if (stop_ != nullptr) stop_->begin();
    const int result = reader_.read(*packet);
    if (result < 0) {
      if (result != AVERROR_EOF) read_error_ = av_text(result);
      return nullptr;
    }
    // An empty packet in an avi repeats the previous picture.
    if (packet->stream_index == stream_->index && packet->size > 0) return packet;
    av_packet_unref(packet.get());
  }
}

BufferPtr PacketFeed::wrap(PacketPtr packet) {
  const auto size = static_cast<gsize>(packet->size);
  std::uint8_t* data = packet->data;
  GstBuffer* buffer = gst_buffer_new();
  gst_buffer_append_memory(buffer, gst_memory_new_wrapped(GST_MEMORY_FLAG_READONLY, data, size, 0,
                                                          size, packet.release(), free_packet));
  if (raw_) {
    gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE, raw_->format,
                                   static_cast<guint>(stream_->codecpar->width),
                                   static_cast<guint>(stream_->codecpar->height), raw_->planes,
                                   raw_->offsets.data(), raw_->strides.data());
  }
  return BufferPtr(buffer);
}

/// Copies the packet of transparency; null where there is none.
BufferPtr PacketFeed::wrap_alpha(const AVPacket& packet) {
  const std::span<const std::byte> alpha = alpha_packet(packet);
  if (alpha.empty()) return nullptr;
  BufferPtr buffer(gst_buffer_new_allocate(nullptr, alpha.size(), nullptr));
  gst_buffer_fill(buffer.get(), 0, alpha.data(), alpha.size());
  return buffer;
}

/// Chooses how to assign times where packets have none. Elementary streams of H.264 and H.265 have
/// only a rate. For a Matroska file that starts before 0, libavformat hides the first times: they
/// are counted back from the first known one, which may precede them where a cut file shows
/// pictures before its first key picture.
void PacketFeed::check_for_times() {
  constexpr std::size_t kLookAhead = 300;  // packets, of the many that may be before 0
  // Most packets that a codec reorders.
  const std::size_t reordered = stream_->codecpar->video_delay > 0 ? 16 : 1;
  const auto is_timed = [](const PacketPtr& packet) {
    return packet->pts != AV_NOPTS_VALUE || packet->dts != AV_NOPTS_VALUE;
  };
  std::size_t untimed = 0;
  std::size_t behind_untimed = 0;
  while (PacketPtr packet = read_packet()) {
    ahead_.push_back(std::move(packet));
    if (!is_timed(ahead_.back())) {
      ++untimed;
      behind_untimed = ahead_.size();
    }
    if (ahead_.size() >= std::min(kLookAhead, behind_untimed + reordered)) break;
  }
  if (untimed == 0) return;
  const AVRational own = stream_->avg_frame_rate;
  const Rational rate = own.num > 0 && own.den > 0 ? to_rational(own) : kUsualRate;
  std::optional<std::int64_t> first;
  for (const PacketPtr& packet : ahead_) {
    const auto pts = nanoseconds(packet->pts);
    if (pts && (!first || *pts < *first)) first = pts;
  }
  if (!first) {
    if (std::any_of(ahead_.begin(), ahead_.end(), is_timed)) return;
    rate_ = rate;
    stamps_.take_by_rate(rate);
    return;
  }
  std::deque<Stamp> stamps;
  const std::int64_t period = std::llround(1e9 / rate.value());
  for (std::size_t i = untimed; i > 0; --i)
    stamps.push_back({*first - static_cast<std::int64_t>(i) * period, period, false});
  hidden_ = static_cast<std::int64_t>(untimed);
  stamps_.take_first(std::move(stamps));
}

/// Enters before a time, in containers whose times do not depend on where reading begins. A packet
/// marked as key may not be a clean entry; then the one before it is tried.
bool PacketFeed::enter_before(std::int64_t pts_ns, std::int64_t least_ns) {
  constexpr int kTries = 32;
  const AVCodecParameters& codec = *stream_->codecpar;
  const Entry entry = entry_of(codec);
  const std::string_view format = input_->iformat->name;
  const bool known = format.starts_with("mov,") || format.starts_with("matroska");
  if (!known || entry == Entry::none || raw_ || rate_) return false;
  std::int64_t to = av_rescale_q_rnd(pts_ns, kNanoseconds, stream_->time_base, AV_ROUND_DOWN);
  const std::int64_t wanted = to;
  int needed = entry == Entry::after_one ? 2 : 1;
  for (int i = 0; i < kTries; ++i) {
    if (av_seek_frame(input_.get(), stream_->index, to, AVSEEK_FLAG_BACKWARD) < 0) return false;
    PacketPtr packet = read_packet();
    if (!packet || packet->pts == AV_NOPTS_VALUE) return false;
    if (nanoseconds(packet->pts).value_or(0) <= least_ns) return false;
    if (packet->pts <= wanted && is_clean_entry(codec, *packet) && --needed == 0) {
      started_ = true;
      ahead_.push_back(std::move(packet));
      return true;
    }
    to = std::min(to, packet->pts) - 1;
    if (packet->dts != AV_NOPTS_VALUE) to = std::min(to, packet->dts - 1);
  }
  return false;
}

PacketPtr PacketFeed::next_packet() {
  if (!std::exchange(started_, true) && !rate_) check_for_times();
  if (ahead_.empty()) return read_packet();
  PacketPtr packet = std::move(ahead_.front());
  ahead_.pop_front();
  return packet;
}

PacketPtr PacketFeed::timed_packet() {
  while (true) {
    if (PacketPtr packet = times_->take()) return packet;
    PacketPtr packet = next_packet();
    const bool ended = !packet;
    times_->add(std::move(packet));
    if (ended) return times_->take();
  }
}

BufferPtr PacketFeed::next() {
  PacketPtr packet = timed_packet();
  if (!packet) return nullptr;
  // Drops made-up times, which the decoder would only round.
  if (rate_) packet->pts = packet->dts = AV_NOPTS_VALUE;
  const auto pts = nanoseconds(packet->pts);
  const auto dts = nanoseconds(packet->dts);
  const auto duration = nanoseconds(packet->duration);
  const bool key = (packet->flags & AV_PKT_FLAG_KEY) != 0;
  stamps_.fed(pts, dts, duration.value_or(0), (packet->flags & AV_PKT_FLAG_DISCARD) != 0);

  BufferPtr alpha = with_alpha_ ? wrap_alpha(*packet) : nullptr;
  BufferPtr buffer = wrap(std::move(packet));
  if (pts) GST_BUFFER_PTS(buffer.get()) = static_cast<GstClockTime>(*pts + kShift);
  if (!pts && !dts && hidden_ > 0) {
    GST_BUFFER_PTS(buffer.get()) = static_cast<GstClockTime>(kHidden - kHiddenStep * hidden_--);
  }
  if (dts) GST_BUFFER_DTS(buffer.get()) = static_cast<GstClockTime>(*dts + kShift);
  if (duration.value_or(0) > 0) {
    GST_BUFFER_DURATION(buffer.get()) = static_cast<GstClockTime>(*duration);
  }
  if (!key) GST_BUFFER_FLAG_SET(buffer.get(), GST_BUFFER_FLAG_DELTA_UNIT);
  if (alpha) {
    gst_buffer_copy_into(
        alpha.get(), buffer.get(),
        static_cast<GstBufferCopyFlags>(GST_BUFFER_COPY_TIMESTAMPS | GST_BUFFER_COPY_FLAGS), 0,
        static_cast<gsize>(-1));
    gst_buffer_add_video_codec_alpha_meta(buffer.get(), alpha.release());
  }
  return buffer;
}

std::unique_ptr<PacketFeed> make_packet_feed(const std::string& path, int video_stream,
                                             const PacketFeedOptions& options, ReadStop* stop,
                                             InputContext opened) {
  InputContext input =
      video_alone(opened ? std::move(opened) : open_input(path, stop), video_stream);
  if (!input) return nullptr;
  const AVCodecParameters& codec = *input->streams[video_stream]->codecpar;
  const std::optional<RawLayout> raw = fed_raw(*input, codec);
  CapsPtr caps = raw ? raw_caps(*raw, codec) : codec_caps(codec);
  if (!caps && std::string_view(input->iformat->name) == "nut") {
    throw Error(ExitCode::bad_input, path +
                                         ": is a nut file with pictures of a kind that is not "
                                         "read of one; copy it to .mkv");
  }
  // GStreamer's demuxer does not know these, and its error sometimes gets lost, which costs a wait
  // of 30 s.
  if (codec.codec_id == AV_CODEC_ID_RAWVIDEO && codec.format == AV_PIX_FMT_PAL8 &&
      std::string_view(input->iformat->name).starts_with("mov,")) {
    throw Error(ExitCode::bad_input, path +
                                         ": holds raw gray or palette pictures in mov, which are "
                                         "not read; make a video of it first, as ffmpeg -i IN.mov "
                                         "-c:v ffv1 OUT.mkv does");
  }
  if (!caps) return nullptr;
  if (options.with_alpha) {
    gst_caps_set_simple(caps.get(), "codec-alpha", G_TYPE_BOOLEAN, TRUE, nullptr);
    if (codec.codec_id == AV_CODEC_ID_VP9) {
      gst_caps_set_simple(caps.get(), "alignment", G_TYPE_STRING, "super-frame", nullptr);
    }
  }
  const AVRational own = input->streams[video_stream]->avg_frame_rate;
  if (own.num > 0 && own.den > 0) {
    gst_caps_set_simple(caps.get(), "framerate", GST_TYPE_FRACTION, own.num, own.den, nullptr);
  }
  return std::make_unique<PacketFeed>(std::move(input), video_stream, std::move(caps), options,
                                      stop);
}

}  // namespace equalux::gst
