#include "pipelines/container/input/packet_reader.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace equalux {
namespace {

/// How far a clock that goes on may step back: times of damaged files and of some muxers do.
constexpr std::int64_t kBack = 100'000'000;  // ns
/// How far it may step forward: reception failed, or a stream was silent.
constexpr std::int64_t kForward = 60'000'000'000;  // ns
/// How far streams of a file are apart at most.
constexpr std::int64_t kApart = 1'000'000'000;  // ns
/// Packets of sound in a row whose times may be damaged.
constexpr std::size_t kMostDamaged = 50;
/// Pictures within which the video restarts after the sound did.
constexpr std::size_t kMostPictures = 60;
/// Packets that may be read while a stream waits for the video.
constexpr std::size_t kMostAhead = 5'000;
constexpr std::size_t kMostAheadBytes = std::size_t{16} << 20;

bool goes_on(std::int64_t from_ns, std::int64_t to_ns) {
  return to_ns >= from_ns - kBack && to_ns <= from_ns + kForward;
}

/// Returns true for a time as the next packet of sound usually has it.
bool is_near(std::int64_t expected_ns, std::int64_t ns) {
  return ns >= expected_ns - kBack && ns <= expected_ns + kApart;
}

bool has_time(const AVPacket& packet) {
  return packet.pts != AV_NOPTS_VALUE || packet.dts != AV_NOPTS_VALUE;
}

/// Returns true for transport and program streams. Joined Ogg files have other streams in each
/// part, with heads among their packets.
bool may_restart(const AVInputFormat& format) {
  const std::string_view name = format.name;
  return name == "mpegts" || name == "mpeg";
}

}  // namespace

PacketReader::PacketReader(AVFormatContext& input, int video)
    : input_(input), video_(video), possible_(video >= 0 && may_restart(*input.iformat)) {}

std::int64_t PacketReader::nanoseconds(std::int64_t ticks, const AVPacket& packet) const {
  return av_rescale_q(ticks, input_.streams[packet.stream_index]->time_base, kNanoseconds);
}

/// Returns a packet's decoding time, or its presentation time where it has none.
std::int64_t PacketReader::time_of(const AVPacket& packet) const {
  return nanoseconds(packet.dts != AV_NOPTS_VALUE ? packet.dts : packet.pts, packet);
}

std::int64_t PacketReader::duration_of(const AVPacket& packet) const {
  return nanoseconds(std::max<std::int64_t>(0, packet.duration), packet);
}

void PacketReader::move(AVPacket& packet, std::int64_t shift_ns) const {
  const AVRational base = input_.streams[packet.stream_index]->time_base;
  const std::int64_t shift = av_rescale_q(shift_ns, kNanoseconds, base);
  if (packet.pts != AV_NOPTS_VALUE) packet.pts += shift;
  if (packet.dts != AV_NOPTS_VALUE) packet.dts += shift;
}

bool PacketReader::is_sound(const AVPacket& packet) const {
  return input_.streams[packet.stream_index]->codecpar->codec_type == AVMEDIA_TYPE_AUDIO;
}

/// Begins a part with this picture, which comes after a clock that stood at video_next_ns_.
void PacketReader::begin_part(const AVPacket& packet, std::int64_t now_ns) {
  const AVStream& stream = *input_.streams[video_];
  Part part{parts_.back().shift_ns, packet.pos, *video_next_ns_};
  // Tries a full counter first.
  if (stream.pts_wrap_bits > 0 && stream.pts_wrap_bits < 63) {
    const std::int64_t full = nanoseconds(std::int64_t{1} << stream.pts_wrap_bits, packet);
    for (const std::int64_t shift : {full, -full}) {
      if (!goes_on(*video_next_ns_, now_ns + shift)) continue;
      part.shift_ns += shift;
      parts_.push_back(part);
      return;
    }
  }
  const std::int64_t decoded_ns = *video_next_ns_ + part.shift_ns - now_ns;
  part.shift_ns =
      packet.pts == AV_NOPTS_VALUE ? decoded_ns : video_end_ns_ - nanoseconds(packet.pts, packet);
  // Some pictures of MPEG-2 have no presentation time, which follows from decoding times.
  const AVCodecID codec = stream.codecpar->codec_id;
  if (codec == AV_CODEC_ID_MPEG1VIDEO || codec == AV_CODEC_ID_MPEG2VIDEO) {
    part.shift_ns = std::max(part.shift_ns, decoded_ns);
  }
  parts_.push_back(part);
  restarts_ns_.push_back(video_end_ns_);
}

