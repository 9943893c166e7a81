#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pipelines/container/av_handles.h"

/// What libavformat before FFmpeg 6 does not write into a Matroska file: the rotation of a video,
/// and the delay of an audio codec other than Opus, without which a track cannot start before 0.
///
/// The elements need room in the tracks' heads. It is made before the head is written, out of
/// elements that libavformat does write (a title with an ending that no title has; a projection of
/// a sphere), and filled in the finished file.
namespace equalux {

class MatroskaHead {
 public:
  /// True where this libavformat needs any of it.
  [[nodiscard]] static bool is_needed();

  /// Makes room for the rotation in a stream's display matrix, if it has one. Before the head.
  void reserve_rotation(AVStream& video);
  /// Makes room for a codec delay. Before the head, in the order of the streams.
  void reserve_delay(AVStream& audio, std::int64_t delay_ns);

  /// Fills the room. Once the head is in the file, and again after its end was written, which
  /// repeats the head. Throws Error(write_failed).
  void complete(const std::string& path) const;

 private:
  bool rotated_ = false;
  std::vector<std::uint32_t> delays_ns_;
};

}  // namespace equalux
