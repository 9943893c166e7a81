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
  std::uint32_t fourcc;
};
constexpr std::array<Known, 17> kKnown{{
    {PixelFormat::nv12, SPA_VIDEO_FORMAT_NV12, fourcc('N', 'V', '1', '2')},
    {PixelFormat::i420, SPA_VIDEO_FORMAT_I420, fourcc('Y', 'U', '1', '2')},
    {PixelFormat::yuy2, SPA_VIDEO_FORMAT_YUY2, fourcc('Y', 'U', 'Y', 'V')},
    {PixelFormat::rgb, SPA_VIDEO_FORMAT_RGB, fourcc('R', 'G', 'B', '3')},
    {PixelFormat::bgrx, SPA_VIDEO_FORMAT_BGRx, fourcc('X', 'R', '2', '4')},
    {PixelFormat::uyvy, SPA_VIDEO_FORMAT_UYVY, fourcc('U', 'Y', 'V', 'Y')},
    {PixelFormat::y42b, SPA_VIDEO_FORMAT_Y42B, fourcc('4', '2', '2', 'P')},
    {PixelFormat::y444, SPA_VIDEO_FORMAT_Y444, fourcc('4', '4', '4', 'P')},
    {PixelFormat::gray8, SPA_VIDEO_FORMAT_GRAY8, fourcc('G', 'R', 'E', 'Y')},
    {PixelFormat::bgr, SPA_VIDEO_FORMAT_BGR, fourcc('B', 'G', 'R', '3')},
    {PixelFormat::rgbx, SPA_VIDEO_FORMAT_RGBx, fourcc('X', 'B', '2', '4')},
    {PixelFormat::xrgb, SPA_VIDEO_FORMAT_xRGB, fourcc('B', 'X', '2', '4')},
    {PixelFormat::xbgr, SPA_VIDEO_FORMAT_xBGR, fourcc('R', 'X', '2', '4')},
    {PixelFormat::rgba, SPA_VIDEO_FORMAT_RGBA, fourcc('A', 'B', '2', '4')},
    {PixelFormat::bgra, SPA_VIDEO_FORMAT_BGRA, fourcc('A', 'R', '2', '4')},
    {PixelFormat::argb, SPA_VIDEO_FORMAT_ARGB, fourcc('B', 'A', '2', '4')},
    {PixelFormat::abgr, SPA_VIDEO_FORMAT_ABGR, fourcc('R', 'A', '2', '4')},
}};

/// Formats of which every program that reads cameras takes at least one, the cheapest first.
constexpr std::array<PixelFormat, 5> kUsual{PixelFormat::nv12, PixelFormat::i420, PixelFormat::yuy2,
                                            PixelFormat::rgb, PixelFormat::bgrx};

constexpr std::uint32_t kBuffers = 8;
constexpr std::uint32_t kLeastBuffers = 4;
constexpr std::uint32_t kMostBuffers = 16;
constexpr std::uint32_t kLeastReadersBuffers = 2;
constexpr std::uint32_t kUsualRate = 30;
constexpr std::uint32_t kMostRate = 1000;

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

std::optional<PixelFormat> pixel_format_of_fourcc(std::uint32_t code) {
  const auto* const at =
      std::find_if(kKnown.begin(), kKnown.end(), [&](const Known& k) { return k.fourcc == code; });
  if (at == kKnown.end()) return std::nullopt;
  return at->ours;
}

std::vector<PixelFormat> known_formats() {
  std::vector<PixelFormat> formats;
  for (const Known& known : kKnown)
    formats.push_back(known.ours);
  return formats;
}

ImageLayout block_layout(const ImageDesc& desc) {
  ImageLayout layout;
  const FormatTraits& form = traits(desc.format);
  for (int plane = 0; plane < form.planes; ++plane) {
    const auto p = static_cast<std::size_t>(plane);
    layout.offset[p] = layout.bytes;
    layout.stride[p] = in_fours(row_bytes(desc, plane));
    // 4:2:0 has pairs of rows.
    const int rows = form.chroma_shift_y != 0 && plane == 0 ? (desc.height + 1) / 2 * 2
                                                            : plane_rows(desc, plane);
    layout.bytes += static_cast<std::size_t>(layout.stride[p]) * static_cast<std::size_t>(rows);
  }
  return layout;
}

