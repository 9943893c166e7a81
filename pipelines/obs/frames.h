#pragma once

#include <optional>

#include <equalux/image.h>
#include <obs.h>

/// Frames of OBS as the library sees them.
namespace equalux::obs {

/// The format of the planes that a filter changes; alpha in a plane of its own stays out. Nothing
/// where the library has no such format.
[[nodiscard]] std::optional<PixelFormat> format_of(video_format format);

/// The luma weights behind a matrix from YCbCr to RGB, as OBS's frames carry it.
[[nodiscard]] ColorMatrix matrix_of(const obs_source_frame& frame);

/// A frame's memory. Nothing where the library has no such format.
[[nodiscard]] std::optional<ImageView> view_of(const obs_source_frame& frame);

/// How rows of a source's frames belong to fields, as its deinterlacing in OBS says; null is
/// progressive.
[[nodiscard]] FieldOrder field_order_of(const obs_source_t* source);

}  // namespace equalux::obs
