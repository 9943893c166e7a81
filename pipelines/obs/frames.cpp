#include "pipelines/obs/frames.h"

#include <cmath>
#include <limits>
#include <utility>

namespace equalux::obs {

std::optional<PixelFormat> format_of(video_format format) {
  switch (format) {
    case VIDEO_FORMAT_I420:
    case VIDEO_FORMAT_I40A:
      return PixelFormat::i420;
    case VIDEO_FORMAT_NV12:
      return PixelFormat::nv12;
    case VIDEO_FORMAT_YUY2:
      return PixelFormat::yuy2;
    case VIDEO_FORMAT_UYVY:
      return PixelFormat::uyvy;
    case VIDEO_FORMAT_I422:
    case VIDEO_FORMAT_I42A:
      return PixelFormat::y42b;
    case VIDEO_FORMAT_I444:
    case VIDEO_FORMAT_YUVA:
      return PixelFormat::y444;
    case VIDEO_FORMAT_RGBA:
      return PixelFormat::rgba;
    case VIDEO_FORMAT_BGRA:
      return PixelFormat::bgra;
    case VIDEO_FORMAT_BGRX:
      return PixelFormat::bgrx;
    case VIDEO_FORMAT_BGR3:
      return PixelFormat::bgr;
    case VIDEO_FORMAT_Y800:
      return PixelFormat::gray8;
    case VIDEO_FORMAT_I010:
      return PixelFormat::i420_10le;
    case VIDEO_FORMAT_P010:
      return PixelFormat::p010_10le;
    case VIDEO_FORMAT_I210:
      return PixelFormat::i422_10le;
    case VIDEO_FORMAT_I412:
    case VIDEO_FORMAT_YA2L:
      return PixelFormat::y444_12le;
    default:
      return std::nullopt;
  }
}

ColorMatrix matrix_of(const obs_source_frame& frame) {
  constexpr std::size_t kRedFromCr = 2;
  constexpr std::pair<video_colorspace, ColorMatrix> kAll[] = {
      {VIDEO_CS_709, ColorMatrix::bt709},
      {VIDEO_CS_601, ColorMatrix::bt601},
      {VIDEO_CS_2100_PQ, ColorMatrix::bt2020}};
  ColorMatrix nearest = ColorMatrix::bt709;
  // Distance from which a matrix counts as none of the known ones.
  float distance = 0.05F;
  for (const auto& [colours, matrix] : kAll) {
    float weights[16];
    float least[3];
    float most[3];
    const video_range_type range = frame.full_range ? VIDEO_RANGE_FULL : VIDEO_RANGE_PARTIAL;
    if (!video_format_get_parameters_for_format(colours, range, frame.format, weights, least, most))
      continue;
    const float off = std::abs(weights[kRedFromCr] - frame.color_matrix[kRedFromCr]);
    if (off >= distance) continue;
    distance = off;
    nearest = matrix;
  }
  return nearest;
}

std::optional<ImageView> view_of(const obs_source_frame& frame) {
  const std::optional<PixelFormat> format = format_of(frame.format);
  constexpr auto kMost = static_cast<std::uint32_t>(std::numeric_limits<int>::max());
  if (!format || frame.width > kMost || frame.height > kMost) return std::nullopt;
  ImageView view;
  view.desc = {*format, static_cast<int>(frame.width), static_cast<int>(frame.height)};
  if (traits(*format).model == ColorModel::yuv) {
    view.desc.matrix = matrix_of(frame);
    view.desc.range = frame.full_range ? ColorRange::full : ColorRange::limited;
  }
  for (std::size_t plane = 0; plane < static_cast<std::size_t>(traits(*format).planes); ++plane) {
    view.data[plane] = frame.data[plane];
    view.stride[plane] = static_cast<std::ptrdiff_t>(frame.linesize[plane]);
  }
  return view;
}

FieldOrder field_order_of(const obs_source_t* source) {
  if (source == nullptr || obs_source_get_deinterlace_mode(source) == OBS_DEINTERLACE_MODE_DISABLE)
    return FieldOrder::progressive;
  return obs_source_get_deinterlace_field_order(source) == OBS_DEINTERLACE_FIELD_ORDER_TOP
             ? FieldOrder::top_first
             : FieldOrder::bottom_first;
}

}  // namespace equalux::obs
