#pragma once

#include <memory>
#include <optional>
#include <string>

#include "pipelines/container/container.h"
#include "pipelines/gstreamer/gst_common.h"
#include "pipelines/gstreamer/stamp_table.h"

/// The packets of a file's video stream, read by libavformat, as GStreamer buffers.
///
/// libavformat also copies the other streams, so that video and sound share one timeline by
/// construction; GStreamer's demuxers shift it, each in its own way.
namespace equalux::gst {

/// One thread at a time, but for stamps().
class PacketFeed {
 public:
  virtual ~PacketFeed() = default;

  /// Goes to the last packet from which on a decoder gives the very pictures at and behind `pts_ns`
  /// that it gives from the start. False where there is none behind `least_ns`, or nobody knows of
  /// one: the feed is of no more use then. Before the first next().
  [[nodiscard]] virtual bool enter_before(std::int64_t pts_ns, std::int64_t least_ns) = 0;
  /// What the packets are, for a parser or decoder.
  [[nodiscard]] virtual const GstCaps* caps() const = 0;
  /// The next packet; null at the end. Its memory is the packet's own.
  [[nodiscard]] virtual BufferPtr next() = 0;
  /// The exact times of a decoded frame; `pts` is its buffer's.
  [[nodiscard]] virtual Stamp stamp(GstClockTime pts) = 0;
  /// Packets that no frame came out for, where the codec has a frame for each.
  [[nodiscard]] virtual std::uint64_t lost() const = 0;
  /// At the end: how long the packets behind the last frame would have lasted.
  [[nodiscard]] virtual std::int64_t missing_end_ns() const = 0;
  /// Colour tags of the stream, empty where it has none.
  [[nodiscard]] virtual std::string colorimetry() const = 0;
  /// Where its chroma samples lie, as GStreamer writes it; empty where nothing says.
  [[nodiscard]] virtual std::string chroma_site() const = 0;
  /// Why reading ended early; empty where it did not.
  [[nodiscard]] virtual std::string read_error() const = 0;
};

/// What a feed is asked for beside the packets.
struct PacketFeedOptions {
  std::optional<Rational> rate{};  ///< of a stream without times, in place of its own; above 0
  /// The packets of transparency beside those of VP8 and VP9 go with them.
  bool with_alpha = false;
};

/// Null where the stream's codec is not one that we can describe to GStreamer, or libavformat is
/// not part of this build: GStreamer's own demuxer must do then. `stop`, where it is not null, ends
/// waits for a web server and must outlive the feed.
[[nodiscard]] std::unique_ptr<PacketFeed> make_packet_feed(const std::string& path,
                                                           int video_stream,
                                                           const PacketFeedOptions& options = {},
                                                           ReadStop* stop = nullptr);

}  // namespace equalux::gst
