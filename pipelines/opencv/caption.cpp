#include "pipelines/opencv/caption.h"

#include <opencv2/imgproc.hpp>

#include "src/common/utf8.h"

namespace equalux {
namespace {

constexpr int kFont = cv::FONT_HERSHEY_SIMPLEX;
constexpr double kTextScale = 0.42;

std::string in_ascii(const std::string& text) {
  std::string result;
  for (const char c : text)
    if (!continues_letter(c)) result += static_cast<unsigned char>(c) < 0x80 ? c : '?';
  return result;
}

}  // namespace

void draw_caption(const ImageView& picture, int left, int baseline, int width, std::string text) {
  text = in_ascii(text);
  const auto too_wide = [&] {
    int below = 0;
    return cv::getTextSize(text, kFont, kTextScale, 1, &below).width > width;
  };
  while (text.size() > 4 && too_wide())
    text = "..." + text.substr(4);
  cv::Mat mat(picture.desc.height, picture.desc.width, CV_8UC3, picture.data[0],
              static_cast<std::size_t>(picture.stride[0]));
  cv::putText(mat, text, {left, baseline}, kFont, kTextScale, {220, 220, 220}, 1, cv::LINE_AA);
}

}  // namespace equalux
