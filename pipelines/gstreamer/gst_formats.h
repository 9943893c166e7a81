#pragma once

#include <optional>
#include <string>

#include <equalux/image.h>
#include <gst/video/video.h>

#include "pipelines/core/source.h"
#include "pipelines/gstreamer/gst_common.h"

/// Translation of formats and colours to GStreamer's and back.
namespace equalux::gst {

/// Returns GST_VIDEO_FORMAT_UNKNOWN where GStreamer has no such layout (float planes, RGB of 48
/// bits).
[[nodiscard]] GstVideoFormat to_gst(PixelFormat format);
/// Returns our name for a format; nothing for the many layouts that we do not have.
[[nodiscard]] std::optional<PixelFormat> from_gst(GstVideoFormat format);

/// Returns the format of the picture in a planar YCbCr layout with a plane of transparency: i420
/// for A420. Nothing for all other layouts, also those with transparency in other forms.
[[nodiscard]] std::optional<PixelFormat> beside_alpha(GstVideoFormat format);
/// Returns the layout of such pictures with that plane; GST_VIDEO_FORMAT_UNKNOWN where this
/// GStreamer has none.
[[nodiscard]] GstVideoFormat with_alpha(PixelFormat picture);
/// Returns from_gst() or, where it applies, beside_alpha().
[[nodiscard]] std::optional<PixelFormat> picture_format(GstVideoFormat format);

/// Chooses the format of a stream of `native` pictures for a filter that takes `accepts`: the same,
/// or our layout of the same chroma subsampling, or of the next higher one (for 4:1:1, 4:1:0), or
/// BGR; never one of fewer bits. Nothing where none is accepted.
[[nodiscard]] std::optional<PixelFormat> choose_format(GstVideoFormat native,
                                                       const FormatPredicate& accepts);
/// Chooses our layout of most bits per sample that a stream of `native` YCbCr pictures may become
/// without invented bits or lost chroma; nothing where none of more than 8 bits is accepted.
[[nodiscard]] std::optional<PixelFormat> deepest_format(GstVideoFormat native,
                                                        const FormatPredicate& accepts);
/// Returns true where the two layouts have the same chroma subsampling and depth, so that nothing
/// is resampled.
[[nodiscard]] bool same_samples(GstVideoFormat a, GstVideoFormat b);

/// Sets matrix and range from a colorimetry string; defaults are BT.601 up to 576 lines and BT.709
/// above, and limited range.
void apply_colorimetry(const std::string& colorimetry, ImageDesc& desc);
/// Returns the colorimetry for a stream's caps: the stream's own, else from its desc.
[[nodiscard]] GstVideoColorimetry colorimetry_of(const StreamInfo& info);
[[nodiscard]] std::string colorimetry_text(const GstVideoColorimetry& colorimetry);

/// Reads size, format, colour, rate, pixel aspect and fields of `info` from a decoder's caps;
/// colour tags already in `info` stay.
void read_video_info(const GstVideoInfo& video, StreamInfo& info);
/// Makes raw video caps with all of `info`, in `format`.
[[nodiscard]] CapsPtr make_caps(const StreamInfo& info, GstVideoFormat format);

/// Describes the picture in a mapped frame; `desc` gives its size and format.
[[nodiscard]] ConstImageView view_of(const GstVideoFrame& frame, const ImageDesc& desc);
[[nodiscard]] ImageView writable_view_of(const GstVideoFrame& frame, const ImageDesc& desc);
/// Describes the plane of transparency beside that picture; without memory where the frame has
/// none.
[[nodiscard]] ImageView writable_alpha_of(const GstVideoFrame& frame, const ImageDesc& desc);

/// Returns the field order of one frame: from its buffer's flags if the stream is mixed.
[[nodiscard]] FieldOrder field_order_of(const GstVideoInfo& video, const GstBuffer* buffer);

}  // namespace equalux::gst
