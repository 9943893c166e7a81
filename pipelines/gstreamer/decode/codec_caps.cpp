#include "pipelines/gstreamer/decode/codec_caps.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>
}

#include "pipelines/gstreamer/gst_formats.h"

namespace equalux::gst {

namespace {

struct CodecCaps {
  AVCodecID id;
  const char* caps;
  bool extradata;  // is passed on as codec_data
};

// Codecs whose packets are whole pictures, as libavformat delivers them.
constexpr std::array<CodecCaps, 29> kCodecs{{
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
    {AV_CODEC_ID_JPEG2000, "image/x-jpc", false},
    {AV_CODEC_ID_PNG, "image/png", false},
    // "image/gif" means a whole file.
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

/// One pixel layout by its two names.
struct LayoutName {
  std::string_view libav;
  std::string_view gst;
};

constexpr auto kLayouts = std::to_array<LayoutName>({
    {"yuv420p", "I420"},
    {"yuvj420p", "I420"},
    {"yuv422p", "Y42B"},
    {"yuvj422p", "Y42B"},
    {"yuv444p", "Y444"},
    {"yuvj444p", "Y444"},
    {"yuv411p", "Y41B"},
    {"yuv410p", "YUV9"},
    {"yuyv422", "YUY2"},
    {"uyvy422", "UYVY"},
    {"nv12", "NV12"},
    {"nv21", "NV21"},
    {"gray", "GRAY8"},
    {"gray16le", "GRAY16_LE"},
    {"gray16be", "GRAY16_BE"},
    {"pal8", "RGB8P"},
    {"rgb24", "RGB"},
    {"bgr24", "BGR"},
    {"rgb565le", "RGB16"},
    {"rgb555le", "RGB15"},
    {"0rgb", "xRGB"},
    {"rgb0", "RGBx"},
    {"0bgr", "xBGR"},
    {"bgr0", "BGRx"},
    {"argb", "ARGB"},
    {"rgba", "RGBA"},
    {"abgr", "ABGR"},
    {"bgra", "BGRA"},
    {"gbrp", "GBR"},
    {"gbrp10le", "GBR_10LE"},
    {"gbrp10be", "GBR_10BE"},
    {"gbrp12le", "GBR_12LE"},
    {"gbrp12be", "GBR_12BE"},
    {"gbrp16le", "GBR_16LE"},
    {"gbrp16be", "GBR_16BE"},
    {"gbrap", "GBRA"},
    {"gbrap10le", "GBRA_10LE"},
    {"gbrap10be", "GBRA_10BE"},
    {"gbrap12le", "GBRA_12LE"},
    {"gbrap12be", "GBRA_12BE"},
    {"yuv420p10le", "I420_10LE"},
    {"yuv420p10be", "I420_10BE"},
    {"yuv422p10le", "I422_10LE"},
    {"yuv422p10be", "I422_10BE"},
    {"yuv444p10le", "Y444_10LE"},
    {"yuv444p10be", "Y444_10BE"},
    {"yuv420p12le", "I420_12LE"},
    {"yuv420p12be", "I420_12BE"},
    {"yuv422p12le", "I422_12LE"},
    {"yuv422p12be", "I422_12BE"},
    {"yuv444p12le", "Y444_12LE"},
    {"yuv444p12be", "Y444_12BE"},
    {"yuv444p16le", "Y444_16LE"},
    {"yuv444p16be", "Y444_16BE"},
    {"yuva420p", "A420"},
    {"yuva422p", "A422"},
    {"yuva444p", "A444"},
    {"yuva420p10le", "A420_10LE"},
    {"yuva420p10be", "A420_10BE"},
    {"yuva422p10le", "A422_10LE"},
    {"yuva422p10be", "A422_10BE"},
    {"yuva444p10le", "A444_10LE"},
    {"yuva444p10be", "A444_10BE"},
    {"yuva422p12le", "A422_12LE"},
    {"yuva422p12be", "A422_12BE"},
    {"yuva444p12le", "A444_12LE"},
    {"yuva444p12be", "A444_12BE"},
    {"yuva420p16le", "A420_16LE"},
    {"yuva420p16be", "A420_16BE"},
    {"yuva422p16le", "A422_16LE"},
    {"yuva422p16be", "A422_16BE"},
    {"yuva444p16le", "A444_16LE"},
    {"yuva444p16be", "A444_16BE"},
    {"p010le", "P010_10LE"},
    {"p010be", "P010_10BE"},
    {"p012le", "P012_LE"},
    {"p012be", "P012_BE"},
    {"p016le", "P016_LE"},
    {"p016be", "P016_BE"},
    {"gray10le", "GRAY10_LE16"},
    {"rgba64le", "RGBA64_LE"},
    {"rgba64be", "RGBA64_BE"},
    {"bgra64le", "BGRA64_LE"},
    {"bgra64be", "BGRA64_BE"},
    {"y210le", "Y210"},
    {"y212le", "Y212_LE"},
    {"vuya", "VUYA"},
    {"nv16", "NV16"},
    {"nv24", "NV24"},
    {"yvyu422", "YVYU"},
});

const CodecCaps* find_codec(AVCodecID id) {
  for (const CodecCaps& codec : kCodecs) {
    if (codec.id == id) return &codec;
  }
  return nullptr;
}

/// Returns true for H.264 and H.265 with a configuration record (avcC, hvcC); others have start
/// codes.
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

std::optional<RawLayout> raw_layout(const AVCodecParameters& codec) {
  if (codec.codec_id != AV_CODEC_ID_RAWVIDEO || codec.format < 0 ||
      codec.format == AV_PIX_FMT_PAL8) {
    return std::nullopt;
  }
  const auto pixels = static_cast<AVPixelFormat>(codec.format);
  const char* libav = av_get_pix_fmt_name(pixels);
  const std::string name(gst_format_name(libav == nullptr ? "" : libav));
  RawLayout layout;
  if (name.empty()) return std::nullopt;
  layout.format = gst_video_format_from_string(name.c_str());
  if (layout.format == GST_VIDEO_FORMAT_UNKNOWN) return std::nullopt;
  std::array<int, 4> strides{};
  std::array<std::ptrdiff_t, 4> lines{};
  std::array<std::size_t, 4> sizes{};
  if (av_image_fill_linesizes(strides.data(), pixels, codec.width) < 0) return std::nullopt;
  std::copy(strides.begin(), strides.end(), lines.begin());
  if (av_image_fill_plane_sizes(sizes.data(), pixels, codec.height, lines.data()) < 0) {
    return std::nullopt;
  }
  gsize offset = 0;
  for (std::size_t p = 0; p < sizes.size() && sizes[p] > 0; ++p) {
    layout.offsets[p] = offset;
    layout.strides[p] = strides[p];
    offset += sizes[p];
    ++layout.planes;
  }
  return layout;
}

CapsPtr raw_caps(const RawLayout& layout, const AVCodecParameters& codec) {
  return CapsPtr(gst_caps_new_simple(
      "video/x-raw", "format", G_TYPE_STRING, gst_video_format_to_string(layout.format), "width",
      G_TYPE_INT, codec.width, "height", G_TYPE_INT, codec.height, "framerate", GST_TYPE_FRACTION,
      0, 1, "interlace-mode", G_TYPE_STRING, "progressive", nullptr));
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
  if (rgb) return colorimetry_text(color);  // RGB has no matrix and range of a YCbCr stream
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

std::string_view gst_format_name(const std::string& pixel_format) {
  const auto found = std::find_if(kLayouts.begin(), kLayouts.end(),
                                  [&](const auto& entry) { return entry.libav == pixel_format; });
  return found == kLayouts.end() ? std::string_view() : found->gst;
}

bool hands_on(GstElementFactory* decoder, const std::string& pixel_format) {
  const std::string name(gst_format_name(pixel_format));
  if (name.empty()) return false;
  const CapsPtr wanted(
      gst_caps_new_simple("video/x-raw", "format", G_TYPE_STRING, name.c_str(), nullptr));
  return gst_element_factory_can_src_any_caps(decoder, wanted.get()) != FALSE;
}

bool holds_samples_of(GstVideoFormat format, const std::string& pixel_format) {
  const AVPixFmtDescriptor* from = av_pix_fmt_desc_get(av_get_pix_fmt(pixel_format.c_str()));
  const GstVideoFormatInfo* to = gst_video_format_get_info(format);
  if (from == nullptr || GST_VIDEO_FORMAT_INFO_N_COMPONENTS(to) == 0) return true;
  if (std::cmp_less(GST_VIDEO_FORMAT_INFO_DEPTH(to, 0), from->comp[0].depth)) return false;
  const bool chroma = from->nb_components >= 3 && (from->flags & AV_PIX_FMT_FLAG_RGB) == 0;
  if (!chroma || GST_VIDEO_FORMAT_INFO_IS_RGB(to)) return true;
  return GST_VIDEO_FORMAT_INFO_N_COMPONENTS(to) >= 3 &&
         std::cmp_less_equal(GST_VIDEO_FORMAT_INFO_W_SUB(to, 1), from->log2_chroma_w) &&
         std::cmp_less_equal(GST_VIDEO_FORMAT_INFO_H_SUB(to, 1), from->log2_chroma_h);
}

bool keeps_order(const char* decoder) {
  const AVCodec* codec = avcodec_find_decoder_by_name(decoder);
  const AVCodecDescriptor* kind = codec == nullptr ? nullptr : avcodec_descriptor_get(codec->id);
  return kind != nullptr && (kind->props & AV_CODEC_PROP_REORDER) == 0;
}

bool paints_over(const char* decoder) {
  // Decoders that know their pixel layout from the file's head.
  static constexpr std::array kPainters{
      AV_CODEC_ID_AASC,     AV_CODEC_ID_CINEPAK, AV_CODEC_ID_CSCD, AV_CODEC_ID_FLASHSV,
      AV_CODEC_ID_FLASHSV2, AV_CODEC_ID_FLIC,    AV_CODEC_ID_GIF,  AV_CODEC_ID_INDEO2,
      AV_CODEC_ID_MSRLE,    AV_CODEC_ID_MSS1,    AV_CODEC_ID_MSS2, AV_CODEC_ID_MSVIDEO1,
      AV_CODEC_ID_MTS2,     AV_CODEC_ID_QTRLE,   AV_CODEC_ID_RPZA, AV_CODEC_ID_TSCC,
      AV_CODEC_ID_TSCC2,    AV_CODEC_ID_ULTI,    AV_CODEC_ID_VMNC};
  const AVCodec* codec = avcodec_find_decoder_by_name(decoder);
  return codec != nullptr &&
         std::find(kPainters.begin(), kPainters.end(), codec->id) != kPainters.end();
}

std::string nearest_pixel_format(const std::string& pixel_format) {
  static constexpr std::array kSafe{
      AV_PIX_FMT_YUV420P,     AV_PIX_FMT_YUV422P,     AV_PIX_FMT_YUV444P,
      AV_PIX_FMT_YUV420P10LE, AV_PIX_FMT_YUV422P10LE, AV_PIX_FMT_YUV444P10LE,
      AV_PIX_FMT_YUV420P12LE, AV_PIX_FMT_YUV422P12LE, AV_PIX_FMT_YUV444P12LE,
      AV_PIX_FMT_GRAY8,       AV_PIX_FMT_GRAY16LE,    AV_PIX_FMT_BGR0,
      AV_PIX_FMT_BGRA,        AV_PIX_FMT_GBRP10LE,    AV_PIX_FMT_GBRP12LE,
      AV_PIX_FMT_GBRAP12LE,   AV_PIX_FMT_YUVA420P,    AV_PIX_FMT_YUVA444P10LE,
      AV_PIX_FMT_NONE};
  const AVPixelFormat from = av_get_pix_fmt(pixel_format.c_str());
  const AVPixelFormat to = avcodec_find_best_pix_fmt_of_list(kSafe.data(), from, 1, nullptr);
  const char* name = av_get_pix_fmt_name(to);
  return name == nullptr ? "yuv420p" : name;
}

}  // namespace equalux::gst
