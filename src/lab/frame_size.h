#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <equalux/image.h>

/// Frame sizes, for experiments over several of them.
namespace equalux::cli::lab {

struct FrameSize {
  int width = 0;   ///< pixels
  int height = 0;  ///< pixels

  [[nodiscard]] std::uint64_t pixels() const {
    return static_cast<std::uint64_t>(width) * static_cast<std::uint64_t>(height);
  }
  friend bool operator==(const FrameSize&, const FrameSize&) = default;
};

/// Returns such as "640x480".
[[nodiscard]] std::string size_text(const FrameSize& size);
/// Reads such as "100x100,640x480". Throws Error(usage) that names the option.
[[nodiscard]] std::vector<FrameSize> read_sizes(const std::string& option, const std::string& text);

/// Resizes with bilinear interpolation. Takes gray8 and packed RGB formats.
[[nodiscard]] Image scaled(const ConstImageView& image, const FrameSize& size);

}  // namespace equalux::cli::lab
