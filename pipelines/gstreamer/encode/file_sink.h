#pragma once

#include <memory>
#include <optional>
#include <string>

#include "pipelines/core/sink.h"
#include "pipelines/gstreamer/encode/encoders.h"

/// Video files as a sink: encoded by GStreamer, written by libavformat.
namespace equalux {

struct FileSinkOptions {
  std::string path;  ///< its extension chooses mp4, mov, m4v, mkv or webm
  /// See list_encoders(). Empty = default_encoder() or, with `prefers_gpu`, the GPU's where it is
  /// there, takes the pictures, and neither `quality` nor `lossless` asks for the default's scale.
  std::string encoder;
  bool prefers_gpu = false;
  std::optional<int> quality;  ///< the encoder's own scale; unset = its default
  bool lossless = false;
  bool drop_streams = false;  ///< go on without streams that the container cannot hold
  bool keep_partial = false;  ///< what a failure leaves stays, under its partial name
  /// Where packets are noted, so that checkpoint() works: the encoder then starts again behind each
  /// one. Empty = no checkpoints.
  std::string journal;
  std::string resume;  ///< what checkpoint() of an earlier sink gave; empty = from the start
};

/// Encodes frames and writes them, with everything else of the input file, to NAME.partial.EXT,
/// which gets its final name at the end. Timestamps are the frames' own. Transparency is kept where
/// why_opaque() is empty.
/// open() throws Error(usage) for options, formats and sizes that cannot be, Error(unavailable)
/// where the encoder is not installed, Error(cannot_create) where the folder cannot be written,
/// CannotResume where what `resume` needs is not there; write() too, where the encoder is another.
[[nodiscard]] std::unique_ptr<Sink> make_file_sink(const FileSinkOptions& options);

}  // namespace equalux
