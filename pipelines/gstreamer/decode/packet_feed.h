#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "pipelines/container/av_handles.h"
#include "pipelines/container/read_stop.h"
#include "pipelines/gstreamer/decode/codec_caps.h"
#include "pipelines/gstreamer/decode/stamp_table.h"
#include "pipelines/gstreamer/gst_common.h"

/// The packets of a file's video stream, read by libavformat, as GStreamer buffers.
///
/// libavformat also copies the other streams, so that video and sound share one timeline by
/// construction; GStreamer's demuxers shift it, each in its own way.
namespace equalux::gst {

class PictureTimes;

/// What a feed is asked for beside the packets.
struct PacketFeedOptions {
  std::optional<Rational> rate{};  ///< of a stream without times, in place of its own; above 0
  /// The packets of transparency beside those of VP8 and VP9 go with them.
  bool with_alpha = false;
};

/// One thread at a time, but for stamp().
class PacketFeed {
 public:
  /// Made by make_packet_feed(), which finds out what the stream's caps are.
  PacketFeed(InputContext input, int video_stream, CapsPtr caps, const PacketFeedOptions& options,
             ReadStop* stop);
  ~PacketFeed();

  /// Goes to the last packet from which on a decoder gives the very pictures at and behind `pts_ns`
  /// that it gives from the start. False where there is none behind `least_ns`, or nobody knows of
  /// one: the feed is of no more use then. Before the first next().
  [[nodiscard]] bool enter_before(std::int64_t pts_ns, std::int64_t least_ns);
  /// What the packets are, for a parser or decoder.
  [[nodiscard]] const GstCaps* caps() const { return caps_.get(); }
  /// The next packet; null at the end. Its memory is the packet's own.
  [[nodiscard]] BufferPtr next();
  /// The exact times of a decoded frame; `pts` is its buffer's.
  [[nodiscard]] Stamp stamp(GstClockTime pts);
  /// Packets that no frame came out for, where the codec has a frame for each.
  [[nodiscard]] std::uint64_t lost() const;
  /// Asked at the end: how long the packets behind the last frame would have lasted.
  [[nodiscard]] std::int64_t missing_end_ns() const { return stamps_.rest().ns; }
  /// Colour tags of the stream, empty where it has none.
  [[nodiscard]] std::string colorimetry() const;
  /// Where the stream's chroma samples lie, as GStreamer writes it; empty where nothing says.
  [[nodiscard]] std::string chroma_site() const;
  /// Why reading ended early; empty where it did not.
  [[nodiscard]] std::string read_error() const { return read_error_; }

 private:
  PacketPtr read_packet();
  PacketPtr timed_packet();
  PacketPtr next_packet();
  void check_for_times();
  std::optional<std::int64_t> nanoseconds(std::int64_t ticks) const;
  BufferPtr wrap(PacketPtr packet);
  static BufferPtr wrap_alpha(const AVPacket& packet);

  InputContext input_;
  const AVStream* stream_;
  CapsPtr caps_;
  std::unique_ptr<PictureTimes> times_;
  StampTable stamps_;
  std::optional<RawLayout> raw_;
  std::optional<Rational> rate_;  // of a stream without times
  bool with_alpha_;
  ReadStop* stop_;
  bool started_ = false;
  std::deque<PacketPtr> ahead_;  // read before they were asked for
  std::int64_t hidden_ = 0;      // packets without a time that will be fed first
  std::string read_error_;
};

/// Null where the stream's codec is not one that we can describe to GStreamer: its own demuxer must
/// do then. `stop`, where it is not null, ends waits for a web server and must outlive the feed.
[[nodiscard]] std::unique_ptr<PacketFeed> make_packet_feed(const std::string& path,
                                                           int video_stream,
                                                           const PacketFeedOptions& options = {},
                                                           ReadStop* stop = nullptr);

}  // namespace equalux::gst
