#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "pipelines/container/read_stop.h"
#include "pipelines/core/source.h"

/// Writes a new file whose video is ours and whose every other stream, chapter, attachment and tag
/// is the input's, packet by packet. A webm tells no rotation: its pictures have to be upright.
namespace equalux {

/// An encoded video stream, as an encoder delivers it.
struct EncodedVideoFormat {
  std::string codec;  ///< libavcodec's name: "h264", "hevc", "vp9", "ffv1", "mjpeg" ...
  int width = 0;
  int height = 0;
  Rational frame_rate{0, 1};
  Rational pixel_aspect{1, 1};
  std::vector<std::byte> codec_data;  ///< avcC, hvcC ...: extradata
  std::string pixel_format;  ///< libav's name, "yuv422p"; empty = "yuv420p". VP9 in mp4 needs it
  ColorMatrix matrix = ColorMatrix::bt709;
  ColorRange range = ColorRange::limited;
  std::string colorimetry;  ///< what the input tells, GStreamer's string; empty = nothing
  /// What the encoder was told, GStreamer's string: H.264 and H.265 say it in their packets.
  std::string encoder_colorimetry;
  bool rgb = false;  ///< the encoded pictures are RGB: matrix and range do not count
  /// Matrix and range are said although the input does not tell them: they were chosen here.
  bool says_matrix = true;
  FieldOrder field_order = FieldOrder::progressive;
  bool alpha_beside = false;  ///< packets have EncodedPacket::alpha; Matroska and webm alone can
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
  bool drop_streams = false;  ///< go on without streams that the container cannot hold
  bool keep_partial = false;  ///< abandon() leaves a partial file that holds something
  /// A file that notes every packet, for checkpoints; empty = none are made.
  std::string journal{};
  /// Packets that an earlier writer of this output left behind its last checkpoint: start() takes
  /// them over from its partial file. 0 = from the start.
  std::uint64_t resume_packets = 0;
  ContainerPart part{};      ///< of copy_from: which times its streams get, and what is left out
  ReadStop* stop = nullptr;  ///< ends waits for copy_from; null or outlives the writer
};

/// Writes NAME.partial.EXT beside the final name and renames it at the end. Playable at every
/// moment after its first second, also after SIGKILL. One thread at a time.
class ContainerWriter {
 public:
  virtual ~ContainerWriter() = default;

  /// Checks that the container holds every stream of copy_from and a video of `codec`, and takes
  /// the output for itself: an empty partial file, that goes where nothing is written. Throws
  /// Error(usage) that names the stream and a container that holds it, and OutputBusy.
  /// Called before the first frame is decoded.
  virtual void check(const std::string& codec) = 0;
  /// Creates the partial file and writes its header. Throws Error(cannot_create), and CannotResume
  /// where what is to be taken over is not there or was changed.
  virtual void start(const EncodedVideoFormat& video) = 0;
  /// Writes a video packet, and the copied packets that belong before it. pts are the input's own
  /// timeline, so that offsets between streams stay. Throws Error(write_failed).
  virtual void write(const EncodedPacket& packet) = 0;
  /// Has everything written so far on its way to the disk. Returns the number of packets, which is
  /// resume_packets of a writer that goes on here; 0 where that cannot be. Throws
  /// Error(write_failed).
  virtual std::uint64_t checkpoint() = 0;
  /// Closes the partial file, playable, and leaves it to be continued.
  virtual void suspend() noexcept = 0;
  /// Copies what is left of the other streams (up to the video's end where `cut_at_video_end`),
  /// finalises and renames. Throws Error(write_failed).
  virtual void finish(bool cut_at_video_end) = 0;
  /// Removes the partial file, or closes and leaves it with keep_partial. For a run that failed.
  /// Where everything was encoded and only the plain mp4 or mov could not be made of it (a full
  /// disk), the partial file is whole and stays; finish()'s error says so.
  virtual void abandon() noexcept = 0;
  /// Streams that drop_streams left out, for one line in the log.
  [[nodiscard]] virtual std::vector<std::string> dropped_streams() const = 0;
};

/// Throws Error(usage) for an extension that is not mp4, mov, m4v, mkv or webm.
[[nodiscard]] std::unique_ptr<ContainerWriter> make_container_writer(
    const ContainerWriterOptions& options);

}  // namespace equalux
