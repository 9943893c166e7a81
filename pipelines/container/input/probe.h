#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "pipelines/container/read_stop.h"
#include "pipelines/core/source.h"

struct AVFormatContext;

/// Properties of a file that are known before any frame is decoded.
namespace equalux {

/// Numbers of pixels at the four edges of a picture.
struct PictureEdges {
  int left = 0;
  int top = 0;
  int right = 0;
  int bottom = 0;
  friend bool operator==(const PictureEdges&, const PictureEdges&) = default;
};

/// Properties of a file that are known before any frame is decoded.
struct ContainerInfo {
  std::string format;     ///< libavformat's name
  int video_stream = -1;  ///< the stream that is filtered; -1 = none
  bool has_times = true;  ///< false for elementary streams, which have pictures and a rate only
  Rational average_frame_rate{0, 1};
  /// Pixel aspect ratio of the container, else of the codec; unset where neither gives one.
  std::optional<Rational> pixel_aspect;
  /// Turn that makes the pictures upright; unset for other than right angles.
  std::optional<Orientation> orientation = Orientation::upright;
  std::optional<std::uint64_t> video_frames;  ///< declared by the container
  std::optional<std::int64_t> duration_ns;    ///< declared by the container
  std::int64_t video_start_ns = 0;            ///< first timestamp of the video stream
  /// Pixels at the edges that players are told not to show.
  PictureEdges crop;
  /// Shown aspect ratio of the rest, width to height; unset = follows from pixel_aspect.
  std::optional<Rational> shown_aspect;
  /// The clean aperture of mp4, "704x480"; players show the whole picture all the same.
  std::string clean_aperture;
  std::string transfer;  ///< "smpte2084" (PQ), "arib-std-b67" (HLG), "bt709" ...; empty = unset
  std::string video_codec;
  bool intra_only = false;    ///< every packet of the codec is a key frame
  std::string pixel_format;   ///< of the video's pictures, libav's name; empty = unknown
  int sound_streams = 0;      ///< of any codec
  std::string other_streams;  ///< beside the video, "1 audio stream (aac)"; empty = none
  bool alpha_beside = false;  ///< packets of transparency accompany the video's
};

/// Reads a file's head. Throws Error(no_input) where it is missing, and Error(bad_input) where it
/// is no media file or has no video, which names what it has. `stop` as for open_input().
[[nodiscard]] ContainerInfo probe_container(const std::string& path, ReadStop* stop = nullptr);

/// Does the same for a file that open_input() has opened, and reads nothing of it.
[[nodiscard]] ContainerInfo describe_container(AVFormatContext& input, const std::string& path);

}  // namespace equalux