/// Returns true for a time as the next picture usually has it.
bool PacketReader::is_due(std::int64_t now_ns) const {
  return now_ns >= video_last_ns_ - kBack && now_ns <= *video_next_ns_ + kApart;
}

/// Gives a picture whose times are damaged those that follow the picture before it.
void PacketReader::correct(AVPacket& packet) const {
  const AVRational base = input_.streams[video_]->time_base;
  packet.dts = av_rescale_q(*video_next_ns_, kNanoseconds, base);
  if (packet.pts != AV_NOPTS_VALUE) {
    packet.pts = av_rescale_q(*video_next_ns_ + delay_ns_, kNanoseconds, base);
  }
}

/// Corrects one of a picture's two times where the other shows that it is damaged: nothing is shown
/// before it is decoded, nor long after. Behind a restart libavformat may count decoding times of
/// its own on, so that those are damaged.
void PacketReader::correct_by_other_time(AVPacket& packet) const {
  if (packet.pts == AV_NOPTS_VALUE || packet.dts == AV_NOPTS_VALUE) return;
  const std::int64_t pts_ns = nanoseconds(packet.pts, packet);
  const std::int64_t dts_ns = nanoseconds(packet.dts, packet);
  if (goes_on(dts_ns, pts_ns)) return;
  const AVRational base = input_.streams[video_]->time_base;
  if (pts_ns > dts_ns && video_next_ns_ && is_due(dts_ns)) {
    packet.pts = packet.dts + av_rescale_q(delay_ns_, kNanoseconds, base);
  } else {
    packet.dts = packet.pts - av_rescale_q(delay_ns_, kNanoseconds, base);
  }
}

/// Moves the packets of the video in turn. Whether a step is a restart or a damaged time is only
/// known once the next picture is there.
void PacketReader::follow_videos() {
  const bool is_last =
      result_ < 0 || ahead_.size() >= kMostAhead || ahead_bytes_ >= kMostAheadBytes;
  while (!videos_.empty()) {
    AVPacket& packet = *videos_.front();
    correct_by_other_time(packet);
    if (has_time(packet) && video_next_ns_ && !is_due(time_of(packet))) {
      if (videos_.size() == 1 && !is_last) return;
      AVPacket* next = videos_.size() > 1 ? videos_[1] : nullptr;
      if (next != nullptr) correct_by_other_time(*next);
      if (next != nullptr && has_time(*next) && is_due(time_of(*next))) {
        correct(packet);
      }
    }
    follow_video(packet);
    videos_.pop_front();
  }
}

void PacketReader::follow_video(AVPacket& packet) {
  if (packet.duration > 0) picture_ns_ = nanoseconds(packet.duration, packet);
  if (!has_time(packet)) return;
  const std::int64_t now_ns = time_of(packet);
  // The next picture may come before this one's duration is over, which damage may have made long.
  const bool goes_back = now_ns < video_last_ns_ - kBack;
  if (video_next_ns_ && (goes_back || now_ns > *video_next_ns_ + kForward)) {
    begin_part(packet, now_ns);
  }
  if (packet.pts != AV_NOPTS_VALUE) delay_ns_ = nanoseconds(packet.pts, packet) - now_ns;
  move(packet, parts_.back().shift_ns);
  const std::int64_t shown = packet.pts != AV_NOPTS_VALUE ? packet.pts : packet.dts;
  const std::int64_t end_ns = nanoseconds(shown, packet) + picture_ns_;
  video_end_ns_ = video_next_ns_ ? std::max(video_end_ns_, end_ns) : end_ns;
  video_last_ns_ = now_ns;
  video_next_ns_ = now_ns + picture_ns_;
}

/// Returns true for sound whose clock restarted while the video's did not yet: files that are
/// joined end in packets of several streams, and the video's last one is read late.
bool PacketReader::waits_for_video(const AVPacket& packet) const {
  if (packet.stream_index == video_ || !is_sound(packet) || !has_time(packet)) return false;
  const auto found = tracks_.find(packet.stream_index);
  if (found == tracks_.end() || !found->second.next_ns) return false;
  const Track& track = found->second;
  return track.part + 1 == parts_.size() && !goes_on(*track.next_ns, time_of(packet));
}

/// Returns true where the place in the file tells which part a packet belongs to, because its time
/// does not: of streams with few packets, or where the clock hardly moved.
bool PacketReader::is_by_place(const Track& track, const AVPacket& packet) const {
  const Part& newest = parts_.back();
  if (!is_sound(packet) || !track.next_ns) return true;
  return std::abs(newest.shift_ns - parts_[track.part].shift_ns) < kApart ||
         *track.next_ns < newest.before_ns - kApart;
}

