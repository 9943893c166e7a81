#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include <gst/video/video.h>

#include "pipelines/gstreamer/gst_common.h"

struct AVCodecParameters;

/// libavcodec's descriptions of video streams in GStreamer's words.
namespace equalux::gst {

/// Null for a codec that is not known here.
[[nodiscard]] CapsPtr codec_caps(const AVCodecParameters& codec);

/// Pictures without any codec, and how their planes lie in a packet: one after another, without
/// padding.
struct RawLayout {
  GstVideoFormat format = GST_VIDEO_FORMAT_UNKNOWN;
  guint planes = 0;
  std::array<gsize, GST_VIDEO_MAX_PLANES> offsets{};
  std::array<gint, GST_VIDEO_MAX_PLANES> strides{};
};

/// The layout of raw pictures that GStreamer has a name for. Nothing for all else.
[[nodiscard]] std::optional<RawLayout> raw_layout(const AVCodecParameters& codec);
[[nodiscard]] CapsPtr raw_caps(const RawLayout& layout, const AVCodecParameters& codec);

/// The stream's colour tags as GStreamer writes them; empty where it has none.
[[nodiscard]] std::string codec_colorimetry(const AVCodecParameters& codec);

/// Where the stream's chroma samples lie, as GStreamer writes it; empty where nothing says.
[[nodiscard]] std::string codec_chroma_site(const AVCodecParameters& codec);

/// GStreamer's name for the pictures of a decoder of libavcodec, "I420" for "yuv420p"; empty for
/// the many layouts that GStreamer has no name for.
[[nodiscard]] std::string_view gst_format_name(const std::string& pixel_format);

/// True where a decoder's own pads name the layout (libav's name) among those that it hands on.
[[nodiscard]] bool hands_on(GstElementFactory* decoder, const std::string& pixel_format);

/// True where pictures of `format` have no fewer bits and no less chroma than those of the layout,
/// or the layout is not known. Some decoders hand on less than they are given (jpegdec,
/// libde265dec).
[[nodiscard]] bool holds_samples_of(GstVideoFormat format, const std::string& pixel_format);

/// True where the codec that a decoder of libavcodec's, "ffv1", takes has its pictures in the order
/// in which they are shown.
[[nodiscard]] bool keeps_order(const char* decoder);

/// True where it paints each picture over the one before, in one layout from the first on.
[[nodiscard]] bool paints_over(const char* decoder);

/// The layout, of those that every version of GStreamer's libav plugin hands on, that loses least
/// of `pixel_format`.
[[nodiscard]] std::string nearest_pixel_format(const std::string& pixel_format);

}  // namespace equalux::gst
