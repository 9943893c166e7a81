#include "pipelines/pipewire/formats.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include <pipewire/pipewire.h>
#include <spa/buffer/meta.h>
#include <spa/param/buffers.h>
#include <spa/param/param.h>
#include <spa/param/video/format-utils.h>

#include "pipelines/picture/convert_picture.h"

namespace equalux::pipewire {
namespace {

struct Known {
  PixelFormat ours;
  spa_video_format theirs;
};
constexpr std::array<Known, 17> kKnown{{
    {PixelFormat::nv12, SPA_VIDEO_FORMAT_NV12},
    {PixelFormat::i420, SPA_VIDEO_FORMAT_I420},
    {PixelFormat::yuy2, SPA_VIDEO_FORMAT_YUY2},
    {PixelFormat::rgb, SPA_VIDEO_FORMAT_RGB},
    {PixelFormat::bgrx, SPA_VIDEO_FORMAT_BGRx},
    {PixelFormat::uyvy, SPA_VIDEO_FORMAT_UYVY},
    {PixelFormat::y42b, SPA_VIDEO_FORMAT_Y42B},
    {PixelFormat::y444, SPA_VIDEO_FORMAT_Y444},
    {PixelFormat::gray8, SPA_VIDEO_FORMAT_GRAY8},
    {PixelFormat::bgr, SPA_VIDEO_FORMAT_BGR},
    {PixelFormat::rgbx, SPA_VIDEO_FORMAT_RGBx},
    {PixelFormat::xrgb, SPA_VIDEO_FORMAT_xRGB},
    {PixelFormat::xbgr, SPA_VIDEO_FORMAT_xBGR},
    {PixelFormat::rgba, SPA_VIDEO_FORMAT_RGBA},
    {PixelFormat::bgra, SPA_VIDEO_FORMAT_BGRA},
    {PixelFormat::argb, SPA_VIDEO_FORMAT_ARGB},
    {PixelFormat::abgr, SPA_VIDEO_FORMAT_ABGR},
}};

/// What every program that takes a camera takes one of, the cheapest first.
constexpr std::array<PixelFormat, 5> kUsual{PixelFormat::nv12, PixelFormat::i420, PixelFormat::yuy2,
                                            PixelFormat::rgb, PixelFormat::bgrx};

constexpr std::uint32_t kBuffers = 8;
constexpr std::uint32_t kLeastBuffers = 4;
constexpr std::uint32_t kMostBuffers = 16;
constexpr std::uint32_t kUsualRate = 30;

spa_fraction fraction_of(const Rational& rate) {
  return {static_cast<std::uint32_t>(rate.num), static_cast<std::uint32_t>(rate.den)};
}

std::ptrdiff_t in_fours(std::size_t bytes) {
  return static_cast<std::ptrdiff_t>((bytes + 3) / 4 * 4);
}

std::uint32_t spa_matrix_of(ColorMatrix matrix) {
  if (matrix == ColorMatrix::bt601) return SPA_VIDEO_COLOR_MATRIX_BT601;
  return matrix == ColorMatrix::bt709 ? SPA_VIDEO_COLOR_MATRIX_BT709
                                      : SPA_VIDEO_COLOR_MATRIX_BT2020;
}

}  // namespace

spa_video_format spa_format_of(PixelFormat format) {
  const auto* const at =
      std::find_if(kKnown.begin(), kKnown.end(), [&](const Known& k) { return k.ours == format; });
  return at == kKnown.end() ? SPA_VIDEO_FORMAT_UNKNOWN : at->theirs;
}

std::optional<PixelFormat> pixel_format_of(spa_video_format format) {
  const auto* const at = std::find_if(kKnown.begin(), kKnown.end(),
                                      [&](const Known& k) { return k.theirs == format; });
  if (at == kKnown.end()) return std::nullopt;
  return at->ours;
}

ImageLayout block_layout(const ImageDesc& desc) {
  ImageLayout layout;
  const FormatTraits& form = traits(desc.format);
  for (int plane = 0; plane < form.planes; ++plane) {
    const auto p = static_cast<std::size_t>(plane);
    layout.offset[p] = layout.bytes;
    layout.stride[p] = in_fours(row_bytes(desc, plane));
    // The rows of 4:2:0 come in pairs.
    const int rows = form.chroma_shift_y != 0 && plane == 0 ? (desc.height + 1) / 2 * 2
                                                            : plane_rows(desc, plane);
    layout.bytes += static_cast<std::size_t>(layout.stride[p]) * static_cast<std::size_t>(rows);
  }
  return layout;
}

std::vector<ImageDesc> offered_formats(const ImageDesc& desc) {
  std::vector<ImageDesc> offered;
  if (spa_format_of(desc.format) != SPA_VIDEO_FORMAT_UNKNOWN) offered.push_back(desc);
  for (const PixelFormat format : kUsual) {
    if (format != desc.format && converts_to(desc.format, format))
      offered.push_back(converted_desc(desc, format));
  }
  return offered;
}

const spa_pod* build_format(spa_pod_builder& builder, std::uint32_t id, const VideoFormat& format) {
  const ImageDesc& desc = format.desc;
  const spa_rectangle size{static_cast<std::uint32_t>(desc.width),
                           static_cast<std::uint32_t>(desc.height)};
  const bool known = format.rate.num > 0;
  const spa_fraction rate = known ? fraction_of(format.rate) : spa_fraction{kUsualRate, 1};
  const spa_fraction least{0, 1};
  const spa_fraction most{
      std::max(kUsualRate, static_cast<std::uint32_t>(known ? std::ceil(format.rate.value()) : 0)),
      1};
  spa_pod_frame frame{};
  spa_pod_builder_push_object(&builder, &frame, SPA_TYPE_OBJECT_Format, id);
  spa_pod_builder_add(&builder, SPA_FORMAT_mediaType, SPA_POD_Id(SPA_MEDIA_TYPE_video),
                      SPA_FORMAT_mediaSubtype, SPA_POD_Id(SPA_MEDIA_SUBTYPE_raw),
                      SPA_FORMAT_VIDEO_format, SPA_POD_Id(spa_format_of(desc.format)),
                      SPA_FORMAT_VIDEO_size, SPA_POD_Rectangle(&size), 0);
  if (id == SPA_PARAM_Format) {
    spa_pod_builder_add(&builder, SPA_FORMAT_VIDEO_framerate, SPA_POD_Fraction(&rate), 0);
  } else {
    spa_pod_builder_add(&builder, SPA_FORMAT_VIDEO_framerate,
                        SPA_POD_CHOICE_RANGE_Fraction(&rate, &least, &most), 0);
  }
  if (traits(desc.format).model == ColorModel::yuv) {
    spa_pod_builder_add(&builder, SPA_FORMAT_VIDEO_colorRange,
                        SPA_POD_Id(desc.range == ColorRange::full ? SPA_VIDEO_COLOR_RANGE_0_255
                                                                  : SPA_VIDEO_COLOR_RANGE_16_235),
                        SPA_FORMAT_VIDEO_colorMatrix, SPA_POD_Id(spa_matrix_of(desc.matrix)), 0);
  }
  return static_cast<const spa_pod*>(spa_pod_builder_pop(&builder, &frame));
}

const spa_pod* build_buffers(spa_pod_builder& builder, const ImageDesc& desc) {
  const ImageLayout layout = block_layout(desc);
  spa_pod_frame frame{};
  spa_pod_builder_push_object(&builder, &frame, SPA_TYPE_OBJECT_ParamBuffers, SPA_PARAM_Buffers);
  spa_pod_builder_add(
      &builder, SPA_PARAM_BUFFERS_buffers,
      SPA_POD_CHOICE_RANGE_Int(kBuffers, kLeastBuffers, kMostBuffers), SPA_PARAM_BUFFERS_blocks,
      SPA_POD_Int(1), SPA_PARAM_BUFFERS_size, SPA_POD_Int(static_cast<std::int32_t>(layout.bytes)),
      SPA_PARAM_BUFFERS_stride, SPA_POD_Int(static_cast<std::int32_t>(layout.stride[0])),
      SPA_PARAM_BUFFERS_dataType,
      SPA_POD_CHOICE_FLAGS_Int((1 << SPA_DATA_MemFd) | (1 << SPA_DATA_MemPtr)), 0);
  return static_cast<const spa_pod*>(spa_pod_builder_pop(&builder, &frame));
}

const spa_pod* build_header(spa_pod_builder& builder) {
  spa_pod_frame frame{};
  spa_pod_builder_push_object(&builder, &frame, SPA_TYPE_OBJECT_ParamMeta, SPA_PARAM_Meta);
  spa_pod_builder_add(&builder, SPA_PARAM_META_type, SPA_POD_Id(SPA_META_Header),
                      SPA_PARAM_META_size,
                      SPA_POD_Int(static_cast<std::int32_t>(sizeof(spa_meta_header))), 0);
  return static_cast<const spa_pod*>(spa_pod_builder_pop(&builder, &frame));
}

std::optional<VideoFormat> parse_format(const spa_pod* format, const ImageDesc& usual) {
  spa_video_info info{};
  if (spa_format_video_parse(format, &info) < 0 || info.media_subtype != SPA_MEDIA_SUBTYPE_raw) {
    return std::nullopt;
  }
  const spa_video_info_raw& raw = info.info.raw;
  const std::optional<PixelFormat> known = pixel_format_of(raw.format);
  if (!known || raw.size.width < 1 || raw.size.width > kMaxSide || raw.size.height < 1 ||
      raw.size.height > kMaxSide) {
    return std::nullopt;
  }
  VideoFormat parsed{usual, {raw.framerate.num, std::max(raw.framerate.denom, 1U)}};
  parsed.desc.format = *known;
  parsed.desc.width = static_cast<int>(raw.size.width);
  parsed.desc.height = static_cast<int>(raw.size.height);
  if (raw.color_range == SPA_VIDEO_COLOR_RANGE_0_255) parsed.desc.range = ColorRange::full;
  if (raw.color_range == SPA_VIDEO_COLOR_RANGE_16_235) parsed.desc.range = ColorRange::limited;
  for (const ColorMatrix matrix : {ColorMatrix::bt601, ColorMatrix::bt709, ColorMatrix::bt2020})
    if (raw.color_matrix == spa_matrix_of(matrix)) parsed.desc.matrix = matrix;
  return parsed;
}

}  // namespace equalux::pipewire
