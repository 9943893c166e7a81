#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pipelines/container/av_handles.h"

/// Adds to a Matroska file what libavformat before FFmpeg 6 does not write: the rotation of a
/// video, and the delay of an audio codec other than Opus, without which a track cannot start
/// before 0.
///
/// The elements need room in the tracks' heads. It is reserved before the head is written, by
/// elements that libavformat does write (a title with an unusual ending; a projection of a sphere),
/// which are overwritten in the finished file.
namespace equalux {

class MatroskaHead {
 public:
  /// Returns true where this version of libavformat needs any of it.
  [[nodiscard]] static bool is_needed();

  /// Reserves room for the rotation of a stream's display matrix, if it has one. To be called
  /// before the head is written.
  void reserve_rotation(AVStream& video);
  /// Reserves room for a codec delay. To be called before the head is written, in the order of the
  /// streams.
  void reserve_delay(AVStream& audio, std::int64_t delay_ns);

  /// Overwrites the reserved room. To be called once the head is in the file, and again after the
  /// end was written, which writes the head a second time. Throws Error(write_failed).
  void complete(const std::string& path) const;

 private:
  bool rotated_ = false;
  std::vector<std::uint32_t> delays_ns_;
};

}  // namespace equalux
