#pragma once

#include <string>

#include <equalux/image.h>

/// Sizes of frames in messages.
namespace equalux {

/// Returns "640x480".
[[nodiscard]] inline std::string size_text(int width, int height) {
  return std::to_string(width) + "x" + std::to_string(height);
}
[[nodiscard]] inline std::string size_text(const ImageDesc& desc) {
  return size_text(desc.width, desc.height);
}

/// Returns "640x480 nv12".
[[nodiscard]] inline std::string size_and_format(const ImageDesc& desc) {
  return size_text(desc) + " " + std::string(to_string(desc.format));
}

}  // namespace equalux
