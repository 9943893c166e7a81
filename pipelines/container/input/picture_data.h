#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "pipelines/container/av_handles.h"

/// Data that a video stream has inside its pictures. It is lost with them when they are encoded
/// again, as libavformat copies whole packets alone.
namespace equalux {

/// Finds such data in a stream and its packets. One thread at a time.
class PictureData {
 public:
  /// Returns true for codecs whose packets can have such data.
  [[nodiscard]] static bool is_possible(AVCodecID codec);

  /// Notes what the stream's description tells.
  void note(const AVStream& stream);
  /// Notes what a packet has. A sequence of bytes decides that is too long to come by chance.
  void note(const AVPacket& packet);
  /// Returns the kinds that were found, "closed captions, HDR10+ metadata"; empty = none.
  [[nodiscard]] std::string text() const;

 private:
  static constexpr std::size_t kKinds = 4;
  std::array<bool, kKinds> found_{};
};

}  // namespace equalux
