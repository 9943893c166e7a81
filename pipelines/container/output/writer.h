#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pipelines/container/read_stop.h"
#include "pipelines/core/source.h"

/// Writer of a new file whose video comes from our encoder and whose other streams, chapters,
/// attachments and tags are copied from the input, packet by packet. A webm stores no rotation, so
/// its pictures must be upright.
namespace equalux {

/// Format of an encoded video stream, as an encoder delivers it.
struct EncodedVideoFormat {
  std::string codec;  ///< libavcodec's name: "h264", "hevc", "vp9", "ffv1", "mjpeg" ...
  int width = 0;
  int height = 0;
  Rational frame_rate{0, 1};
  Rational pixel_aspect{1, 1};
  std::vector<std::byte> codec_data;  ///< extradata: avcC, hvcC ...
  std::string pixel_format;  ///< libav's name, "yuv422p"; empty = "yuv420p". VP9 in mp4 needs it
  ColorMatrix matrix = ColorMatrix::bt709;
  ColorRange range = ColorRange::limited;
  std::string colorimetry;  ///< the input's, GStreamer's string; empty = unspecified
  /// Colorimetry that the encoder was given, GStreamer's string; H.264 and H.265 repeat it in
  /// packets.
  std::string encoder_colorimetry;
  bool rgb = false;  ///< the encoded pictures are RGB: matrix and range do not apply
  /// True where matrix and range are written even if the input does not give them, because they
  /// were chosen here.
  bool says_matrix = true;
  FieldOrder field_order = FieldOrder::progressive;
  bool alpha_beside = false;  ///< packets have EncodedPacket::alpha; only Matroska and webm can
};

/// One encoded picture.
struct EncodedPacket {
  std::span<const std::byte> data;
  std::int64_t pts_ns = 0;
  std::int64_t dts_ns = 0;
  std::int64_t duration_ns = 0;
  bool keyframe = false;
  std::span<const std::byte> alpha{};  ///< its transparency, a packet of the same codec
};

struct ContainerWriterOptions {
  std::string output_path;    ///< the final name; its extension chooses mp4, mov, mkv or webm
  std::string copy_from;      ///< the input whose other streams and tags are kept; empty = none
  bool drop_streams = false;  ///< leave out streams that the container cannot hold
  bool keep_partial = false;  ///< abandon() leaves a partial file that has packets
  /// File that notes every packet, for checkpoints; empty = no checkpoints are made.
  std::string journal{};
  /// Number of packets that an earlier writer of this output left before its last checkpoint;
  /// start() takes them over from its partial file. 0 = from the start.
  std::uint64_t resume_packets = 0;
  ContainerPart part{};  ///< of copy_from: shifts the times of its streams, and leaves packets out
  ReadStop* stop = nullptr;  ///< ends waits for copy_from; null, or outlives the writer
};

/// Writes NAME.partial.EXT beside the final name and renames it at the end. After its first second
/// the partial file is playable at every moment, even after SIGKILL. One thread at a time.
class ContainerWriter {
 public:
  virtual ~ContainerWriter() = default;

  /// Checks that the container holds every stream of copy_from and a video of `codec`, and reserves
  /// the output by an empty partial file, which is removed if nothing is written. Throws
  /// Error(usage) that names the stream and a container that holds it, and OutputBusy. Called
  /// before the first frame is decoded.
  virtual void check(const std::string& codec) = 0;
  /// Creates the partial file and writes its head. Throws Error(cannot_create), and CannotResume
  /// where the packets to take over are missing or changed.
  virtual void start(const EncodedVideoFormat& video) = 0;
  /// Writes a video packet, and the copied packets that precede it. pts are on the input's own
  /// timeline, so that offsets between streams stay. Throws Error(write_failed).
  virtual void write(const EncodedPacket& packet) = 0;
  /// Starts writing everything so far to the disk. Returns the number of packets, which is
  /// resume_packets of a writer that continues here; 0 where that is impossible. Throws
  /// Error(write_failed).
  virtual std::uint64_t checkpoint() = 0;
  /// Closes the partial file, playable, so that it can be continued.
  virtual void suspend() noexcept = 0;
  /// Copies the rest of the other streams (up to the video's end if `cut_at_video_end`), finalises
  /// and renames. Throws Error(write_failed).
  virtual void finish(bool cut_at_video_end) = 0;
  /// After finish(), returns what the output lacks of copy_from's other streams: "the copied
  /// streams end early: Input/output error"; nothing where it is whole.
  [[nodiscard]] virtual std::optional<std::string> shortfall() const = 0;
  /// Ends a failed run: removes the partial file, or with keep_partial closes and leaves it. If
  /// everything was encoded and only the plain mp4 or mov could not be made from it (a full disk),
  /// the partial file is complete and stays; finish()'s error says so.
  virtual void abandon() noexcept = 0;
  /// Streams that drop_streams left out, as texts for one line of the log.
  [[nodiscard]] virtual std::vector<std::string> dropped_streams() const = 0;
  /// Videos beside the filtered one, which are copied as they are, as texts for one line of the
  /// log.
  [[nodiscard]] virtual std::vector<std::string> copied_videos() const = 0;
};

/// Makes a writer. Throws Error(usage) for an extension that is not mp4, mov, m4v, mkv or webm.
[[nodiscard]] std::unique_ptr<ContainerWriter> make_container_writer(
    const ContainerWriterOptions& options);

}  // namespace equalux
