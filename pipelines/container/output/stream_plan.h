#pragma once

#include <string>
#include <vector>

#include "pipelines/container/av_handles.h"

/// The plan that assigns each stream of the input a place in the output, and checks that the
/// container can hold it.
namespace equalux {

enum class ContainerKind : std::uint8_t { mp4, mov, matroska, webm };

/// Returns the container for a file's extension, in any case. Throws Error(usage) for another one.
[[nodiscard]] ContainerKind container_kind(const std::string& path);
/// Returns the extension, as ".mp4".
[[nodiscard]] const char* extension_of(ContainerKind kind);
/// Returns the name of libavformat's muxer.
[[nodiscard]] const char* muxer_name(ContainerKind kind);
[[nodiscard]] inline bool is_iso(ContainerKind kind) {
  return kind == ContainerKind::mp4 || kind == ContainerKind::mov;
}

/// Way of a stream from the input to the output.
enum class StreamRole : std::uint8_t {
  filtered,      ///< replaced by the encoder's packets
  copied,        ///< packet by packet
  cover,         ///< one picture, in the head
  attachment,    ///< a file in the head (fonts; cover art in Matroska)
  remade,        ///< chapter text and timecode tracks, which the muxer makes from the tags
  of_container,  ///< means nothing outside of the input: navigation of DVDs
  dropped,
};

struct StreamPlan {
  ContainerKind kind = ContainerKind::matroska;
  std::vector<StreamRole> roles;     ///< one for each stream of the input
  std::vector<std::string> dropped;  ///< "stream 3 (subtitle, ass)", "the stereo layout of ..."
  std::vector<std::string> videos;   ///< those that are copied: "stream 1 (video, h264)"
};

/// Plans the streams of `input`. Throws Error(usage) that names the first stream which the
/// container cannot hold, and a container that can; with `drop_streams` it leaves such streams out
/// instead. Data that no container here holds is left out in any case.
[[nodiscard]] StreamPlan plan_streams(const AVFormatContext& input, ContainerKind kind,
                                      bool drop_streams);

/// Returns true where the container can describe how the two views of `in` are arranged in its
/// pictures, and the arrangement is still valid in the output. webm knows side by side and top and
/// bottom, and its pictures may have been turned.
[[nodiscard]] bool keeps_stereo_layout(const AVStream& in, ContainerKind kind);

/// Throws Error(usage) where the container cannot hold a video of that codec.
void check_video_codec(const std::string& codec, ContainerKind kind);

/// Adds a stream like `in` to a muxer of that kind, with everything but its timing.
AVStream& add_copied_stream(AVFormatContext& muxer, ContainerKind kind, const AVStream& in);

}  // namespace equalux
