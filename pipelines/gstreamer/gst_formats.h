#pragma once

#include <optional>
#include <string>

#include <equalux/image.h>
#include <gst/video/video.h>

#include "pipelines/core/source.h"
#include "pipelines/gstreamer/gst_common.h"

/// GStreamer's names for our formats and colours, and back.
namespace equalux::gst {

/// GST_VIDEO_FORMAT_UNKNOWN where GStreamer has no such layout (float planes, RGB of 48 bits).
[[nodiscard]] GstVideoFormat to_gst(PixelFormat format);
/// Our name for a format; nothing for the many layouts that are not ours.
[[nodiscard]] std::optional<PixelFormat> from_gst(GstVideoFormat format);

/// The picture of a layout of planar YCbCr that has a plane of transparency behind the others:
/// i420 for A420. Nothing for all other layouts, also those with transparency.
[[nodiscard]] std::optional<PixelFormat> beside_alpha(GstVideoFormat format);
/// The layout of such pictures with that plane; GST_VIDEO_FORMAT_UNKNOWN where this GStreamer has
/// none.
[[nodiscard]] GstVideoFormat with_alpha(PixelFormat picture);
/// from_gst() or, where there is one, beside_alpha().
[[nodiscard]] std::optional<PixelFormat> picture_format(GstVideoFormat format);

/// What a stream of `native` pictures becomes for a filter that takes `accepts`: itself, or our
/// layout of the same chroma subsampling, or of the next higher one (4:1:1, 4:1:0), or BGR; never
/// one of fewer bits. Nothing where none is accepted.
[[nodiscard]] std::optional<PixelFormat> choose_format(GstVideoFormat native,
                                                       const FormatPredicate& accepts);
/// Our layout of most bits a sample that a stream of `native` YCbCr pictures may become without
/// bits that it does not have, or less chroma; nothing where none of more than 8 bits is accepted.
[[nodiscard]] std::optional<PixelFormat> deepest_format(GstVideoFormat native,
                                                        const FormatPredicate& accepts);
/// True where the two layouts have the same chroma subsampling and depth, so that nothing is
/// resampled.
[[nodiscard]] bool same_samples(GstVideoFormat a, GstVideoFormat b);

/// Matrix and range of a colorimetry string; what it leaves open is BT.601 up to 576 lines and
/// BT.709 above, limited range.
void apply_colorimetry(const std::string& colorimetry, ImageDesc& desc);
/// The colorimetry that a stream's caps must carry: the stream's own, else from its desc.
[[nodiscard]] GstVideoColorimetry colorimetry_of(const StreamInfo& info);
[[nodiscard]] std::string colorimetry_text(const GstVideoColorimetry& colorimetry);

/// Size, format, colour, rate, pixel shape and fields of `info` from a decoder's caps; colour
/// tags already in `info` stay.
void read_video_info(const GstVideoInfo& video, StreamInfo& info);
/// Raw video caps that carry all of `info`, in `format`.
[[nodiscard]] CapsPtr make_caps(const StreamInfo& info, GstVideoFormat format);

/// The picture that a mapped frame holds; `desc` gives its size and format.
[[nodiscard]] ConstImageView view_of(const GstVideoFrame& frame, const ImageDesc& desc);
[[nodiscard]] ImageView writable_view_of(const GstVideoFrame& frame, const ImageDesc& desc);
/// The plane of transparency beside that picture; without memory where the frame has none.
[[nodiscard]] ImageView writable_alpha_of(const GstVideoFrame& frame, const ImageDesc& desc);

/// The fields of one frame: from its buffer's flags where the stream is mixed.
[[nodiscard]] FieldOrder field_order_of(const GstVideoInfo& video, const GstBuffer* buffer);

}  // namespace equalux::gst
