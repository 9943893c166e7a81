#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <equalux/image.h>

#include "pipelines/core/frame.h"
#include "pipelines/picture/orientation.h"

/// Sources of frames. One source is one stream of frames of one size and format.
namespace equalux {

class NotesInTransit;
class SoundFeed;

/// A ratio of two integers: frame rates, time bases, pixel aspects.
struct Rational {
  std::int64_t num = 0;
  std::int64_t den = 1;
  friend bool operator==(const Rational&, const Rational&) = default;
  [[nodiscard]] double value() const {
    return den == 0 ? 0.0 : static_cast<double>(num) / static_cast<double>(den);
  }
};

/// Part of a container file that the frames are, and the shift of their times.
struct ContainerPart {
  std::int64_t shift_ns = 0;  ///< added to the file's times
  bool cut_start = false;     ///< streams beside the frames are cut before the first frame
  bool cut_end = false;       ///< streams beside the frames are cut after the last frame's end
  std::optional<std::int64_t> length_ns{};  ///< of the part, where its end was asked for
};

/// Properties of a stream that a source knows before the first frame.
struct StreamInfo {
  ImageDesc desc;
  Rational frame_rate{30, 1};  ///< 0/1 = variable or unknown
  Rational pixel_aspect{1, 1};
  FieldOrder field_order = FieldOrder::progressive;
  std::optional<std::uint64_t> frames;  ///< expected number, for progress
  std::optional<std::int64_t> duration_ns;
  bool live = false;  ///< frames are dropped rather than queued
  /// Colour tags as GStreamer writes them ("bt709", "2:3:5:1"), which outputs keep; empty = none.
  std::string colorimetry;
  std::string chroma_site;  ///< as GStreamer writes it; empty = none
  /// HDR10 metadata: mastering display and content light level, as in GStreamer's caps; empty =
  /// none.
  std::string mastering_display{};
  std::string content_light{};
  Orientation orientation = Orientation::upright;  ///< turn that makes frames upright
  bool transparent = false;                        ///< frames have Frame::alpha
  std::string name;                                ///< for messages: a path, "camera:0"
  /// File from which a FileSink copies audio, subtitles and metadata; empty = none.
  std::string container_path;
  ContainerPart container_part;
  /// The streams beside the video, "1 audio stream (aac)"; empty = none.
  std::string other_streams{};
  /// Sound beside the frames, if the source was asked for it; null = none.
  std::shared_ptr<SoundFeed> sound;
  /// Metadata of the stills of a sequence; null = the frames are no stills.
  std::shared_ptr<NotesInTransit> still_notes;
};

/// Tells whether the filters take a format.
using FormatPredicate = std::function<bool(PixelFormat)>;

/// Describes the formats that the filters take in place of one with `depth` bits per sample: "8
/// bits" or "up to 12 bits" of frames of the same colour model. For example, denoise takes YCbCr of
/// 12 bits, but RGB of 8.
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

/// A stream of frames. Not thread-safe, except cancel(), which any thread may call.
class Source {
 public:
  virtual ~Source() = default;

  /// Allows frames in the memory of a CUDA device, see Processor::frame_device(); -1 = no longer.
  /// Called before open().
  virtual void offer_device(int device) { (void)device; }

  /// Opens the input and finds its format, as one of the accepted formats; YCbCr never changes its
  /// chroma subsampling. Called once, or again before the first read() where the device was
  /// withdrawn. Throws Error(no_input, bad_input, ...).
  virtual StreamInfo open(const FormatPredicate& accepts) = 0;

  /// Returns true where read() points frames at the source's own buffers and needs no memory from
  /// the pool.
  [[nodiscard]] virtual bool lends_buffers() const { return false; }

  /// Waits for the next frame and fills image, pts_ns, duration_ns, discontinuity and field_order;
  /// `frame` comes from the pool with memory for one image. Returns false at the end of the stream
  /// or after cancel(). Throws Error(bad_input) where nothing more can be decoded. A source may
  /// also set `captured`, timings.capture_ms, and, where it dropped frames itself,
  /// timings.dropped_before; the run numbers the frames.
  virtual bool read(Frame& frame) = 0;

  /// Skips frames before `pts_ns`, which nobody wants, if the source can do so without changing the
  /// frames that follow. The next frame may still be one before `pts_ns`. Called after a read().
  virtual void skip_towards(std::int64_t pts_ns) { (void)pts_ns; }

  /// Makes a waiting or later read() return false soon. May be called several times, and while
  /// open() still waits for a device.
  virtual void cancel() noexcept {}

  /// Returns what the input declared but did not contain ("ends 12.4 s short of its declared 60.0
  /// s"), or nothing where it is complete. Asked after the last read; makes the output partial.
  [[nodiscard]] virtual std::optional<std::string> shortfall() const { return std::nullopt; }
};

}  // namespace equalux
