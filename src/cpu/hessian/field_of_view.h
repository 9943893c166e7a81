#pragma once

#include <cstdint>
#include <vector>

#include <equalux/image.h>

#include "src/cpu/hessian/components.h"

/// The vignette, the dark around a photograph through a round opening, as of the back of the eye.
namespace equalux {

/// A pixel's brightness here is max(r, g, b), or luma. It is dark at or below max(10, p / 6), p the
/// level that nine tenths of the pixels of every fourth row do not exceed. The vignette is what is
/// dark and connected (by sides) to a corner of the frame; there is one where all four corners are
/// dark.
class VignetteFinder {
 public:
  /// `margin`: pixels in every direction by which the vignette grows, so that its rim is no line.
  VignetteFinder(const ImageDesc& desc, int margin);

  /// True where the frame has a vignette.
  [[nodiscard]] bool find(const ConstImageView& in);
  /// Marks of row y of the frame that find() saw last: not 0 where a pixel is outside.
  [[nodiscard]] const std::uint8_t* outside(int y) const {
    return plane_.data() + static_cast<std::size_t>(y) * static_cast<std::size_t>(desc_.width);
  }

 private:
  [[nodiscard]] int dark_level(const ConstImageView& in);
  void mark_vignette(const ConstImageView& in, int dark);
  void widen_rows();
  void widen_columns();
  [[nodiscard]] std::uint8_t* row(int y) {
    return plane_.data() + static_cast<std::size_t>(y) * static_cast<std::size_t>(desc_.width);
  }

  ImageDesc desc_;
  int margin_;
  std::vector<std::uint8_t> plane_;
  std::vector<std::uint8_t> levels_;  // of one row
  std::vector<int> since_;            // rows since the vignette, by column
  Components components_;
};

}  // namespace equalux
