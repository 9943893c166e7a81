#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "pipelines/container/read_stop.h"
#include "pipelines/core/source.h"

/// What is known of a file before any frame is decoded.
namespace equalux {

/// Numbers of pixels at the edges of a picture.
struct PictureEdges {
  int left = 0;
  int top = 0;
  int right = 0;
  int bottom = 0;
  friend bool operator==(const PictureEdges&, const PictureEdges&) = default;
};

/// What is known of a file before any frame is decoded.
struct ContainerInfo {
  std::string format;     ///< libavformat's name
  int video_stream = -1;  ///< the stream to be filtered; -1 = none
  bool has_times = true;  ///< false for elementary streams: pictures alone, at a rate
  Rational average_frame_rate{0, 1};
  /// The container's, else the codec's; unset where neither tells one.
  std::optional<Rational> pixel_aspect;
  /// What its pictures need to stand upright; unset for an angle between those of a right angle.
  std::optional<Orientation> orientation = Orientation::upright;
  std::optional<std::uint64_t> video_frames;  ///< declared by the container
  std::optional<std::int64_t> duration_ns;    ///< declared
  std::int64_t video_start_ns = 0;            ///< first timestamp of the video stream
  /// Pixels at the edges of its pictures that the container has players not show.
  PictureEdges crop;
  /// The shape of the rest as it is shown, width to height; unset = as pixel_aspect says.
  std::optional<Rational> shown_aspect;
  /// A part that mp4 calls clean, "704x480", and that players show whole all the same.
  std::string clean_aperture;
  std::string transfer;  ///< "smpte2084" (PQ), "arib-std-b67" (HLG), "bt709" ...; empty = unset
  std::string video_codec;
  bool intra_only = false;    ///< every packet of its codec is a picture by itself
  std::string pixel_format;   ///< of the video's pictures, libav's name; empty = unknown
  int sound_streams = 0;      ///< of any codec
  bool alpha_beside = false;  ///< packets of transparency lie beside the video's
};

/// Reads a file's head. Throws Error(no_input) where it is missing, Error(bad_input) where it is
/// no media file or holds no video (naming what it holds). `stop` as for open_input().
[[nodiscard]] ContainerInfo probe_container(const std::string& path, ReadStop* stop = nullptr);

}  // namespace equalux
