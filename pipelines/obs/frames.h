#pragma once

#include <optional>

#include <equalux/image.h>
#include <obs.h>

/// Conversion of OBS's frames to the library's types.
namespace equalux::obs {

/// Returns the format of the planes that a filter changes; a separate plane of alpha is left out.
/// Nothing where the library has no such format.
[[nodiscard]] std::optional<PixelFormat> format_of(video_format format);

/// Returns the luma weights behind the matrix from YCbCr to RGB in an OBS frame.
[[nodiscard]] ColorMatrix matrix_of(const obs_source_frame& frame);

/// Describes a frame's memory. Nothing where the library has no such format.
[[nodiscard]] std::optional<ImageView> view_of(const obs_source_frame& frame);

/// Returns the field order that a source's deinterlacing setting implies; null is progressive.
[[nodiscard]] FieldOrder field_order_of(const obs_source_t* source);

}  // namespace equalux::obs
