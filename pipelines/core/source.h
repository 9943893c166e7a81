#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <equalux/image.h>

#include "pipelines/core/frame.h"
#include "pipelines/picture/orientation.h"

/// Where frames come from. One source is one stream of frames of one size and format.
namespace equalux {

class NotesInTransit;
class SoundFeed;

/// A ratio of two whole numbers: frame rates, time bases, pixel shapes.
struct Rational {
  std::int64_t num = 0;
  std::int64_t den = 1;
  friend bool operator==(const Rational&, const Rational&) = default;
  [[nodiscard]] double value() const {
    return den == 0 ? 0.0 : static_cast<double>(num) / static_cast<double>(den);
  }
};

/// Which part of a container file its frames are, and how their times differ from the file's.
struct ContainerPart {
  std::int64_t shift_ns = 0;  ///< the frames' times less the file's own
  bool cut_start = false;     ///< what the file holds before the first frame is left out
  bool cut_end = false;       ///< what it holds behind the last frame's end is left out
};

/// What a source knows of its stream before the first frame.
struct StreamInfo {
  ImageDesc desc;
  Rational frame_rate{30, 1};  ///< 0/1 = variable or unknown
  Rational pixel_aspect{1, 1};
  FieldOrder field_order = FieldOrder::progressive;
  std::optional<std::uint64_t> frames;  ///< how many are expected, for progress
  std::optional<std::int64_t> duration_ns;
  bool live = false;  ///< frames are dropped rather than queued
  /// Colour tags as GStreamer writes them ("bt709", "2:3:5:1"), to be kept; empty = none.
  std::string colorimetry;
  std::string chroma_site;  ///< as GStreamer writes it; empty = none
  /// HDR10: the mastering display and the content's light level, as GStreamer's caps write them;
  /// empty = none.
  std::string mastering_display{};
  std::string content_light{};
  Orientation orientation = Orientation::upright;  ///< what frames need to stand upright
  bool transparent = false;                        ///< frames have Frame::alpha
  std::string name;                                ///< for messages: a path, "camera:0"
  /// The file a FileSink copies audio, subtitles and metadata from; empty = none.
  std::string container_path;
  ContainerPart container_part;
  /// Sound beside the frames, where the source was asked for it; null = none.
  std::shared_ptr<SoundFeed> sound;
  /// What the stills of a sequence say beside their pixels; null = the frames are no stills.
  std::shared_ptr<NotesInTransit> still_notes;
};

/// The formats that the filters take.
using FormatPredicate = std::function<bool(PixelFormat)>;

/// What is said of the formats that the filters take where one of more bits a sample, `depth`, is
/// not among them: "8 bits" or "up to 12 bits" of frames of the same model, as denoise takes YCbCr
/// of 12 bits, but RGB of 8.
[[nodiscard]] inline std::string bits_taken_below(ColorModel model, int depth,
                                                  const FormatPredicate& accepts) {
  int most = 8;
  for (int i = 0; i < kPixelFormatCount; ++i) {
    const auto format = static_cast<PixelFormat>(i);
    const int bits = traits(format).depth;
    if (traits(format).model != model) continue;
    if (bits > most && bits < depth && accepts(format)) most = bits;
  }
  return (most > 8 ? "up to " : "") + std::to_string(most) + " bits";
}

/// A stream of frames. Not thread-safe, but for cancel(), which any thread may call.
class Source {
 public:
  virtual ~Source() = default;

  /// Allows frames in the memory of a CUDA device, see Processor::frame_device(); -1 = no longer.
  /// Called before open().
  virtual void offer_device(int device) { (void)device; }

  /// Opens the input and learns its stream, as one of the accepted formats; never by a change of
  /// chroma subsampling within YCbCr. Called once, or again before the first read() where the
  /// device was taken back. Throws Error(no_input, bad_input, ...).
  virtual StreamInfo open(const FormatPredicate& accepts) = 0;

  /// True where read() points frames at the source's own buffers and needs no memory in the pool.
  [[nodiscard]] virtual bool lends_buffers() const { return false; }

  /// Waits for the next frame and fills image, pts_ns, duration_ns, discontinuity and field_order;
  /// `frame` comes out of the pool with memory for one image. False at the end of the stream or
  /// after cancel(). Throws Error(bad_input) where nothing more can be decoded.
  /// A source that knows better may also set `captured`, timings.capture_ms, and, where it dropped
  /// frames itself, timings.dropped_before; the run numbers the frames.
  virtual bool read(Frame& frame) = 0;

  /// Called after a read(): passes over frames of which nobody asks for any before `pts_ns`, where
  /// it can go on behind them without a difference to what follows. The next frame may still be any
  /// that lies there or before.
  virtual void skip_towards(std::int64_t pts_ns) { (void)pts_ns; }

  /// Makes a waiting or later read() return false soon. May come more than once, and while open()
  /// still waits for a device.
  virtual void cancel() noexcept {}

  /// Asked after the last read: what the input promised and did not hold ("ends 12.4 s short of its
  /// declared 60.0 s"), or nothing where it is whole. Makes the output partial.
  [[nodiscard]] virtual std::optional<std::string> shortfall() const { return std::nullopt; }
};

}  // namespace equalux
