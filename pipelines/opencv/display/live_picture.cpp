#include "pipelines/opencv/display/live_picture.h"

#include <cmath>
#include <utility>

#include <nlohmann/json.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "pipelines/opencv/display/frame_to_bgr.h"
#include "pipelines/opencv/display/window_overlay.h"

namespace equalux {

std::vector<std::uint8_t> jpeg_of(const PicturePair& pair, const PictureForm& form) {
  cv::Mat picture;
  frame_to_bgr((form.view == PictureView::before ? pair.before : pair.after).view(),
               pair.field_order, picture);
  if (form.view == PictureView::both) {
    cv::Mat before;
    frame_to_bgr(pair.before.view(), pair.field_order, before);
    if (before.size() != picture.size()) {
      cv::Mat same_size;
      cv::resize(before, same_size, picture.size(), 0, 0, cv::INTER_AREA);
      before = same_size;
    }
    cv::Mat both;
    cv::hconcat(before, picture, both);
    picture = both;
  }
  if (picture.cols > form.width) {
    const double scale = static_cast<double>(form.width) / picture.cols;
    const int height = std::max(1, static_cast<int>(std::lround(picture.rows * scale)));
    cv::Mat smaller;
    cv::resize(picture, smaller, {form.width, height}, 0, 0, cv::INTER_AREA);
    picture = smaller;
  }
  std::vector<std::uint8_t> bytes;
  cv::imencode(".jpg", picture, bytes, {cv::IMWRITE_JPEG_QUALITY, form.quality});
  return bytes;
}

nlohmann::json tones_of(const PicturePair& pair) {
  nlohmann::json json{{"before", nlohmann::json::array()},
                      {"after", nlohmann::json::array()},
                      {"curve", nlohmann::json::array()}};
  cv::Mat before;
  cv::Mat after;
  frame_to_bgr(pair.before.view(), pair.field_order, before);
  frame_to_bgr(pair.after.view(), pair.field_order, after);
  if (before.size() != after.size()) return json;
  const Tones tones = measure_tones(before, after);
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
