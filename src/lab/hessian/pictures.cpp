#include "src/lab/hessian/pictures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include "src/format/layout.h"
#include "src/hessian/hessian_math.h"

namespace equalux::cli::lab {
namespace {

// Levels of b, g, r that the retina reflects, those that the optic disc adds, and the fraction that
// a vessel absorbs.
constexpr std::array<double, 3> kGround{45, 100, 190};
constexpr std::array<double, 3> kSpot{70, 95, 45};
constexpr std::array<double, 3> kVessel{0.25, 0.45, 0.15};
// Fractions of the picture's disc diameter.
constexpr double kSpotRadius = 0.08;
constexpr double kThickest = 1.0 / 60;
constexpr double kThinnest = 1.0 / 250;
constexpr int kTrees = 6;
constexpr int kNoiseDivisor = 4;  // triangular noise, -31 to 31, by 4: sigma about 3 levels

class Eye {
 public:
  Eye(const FrameSize& size, std::uint32_t seed)
      : width_(size.width),
        height_(size.height),
        diameter_(0.96 * std::min(size.width, size.height)),
        middle_x_(0.5 * size.width),
        middle_y_(0.5 * size.height),
        random_(seed),
        cover_(size.pixels()) {
    const double side = between(0, 1) < 0.5 ? -1 : 1;  // left or right eye
    spot_x_ = middle_x_ + side * between(0.22, 0.3) * diameter_;
    spot_y_ = middle_y_ + between(-0.06, 0.06) * diameter_;
  }

  void grow_trees() {
    const double turn = between(0, 2 * std::numbers::pi);
    for (int i = 0; i < kTrees; ++i) {
      const double angle = turn + (i + between(-0.3, 0.3)) * 2 * std::numbers::pi / kTrees;
      grow(spot_x_, spot_y_, angle, between(0.7, 1) * kThickest * diameter_);
    }
  }

  [[nodiscard]] Image paint() {
    Image image({PixelFormat::bgr, width_, height_});
    for (int y = 0; y < height_; ++y) {
      std::uint8_t* out = image.view().row(0, y);
      for (int x = 0; x < width_; ++x) {
        const std::uint32_t noise = static_cast<std::uint32_t>(random_());
        for (std::size_t c = 0; c < 3; ++c) {
          const auto bits = static_cast<unsigned>(10 * c);
          const int triangle = static_cast<int>((noise >> bits) & 31U) +
                               static_cast<int>((noise >> (bits + 5)) & 31U) - 31;
          const double level = level_at(x, y, c) + static_cast<double>(triangle) / kNoiseDivisor;
          *out++ = static_cast<std::uint8_t>(std::clamp(level + 0.5, 0.0, 255.0));
        }
      }
    }
    return image;
  }

 private:
  double between(double least, double most) {
    return least + (most - least) * (static_cast<double>(random_()) / 4294967296.0);
  }

  [[nodiscard]] double level_at(int x, int y, std::size_t channel) const {
    const double from_middle = std::hypot(x - middle_x_, y - middle_y_) / (0.5 * diameter_);
    if (from_middle > 1) return 3;  // black level of the camera
    const double from_spot = std::hypot(x - spot_x_, y - spot_y_) / (kSpotRadius * diameter_);
    const double light = 1 - 0.4 * from_middle * from_middle;
    const double spot = from_spot < 2 ? kSpot[channel] / (1 + std::pow(from_spot, 8)) : 0;
    const auto at = static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) +
                    static_cast<std::size_t>(x);
    return (kGround[channel] * light + spot) * (1 - kVessel[channel] * cover_[at]);
  }