/// Changes to the part that a packet belongs to, which is a later one where sound steps, or where
/// its place says so. Where the video goes on, times that step are passed on as they are.
void PacketReader::choose_part(Track& track, const AVPacket& packet) const {
  const std::size_t newest = parts_.size() - 1;
  if (track.part == newest) return;
  const bool steps = is_sound(packet) && track.next_ns && !goes_on(*track.next_ns, time_of(packet));
  if (!steps && !is_by_place(track, packet)) return;
  // Of several packets for one time, only the first has a place.
  const std::int64_t place = packet.pos >= 0 ? packet.pos : track.place;
  std::size_t part = steps ? track.part + 1 : track.part;
  while (part < newest && place >= parts_[part + 1].byte)
    ++part;
  if (part == track.part) return;
  track.part = part;
  track.joins = true;
}

/// Gives sound whose times are damaged those that follow the packet before it. They are damaged
/// where a later packet comes when it is due: a transport stream has several packets for one time.
void PacketReader::correct_sound(AVPacket& packet) {
  if (packet.stream_index == video_ || !is_sound(packet) || !has_time(packet)) return;
  const auto found = tracks_.find(packet.stream_index);
  if (found == tracks_.end() || !found->second.next_ns) return;
  const std::int64_t due_ns = *found->second.next_ns;
  if (is_near(due_ns, time_of(packet))) return;
  std::int64_t later_ns = due_ns + duration_of(packet);
  std::size_t count = 0;
  for (std::size_t i = 1; count < kMostDamaged && (i < ahead_.size() || fetch_more()); ++i) {
    if (i == ahead_.size()) break;
    const AVPacket& later = *ahead_[i];
    if (later.stream_index != packet.stream_index || !has_time(later)) continue;
    if (is_near(later_ns, time_of(later))) {
      packet.pts = packet.dts =
          av_rescale_q(due_ns, kNanoseconds, input_.streams[packet.stream_index]->time_base);
      return;
    }
    later_ns += duration_of(later);
    ++count;
  }
}

/// Moves a packet of another stream than the video; returns false for sound that would be heard
/// while that of the part before it still lasts.
bool PacketReader::take(AVPacket& packet) {
  if (!has_time(packet)) return true;
  Track& track = tracks_[packet.stream_index];
  choose_part(track, packet);
  if (packet.pos >= 0) track.place = packet.pos;
  const std::int64_t now_ns = time_of(packet);
  const std::int64_t duration_ns = duration_of(packet);
  const std::int64_t shift_ns = parts_[track.part].shift_ns;
  const std::int64_t middle_ns = now_ns + shift_ns + duration_ns / 2;
  const bool overlaps = track.next_ns.has_value() && middle_ns < track.end_ns;
  track.next_ns = now_ns + duration_ns;
  if (track.joins && is_sound(packet) && overlaps) return false;
  track.joins = false;
  track.end_ns = *track.next_ns + shift_ns;
  move(packet, shift_ns);
  return true;
}

bool PacketReader::fetch() {
  if (result_ < 0) return false;
  PacketPtr packet = make_packet();
  result_ = av_read_frame(&input_, packet.get());
  if (result_ >= 0) {
    if (packet->stream_index == video_) {
      videos_.push_back(packet.get());
      ++pictures_ahead_;
    }
    ahead_bytes_ += static_cast<std::size_t>(packet->size);
    ahead_.push_back(std::move(packet));
  }
  follow_videos();
  return result_ >= 0;
}

/// Reads ahead while little was.
bool PacketReader::fetch_more() {
  return ahead_.size() < kMostAhead && ahead_bytes_ < kMostAheadBytes && fetch();
}

int PacketReader::read(AVPacket& packet) {
  if (!possible_) return av_read_frame(&input_, &packet);
  while (true) {
    if (ahead_.empty() && !fetch()) return result_;
    AVPacket& next = *ahead_.front();
    while (!videos_.empty() && videos_.front() == &next)
      fetch();
    correct_sound(next);
    while (waits_for_video(next) && pictures_ahead_ < kMostPictures && fetch_more()) {
    }
    const PacketPtr first = std::move(ahead_.front());
    ahead_.pop_front();
    ahead_bytes_ -= static_cast<std::size_t>(first->size);
    if (first->stream_index == video_) --pictures_ahead_;
    if (first->stream_index == video_ || take(*first)) {
      av_packet_move_ref(&packet, first.get());
      return 0;
    }
  }
}

}  // namespace equalux
