#pragma once

#include <memory>
#include <optional>
#include <string>

#include "pipelines/core/sink.h"

/// Frames as a stream of H.264 on the network.
namespace equalux {

struct StreamSinkOptions {
  std::string address;  ///< see pipelines/live/stream_address.h
  /// Name of an encoder of H.264. Empty = x264 or, with `prefers_gpu` and without `quality`, the
  /// GPU's if it exists and takes the pictures.
  std::string encoder;
  bool prefers_gpu = false;
  std::optional<int> quality;  ///< on the encoder's own scale; unset = its default
  bool mute = false;           ///< leaves the input's sound out
};

/// Makes a sink that serves the frames to viewers, or sends them to a server. It encodes only while
/// somebody takes them: the newest one, as 8-bit 4:2:0. write() never waits for viewers; frames
/// that are not live wait until they are due. The sound of StreamInfo::sound, or of the file that
/// the frames come from, is sent as AAC. open() throws Error(usage) for impossible addresses and
/// pictures, Error(unavailable) where the encoder or the server is not installed,
/// Error(cannot_create) where the port is taken; write() and finish() throw it where a server
/// refuses the stream altogether.
[[nodiscard]] std::unique_ptr<Sink> make_stream_sink(const StreamSinkOptions& options);

}  // namespace equalux
