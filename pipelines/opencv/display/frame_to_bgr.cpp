#include "pipelines/opencv/display/frame_to_bgr.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include <opencv2/core/utility.hpp>

#include "pipelines/picture/convert_rgb.h"
#include "src/format/layout.h"

namespace equalux {
namespace {

constexpr int kBandRows = 64;  // a multiple of 4: whole chroma rows, of both fields

ImageView bgr_rows(cv::Mat& picture, int top, int rows) {
  ImageView view;
  view.desc = {.format = PixelFormat::bgr, .width = picture.cols, .height = rows};
  view.data[0] = picture.ptr(top);
  view.stride[0] = static_cast<std::ptrdiff_t>(picture.step[0]);
  return view;
}

float float_at(const std::uint8_t* row, int x) {
  float value = 0;
  std::memcpy(&value, row + static_cast<std::size_t>(x) * sizeof value, sizeof value);
  return value;
}

void float_to_bgr(const ConstImageView& from, cv::Mat& to) {
  float low = std::numeric_limits<float>::max();
  float high = std::numeric_limits<float>::lowest();
  for (int y = 0; y < from.desc.height; ++y) {
    for (int x = 0; x < from.desc.width; ++x) {
      const float value = float_at(from.row(0, y), x);
      if (!std::isfinite(value)) continue;
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  const float scale = high > low ? 255.0F / (high - low) : 0.0F;
  for (int y = 0; y < from.desc.height; ++y) {
    std::uint8_t* out = to.ptr(y);
    for (int x = 0; x < from.desc.width; ++x, out += 3) {
      const float value = float_at(from.row(0, y), x);
      const float level = std::isfinite(value) ? (value - low) * scale : 0.0F;
      out[0] = out[1] = out[2] = static_cast<std::uint8_t>(std::clamp(level + 0.5F, 0.0F, 255.0F));
    }
  }
}

}  // namespace

void frame_to_bgr(const ConstImageView& from, FieldOrder field_order, cv::Mat& to) {
  to.create(from.desc.height, from.desc.width, CV_8UC3);
  if (!converts_to_rgb(from.desc.format)) {
    float_to_bgr(from, to);
    return;
  }
  const int bands = (from.desc.height + kBandRows - 1) / kBandRows;
  cv::parallel_for_(cv::Range(0, bands), [&](const cv::Range& range) {
    const int top = range.start * kBandRows;
    const int rows = std::min(range.end * kBandRows, from.desc.height) - top;
    convert_to_rgb(part_of(from, 0, top, from.desc.width, rows), bgr_rows(to, top, rows),
                   field_order);
  });
}

cv::Size with_square_pixels(cv::Size size, const Rational& pixel_aspect) {
  constexpr double kMost = 16;
  const double aspect = pixel_aspect.value();
  if (aspect > 1 && aspect <= kMost)
    size.width = static_cast<int>(std::lround(size.width * aspect));
  if (aspect < 1 && aspect >= 1 / kMost)
    size.height = static_cast<int>(std::lround(size.height / aspect));
  return size;
}

}  // namespace equalux
