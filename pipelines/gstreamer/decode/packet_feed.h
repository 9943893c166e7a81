#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pipelines/container/av_handles.h"
#include "pipelines/container/input/packet_reader.h"
#include "pipelines/container/read_stop.h"
#include "pipelines/gstreamer/decode/codec_caps.h"
#include "pipelines/gstreamer/decode/stamp_table.h"
#include "pipelines/gstreamer/gst_common.h"

/// Packets of a file's video stream, read by libavformat, as GStreamer buffers.
///
/// libavformat also copies the other streams, so that video and sound share one timeline by
/// construction; GStreamer's demuxers each shift it in their own way.
namespace equalux::gst {

class PictureTimes;

/// Options of a packet feed.
struct PacketFeedOptions {
  std::optional<Rational> rate{};  ///< of a stream without times, in place of its own; above 0
  /// True where buffers carry the packets of transparency beside VP8 and VP9, too.
  bool with_alpha = false;
};

/// Reads packets and assigns times to frames. One thread at a time, except stamp().
class PacketFeed {
 public:
  /// Called by make_packet_feed(), which finds the stream's caps.
  PacketFeed(InputContext input, int video_stream, CapsPtr caps, const PacketFeedOptions& options,
             ReadStop* stop);
  ~PacketFeed();

  /// Moves to the last packet from which a decoder gives exactly the pictures at and after `pts_ns`
  /// that it gives from the start. Returns false where there is none after `least_ns`, or none is
  /// known; the feed must then not be used any more. To be called before the first next().
  [[nodiscard]] bool enter_before(std::int64_t pts_ns, std::int64_t least_ns);
  /// Caps of the packets, for a parser or decoder.
  [[nodiscard]] const GstCaps* caps() const { return caps_.get(); }
  /// Returns the next packet; null at the end. The buffer's memory is the packet's own.
  [[nodiscard]] BufferPtr next();
  /// Returns the exact times of a decoded frame; `pts` is its buffer's. Any thread may call it.
  [[nodiscard]] Stamp stamp(GstClockTime pts);
  /// Returns the number of packets without a frame, for codecs that have one frame per packet.
  [[nodiscard]] std::uint64_t lost() const;
  /// Returns how long the packets after the last frame would have lasted. Asked at the end.
  [[nodiscard]] std::int64_t missing_end_ns() const { return stamps_.rest().ns; }
  /// Colour tags of the stream; empty where it has none.
  [[nodiscard]] std::string colorimetry() const;
  /// Position of the stream's chroma samples as GStreamer writes it; empty where it is unknown.
  [[nodiscard]] std::string chroma_site() const;
  /// Why reading ended early; empty where it did not.
  [[nodiscard]] std::string read_error() const { return read_error_; }
  /// Returns when the file's clock restarted, as PacketReader does. Asked at the end.
  [[nodiscard]] const std::vector<std::int64_t>& restarts_ns() const {
    return reader_.restarts_ns();
  }

 private:
  PacketPtr read_packet();
  PacketPtr timed_packet();
  PacketPtr next_packet();
  void check_for_times();
  std::optional<std::int64_t> nanoseconds(std::int64_t ticks) const;
  BufferPtr wrap(PacketPtr packet);
  static BufferPtr wrap_alpha(const AVPacket& packet);

  InputContext input_;
  PacketReader reader_;
  const AVStream* stream_;
  CapsPtr caps_;
  std::unique_ptr<PictureTimes> times_;
  StampTable stamps_;
  std::optional<RawLayout> raw_;
  std::optional<Rational> rate_;  // of a stream without times
  bool with_alpha_;
  ReadStop* stop_;
  bool started_ = false;
  std::deque<PacketPtr> ahead_;  // read before they were requested
  std::int64_t hidden_ = 0;      // packets without a time that will be fed first
  std::string read_error_;
};

/// Opens a file, unless `opened` is that file, opened by open_input() and not read of. Null where
/// the stream's codec is not one that we can describe to GStreamer, so that its own demuxer must be
/// used. `stop`, if not null, ends waits for a web server and must outlive the feed.
[[nodiscard]] std::unique_ptr<PacketFeed> make_packet_feed(const std::string& path,
                                                           int video_stream,
                                                           const PacketFeedOptions& options = {},
                                                           ReadStop* stop = nullptr,
                                                           InputContext opened = nullptr);

}  // namespace equalux::gst
