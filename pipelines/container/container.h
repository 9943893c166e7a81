#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pipelines/core/source.h"

/// Containers by libavformat: reads what a file holds, and writes a new file whose video is ours
/// and whose every other stream, chapter, attachment and tag is the input's, packet by packet.
/// A webm tells no rotation: its pictures have to be upright.
namespace equalux {

/// Ends the waits for a web server that has fallen silent, once the run is being stopped. What
/// comes without much delay is still read.
class ReadStop {
 public:
  /// Any thread.
  void set() noexcept { is_set_ = true; }
  [[nodiscard]] bool is_set() const noexcept { return is_set_; }
  /// A read starts now. The reader's thread.
  void begin() noexcept { begun_ = std::chrono::steady_clock::now(); }
  /// True where the read that began last should end.
  [[nodiscard]] bool is_over() const noexcept {
    constexpr std::chrono::milliseconds kUsual{300};
    return is_set_ && std::chrono::steady_clock::now() - begun_.load() > kUsual;
  }

 private:
  std::atomic<bool> is_set_{false};
  std::atomic<std::chrono::steady_clock::time_point> begun_{};
};

/// One stream of a file.
struct ContainerStream {
  enum class Kind : std::uint8_t { video, audio, subtitle, attachment, data };
  int index = 0;
  Kind kind = Kind::data;
  std::string codec;              ///< libavcodec's name, "aac"
  std::string language;           ///< empty = none
  bool attached_picture = false;  ///< cover art: a video stream that is only copied
};

/// Numbers of pixels at the edges of a picture.
struct PictureEdges {
  int left = 0;
  int top = 0;
  int right = 0;
  int bottom = 0;
  friend bool operator==(const PictureEdges&, const PictureEdges&) = default;
};

/// What is known of a file before any frame is decoded.
struct ContainerInfo {
  std::string format;  ///< libavformat's name
  std::vector<ContainerStream> streams;
  int video_stream = -1;  ///< the stream to be filtered; -1 = none
  bool has_times = true;  ///< false for elementary streams: pictures alone, at a rate
  Rational video_time_base{1, 1};
  Rational average_frame_rate{0, 1};
  /// The container's, else the codec's; unset where neither tells one.
  std::optional<Rational> pixel_aspect;
  /// What its pictures need to stand upright; unset for an angle between those of a right angle.
  std::optional<Orientation> orientation = Orientation::upright;
  std::optional<std::uint64_t> video_frames;  ///< declared by the container
  std::optional<std::int64_t> duration_ns;    ///< declared
  std::int64_t video_start_ns = 0;            ///< first timestamp of the video stream
  /// Pixels at the edges of its pictures that the container has players not show.
  PictureEdges crop;
  /// The shape of the rest as it is shown, width to height; unset = as pixel_aspect says.
  std::optional<Rational> shown_aspect;
  /// A part that mp4 calls clean, "704x480", and that players show whole all the same.
  std::string clean_aperture;
  int bit_depth = 8;
  std::string transfer;  ///< "smpte2084" (PQ), "arib-std-b67" (HLG), "bt709" ...; empty = unset
  std::string video_codec;
  bool intra_only = false;    ///< every packet of its codec is a picture by itself
  std::string pixel_format;   ///< of the video's pictures, libav's name; empty = unknown
  bool alpha_beside = false;  ///< packets of transparency lie beside the video's
};

/// Reads a file's head. Throws Error(no_input) where it is missing, Error(bad_input) where it is
/// no media file or holds no video (naming what it holds). `stop` as for open_input().
[[nodiscard]] ContainerInfo probe_container(const std::string& path, ReadStop* stop = nullptr);

/// What a file declares and does not hold: missing bytes ("holds 1.20 of 3.40 MB") or an early end
/// over all streams ("ends 3.20 s short of its declared 10.00 s"). Nothing where it is whole, or
/// where its format declares nothing: transport and program streams, live Matroska, ASF that was
/// cut. Reads the outermost structure and the index; packets only where these do not settle it.
/// Throws as probe_container.
[[nodiscard]] std::optional<std::string> container_shortfall(const std::string& path);

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
  /// them over from its partial file. 0 = starts anew.
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
