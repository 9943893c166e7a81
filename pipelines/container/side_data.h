#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "pipelines/container/av_handles.h"

/// Side data of a stream: rotation, stereo layout, luminance. libavformat moved it in FFmpeg 6.1,
/// which only this file has to know.
namespace equalux {

/// Copies all side data, for a stream that is copied.
void copy_side_data(AVStream& out, const AVStream& in);
/// Copies the side data that is still true after the pictures are encoded again, except the kinds
/// in `but`.
void copy_picture_side_data(AVStream& out, const AVStream& in,
                            std::span<const AVPacketSideDataType> but);

/// Returns the bytes of one kind; empty where there are none.
[[nodiscard]] std::span<const std::byte> side_data(const AVStream& stream,
                                                   AVPacketSideDataType type);
void set_side_data(AVStream& out, AVPacketSideDataType type, std::span<const std::byte> bytes);

}  // namespace equalux
