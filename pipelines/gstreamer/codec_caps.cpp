#include "codec_caps.h"

#include <array>
#include <string>

#include <gst/video/video.h>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavutil/pixdesc.h>
}

#include "gst_formats.h"

namespace equalux::gst {

namespace {

struct CodecCaps {
  AVCodecID id;
  const char* caps;
  bool extradata;  // passed on as codec_data
};

// Whole pictures in each buffer, as libavformat delivers them.
constexpr std::array<CodecCaps, 28> kCodecs{{
    {AV_CODEC_ID_H264, "video/x-h264, alignment=au", true},
    {AV_CODEC_ID_HEVC, "video/x-h265, alignment=au", true},
    {AV_CODEC_ID_AV1, "video/x-av1, stream-format=obu-stream, alignment=tu", true},
    {AV_CODEC_ID_VP8, "video/x-vp8", false},
    {AV_CODEC_ID_VP9, "video/x-vp9", false},
    {AV_CODEC_ID_MPEG1VIDEO, "video/mpeg, mpegversion=1, systemstream=false", false},
    {AV_CODEC_ID_MPEG2VIDEO, "video/mpeg, mpegversion=2, systemstream=false", false},
    {AV_CODEC_ID_MPEG4, "video/mpeg, mpegversion=4, systemstream=false", true},
    {AV_CODEC_ID_MSMPEG4V1, "video/x-msmpeg, msmpegversion=41", true},
    {AV_CODEC_ID_MSMPEG4V2, "video/x-msmpeg, msmpegversion=42", true},
    {AV_CODEC_ID_MSMPEG4V3, "video/x-msmpeg, msmpegversion=43", true},
    {AV_CODEC_ID_H263, "video/x-h263, variant=itu", false},
    {AV_CODEC_ID_FLV1, "video/x-flash-video, flvversion=1", false},
    {AV_CODEC_ID_MJPEG, "image/jpeg, parsed=true", false},
    {AV_CODEC_ID_PNG, "image/png", false},
    // "image/gif" is a whole file.
    {AV_CODEC_ID_GIF, "image/gst-libav-gif, parsed=true", false},
    {AV_CODEC_ID_FFV1, "video/x-ffv, ffvversion=1", true},
    {AV_CODEC_ID_HUFFYUV, "video/x-huffyuv", true},
    {AV_CODEC_ID_FFVHUFF, "video/x-ffvhuff", true},
    {AV_CODEC_ID_DNXHD, "video/x-dnxhd", false},
    {AV_CODEC_ID_DVVIDEO, "video/x-dv, systemstream=false", false},
    {AV_CODEC_ID_WMV1, "video/x-wmv, wmvversion=1", true},
    {AV_CODEC_ID_WMV2, "video/x-wmv, wmvversion=2", true},
    {AV_CODEC_ID_WMV3, "video/x-wmv, wmvversion=3", true},
    {AV_CODEC_ID_VC1, "video/x-wmv, wmvversion=3, format=WVC1", true},
    {AV_CODEC_ID_SVQ3, "video/x-svq, svqversion=3", true},
    {AV_CODEC_ID_CINEPAK, "video/x-cinepak", false},
    {AV_CODEC_ID_VP6F, "video/x-vp6-flash", false},
}};

const CodecCaps* find_codec(AVCodecID id) {
  for (const CodecCaps& codec : kCodecs) {
    if (codec.id == id) return &codec;
  }
  return nullptr;
}

/// H.264 and H.265 come with a configuration record (avcC, hvcC) or with start codes.
bool has_configuration_record(const AVCodecParameters& codec) {
  return codec.extradata_size > 6 && codec.extradata[0] == 1;
}

void set_stream_format(GstCaps* caps, const AVCodecParameters& codec) {
  const char* format = "byte-stream";
  if (has_configuration_record(codec)) format = codec.codec_id == AV_CODEC_ID_H264 ? "avc" : "hvc1";
  gst_caps_set_simple(caps, "stream-format", G_TYPE_STRING, format, nullptr);
}

void set_codec_data(GstCaps* caps, const AVCodecParameters& codec) {
  const auto size = static_cast<gsize>(codec.extradata_size);
  const BufferPtr data(gst_buffer_new_allocate(nullptr, size, nullptr));
  gst_buffer_fill(data.get(), 0, codec.extradata, size);
  gst_caps_set_simple(caps, "codec_data", GST_TYPE_BUFFER, data.get(), nullptr);
}

bool is_rgb(const AVCodecParameters& codec) {
  const AVPixFmtDescriptor* layout = av_pix_fmt_desc_get(static_cast<AVPixelFormat>(codec.format));
  return layout != nullptr && (layout->flags & AV_PIX_FMT_FLAG_RGB) != 0;
}

bool is_full_range(const AVCodecParameters& codec) {
  return codec.color_range == AVCOL_RANGE_JPEG || codec.format == AV_PIX_FMT_YUVJ420P ||
         codec.format == AV_PIX_FMT_YUVJ422P || codec.format == AV_PIX_FMT_YUVJ444P;
}

}  // namespace

CapsPtr codec_caps(const AVCodecParameters& codec) {
  const CodecCaps* known = find_codec(codec.codec_id);
  if (known == nullptr) return nullptr;
  CapsPtr caps(gst_caps_from_string(known->caps));
  if (codec.width > 0 && codec.height > 0) {
    gst_caps_set_simple(caps.get(), "width", G_TYPE_INT, codec.width, "height", G_TYPE_INT,
                        codec.height, nullptr);
  }
  if (codec.sample_aspect_ratio.num > 0 && codec.sample_aspect_ratio.den > 0) {
    gst_caps_set_simple(caps.get(), "pixel-aspect-ratio", GST_TYPE_FRACTION,
                        codec.sample_aspect_ratio.num, codec.sample_aspect_ratio.den, nullptr);
  }
  bool extradata = known->extradata && codec.extradata_size > 0;
  if (codec.codec_id == AV_CODEC_ID_H264 || codec.codec_id == AV_CODEC_ID_HEVC) {
    set_stream_format(caps.get(), codec);
    extradata = has_configuration_record(codec);
  }
  if (extradata) set_codec_data(caps.get(), codec);
  return caps;
}

std::string codec_colorimetry(const AVCodecParameters& codec) {
  GstVideoColorimetry color{};
  const bool rgb = is_rgb(codec);
  if (!rgb && codec.color_space != AVCOL_SPC_UNSPECIFIED) {
    color.matrix = gst_video_color_matrix_from_iso(static_cast<guint>(codec.color_space));
  }
  if (codec.color_trc != AVCOL_TRC_UNSPECIFIED) {
    color.transfer = gst_video_transfer_function_from_iso(static_cast<guint>(codec.color_trc));
  }
  if (codec.color_primaries != AVCOL_PRI_UNSPECIFIED) {
    color.primaries = gst_video_color_primaries_from_iso(static_cast<guint>(codec.color_primaries));
  }
  if (rgb) return colorimetry_text(color);  // its matrix and range are not those of a YCbCr stream
  if (is_full_range(codec)) color.range = GST_VIDEO_COLOR_RANGE_0_255;
  if (codec.color_range == AVCOL_RANGE_MPEG) color.range = GST_VIDEO_COLOR_RANGE_16_235;
  return colorimetry_text(color);
}

std::string codec_chroma_site(const AVCodecParameters& codec) {
  switch (codec.chroma_location) {
    case AVCHROMA_LOC_LEFT:
      return "mpeg2";
    case AVCHROMA_LOC_CENTER:
      return "jpeg";
    case AVCHROMA_LOC_TOPLEFT:
      return "cosited";
    default:
      return {};
  }
}

}  // namespace equalux::gst
