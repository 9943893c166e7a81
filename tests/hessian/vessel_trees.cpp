#include "tests/hessian/vessel_trees.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

namespace equalux::test {
namespace {

/// Numbers that are the same with every standard library.
class Dice {
 public:
  explicit Dice(std::uint32_t seed) : engine_(seed) {}
  double between(double least, double most) {
    return least + (most - least) * (static_cast<double>(engine_()) / 4294967296.0);
  }
  /// A nearly normal number of mean 0 and deviation 1.
  double noise() {
    double sum = 0;
    for (int i = 0; i < 12; ++i)
      sum += between(0, 1);
    return sum - 6;
  }

 private:
  std::mt19937 engine_;
};

class TreePainter {
 public:
  TreePainter(int width, int height, std::uint32_t seed)
      : width_(width),
        height_(height),
        dice_(seed),
        cover_(static_cast<std::size_t>(width) * static_cast<std::size_t>(height)) {}

  void grow(double x, double y, double angle, double thickness) {
    const double length = dice_.between(9, 16) * std::sqrt(thickness);
    for (double done = 0; done < length; done += 4) {
      const double next_x = x + 4 * std::cos(angle);
      const double next_y = y + 4 * std::sin(angle);
      stroke(x, y, next_x, next_y, thickness);
      x = next_x;
      y = next_y;
      angle += dice_.between(-0.16, 0.16);
      if (x < 0 || y < 0 || x >= width_ || y >= height_) return;
    }
    if (thickness <= 3) return;
    grow(x, y, angle + dice_.between(0.25, 0.7),
         std::max(3.0, thickness * dice_.between(0.6, 0.85)));
    grow(x, y, angle - dice_.between(0.25, 0.7),
         std::max(3.0, thickness * dice_.between(0.7, 0.9)));
  }

  VesselTree finish(bool bright) {
    const double contrast = dice_.between(0.22, 0.4);
    const double light_angle = dice_.between(0, 2 * std::numbers::pi);
    VesselTree tree{Image({PixelFormat::gray8, width_, height_}), {}};
    for (int y = 0; y < height_; ++y) {
      for (int x = 0; x < width_; ++x) {
        const double cover = cover_[static_cast<std::size_t>(y * width_ + x)];
        const double along =
            (x * std::cos(light_angle) / width_ + y * std::sin(light_angle) / height_);
        const double ground = (bright ? 95 : 140) * (1 - 0.35 * along);
        const double level = ground * (1 + (bright ? contrast : -contrast) * cover);
        tree.image.view().row(0, y)[x] =
            static_cast<std::uint8_t>(std::clamp(level + 4 * dice_.noise() + 0.5, 0.0, 255.0));
        tree.mask.push_back(cover >= 0.5 ? 1 : 0);
      }
    }
    return tree;
  }

 private:
  /// A line with round ends and edges a pixel wide.
  void stroke(double x0, double y0, double x1, double y1, double thickness) {
    const double reach = thickness / 2 + 1;
    const int left = std::max(0, static_cast<int>(std::min(x0, x1) - reach));
    const int right = std::min(width_ - 1, static_cast<int>(std::max(x0, x1) + reach + 1));
    const int top = std::max(0, static_cast<int>(std::min(y0, y1) - reach));
    const int bottom = std::min(height_ - 1, static_cast<int>(std::max(y0, y1) + reach + 1));
    const double dx = x1 - x0;
    const double dy = y1 - y0;
    for (int y = top; y <= bottom; ++y) {
      for (int x = left; x <= right; ++x) {
        const double t =
            std::clamp(((x - x0) * dx + (y - y0) * dy) / (dx * dx + dy * dy), 0.0, 1.0);
        const double distance = std::hypot(x - x0 - t * dx, y - y0 - t * dy);
        double& cover = cover_[static_cast<std::size_t>(y * width_ + x)];
        cover = std::max(cover, std::clamp(thickness / 2 + 0.5 - distance, 0.0, 1.0));
      }
    }
  }

  int width_;
  int height_;
  Dice dice_;
  std::vector<double> cover_;
};

}  // namespace

VesselTree vessel_tree(int width, int height, std::uint32_t seed, bool bright) {
  TreePainter painter(width, height, seed);
  Dice dice(seed + 77);
  painter.grow(0, dice.between(0.2, 0.5) * height, dice.between(-0.1, 0.4), dice.between(9, 12));
  painter.grow(width - 1, dice.between(0.5, 0.8) * height, dice.between(2.9, 3.5),
               dice.between(7, 11));
  return painter.finish(bright);
}

double dice(const ConstImageView& mask, const std::vector<std::uint8_t>& known) {
  std::size_t both = 0;
  std::size_t sum = 0;
  for (int y = 0; y < mask.desc.height; ++y) {
    for (int x = 0; x < mask.desc.width; ++x) {
      const std::size_t a = mask.row(0, y)[x] != 0 ? 1 : 0;
      const std::size_t b = known[static_cast<std::size_t>(y * mask.desc.width + x)];
      both += a & b;
      sum += a + b;
    }
  }
  return sum == 0 ? 1 : 2.0 * static_cast<double>(both) / static_cast<double>(sum);
}

}  // namespace equalux::test
