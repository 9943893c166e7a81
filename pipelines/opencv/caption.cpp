#include "pipelines/opencv/caption.h"

#include <cstddef>

#include <opencv2/imgproc.hpp>

#include "src/common/utf8.h"

namespace equalux {
namespace {

constexpr int kFont = cv::FONT_HERSHEY_SIMPLEX;
constexpr double kTextScale = 0.42;

/// The letters of U+00C0 to U+017F without what stands on, below or through them.
constexpr std::string_view kPlainLatin =
    "AAAAAAACEEEEIIIIDNOOOOOxOUUUUYTsaaaaaaaceeeeiiiidnooooo/ouuuuyty"
    "AaAaAaCcCcCcCcDdDdEeEeEeEeEeGgGgGgGgHhHhIiIiIiIiIiIiJjKkkLlLlLlL"
    "lLlNnNnNnnNnOoOoOoOoRrRrRrSsSsSsSsTtTtTtUuUuUuUuUuUuWwYyYZzZzZzs";
constexpr unsigned kFirstLatin = 0xC0;

/// The code of two bytes of UTF-8; 0 where they are something else.
unsigned code_of_two(std::string_view bytes) {
  if (bytes.size() < 2 || !continues_letter(bytes[1])) return 0;
  const auto first = static_cast<unsigned char>(bytes[0]);
  const auto second = static_cast<unsigned char>(bytes[1]);
  return (first & 0xE0U) == 0xC0U ? (first & 0x1FU) << 6U | (second & 0x3FU) : 0;
}

}  // namespace

std::string in_ascii(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const unsigned code = code_of_two(text.substr(at));
    // An accent of its own behind its letter, as names on a Mac have it.
    const bool accent = code >= 0x300 && code <= 0x36F;
    if (continues_letter(text[at]) || accent) continue;
    if (code >= kFirstLatin && code - kFirstLatin < kPlainLatin.size()) {
      result += kPlainLatin[code - kFirstLatin];
    } else {
      result += static_cast<unsigned char>(text[at]) < 0x80 ? text[at] : '?';
    }
  }
  return result;
}

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
