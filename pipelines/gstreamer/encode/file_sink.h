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
  /// Name of the encoder, see list_encoders(). Empty = default_encoder() or, with `prefers_gpu`,
  /// the GPU's if it exists, takes the pictures, and neither `quality` nor `lossless` refers to the
  /// default's scale.
  std::string encoder;
  bool prefers_gpu = false;
  std::optional<int> quality;  ///< on the encoder's own scale; unset = its default
  bool lossless = false;
  bool drop_streams = false;  ///< leave out streams that the container cannot store
  /// Another file of the same recording came before: what was said of that one is not said again.
  bool continues = false;
  bool keep_partial = false;  ///< after a failure the file stays under its partial name
  /// File in which packets are noted, so that checkpoint() works; the encoder then starts again
  /// after each checkpoint. Empty = no checkpoints.
  std::string journal;
  std::string resume;  ///< result of checkpoint() of an earlier sink; empty = from the start
};

/// Makes a sink that encodes frames and writes them, with everything else of the input file, to
/// NAME.partial.EXT, which gets its final name at the end. Timestamps are the frames' own.
/// Transparency is kept where why_opaque() is empty. open() throws Error(usage) for impossible
/// options, formats and sizes, Error(unavailable) where the encoder is not installed,
/// Error(cannot_create) where the folder cannot be written, and CannotResume where files that
/// `resume` needs are missing; write() throws CannotResume, too, if the encoder differs.
[[nodiscard]] std::unique_ptr<Sink> make_file_sink(const FileSinkOptions& options);

}  // namespace equalux
