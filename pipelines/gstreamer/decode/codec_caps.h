#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include <gst/video/video.h>

#include "pipelines/gstreamer/gst_common.h"

struct AVCodecParameters;

/// libavcodec's descriptions of video streams as GStreamer caps.
namespace equalux::gst {

/// Returns caps for a codec; null for a codec that is not in our table.
[[nodiscard]] CapsPtr codec_caps(const AVCodecParameters& codec);

/// Pictures without a codec: format and the positions of their planes in a packet, one after
/// another without padding.
struct RawLayout {
  GstVideoFormat format = GST_VIDEO_FORMAT_UNKNOWN;
  guint planes = 0;
  std::array<gsize, GST_VIDEO_MAX_PLANES> offsets{};
  std::array<gint, GST_VIDEO_MAX_PLANES> strides{};
};

/// Returns the layout of raw pictures for which GStreamer has a format; nothing for all others.
[[nodiscard]] std::optional<RawLayout> raw_layout(const AVCodecParameters& codec);
[[nodiscard]] CapsPtr raw_caps(const RawLayout& layout, const AVCodecParameters& codec);

/// Returns the stream's colour tags as GStreamer writes them; empty where it has none.
[[nodiscard]] std::string codec_colorimetry(const AVCodecParameters& codec);

/// Returns the position of the stream's chroma samples as GStreamer writes it; empty where it is
/// unknown.
[[nodiscard]] std::string codec_chroma_site(const AVCodecParameters& codec);

/// Returns GStreamer's name for the pictures of a libavcodec decoder, "I420" for "yuv420p"; empty
/// for the many layouts for which GStreamer has no name.
[[nodiscard]] std::string_view gst_format_name(const std::string& pixel_format);

/// Returns true where a decoder's pads list the layout (libav's name) among their output formats.
[[nodiscard]] bool hands_on(GstElementFactory* decoder, const std::string& pixel_format);

/// Returns true where pictures of `format` have at least the bits and the chroma of the layout, or
/// the layout is unknown. Some decoders output less than the stream has (jpegdec, libde265dec).
[[nodiscard]] bool holds_samples_of(GstVideoFormat format, const std::string& pixel_format);

/// Returns true where the codec of a libavcodec decoder, such as "ffv1", stores its pictures in the
/// order in which they are shown.
[[nodiscard]] bool keeps_order(const char* decoder);

/// Returns true where a decoder paints each picture over the previous one, in one layout for the
/// whole stream.
[[nodiscard]] bool paints_over(const char* decoder);

/// Returns the layout that loses least of `pixel_format`, among those that the libav plugin of
/// every GStreamer version outputs.
[[nodiscard]] std::string nearest_pixel_format(const std::string& pixel_format);

}  // namespace equalux::gst
