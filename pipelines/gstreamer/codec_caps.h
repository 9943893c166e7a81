#pragma once

#include "gst_common.h"

struct AVCodecParameters;

/// libavcodec's descriptions of video streams in GStreamer's words.
namespace equalux::gst {

/// Null for a codec that is not known here.
[[nodiscard]] CapsPtr codec_caps(const AVCodecParameters& codec);

/// The stream's colour tags as GStreamer writes them; empty where it has none.
[[nodiscard]] std::string codec_colorimetry(const AVCodecParameters& codec);

/// Where the stream's chroma samples lie, as GStreamer writes it; empty where nothing says.
[[nodiscard]] std::string codec_chroma_site(const AVCodecParameters& codec);

}  // namespace equalux::gst
