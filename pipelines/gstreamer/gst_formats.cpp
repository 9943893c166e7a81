#include "pipelines/gstreamer/gst_formats.h"

#include <array>
#include <span>
#include <string_view>
#include <utility>

#include "pipelines/picture/alpha_plane.h"

namespace equalux::gst {

namespace {

constexpr std::array<std::pair<PixelFormat, GstVideoFormat>, 32> kFormats{{
    {PixelFormat::gray8, GST_VIDEO_FORMAT_GRAY8},
    {PixelFormat::rgb, GST_VIDEO_FORMAT_RGB},
    {PixelFormat::bgr, GST_VIDEO_FORMAT_BGR},
    {PixelFormat::rgbx, GST_VIDEO_FORMAT_RGBx},
    {PixelFormat::bgrx, GST_VIDEO_FORMAT_BGRx},
    {PixelFormat::xrgb, GST_VIDEO_FORMAT_xRGB},
    {PixelFormat::xbgr, GST_VIDEO_FORMAT_xBGR},
    {PixelFormat::rgba, GST_VIDEO_FORMAT_RGBA},
    {PixelFormat::bgra, GST_VIDEO_FORMAT_BGRA},
    {PixelFormat::argb, GST_VIDEO_FORMAT_ARGB},
    {PixelFormat::abgr, GST_VIDEO_FORMAT_ABGR},
    {PixelFormat::nv12, GST_VIDEO_FORMAT_NV12},
    {PixelFormat::i420, GST_VIDEO_FORMAT_I420},
    {PixelFormat::yuy2, GST_VIDEO_FORMAT_YUY2},
    {PixelFormat::uyvy, GST_VIDEO_FORMAT_UYVY},
    {PixelFormat::y42b, GST_VIDEO_FORMAT_Y42B},
    {PixelFormat::y444, GST_VIDEO_FORMAT_Y444},
    {PixelFormat::gray16_le, GST_VIDEO_FORMAT_GRAY16_LE},
    {PixelFormat::rgba64_le, GST_VIDEO_FORMAT_RGBA64_LE},
    {PixelFormat::bgra64_le, GST_VIDEO_FORMAT_BGRA64_LE},
    {PixelFormat::argb64_le, GST_VIDEO_FORMAT_ARGB64_LE},
    {PixelFormat::abgr64_le, GST_VIDEO_FORMAT_ABGR64_LE},
    {PixelFormat::p010_10le, GST_VIDEO_FORMAT_P010_10LE},
    {PixelFormat::p012_le, GST_VIDEO_FORMAT_P012_LE},
    {PixelFormat::p016_le, GST_VIDEO_FORMAT_P016_LE},
    {PixelFormat::i420_10le, GST_VIDEO_FORMAT_I420_10LE},
    {PixelFormat::i420_12le, GST_VIDEO_FORMAT_I420_12LE},
    {PixelFormat::i422_10le, GST_VIDEO_FORMAT_I422_10LE},
    {PixelFormat::i422_12le, GST_VIDEO_FORMAT_I422_12LE},
    {PixelFormat::y444_10le, GST_VIDEO_FORMAT_Y444_10LE},
    {PixelFormat::y444_12le, GST_VIDEO_FORMAT_Y444_12LE},
    {PixelFormat::y444_16le, GST_VIDEO_FORMAT_Y444_16LE},
}};

/// Layouts with a plane of transparency, by name, since GStreamer 1.22 lacks some of them.
constexpr std::array<std::pair<PixelFormat, const char*>, 10> kAlphaLayouts{{
    {PixelFormat::i420, "A420"},
    {PixelFormat::y42b, "A422"},
    {PixelFormat::y444, "A444"},
    {PixelFormat::i420_10le, "A420_10LE"},
    {PixelFormat::i422_10le, "A422_10LE"},
    {PixelFormat::y444_10le, "A444_10LE"},
    {PixelFormat::i420_12le, "A420_12LE"},
    {PixelFormat::i422_12le, "A422_12LE"},
    {PixelFormat::y444_12le, "A444_12LE"},
    {PixelFormat::y444_16le, "A444_16LE"},
}};

/// Returns the chroma shifts of a format, taken from its second component.
std::pair<int, int> subsampling(GstVideoFormat format) {
  const GstVideoFormatInfo* info = gst_video_format_get_info(format);
  if (GST_VIDEO_FORMAT_INFO_N_COMPONENTS(info) < 2) return {0, 0};
  return {static_cast<int>(GST_VIDEO_FORMAT_INFO_W_SUB(info, 1)),
          static_cast<int>(GST_VIDEO_FORMAT_INFO_H_SUB(info, 1))};
}

/// Returns the bits per sample, taken from the first component.
int depth_of(GstVideoFormat format) {
  return static_cast<int>(GST_VIDEO_FORMAT_INFO_DEPTH(gst_video_format_get_info(format), 0));
}

/// Layouts of more than 8 bits to try, in order; each keeps at least as much chroma. The caller
/// checks the depth.
std::span<const PixelFormat> deep_layouts_for(std::pair<int, int> shifts) {
  static constexpr std::array k420{PixelFormat::i420_10le, PixelFormat::p010_10le,
                                   PixelFormat::i420_12le, PixelFormat::p012_le,
                                   PixelFormat::p016_le,   PixelFormat::y444_16le};
  static constexpr std::array k422{PixelFormat::i422_10le, PixelFormat::i422_12le,
                                   PixelFormat::y444_16le};
  static constexpr std::array k444{PixelFormat::y444_10le, PixelFormat::y444_12le,
                                   PixelFormat::y444_16le};
  const auto [x, y] = shifts;
  if (x == 0) return k444;
  return y == 0 ? std::span<const PixelFormat>(k422) : std::span<const PixelFormat>(k420);
}

/// Layouts to try for a subsampling, in order; each keeps at least as much chroma.
std::span<const PixelFormat> layouts_for(std::pair<int, int> shifts) {
  static constexpr std::array k420{PixelFormat::i420, PixelFormat::nv12};
  static constexpr std::array k422{PixelFormat::y42b, PixelFormat::yuy2, PixelFormat::uyvy};
  static constexpr std::array k444{PixelFormat::y444};
  const auto [x, y] = shifts;
  if (x == 0) return k444;
  return y == 0 ? std::span<const PixelFormat>(k422) : std::span<const PixelFormat>(k420);
}

constexpr std::array kPackedRgb{PixelFormat::bgr,  PixelFormat::rgb,  PixelFormat::bgrx,
                                PixelFormat::rgbx, PixelFormat::bgra, PixelFormat::rgba};

constexpr std::array kPackedRgba{PixelFormat::bgra, PixelFormat::rgba, PixelFormat::argb,
                                 PixelFormat::abgr};

constexpr std::array kDeepRgb{PixelFormat::rgba64_le, PixelFormat::bgra64_le,
                              PixelFormat::argb64_le, PixelFormat::abgr64_le};

/// Returns the first accepted format of at least `depth` bits.
std::optional<PixelFormat> first_accepted(std::span<const PixelFormat> formats,
                                          const FormatPredicate& accepts, int depth = 8) {
  for (const PixelFormat format : formats) {
    if (traits(format).depth >= depth && accepts(format)) return format;
  }
  return std::nullopt;
}

/// Does the work of choose_format() for more than 8 bits, which never become fewer.
std::optional<PixelFormat> choose_deep_format(GstVideoFormat native,
                                              const FormatPredicate& accepts) {
  const GstVideoFormatInfo* info = gst_video_format_get_info(native);
  const int depth = depth_of(native);
  if (GST_VIDEO_FORMAT_INFO_IS_YUV(info)) {
    return first_accepted(deep_layouts_for(subsampling(native)), accepts, depth);
  }
  if (GST_VIDEO_FORMAT_INFO_IS_GRAY(info)) {
    return accepts(PixelFormat::gray16_le) ? std::optional(PixelFormat::gray16_le) : std::nullopt;
  }
  return first_accepted(kDeepRgb, accepts);
}

}  // namespace

GstVideoFormat to_gst(PixelFormat format) {
  for (const auto& [ours, theirs] : kFormats) {
    if (ours == format) return theirs;
  }
  return GST_VIDEO_FORMAT_UNKNOWN;
}

std::optional<PixelFormat> from_gst(GstVideoFormat format) {
  for (const auto& [ours, theirs] : kFormats) {
    if (theirs == format) return ours;
  }
  return std::nullopt;
}

std::optional<PixelFormat> beside_alpha(GstVideoFormat format) {
  const char* name = gst_video_format_to_string(format);
  for (const auto& [picture, layout] : kAlphaLayouts) {
    if (name != nullptr && std::string_view(name) == layout) return picture;
  }
  return std::nullopt;
}

GstVideoFormat with_alpha(PixelFormat picture) {
  for (const auto& [ours, layout] : kAlphaLayouts) {
    if (ours == picture) return gst_video_format_from_string(layout);
  }
  return GST_VIDEO_FORMAT_UNKNOWN;
}

std::optional<PixelFormat> picture_format(GstVideoFormat format) {
  const std::optional<PixelFormat> same = from_gst(format);
  return same ? same : beside_alpha(format);
}

std::optional<PixelFormat> choose_format(GstVideoFormat native, const FormatPredicate& accepts) {
  const std::optional<PixelFormat> same = from_gst(native);
  if (same && accepts(*same)) return same;
  if (depth_of(native) > 8) return choose_deep_format(native, accepts);
  const GstVideoFormatInfo* info = gst_video_format_get_info(native);
  if (GST_VIDEO_FORMAT_INFO_IS_YUV(info)) {
    const auto found = first_accepted(layouts_for(subsampling(native)), accepts);
    if (found) return found;
  }
  if (GST_VIDEO_FORMAT_INFO_IS_GRAY(info) && accepts(PixelFormat::gray8)) return PixelFormat::gray8;
  if (GST_VIDEO_FORMAT_INFO_HAS_ALPHA(info)) {
    if (const auto found = first_accepted(kPackedRgba, accepts)) return found;
  }
  return first_accepted(kPackedRgb, accepts);
}

std::optional<PixelFormat> deepest_format(GstVideoFormat native, const FormatPredicate& accepts) {
  std::optional<PixelFormat> found;
  if (!GST_VIDEO_FORMAT_INFO_IS_YUV(gst_video_format_get_info(native))) return found;
  for (const PixelFormat format : deep_layouts_for(subsampling(native))) {
    const int depth = traits(format).depth;
    if (depth > depth_of(native) || !accepts(format)) continue;
    if (!found || depth > traits(*found).depth) found = format;
  }
  return found;
}

bool same_samples(GstVideoFormat a, GstVideoFormat b) {
  const GstVideoFormatInfo* x = gst_video_format_get_info(a);
  const GstVideoFormatInfo* y = gst_video_format_get_info(b);
  return GST_VIDEO_FORMAT_INFO_IS_YUV(x) == GST_VIDEO_FORMAT_INFO_IS_YUV(y) &&
         GST_VIDEO_FORMAT_INFO_IS_GRAY(x) == GST_VIDEO_FORMAT_INFO_IS_GRAY(y) &&
         subsampling(a) == subsampling(b) && depth_of(a) == depth_of(b);
}

void apply_colorimetry(const std::string& colorimetry, ImageDesc& desc) {
  desc.matrix = desc.height <= 576 ? ColorMatrix::bt601 : ColorMatrix::bt709;
  desc.range = ColorRange::limited;
  GstVideoColorimetry parsed{};
  if (colorimetry.empty() ||
      gst_video_colorimetry_from_string(&parsed, colorimetry.c_str()) == FALSE) {
    return;
  }
  if (parsed.range == GST_VIDEO_COLOR_RANGE_0_255) desc.range = ColorRange::full;
  if (parsed.matrix == GST_VIDEO_COLOR_MATRIX_BT601) desc.matrix = ColorMatrix::bt601;
  if (parsed.matrix == GST_VIDEO_COLOR_MATRIX_BT709) desc.matrix = ColorMatrix::bt709;
  if (parsed.matrix == GST_VIDEO_COLOR_MATRIX_BT2020) desc.matrix = ColorMatrix::bt2020;
}

GstVideoColorimetry colorimetry_of(const StreamInfo& info) {
  GstVideoColorimetry result{};
  if (!info.colorimetry.empty()) {
    gst_video_colorimetry_from_string(&result, info.colorimetry.c_str());
  }
  const ColorModel model = traits(info.desc.format).model;
  if (model == ColorModel::rgb) {
    result.range = GST_VIDEO_COLOR_RANGE_0_255;
    result.matrix = GST_VIDEO_COLOR_MATRIX_RGB;
    return result;
  }
  if (model == ColorModel::gray) {
    // Gray is filtered as r = g = b over all 256 levels, unless its stream declares another range.
    if (result.range == GST_VIDEO_COLOR_RANGE_UNKNOWN) result.range = GST_VIDEO_COLOR_RANGE_0_255;
    if (result.matrix == GST_VIDEO_COLOR_MATRIX_UNKNOWN) {
      result.matrix = GST_VIDEO_COLOR_MATRIX_BT601;
    }
    return result;
  }
  result.range = info.desc.range == ColorRange::full ? GST_VIDEO_COLOR_RANGE_0_255
                                                     : GST_VIDEO_COLOR_RANGE_16_235;
  // Keeps the stream's own matrix where our filters use another one in its place.
  if (result.matrix == GST_VIDEO_COLOR_MATRIX_FCC ||
      result.matrix == GST_VIDEO_COLOR_MATRIX_SMPTE240M) {
    return result;
  }
  switch (info.desc.matrix) {
    case ColorMatrix::bt601:
      result.matrix = GST_VIDEO_COLOR_MATRIX_BT601;
      break;
    case ColorMatrix::bt709:
      result.matrix = GST_VIDEO_COLOR_MATRIX_BT709;
      break;
    case ColorMatrix::bt2020:
      result.matrix = GST_VIDEO_COLOR_MATRIX_BT2020;
      break;
  }
  return result;
}

std::string colorimetry_text(const GstVideoColorimetry& colorimetry) {
  const StringPtr text(gst_video_colorimetry_to_string(&colorimetry));
  return text ? text.get() : "";
}

void read_video_info(const GstVideoInfo& video, StreamInfo& info) {
  info.desc.width = GST_VIDEO_INFO_WIDTH(&video);
  info.desc.height = GST_VIDEO_INFO_HEIGHT(&video);
  if (const auto format = picture_format(GST_VIDEO_INFO_FORMAT(&video))) {
    info.desc.format = *format;
  }
  info.transparent = beside_alpha(GST_VIDEO_INFO_FORMAT(&video)).has_value();
  // An RGB picture's own colorimetry does not apply to the YCbCr that it may become.
  const bool own = info.colorimetry.empty() && !GST_VIDEO_INFO_IS_RGB(&video);
  apply_colorimetry(own ? colorimetry_text(video.colorimetry) : info.colorimetry, info.desc);
  if (GST_VIDEO_INFO_FPS_N(&video) > 0) {
    info.frame_rate = {GST_VIDEO_INFO_FPS_N(&video), GST_VIDEO_INFO_FPS_D(&video)};
  }
  if (GST_VIDEO_INFO_PAR_N(&video) > 0 && GST_VIDEO_INFO_PAR_D(&video) > 0) {
    info.pixel_aspect = {GST_VIDEO_INFO_PAR_N(&video), GST_VIDEO_INFO_PAR_D(&video)};
  }
  if (video.chroma_site != GST_VIDEO_CHROMA_SITE_UNKNOWN) {
    if (const StringPtr site(gst_video_chroma_site_to_string(video.chroma_site)); site) {
      info.chroma_site = site.get();
    }
  }
  info.field_order = field_order_of(video, nullptr);
}

CapsPtr make_caps(const StreamInfo& info, GstVideoFormat format) {
  const bool interlaced = info.field_order != FieldOrder::progressive;
  CapsPtr caps(gst_caps_new_simple(
      "video/x-raw", "format", G_TYPE_STRING, gst_video_format_to_string(format), "width",
      G_TYPE_INT, info.desc.width, "height", G_TYPE_INT, info.desc.height, "framerate",
      GST_TYPE_FRACTION, static_cast<int>(info.frame_rate.num),
      static_cast<int>(info.frame_rate.den), "pixel-aspect-ratio", GST_TYPE_FRACTION,
      static_cast<int>(info.pixel_aspect.num), static_cast<int>(info.pixel_aspect.den),
      "interlace-mode", G_TYPE_STRING, interlaced ? "interleaved" : "progressive", nullptr));
  const std::string colorimetry = colorimetry_text(colorimetry_of(info));
  if (!colorimetry.empty()) {
    gst_caps_set_simple(caps.get(), "colorimetry", G_TYPE_STRING, colorimetry.c_str(), nullptr);
  }
  if (!info.mastering_display.empty()) {
    gst_caps_set_simple(caps.get(), "mastering-display-info", G_TYPE_STRING,
                        info.mastering_display.c_str(), nullptr);
  }
  if (!info.content_light.empty()) {
    gst_caps_set_simple(caps.get(), "content-light-level", G_TYPE_STRING,
                        info.content_light.c_str(), nullptr);
  }
  if (!info.chroma_site.empty() && traits(info.desc.format).model == ColorModel::yuv) {
    gst_caps_set_simple(caps.get(), "chroma-site", G_TYPE_STRING, info.chroma_site.c_str(),
                        nullptr);
  }
  if (interlaced) {
    const bool top = info.field_order == FieldOrder::top_first;
    gst_caps_set_simple(caps.get(), "field-order", G_TYPE_STRING,
                        top ? "top-field-first" : "bottom-field-first", nullptr);
  }
  return caps;
}

ImageView writable_view_of(const GstVideoFrame& frame, const ImageDesc& desc) {
  ImageView view;
  view.desc = desc;
  const int planes = traits(desc.format).planes;
  for (int p = 0; p < planes; ++p) {
    const auto at = static_cast<std::size_t>(p);
    view.data[at] = static_cast<std::uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, p));
    view.stride[at] = GST_VIDEO_FRAME_PLANE_STRIDE(&frame, p);
  }
  return view;
}

