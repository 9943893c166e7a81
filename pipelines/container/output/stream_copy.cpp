#include "pipelines/container/output/stream_copy.h"

#include <algorithm>

#include "pipelines/container/input/open_input.h"
#include "pipelines/container/output/timing.h"
#include "src/common/log.h"

namespace equalux {
namespace {

// Length of the look-ahead, at which it ends even if some audio stream has had no packet.
constexpr std::int64_t kLookAheadUs = 3'000'000;
constexpr std::size_t kLookAheadBytes = std::size_t{32} << 20;
// Number and bytes of the pictures that are looked at. What pictures have inside them, every one or
// every key frame has.
constexpr std::size_t kPictures = 50;
constexpr std::size_t kPictureBytes = std::size_t{16} << 20;

/// Makes a filter for AAC of a transport stream, which carries its description in every packet; mp4
/// and Matroska want it in the head.
BitstreamFilter make_aac_filter(const AVStream& stream) {
  const AVBitStreamFilter* kind = av_bsf_get_by_name("aac_adtstoasc");
  AVBSFContext* raw = nullptr;
  if (kind == nullptr || av_bsf_alloc(kind, &raw) < 0) return nullptr;
  BitstreamFilter filter(raw);
  filter->time_base_in = stream.time_base;
  if (avcodec_parameters_copy(filter->par_in, stream.codecpar) < 0 ||
      av_bsf_init(filter.get()) < 0) {
    return nullptr;
  }
  return filter;
}

}  // namespace

std::int64_t order_time(const AVPacket& packet) {
  return packet.dts != AV_NOPTS_VALUE ? packet.dts : packet.pts;
}

StreamCopy::StreamCopy(const std::string& path, const ContainerPart& part, ReadStop* stop)
    : path_(path),
      part_(part),
      stop_(stop),
      input_(open_input(path, stop)),
      reader_(*input_, filtered_stream(*input_)) {
  if (part_.shift_ns == 0) return;
  for (unsigned i = 0; i < input_->nb_streams; ++i) {
    AVStream& stream = *input_->streams[i];
    if (stream.start_time != AV_NOPTS_VALUE)
      stream.start_time += rescale(part_.shift_ns, kNanoseconds, stream.time_base);
  }
  for (unsigned i = 0; i < input_->nb_chapters; ++i) {
    AVChapter& chapter = *input_->chapters[i];
    const std::int64_t shift = rescale(part_.shift_ns, kNanoseconds, chapter.time_base);
    chapter.start = std::max<std::int64_t>(0, chapter.start + shift);
    chapter.end = std::max<std::int64_t>(0, chapter.end + shift);
  }
}

/// Moves a packet's times into the part; returns false for a packet that ends before the part
/// starts. Sound that begins earlier stays, because the output's own start says from where it is
/// heard. A subtitle is shown for the rest of its time.
bool StreamCopy::move_into_part(AVPacket& packet) const {
  const AVStream& from = stream(packet.stream_index);
  const std::int64_t shift = rescale(part_.shift_ns, kNanoseconds, from.time_base);
  if (packet.pts != AV_NOPTS_VALUE) packet.pts += shift;
  if (packet.dts != AV_NOPTS_VALUE) packet.dts += shift;
  const std::int64_t start = packet.pts != AV_NOPTS_VALUE ? packet.pts : packet.dts;
  if (!part_.cut_start || start == AV_NOPTS_VALUE || start >= 0) return true;
  if (start + std::max<std::int64_t>(packet.duration, 0) <= 0) return false;
  if (from.codecpar->codec_type == AVMEDIA_TYPE_SUBTITLE) {
    packet.duration += start;
    packet.pts = packet.dts = 0;
  }
  return true;
}

void StreamCopy::select(const StreamPlan& plan) {
  wanted_.assign(plan.roles.size(), false);
  for (std::size_t i = 0; i < plan.roles.size(); ++i) {
    AVStream& stream = *input_->streams[i];
    wanted_[i] = plan.roles[i] == StreamRole::copied;
    stream.discard = wanted_[i] ? AVDISCARD_DEFAULT : AVDISCARD_ALL;
    const AVCodecParameters& codec = *stream.codecpar;
    if (wanted_[i] && codec.codec_id == AV_CODEC_ID_AAC && codec.extradata_size == 0) {
      if (auto filter = make_aac_filter(stream)) {
        aac_filters_.emplace(static_cast<int>(i), std::move(filter));
      }
    }
  }
  const auto filtered = std::find(plan.roles.begin(), plan.roles.end(), StreamRole::filtered);
  if (filtered != plan.roles.end()) {
    AVStream& stream = *input_->streams[filtered - plan.roles.begin()];
    picture_data_.note(stream);
    if (reader_.needs_video()) stream.discard = AVDISCARD_DEFAULT;
    if (PictureData::is_possible(stream.codecpar->codec_id)) {
      filtered_ = stream.index;
      pictures_left_ = kPictures;
      stream.discard = AVDISCARD_DEFAULT;
    }
  }
  if (pictures_left_ == 0) look_no_further();
  look_ahead();
}

/// Looks at one of the first pictures, for data that is not copied.
void StreamCopy::look_inside(const AVPacket& picture) {
  picture_data_.note(picture);
  picture_bytes_ += static_cast<std::size_t>(picture.size);
  if (--pictures_left_ == 0 || picture_bytes_ >= kPictureBytes) look_no_further();
}

void StreamCopy::look_no_further() {
  pictures_left_ = 0;
  if (filtered_ >= 0 && !reader_.needs_video()) {
    input_->streams[filtered_]->discard = AVDISCARD_ALL;
  }
  filtered_ = -1;
  if (std::find(wanted_.begin(), wanted_.end(), true) == wanted_.end()) ended_ = true;
}

void StreamCopy::look_ahead() {
  std::size_t silent = 0;
  for (std::size_t i = 0; i < wanted_.size(); ++i) {
    silent += wanted_[i] && input_->streams[i]->codecpar->codec_type == AVMEDIA_TYPE_AUDIO;
  }
  std::optional<std::int64_t> start_us;
  std::size_t bytes = 0;
  while ((silent > 0 || pictures_left_ > 0) && bytes < kLookAheadBytes) {
    PacketPtr packet = read();
    if (!packet) break;
    const AVStream& from = stream(packet->stream_index);
    const std::int64_t time = order_time(*packet);
    bytes += static_cast<std::size_t>(packet->size);
    if (!first_packets_.contains(from.index)) {
      first_packets_.emplace(from.index, PacketPtr(av_packet_clone(packet.get())));
      silent -= from.codecpar->codec_type == AVMEDIA_TYPE_AUDIO;
    }
    queue_.push_back(std::move(packet));
    if (time == AV_NOPTS_VALUE) continue;
    const std::int64_t us = av_rescale_q(time, from.time_base, kMicroseconds);
    if (!start_us) start_us = us;
    if (us - *start_us > kLookAheadUs) break;
  }
  look_no_further();
}

const AVPacket* StreamCopy::first_packet(int stream) const {
  const auto found = first_packets_.find(stream);
  return found != first_packets_.end() ? found->second.get() : nullptr;
}

AVPacket* StreamCopy::peek() {
  if (queue_.empty()) {
    if (PacketPtr packet = read()) queue_.push_back(std::move(packet));
  }
  return queue_.empty() ? nullptr : queue_.front().get();
}

void StreamCopy::pop() {
  queue_.pop_front();
}

PacketPtr StreamCopy::read() {
  while (!ended_) {
    PacketPtr packet = make_packet();
    if (stop_ != nullptr) stop_->begin();
    const int error = reader_.read(*packet);
    if (error < 0) {
      if (error != AVERROR_EOF) {
        read_error_ = error == AVERROR_EXIT ? "nothing comes from its server" : av_text(error);
      }
      ended_ = true;
      break;
    }
    // Streams that appear later in a transport stream are not in the plan.
    const auto index = static_cast<std::size_t>(packet->stream_index);
    if (packet->stream_index == filtered_) look_inside(*packet);
    if (index < wanted_.size() && wanted_[index] && move_into_part(*packet) &&
        filter_aac(*packet)) {
      return packet;
    }
  }
  return nullptr;
}

bool StreamCopy::filter_aac(AVPacket& packet) {
  const auto found = aac_filters_.find(packet.stream_index);
  if (found == aac_filters_.end()) return true;
  AVBSFContext* filter = found->second.get();
  if (av_bsf_send_packet(filter, &packet) < 0 || av_bsf_receive_packet(filter, &packet) < 0) {
    av_packet_unref(&packet);
    return false;
  }
  std::size_t size = 0;
  const std::uint8_t* head = av_packet_get_side_data(&packet, AV_PKT_DATA_NEW_EXTRADATA, &size);
  AVCodecParameters& codec = *input_->streams[packet.stream_index]->codecpar;
  if (head != nullptr && codec.extradata_size == 0) set_extradata(codec, {head, size});
  // Drops the description from the packet: the head has it, and muxers that find it in a packet
  // write their head again.
  av_packet_free_side_data(&packet);
  return true;
}

}  // namespace equalux
