#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>

#include <equalux/image.h>

/// bgr frames that are given pixel by pixel.
namespace equalux::test {

struct Rgb {
  std::uint8_t red = 0;
  std::uint8_t green = 0;
  std::uint8_t blue = 0;
};
[[nodiscard]] inline Rgb grey(int level) {
  const auto v = static_cast<std::uint8_t>(level);
  return {v, v, v};
}

/// `color(x, y)` is an Rgb.
template <typename Color>
[[nodiscard]] Image painted(int width, int height, const Color& color) {
  Image image({PixelFormat::bgr, width, height});
  for (int y = 0; y < height; ++y) {
    std::uint8_t* pixel = image.view().row(0, y);
    for (int x = 0; x < width; ++x, pixel += 3) {
      const Rgb rgb = color(x, y);
      pixel[0] = rgb.blue;
      pixel[1] = rgb.green;
      pixel[2] = rgb.red;
    }
  }
  return image;
}

/// Seeded whole numbers around 0 whose standard deviation is `sigma`, about normally distributed.
class Grain {
 public:
  Grain(double sigma, std::uint32_t seed) : sigma_(sigma), random_(seed) {}
  [[nodiscard]] int next() {
    double sum = 0;  // of twelve uniform numbers, whose variance is 1
    for (int i = 0; i < 12; ++i)
      sum += static_cast<double>(random_()) / 4294967296.0 - 0.5;
    return static_cast<int>(sum * sigma_ + 1000.5) - 1000;
  }

 private:
  double sigma_;
  std::mt19937 random_;
};

}  // namespace equalux::test
