#pragma once

#include <cstdint>

#include <equalux/image.h>

#include "src/cpu/common/parallel.h"
#include "src/hessian/class_colours.h"

/// Tinting of frames by the class of each pixel.
namespace equalux {

/// Plane of classes, rows without padding.
struct ClassPlane {
  const std::uint8_t* first;
  int width;
  [[nodiscard]] const std::uint8_t* row(int y) const {
    return first + static_cast<std::size_t>(y) * static_cast<std::size_t>(width);
  }
};

/// Copies `in` to `out`, which may be the same memory, with pixels of class k > 0 tinted by
/// colours[k]. Takes all 8-bit formats but packed 4:2:2.
void paint_classes(const ConstImageView& in, const ImageView& out, const ClassPlane& classes,
                   const ClassColours& colours, bool interlaced, RowExecutor& executor);

/// Writes the heat map of levels 0 to 255 as bgr: black, red, yellow, white.
void paint_heat(const ClassPlane& levels, const ImageView& out, RowExecutor& executor);

}  // namespace equalux