  /// Draws a winding vessel, then two thinner branches at its end.
  void grow(double x, double y, double angle, double thickness) {
    const double step = std::max(2.0, thickness);
    const double length = between(0.08, 0.15) * diameter_;
    for (double done = 0; done < length; done += step) {
      const double next_x = x + step * std::cos(angle);
      const double next_y = y + step * std::sin(angle);
      stroke(x, y, next_x, next_y, thickness);
      x = next_x;
      y = next_y;
      angle += between(-0.16, 0.16);
      if (std::hypot(x - middle_x_, y - middle_y_) > 0.5 * diameter_) return;
    }
    if (thickness < kThinnest * diameter_ || thickness < 2) return;
    grow(x, y, angle + between(0.25, 0.7), thickness * between(0.6, 0.8));
    grow(x, y, angle - between(0.25, 0.7), thickness * between(0.65, 0.85));
  }

  /// Draws a line with round ends and antialiased edges.
  void stroke(double x0, double y0, double x1, double y1, double thickness) {
    const double reach = thickness / 2 + 1;
    const int left = std::max(0, static_cast<int>(std::min(x0, x1) - reach));
    const int right = std::min(width_ - 1, static_cast<int>(std::max(x0, x1) + reach + 1));
    const int top = std::max(0, static_cast<int>(std::min(y0, y1) - reach));
    const int bottom = std::min(height_ - 1, static_cast<int>(std::max(y0, y1) + reach + 1));
    const double dx = x1 - x0;
    const double dy = y1 - y0;
    for (int y = top; y <= bottom; ++y) {
      float* row = cover_.data() + static_cast<std::size_t>(y) * static_cast<std::size_t>(width_);
      for (int x = left; x <= right; ++x) {
        const double t =
            std::clamp(((x - x0) * dx + (y - y0) * dy) / (dx * dx + dy * dy), 0.0, 1.0);
        const double distance = std::hypot(x - x0 - t * dx, y - y0 - t * dy);
        const auto cover = static_cast<float>(std::clamp(thickness / 2 + 0.5 - distance, 0.0, 1.0));
        row[x] = std::max(row[x], cover);
      }
    }
  }

  int width_;
  int height_;
  double diameter_;
  double middle_x_;
  double middle_y_;
  double spot_x_ = 0;
  double spot_y_ = 0;
  std::mt19937 random_;
  std::vector<float> cover_;  // vessel coverage, 1 = inside
};

constexpr int kMarginPart = 16;  // crops of a user's image move within 1/16 of a side
constexpr int kCuts = 8;

}  // namespace

Image fundus_image(const FrameSize& size, std::uint32_t seed) {
  Eye eye(size, seed);
  eye.grow_trees();
  return eye.paint();
}

Image picture_of(const Lab& lab, const FrameSize& size, int index) {
  if (lab.image().empty()) return fundus_image(size, static_cast<std::uint32_t>(index + 1));
  const FrameSize larger{std::min(size.width + size.width / kMarginPart, kMaxSide),
                         std::min(size.height + size.height / kMarginPart, kMaxSide)};
  const Image whole = scaled(lab.image().view(), larger);
  const int step = index % kCuts;
  const ConstImageView cut = part_of(
      whole.view(), (larger.width - size.width) * step / (kCuts - 1),
      (larger.height - size.height) * ((step * 3) % kCuts) / (kCuts - 1), size.width, size.height);
  Image copy(cut.desc);
  copy_image(cut, copy.view());
  return copy;
}

Image channel_of(const ConstImageView& image, HessianChannel channel) {
  const ImageDesc& desc = image.desc;
  Image gray({PixelFormat::gray8, desc.width, desc.height});
  if (traits(desc.format).model == ColorModel::gray) {
    copy_image(image, gray.view());
    return gray;
  }
  const RgbLayout at = rgb_layout(desc.format);
  for (int y = 0; y < desc.height; ++y) {
    const std::uint8_t* pixel = image.row(0, y);
    std::uint8_t* out = gray.view().row(0, y);
    for (int x = 0; x < desc.width; ++x, pixel += at.step) {
      out[x] =
          static_cast<std::uint8_t>(channel_of_rgb(channel, pixel[at.r], pixel[at.g], pixel[at.b]));
    }
  }
  return gray;
}

}  // namespace equalux::cli::lab
