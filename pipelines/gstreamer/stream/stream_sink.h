#pragma once

#include <memory>
#include <optional>
#include <string>

#include "pipelines/core/sink.h"

/// Frames as a stream of H.264 on the network.
namespace equalux {

struct StreamSinkOptions {
  std::string address;  ///< see pipelines/live/stream_address.h
  /// One of H.264. Empty = x264 or, with `prefers_gpu` and without `quality`, the GPU's where it is
  /// there and takes the pictures.
  std::string encoder;
  bool prefers_gpu = false;
  std::optional<int> quality;  ///< the encoder's own scale; unset = its default
  bool mute = false;           ///< leaves the input's sound out
};

/// Serves the frames to whoever asks for them, or sends them to a server, and encodes them while
/// somebody takes them: the newest one, as 8-bit 4:2:0. write() waits for nobody but, with frames
/// that are not live, for the time at which each one is due. The sound of StreamInfo::sound, or of
/// the file that the frames come from, goes along as AAC. open() throws Error(usage) for addresses
/// and pictures that cannot be, Error(unavailable) where the encoder or the server is not
/// installed, Error(cannot_create) where the port is taken; write() and finish() throw it where a
/// server does not take the stream at all.
[[nodiscard]] std::unique_ptr<Sink> make_stream_sink(const StreamSinkOptions& options);

}  // namespace equalux
