#include "src/quality/colourfulness.h"

#include <algorithm>
#include <cmath>

namespace equalux::quality {
namespace {

int value_of(const std::uint8_t* bgr) {
  return std::max({bgr[0], bgr[1], bgr[2]});
}

}  // namespace

double colourfulness(const ConstImageView& bgr) {
  // Doubled rg and yb are integers, so that the sums are exact.
  std::int64_t rg_sum = 0;
  std::int64_t yb_sum = 0;
  std::int64_t rg_squares = 0;
  std::int64_t yb_squares = 0;
  for (int y = 0; y < bgr.desc.height; ++y) {
    const std::uint8_t* pixel = bgr.row(0, y);
    for (int x = 0; x < bgr.desc.width; ++x, pixel += 3) {
      const int rg = 2 * (pixel[2] - pixel[1]);
      const int yb = pixel[2] + pixel[1] - 2 * pixel[0];
      rg_sum += rg;
      yb_sum += yb;
      rg_squares += rg * rg;
      yb_squares += yb * yb;
    }
  }
  const double pixels = static_cast<double>(bgr.desc.width) * bgr.desc.height;
  const double rg = static_cast<double>(rg_sum) / pixels;
  const double yb = static_cast<double>(yb_sum) / pixels;
  const double variance =
      static_cast<double>(rg_squares + yb_squares) / pixels - (rg * rg + yb * yb);
  return (std::sqrt(std::max(variance, 0.0)) + 0.3 * std::sqrt(rg * rg + yb * yb)) / 2;
}

void SkinValues::add(const SkinValues& more) {
  original += more.original;
  result += more.result;
  pixels += more.pixels;
}

bool is_skin(std::uint8_t red, std::uint8_t green, std::uint8_t blue) {
  const double luma = 0.299 * red + 0.587 * green + 0.114 * blue;
  const double cb = 128 + 224.0 / 255 * (blue - luma) / 1.772;
  const double cr = 128 + 224.0 / 255 * (red - luma) / 1.402;
  return cb >= 77 && cb <= 127 && cr >= 133 && cr <= 173;
}

SkinValues skin_values(const ConstImageView& bgr, const ConstImageView* result) {
  SkinValues values;
  for (int y = 0; y < bgr.desc.height; ++y) {
    const std::uint8_t* pixel = bgr.row(0, y);
    const std::uint8_t* other = result == nullptr ? nullptr : result->row(0, y);
    for (int x = 0; x < bgr.desc.width; ++x, pixel += 3) {
      if (!is_skin(pixel[2], pixel[1], pixel[0])) continue;
      values.original += value_of(pixel);
      if (other != nullptr) values.result += value_of(other + std::ptrdiff_t{3} * x);
      ++values.pixels;
    }
  }
  return values;
}

}  // namespace equalux::quality