std::optional<ConstImageView> view_in(std::span<const Block> blocks, const ImageDesc& desc) {
  const FormatTraits& form = traits(desc.format);
  const auto planes = static_cast<std::size_t>(form.planes);
  if (blocks.empty()) return std::nullopt;
  const ImageLayout usual = block_layout(desc);
  ConstImageView view;
  view.desc = desc;
  const Block& all = blocks[0];
  const bool is_usual = all.stride == 0 || all.stride == usual.stride[0];
  if (blocks.size() < planes && is_usual && all.bytes >= usual.bytes) {
    for (std::size_t p = 0; p < planes; ++p) {
      view.data[p] = all.first + usual.offset[p];
      view.stride[p] = usual.stride[p];
    }
    return view;
  }
  std::size_t behind = 0;  // offset of the plane in the one block
  for (std::size_t p = 0; p < planes; ++p) {
    const bool has_its_own = blocks.size() >= planes;
    const Block& block = blocks[has_its_own ? p : 0];
    std::ptrdiff_t stride = block.stride;
    if (stride == 0) {
      stride = usual.stride[p];
    } else if (!has_its_own && planes == 3 && p > 0) {
      stride >>= form.chroma_shift_x;
    }
    const int plane = static_cast<int>(p);
    const std::size_t row = row_bytes(desc, plane);
    const auto rows = static_cast<std::size_t>(plane_rows(desc, plane));
    if (stride < 0 || static_cast<std::size_t>(stride) < row) return std::nullopt;
    const std::size_t from = has_its_own ? 0 : behind;
    if (from + static_cast<std::size_t>(stride) * (rows - 1) + row > block.bytes) {
      return std::nullopt;
    }
    view.data[p] = block.first + from;
    view.stride[p] = stride;
    behind += static_cast<std::size_t>(stride) * rows;
  }
  return view;
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

const spa_pod* build_wish(spa_pod_builder& builder, const FormatWish& wish) {
  const spa_rectangle size{static_cast<std::uint32_t>(wish.width),
                           static_cast<std::uint32_t>(wish.height)};
  const spa_rectangle smallest{1, 1};
  const spa_rectangle largest{kMaxSide, kMaxSide};
  const spa_fraction rate = fraction_of(wish.rate);
  const spa_fraction slowest{0, 1};
  const spa_fraction fastest{kMostRate, 1};
  spa_pod_frame frame{};
  spa_pod_builder_push_object(&builder, &frame, SPA_TYPE_OBJECT_Format, SPA_PARAM_EnumFormat);
  spa_pod_builder_add(&builder, SPA_FORMAT_mediaType, SPA_POD_Id(SPA_MEDIA_TYPE_video),
                      SPA_FORMAT_mediaSubtype,
                      SPA_POD_Id(wish.format ? SPA_MEDIA_SUBTYPE_raw : SPA_MEDIA_SUBTYPE_mjpg), 0);
  if (wish.format) {
    spa_pod_builder_add(&builder, SPA_FORMAT_VIDEO_format, SPA_POD_Id(spa_format_of(*wish.format)),
                        0);
  }
  if (wish.any_size) {
    spa_pod_builder_add(&builder, SPA_FORMAT_VIDEO_size,
                        SPA_POD_CHOICE_RANGE_Rectangle(&size, &smallest, &largest), 0);
  } else {
    spa_pod_builder_add(&builder, SPA_FORMAT_VIDEO_size, SPA_POD_Rectangle(&size), 0);
  }
  if (wish.any_rate) {
    spa_pod_builder_add(&builder, SPA_FORMAT_VIDEO_framerate,
                        SPA_POD_CHOICE_RANGE_Fraction(&rate, &slowest, &fastest), 0);
  } else {
    spa_pod_builder_add(&builder, SPA_FORMAT_VIDEO_framerate, SPA_POD_Fraction(&rate), 0);
  }
  return static_cast<const spa_pod*>(spa_pod_builder_pop(&builder, &frame));
}

namespace {

/// Returns the values that a property may have: one, those of a list, or of a range the default and
/// its ends.
template <typename Value>
std::vector<Value> values_of(const spa_pod* format, std::uint32_t key, std::uint32_t type,
                             bool with_ends) {
  const spa_pod_prop* property = spa_pod_find_prop(format, nullptr, key);
  if (property == nullptr) return {};
  std::uint32_t count = 0;
  std::uint32_t choice = SPA_CHOICE_None;
  const spa_pod* values = spa_pod_get_values(&property->value, &count, &choice);
  if (values->type != type || values->size != sizeof(Value) || count == 0) return {};
  const auto* first = static_cast<const Value*>(SPA_POD_BODY_CONST(values));
  if (choice == SPA_CHOICE_Enum && count > 1) return {first + 1, first + count};
  const bool ranged = choice == SPA_CHOICE_Range || choice == SPA_CHOICE_Step;
  return {first, first + (ranged && with_ends ? std::min(count, 3U) : 1U)};
}

}  // namespace

void add_modes(const spa_pod* format, std::vector<CameraMode>& modes) {
  std::uint32_t type = 0;
  std::uint32_t subtype = 0;
  if (format == nullptr || spa_format_parse(format, &type, &subtype) < 0 ||
      type != SPA_MEDIA_TYPE_video) {
    return;
  }
  std::vector<std::uint32_t> codes;
  if (subtype == SPA_MEDIA_SUBTYPE_mjpg) codes.push_back(kJpegFourcc);
  if (subtype == SPA_MEDIA_SUBTYPE_raw) {
    for (const std::uint32_t each :
         values_of<std::uint32_t>(format, SPA_FORMAT_VIDEO_format, SPA_TYPE_Id, false)) {
      const auto* const at = std::find_if(kKnown.begin(), kKnown.end(),
                                          [&](const Known& k) { return k.theirs == each; });
      if (at != kKnown.end()) codes.push_back(at->fourcc);
    }
  }
  double fps = 0;
  for (const spa_fraction& rate :
       values_of<spa_fraction>(format, SPA_FORMAT_VIDEO_framerate, SPA_TYPE_Fraction, true)) {
    if (rate.denom > 0) fps = std::max(fps, 1.0 * rate.num / rate.denom);
  }
  const auto sizes =
      values_of<spa_rectangle>(format, SPA_FORMAT_VIDEO_size, SPA_TYPE_Rectangle, false);
  for (const std::uint32_t code : codes) {
    for (const spa_rectangle& size : sizes) {
      if (size.width < 1 || size.width > kMaxSide || size.height < 1 || size.height > kMaxSide)
        continue;
      modes.push_back({code, static_cast<int>(size.width), static_cast<int>(size.height), fps});
    }
  }
}

const spa_pod* build_readers_buffers(spa_pod_builder& builder) {
  spa_pod_frame frame{};
  spa_pod_builder_push_object(&builder, &frame, SPA_TYPE_OBJECT_ParamBuffers, SPA_PARAM_Buffers);
  spa_pod_builder_add(&builder, SPA_PARAM_BUFFERS_buffers,
                      SPA_POD_CHOICE_RANGE_Int(kBuffers, kLeastReadersBuffers, kMostBuffers),
                      SPA_PARAM_BUFFERS_dataType,
                      SPA_POD_CHOICE_FLAGS_Int((1 << SPA_DATA_MemFd) | (1 << SPA_DATA_MemPtr) |
                                               (1 << SPA_DATA_DmaBuf)),
                      0);
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
  if (spa_format_video_parse(format, &info) < 0) return std::nullopt;
  const bool jpegs = info.media_subtype == SPA_MEDIA_SUBTYPE_mjpg;
  if (!jpegs && info.media_subtype != SPA_MEDIA_SUBTYPE_raw) return std::nullopt;
  spa_video_info_raw raw{};
  if (jpegs) {
    raw.format = SPA_VIDEO_FORMAT_BGR;
    raw.size = info.info.mjpg.size;
    raw.framerate = info.info.mjpg.framerate;
  } else {
    raw = info.info.raw;
  }
  const std::optional<PixelFormat> known = pixel_format_of(raw.format);
  if (!known || raw.size.width < 1 || raw.size.width > kMaxSide || raw.size.height < 1 ||
      raw.size.height > kMaxSide) {
    return std::nullopt;
  }
  VideoFormat parsed{usual, {raw.framerate.num, std::max(raw.framerate.denom, 1U)}, jpegs};
  if (raw.pixel_aspect_ratio.num > 0 && raw.pixel_aspect_ratio.denom > 0)
    parsed.pixel_aspect = {raw.pixel_aspect_ratio.num, raw.pixel_aspect_ratio.denom};
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
