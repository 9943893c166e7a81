#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <equalux/image.h>

/// Planes of one frame, from which all figures are computed.
namespace equalux::quality {

struct Planes {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> value;  ///< V = max(R, G, B), row after row
  std::vector<float> luma;          ///< 0.299 R + 0.587 G + 0.114 B, levels

  [[nodiscard]] std::size_t at(int x, int y) const {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
           static_cast<std::size_t>(x);
  }
};

/// Fills `planes` from a bgr frame, and reuses its memory. Throws Error(usage) for any other
/// format.
void read_planes(const ConstImageView& bgr, Planes& planes);
[[nodiscard]] Planes planes_of(const ConstImageView& bgr);

}  // namespace equalux::quality
