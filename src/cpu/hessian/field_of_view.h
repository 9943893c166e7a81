#pragma once

#include <cstdint>
#include <vector>

#include <equalux/image.h>

#include "src/cpu/hessian/components.h"

/// Detection of the vignette, the dark around a photograph through a round opening, as of the
/// retina.
namespace equalux {

/// Finder of the vignette: dark pixels that are connected, by their sides, to a corner of the
/// frame, if all four corners are dark. Brightness is max(r, g, b), or luma; vessel_math.h tells
/// what is dark.
class VignetteFinder {
 public:
  /// Makes a finder; the vignette grows by `margin` pixels in every direction, so that its rim is
  /// no line.
  VignetteFinder(const ImageDesc& desc, int margin);

  /// Returns true where the frame has a vignette.
  [[nodiscard]] bool find(const ConstImageView& in);
  /// Returns the marks of row y of the last frame: not 0 where a pixel is outside.
  [[nodiscard]] const std::uint8_t* outside(int y) const {
    return plane_.data() + static_cast<std::size_t>(y) * static_cast<std::size_t>(desc_.width);
  }

 private:
  [[nodiscard]] int dark_level_of(const ConstImageView& in);
  void mark_vignette(const ConstImageView& in, int dark);
  void widen_rows();
  void widen_columns();
  [[nodiscard]] std::uint8_t* row(int y) {
    return plane_.data() + static_cast<std::size_t>(y) * static_cast<std::size_t>(desc_.width);
  }

  ImageDesc desc_;
  int black_;
  int margin_;
  std::vector<std::uint8_t> plane_;
  std::vector<std::uint8_t> levels_;  // one row
  std::vector<int> since_;            // rows since the vignette, by column
  Components components_;
};

}  // namespace equalux
