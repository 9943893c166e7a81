#include "src/quality/planes.h"

#include <algorithm>
#include <string>

#include <equalux/error.h>

namespace equalux::quality {

void read_planes(const ConstImageView& bgr, Planes& planes) {
  if (bgr.desc.format != PixelFormat::bgr) {
    throw Error(ExitCode::usage, "quality is measured of bgr frames, not of " +
                                     std::string(to_string(bgr.desc.format)));
  }
  planes.width = bgr.desc.width;
  planes.height = bgr.desc.height;
  const std::size_t pixels = planes.at(0, planes.height);
  planes.value.resize(pixels);
  planes.luma.resize(pixels);
  for (int y = 0; y < planes.height; ++y) {
    const std::uint8_t* pixel = bgr.row(0, y);
    const std::size_t first = planes.at(0, y);
    for (std::size_t i = first; i < first + static_cast<std::size_t>(planes.width);
         ++i, pixel += 3) {
      planes.value[i] = std::max({pixel[0], pixel[1], pixel[2]});
      planes.luma[i] = 0.114F * static_cast<float>(pixel[0]) +
                       0.587F * static_cast<float>(pixel[1]) +
                       0.299F * static_cast<float>(pixel[2]);
    }
  }
}

Planes planes_of(const ConstImageView& bgr) {
  Planes planes;
  read_planes(bgr, planes);
  return planes;
}

}  // namespace equalux::quality
