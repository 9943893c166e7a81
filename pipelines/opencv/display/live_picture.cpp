#include "pipelines/opencv/display/live_picture.h"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "pipelines/opencv/display/frame_to_bgr.h"
#include "pipelines/opencv/display/window_overlay.h"

namespace equalux {

namespace {

/// Intermediate pictures, kept per thread: viewers request the same sizes again and again, and new
/// memory costs more than a millisecond per picture of 1920x1080.
struct Canvas {
  cv::Mat before;
  cv::Mat after;
  cv::Mat same_size;
  cv::Mat both;
  cv::Mat resized;
};

Canvas& canvas() {
  thread_local Canvas one;
  return one;
}

}  // namespace

std::vector<std::uint8_t> jpeg_of(const PicturePair& pair, const PictureForm& form) {
  Canvas& own = canvas();
  const cv::Mat* picture = &own.after;
  frame_to_bgr((form.view == PictureView::before ? pair.before : pair.after).view(),
               pair.field_order, own.after);
  if (form.view == PictureView::both) {
    const cv::Mat* before = &own.before;
    frame_to_bgr(pair.before.view(), pair.field_order, own.before);
    if (own.before.size() != own.after.size()) {
      cv::resize(own.before, own.same_size, own.after.size(), 0, 0, cv::INTER_AREA);
      before = &own.same_size;
    }
    cv::hconcat(*before, own.after, own.both);
    picture = &own.both;
  }
  cv::Size size = with_square_pixels(picture->size(), pair.pixel_aspect);
  if (size.width > form.width) {
    const double scale = static_cast<double>(form.width) / size.width;
    size = {form.width, std::max(1, static_cast<int>(std::lround(size.height * scale)))};
  }
  if (size != picture->size()) {
    const bool shrinks = size.width < picture->cols || size.height < picture->rows;
    cv::resize(*picture, own.resized, size, 0, 0, shrinks ? cv::INTER_AREA : cv::INTER_LINEAR);
    picture = &own.resized;
  }
  std::vector<std::uint8_t> bytes;
  cv::imencode(".jpg", *picture, bytes, {cv::IMWRITE_JPEG_QUALITY, form.quality});
  return bytes;
}

nlohmann::json tones_of(const PicturePair& pair) {
  nlohmann::json json{{"before", nlohmann::json::array()},
                      {"after", nlohmann::json::array()},
                      {"curve", nlohmann::json::array()}};
  Canvas& own = canvas();
  frame_to_bgr(pair.before.view(), pair.field_order, own.before);
  frame_to_bgr(pair.after.view(), pair.field_order, own.after);
  if (own.before.size() != own.after.size()) return json;
  const Tones tones = measure_tones(own.before, own.after);
  json["before"] = tones.before;
  json["after"] = tones.after;
  for (const double mean : tones.mean_after) {
    if (mean < 0) {
      json["curve"].push_back(nullptr);
    } else {
      json["curve"].push_back(std::round(10 * mean) / 10);
    }
  }
  return json;
}

}  // namespace equalux
