#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "pipelines/core/source.h"

/// Video files as a source: packets from libavformat, pictures from any decoder that GStreamer has.
namespace equalux {

/// Device that decodes pictures.
enum class DecoderChoice : std::uint8_t {
  automatic,  ///< the device that frames are offered to, where it can, else the CPU
  software,   ///< the CPU
  gpu,        ///< the device, or an error
};

struct FileSourceOptions {
  int threads = 0;  ///< of the decoder on the CPU; 0 = chosen by the number of cores
  DecoderChoice decoder = DecoderChoice::automatic;
  /// Frames per second of an elementary stream, which has no timestamps, in place of its own rate,
  /// or of 25 where it has none. A warning tells where a file has timestamps and ignores this.
  std::optional<Rational> rate{};
};

/// Makes a source that decodes the first video stream of a file, and nothing else of it.
///
/// Frames are lent: they point at the decoder's own buffers. Native YCbCr and gray formats come
/// unchanged if `accepts` takes them, other layouts in one of at least the same chroma resolution;
/// where `accepts` takes no YCbCr, as BGR. A device that is offered decodes only what it decodes
/// bit-exactly, and frames are then NV12 or P010 in its memory. Timestamps are the container's own,
/// not rebased. Planes of transparency, and packets of transparency beside VP8 and VP9 of 4:2:0
/// with 8 bits, come as Frame::alpha; a device does not decode the latter. More than 8 bits stay
/// more than 8. Code values stay as they are, also those of a PQ or HLG transfer. open() throws
/// Error(no_input) where the file is missing, Error(bad_input) where it cannot be decoded or has
/// more bits than the filters take, Error(unavailable) where a decoder is not installed. read()
/// throws Error(bad_input) where the picture's size or format changes.
[[nodiscard]] std::unique_ptr<Source> make_file_source(const std::string& path,
                                                       const FileSourceOptions& options = {});

}  // namespace equalux
