#include "pipelines/container/output/output_pass.h"

#include <algorithm>
#include <array>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

#include <equalux/error.h>

#include "pipelines/container/side_data.h"
#include "src/common/log.h"

namespace equalux {
namespace {

/// Amount of media that may be lost if the process is killed.
constexpr std::int64_t kFlushNs = 1'000'000'000;

/// Codecs whose description in mp4's head is taken from their first packet.
bool is_described_by_packet(AVCodecID codec) {
  return codec == AV_CODEC_ID_AC3 || codec == AV_CODEC_ID_EAC3 || codec == AV_CODEC_ID_TRUEHD;
}

bool needs_own_head(ContainerKind kind) {
  return !is_iso(kind) && MatroskaHead::is_needed();
}

/// Returns how long before the first presented sample an audio stream's packets start.
std::int64_t delay_ns(const AVStream& in, const AVPacket* first) {
  // Opus counts in 48,000 ticks per second whatever the sample rate was.
  const int rate = in.codecpar->codec_id == AV_CODEC_ID_OPUS ? 48'000 : in.codecpar->sample_rate;
  std::int64_t delay = 0;
  if (rate > 0) delay = av_rescale_q(in.codecpar->initial_padding, {1, rate}, kNanoseconds);
  if (first != nullptr && first->pts != AV_NOPTS_VALUE) {
    delay = std::max(delay, -rescale(first->pts, in.time_base, kNanoseconds));
  }
  return delay;
}

/// Returns the duration of a track's last packet. libavformat sets none for an mp4 track that
/// starts late, and players then never present that packet.
std::int64_t last_packets_duration(const AVStream& in, const AVPacket& packet, std::int64_t usual) {
  if (in.codecpar->codec_type != AVMEDIA_TYPE_AUDIO) return packet.duration;
  if (in.start_time != AV_NOPTS_VALUE && in.duration > 0 && packet.pts != AV_NOPTS_VALUE) {
    const std::int64_t left = in.start_time + in.duration - packet.pts;
    if (left > 0 && left <= usual) return left;
  }
  return usual;
}

/// Copies chapters, which in mp4 and mov are a track: those that go on behind the video would make
/// the whole file as long as they are.
void copy_chapters(AVFormatContext& out, const AVFormatContext& in,
                   std::optional<std::int64_t> end_ns) {
  out.chapters = static_cast<AVChapter**>(av_calloc(in.nb_chapters, sizeof(AVChapter*)));
  if (out.chapters == nullptr) throw std::bad_alloc();
  for (unsigned i = 0; i < in.nb_chapters; ++i) {
    const AVChapter& from = *in.chapters[i];
    if (from.end <= 0 && from.start <= 0) continue;  // Lies before the part that is copied.
    std::int64_t end = from.end;
    if (end_ns) end = std::min(end, rescale(*end_ns, kNanoseconds, from.time_base));
    if (end_ns && from.start >= end) continue;  // Lies behind it.
    auto* chapter = static_cast<AVChapter*>(av_mallocz(sizeof(AVChapter)));
    if (chapter == nullptr) throw std::bad_alloc();
    chapter->id = from.id;
    chapter->time_base = from.time_base;
    chapter->start = from.start;
    chapter->end = end;
    av_dict_copy(&chapter->metadata, from.metadata, 0);
    out.chapters[out.nb_chapters++] = chapter;
  }
}

AVFieldOrder field_order_of(FieldOrder order) {
  switch (order) {
    case FieldOrder::progressive:
      return AV_FIELD_PROGRESSIVE;
    case FieldOrder::top_first:
      return AV_FIELD_TT;
    case FieldOrder::bottom_first:
      return AV_FIELD_BB;
  }
  return AV_FIELD_UNKNOWN;
}

/// Returns true for tags that described the input's encoding.
bool is_stale(std::string_view key) {
  static constexpr std::array<std::string_view, 6> kStale{
      "BPS", "DURATION", "NUMBER_OF_FRAMES", "NUMBER_OF_BYTES", "ENCODER", "encoder"};
  // Announces a packet of transparency beside each packet, which the output may not have.
  if (key == "alpha_mode" || key == "ALPHA_MODE") return true;
  if (key.starts_with("_STATISTICS_")) return true;
  for (const std::string_view stale : kStale) {
    if (key == stale || (key.starts_with(stale) && key[stale.size()] == '-')) return true;
  }
  return false;
}

void copy_tags(AVStream& out, const AVStream& in) {
  const AVDictionaryEntry* entry = nullptr;
  while ((entry = av_dict_get(in.metadata, "", entry, AV_DICT_IGNORE_SUFFIX)) != nullptr) {
    if (!is_stale(entry->key)) av_dict_set(&out.metadata, entry->key, entry->value, 0);
  }
}

/// Returns the codec tag under which players of Apple accept HEVC; an hvcC head permits it.
unsigned tag_for(const AVCodecParameters& codec, ContainerKind kind) {
  const bool has_head = codec.extradata_size > 0 && codec.extradata[0] == 1;
  return is_iso(kind) && codec.codec_id == AV_CODEC_ID_HEVC && has_head ? MKTAG('h', 'v', 'c', '1')
                                                                        : 0;
}

/// Adds the stream of the encoded video: the encoder's format with the tags of `input`, the video
/// stream that was filtered, or null.
AVStream& add_encoded_stream(AVFormatContext& muxer, ContainerKind kind,
                             const EncodedVideoFormat& video, const AVStream* input) {
  const AVCodecDescriptor* descriptor = avcodec_descriptor_get_by_name(video.codec.c_str());
  if (descriptor == nullptr) {
    throw Error(ExitCode::usage, "'" + video.codec + "' is no video codec that libavformat knows");
  }
  AVStream* stream = avformat_new_stream(&muxer, nullptr);
  if (stream == nullptr) throw std::bad_alloc();
  AVCodecParameters& codec = *stream->codecpar;
  codec.codec_type = AVMEDIA_TYPE_VIDEO;
  codec.codec_id = descriptor->id;
  codec.width = video.width;
  codec.height = video.height;
  // The muxer takes this pixel format as the sign that transparency accompanies the packets.
  const std::string usual = video.alpha_beside ? "yuva420p" : "yuv420p";
  codec.format =
      av_get_pix_fmt(video.pixel_format.empty() ? usual.c_str() : video.pixel_format.c_str());
  codec.field_order = field_order_of(video.field_order);
  codec.sample_aspect_ratio = stream->sample_aspect_ratio = to_av(video.pixel_aspect);
  if (const auto& data = video.codec_data; !data.empty())
    set_extradata(codec, {reinterpret_cast<const std::uint8_t*>(data.data()), data.size()});
  codec.codec_tag = tag_for(codec, kind);
  const ColourTags colour = encoded_colour(video, input != nullptr ? input->codecpar : nullptr);
  codec.color_range = colour.range;
  codec.color_space = colour.matrix;
  codec.color_trc = colour.transfer;
  codec.color_primaries = colour.primaries;
  stream->avg_frame_rate = stream->r_frame_rate = to_av(video.frame_rate);
  if (input == nullptr) {
    stream->disposition = AV_DISPOSITION_DEFAULT;
    return *stream;
  }
  // For webm the pictures were turned, and their chroma positions with them.
  const bool turned =
      kind == ContainerKind::webm && !side_data(*input, AV_PKT_DATA_DISPLAYMATRIX).empty();
  if (!turned) codec.chroma_location = input->codecpar->chroma_location;
  stream->disposition = input->disposition;
  if (input->avg_frame_rate.num > 0) stream->avg_frame_rate = input->avg_frame_rate;
  if (input->r_frame_rate.num > 0) stream->r_frame_rate = input->r_frame_rate;
  copy_tags(*stream, *input);
  std::vector<AVPacketSideDataType> left_out;
  if (kind == ContainerKind::webm) left_out.push_back(AV_PKT_DATA_DISPLAYMATRIX);
  if (!keeps_stereo_layout(*input, kind)) {
    left_out.push_back(AV_PKT_DATA_STEREO3D);
    av_dict_set(&stream->metadata, "stereo_mode", nullptr, 0);  // The muxer reads this tag, too.
  }
  copy_picture_side_data(*stream, *input, left_out);
  return *stream;
}

}  // namespace

OutputPass::OutputPass(const OutputPassSpec& spec, StreamCopy* copies)
    : spec_(spec), copies_(copies), muxer_(spec.path, spec.plan.kind) {
  add_streams();
  if (copies_ != nullptr) {
    copy_global_tags();
    tell_left_out();
  }
  choose_time_bases();
  Dictionary options;
  set_options(options);
  muxer_.write_head(options);
  if (needs_own_head(spec_.plan.kind)) {
    muxer_.flush();
    head_.complete(spec_.path);
  }
  write_covers();
}

/// Logs what the input's pictures have inside them, in the first of the passes.
void OutputPass::tell_left_out() const {
  const std::string left = copies_->left_in_pictures();
  if (left.empty() || (spec_.pass == PassKind::final && is_iso(spec_.plan.kind))) return;
  logger().warn("{}: left out: {}, which its pictures have inside them", copies_->path(), left);
}

AVRational OutputPass::video_base() {
  return muxer_.stream(video_index_).time_base;
}

const AVStream* OutputPass::video_input() const {
  if (copies_ == nullptr) return nullptr;
  const auto& roles = spec_.plan.roles;
  const auto found = std::find(roles.begin(), roles.end(), StreamRole::filtered);
  return found == roles.end() ? nullptr : &copies_->stream(static_cast<int>(found - roles.begin()));
}

void OutputPass::add_streams() {
  for (std::size_t i = 0; i < spec_.plan.roles.size(); ++i) {
    const AVStream& in = copies_->stream(static_cast<int>(i));
    switch (spec_.plan.roles[i]) {
      case StreamRole::filtered:
        add_video();
        break;
      case StreamRole::copied:
        add_copied(in);
        break;
      case StreamRole::cover:
        // Written only in the final pass, since fragments have no place for it.
        if (spec_.pass == PassKind::final) {
          covers_[in.index] = add_copied_stream(muxer_.context(), spec_.plan.kind, in).index;
        }
        break;
      case StreamRole::attachment:
        add_copied_stream(muxer_.context(), spec_.plan.kind, in);
        break;
      case StreamRole::remade:
      case StreamRole::of_container:
      case StreamRole::dropped:
        break;
    }
  }
  if (video_index_ < 0) add_video();
}

void OutputPass::add_video() {
  AVStream& stream =
      add_encoded_stream(muxer_.context(), spec_.plan.kind, spec_.video, video_input());
  head_tags_ = HeadTags(*stream.codecpar, spec_.video.encoder_colorimetry);
  if (needs_own_head(spec_.plan.kind)) head_.reserve_rotation(stream);
  video_index_ = stream.index;
}

void OutputPass::add_copied(const AVStream& in) {
  const bool by_packet =
      spec_.pass == PassKind::live && is_described_by_packet(in.codecpar->codec_id);
  // Leaves the stream out: it would delay the head, and so all fragments, until it starts.
  if (by_packet && copies_->first_packet(in.index) == nullptr) return;
  const bool strict = is_iso(spec_.plan.kind) && (in.codecpar->codec_type == AVMEDIA_TYPE_VIDEO ||
                                                  in.codecpar->codec_type == AVMEDIA_TYPE_AUDIO);
  AVStream& out = add_copied_stream(muxer_.context(), spec_.plan.kind, in);
  Track track{out.index, MonotonicDts(strict ? 1 : 0), 0, by_packet, 0};
  if (!is_iso(spec_.plan.kind) && in.codecpar->codec_type == AVMEDIA_TYPE_AUDIO) {
    track.offset = make_delay(out, in);
  }
  tracks_.emplace(in.index, track);
}

/// Adapts a track to Matroska, which has no times before 0 but a delay that players subtract from a
/// track's times. Returns the milliseconds to add to its times, where the muxer does not add them.
std::int64_t OutputPass::make_delay(AVStream& out, const AVStream& in) {
  const std::int64_t delay = delay_ns(in, copies_->first_packet(in.index));
  const bool opus = in.codecpar->codec_id == AV_CODEC_ID_OPUS;
  const int rate = opus ? 48'000 : in.codecpar->sample_rate;
  if (delay <= 0 || rate <= 0) return 0;
  out.codecpar->initial_padding = static_cast<int>(av_rescale_q(delay, kNanoseconds, {1, rate}));
  if (!MatroskaHead::is_needed()) return 0;
  if (!opus) head_.reserve_delay(out, delay);
  return rescale(delay, kNanoseconds, {1, 1000});
}

void OutputPass::copy_global_tags() {
  AVFormatContext& out = muxer_.context();
  const AVFormatContext& in = copies_->input();
  av_dict_copy(&out.metadata, in.metadata, 0);
  // Drops tags that describe the input's container.
  for (const char* key : {"major_brand", "minor_version", "compatible_brands"}) {
    av_dict_set(&out.metadata, key, nullptr, 0);
  }
  // Leaves chapters out of fragments, where they would be one more track that waits for packets.
  const bool fragments = spec_.pass == PassKind::live && is_iso(spec_.plan.kind);
  if (in.nb_chapters > 0 && !fragments) copy_chapters(out, in, spec_.end_ns);
}

void OutputPass::choose_time_bases() {
  const AVStream* input = video_input();
  const AVRational video =
      video_time_base(spec_.plan.kind, input != nullptr ? input->time_base : AVRational{0, 1},
                      spec_.video.frame_rate);
  int finest = video.den;
  for (const auto& [index, track] : tracks_) {
    finest = std::max(finest, copies_->stream(index).codecpar->sample_rate);
  }
  muxer_.stream(video_index_).time_base = video;
  for (const auto& [index, track] : tracks_) {
    const AVStream& in = copies_->stream(index);
    AVStream& out = muxer_.stream(track.out);
    out.time_base = in.time_base;
    if (in.codecpar->codec_type == AVMEDIA_TYPE_SUBTITLE) {
      // Uses the finest ticks for subtitles. libavformat compares them with ticks of other tracks
      // when it ends a subtitle; with the finest ticks it ends one late, never early.
      const int unit = std::max(1, in.time_base.den);
      out.time_base = {1, unit * std::max(1, (finest + unit - 1) / unit)};
    }
  }
}

int OutputPass::movie_timescale() {
  int scale = 1000;
  const AVRational video = muxer_.stream(video_index_).time_base;
  scale = movie_timescale_for(scale, video, spec_.video_start.value_or(1));
  for (const auto& [index, track] : tracks_) {
    const AVStream& in = copies_->stream(index);
    const AVPacket* first = copies_->first_packet(index);
    if (first != nullptr && in.codecpar->codec_type == AVMEDIA_TYPE_AUDIO) {
      const AVRational samples{1, in.codecpar->sample_rate};
      scale = movie_timescale_for(scale, samples, rescale(first->pts, in.time_base, samples));
    }
  }
  return scale;
}

void OutputPass::set_options(Dictionary& options) {
  if (!is_iso(spec_.plan.kind)) {
    options.set("cluster_time_limit", "1000");
    return;
  }
  options.set("movie_timescale", std::to_string(movie_timescale()));
  options.set("use_editlist", "1");
  // A copied subtitle's description already contains the box that this option would add again.
  options.set("write_btrt", "0");
  if (spec_.pass == PassKind::live) {
    // Delays the head until the first packets have come, whose times its edit lists need.
    options.set("movflags", "frag_custom+delay_moov+default_base_moof");
    return;
  }
  const AVDictionary* tags = muxer_.context().metadata;
  if (spec_.named_tags ||
      av_dict_get(tags, "com.apple.quicktime.", nullptr, AV_DICT_IGNORE_SUFFIX) != nullptr) {
    options.set("movflags", "use_metadata_tags");
  }
}

void OutputPass::write_covers() {
  for (const auto& [in, out] : covers_) {
    const PacketPtr packet(av_packet_clone(&copies_->stream(in).attached_pic));
    if (!packet) throw std::bad_alloc();
    packet->stream_index = out;
    packet->pts = packet->dts = 0;
    muxer_.write(*packet);
  }
}

void OutputPass::write_video(AVPacket& packet) {
  copy_up_to(packet.dts, video_base());
  packet.stream_index = video_index_;
  flush_each_second(packet);
  muxer_.write(packet);
}

void OutputPass::flush_each_second(const AVPacket& video) {
  const std::int64_t now = rescale(video.dts, video_base(), kNanoseconds);
  if (!last_flush_) last_flush_ = now;
  if (spec_.pass == PassKind::final && is_iso(spec_.plan.kind)) return;
  if (now - *last_flush_ >= kFlushNs && flush()) last_flush_ = now;
}

bool OutputPass::flush() {
  const bool waiting = std::any_of(tracks_.begin(), tracks_.end(),
                                   [](const auto& entry) { return entry.second.needed_for_head; });
  if (waiting) return false;
  muxer_.flush();
  if (is_iso(spec_.plan.kind) && !head_on_disk_) muxer_.flush();  // The first flush wrote the head.
  head_on_disk_ = true;
  return true;
}

void OutputPass::copy_up_to(std::int64_t time, AVRational base) {
  if (copies_ == nullptr) return;
  while (AVPacket* packet = copies_->peek()) {
    const AVStream& in = copies_->stream(packet->stream_index);
    const std::int64_t own = order_time(*packet);
    if (own != AV_NOPTS_VALUE && av_compare_ts(own, in.time_base, time, base) > 0) return;
    const auto track = tracks_.find(in.index);
    if (track != tracks_.end()) write_copied(*packet, track->second);
    copies_->pop();
  }
}

void OutputPass::write_copied(AVPacket& packet, Track& track) {
  const AVStream& in = copies_->stream(packet.stream_index);
  const AVRational from = in.time_base;
  const AVRational to = muxer_.stream(track.out).time_base;
  if (packet.duration <= 0)
    packet.duration = last_packets_duration(in, packet, track.last_duration);
  track.last_duration = packet.duration;
  if (spec_.end_ns && in.codecpar->codec_type == AVMEDIA_TYPE_SUBTITLE &&
      packet.pts != AV_NOPTS_VALUE) {
    const std::int64_t left = rescale(*spec_.end_ns, kNanoseconds, from) - packet.pts;
    if (left > 0) packet.duration = std::min(packet.duration, left);
  }
  if (packet.pts != AV_NOPTS_VALUE) packet.pts = rescale(packet.pts, from, to) + track.offset;
  if (packet.dts != AV_NOPTS_VALUE) packet.dts = rescale(packet.dts, from, to) + track.offset;
  packet.duration = rescale(packet.duration, from, to);
  packet.stream_index = track.out;
  packet.pos = -1;
  track.times.fix(packet);
  muxer_.write(packet);
  track.needed_for_head = false;
}

void OutputPass::finish(std::optional<std::int64_t> end_ns) {
  if (end_ns) {
    copy_up_to(*end_ns - 1, kNanoseconds);
  } else if (copies_ != nullptr) {
    copy_up_to(std::numeric_limits<std::int64_t>::max(), kNanoseconds);
  }
  close();
}

void OutputPass::close() {
  muxer_.close();
  if (needs_own_head(spec_.plan.kind)) head_.complete(spec_.path);
}

}  // namespace equalux