ImageView writable_alpha_of(const GstVideoFrame& frame, const ImageDesc& desc) {
  ImageView view;
  if (!beside_alpha(GST_VIDEO_FRAME_FORMAT(&frame))) return view;
  view.desc = alpha_desc(desc);
  view.data[0] = static_cast<std::uint8_t*>(GST_VIDEO_FRAME_COMP_DATA(&frame, GST_VIDEO_COMP_A));
  view.stride[0] = GST_VIDEO_FRAME_COMP_STRIDE(&frame, GST_VIDEO_COMP_A);
  return view;
}

ConstImageView view_of(const GstVideoFrame& frame, const ImageDesc& desc) {
  return writable_view_of(frame, desc);
}

FieldOrder field_order_of(const GstVideoInfo& video, const GstBuffer* buffer) {
  const GstVideoInterlaceMode mode = GST_VIDEO_INFO_INTERLACE_MODE(&video);
  if (mode == GST_VIDEO_INTERLACE_MODE_PROGRESSIVE) return FieldOrder::progressive;
  if (buffer != nullptr) {
    const auto flags = GST_BUFFER_FLAGS(buffer);
    const bool mixed = mode == GST_VIDEO_INTERLACE_MODE_MIXED;
    if (mixed && (flags & GST_VIDEO_BUFFER_FLAG_INTERLACED) == 0) return FieldOrder::progressive;
    if (mixed || GST_VIDEO_INFO_FIELD_ORDER(&video) == GST_VIDEO_FIELD_ORDER_UNKNOWN) {
      return (flags & GST_VIDEO_BUFFER_FLAG_TFF) != 0 ? FieldOrder::top_first
                                                      : FieldOrder::bottom_first;
    }
  } else if (mode == GST_VIDEO_INTERLACE_MODE_MIXED) {
    return FieldOrder::progressive;
  }
  return GST_VIDEO_INFO_FIELD_ORDER(&video) == GST_VIDEO_FIELD_ORDER_BOTTOM_FIELD_FIRST
             ? FieldOrder::bottom_first
             : FieldOrder::top_first;
}

}  // namespace equalux::gst
