#include "pipelines/opencv/still_formats.h"

#include <algorithm>
#include <array>

namespace equalux {
namespace {

constexpr std::array<StillFormat, 7> kFormats{{
    {"png", "PNG", kMaxSide, true, true},
    {"jpg", "JPEG", 65500, false, false},
    {"jpeg", "JPEG", 65500, false, false},
    {"bmp", "BMP", kMaxSide, false, true},
    {"tif", "TIFF", kMaxSide, true, true},
    {"tiff", "TIFF", kMaxSide, true, true},
    {"webp", "WebP", 16383, false, true},
}};

bool holds_deep(const std::string& extension) {
  const StillFormat* format = still_format_of(extension);
  return format != nullptr && format->holds_deep;
}

bool holds_alpha(const std::string& extension) {
  const StillFormat* format = still_format_of(extension);
  return format != nullptr && format->holds_alpha;
}

}  // namespace

const StillFormat* still_format_of(std::string_view extension) {
  const auto* found = std::find_if(kFormats.begin(), kFormats.end(),
                                   [&](const StillFormat& f) { return f.extension == extension; });
  return found == kFormats.end() ? nullptr : found;
}

StillCodec still_codec_of_formats() {
  return {.holds_deep = holds_deep, .holds_alpha = holds_alpha};
}

}  // namespace equalux
