#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "pipelines/container/av_handles.h"

/// What a stream's head says beside its codec: rotation, stereo layout, luminance. libavformat
/// moved it in FFmpeg 6.1, and only this file knows.
namespace equalux {

/// Everything, for a stream that is copied.
void copy_side_data(AVStream& out, const AVStream& in);
/// What stays true when the pictures are encoded again, but for the kinds in `but`.
void copy_picture_side_data(AVStream& out, const AVStream& in,
                            std::span<const AVPacketSideDataType> but);

/// The bytes of one kind; empty where there are none.
[[nodiscard]] std::span<const std::byte> side_data(const AVStream& stream,
                                                   AVPacketSideDataType type);
void set_side_data(AVStream& out, AVPacketSideDataType type, std::span<const std::byte> bytes);

}  // namespace equalux
