#include "src/quality/hue.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

namespace equalux::quality {
namespace {

constexpr std::size_t kSteps = 4096;

/// Linear light of each sRGB level, 0 to 1 (IEC 61966-2-1).
std::array<float, 256> linear_light() {
  std::array<float, 256> table{};
  for (std::size_t i = 0; i < table.size(); ++i) {
    const double c = static_cast<double>(i) / 255;
    table[i] = static_cast<float>(c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4));
  }
  return table;
}

/// Table of CIE's f(t), the cube root with a linear part near black: t = 0 to 1, and one entry
/// beyond for interpolation.
std::array<float, kSteps + 2> lightness_roots() {
  constexpr double kEdge = 6.0 / 29;
  std::array<float, kSteps + 2> table{};
  for (std::size_t i = 0; i < table.size(); ++i) {
    const double t = static_cast<double>(i) / kSteps;
    table[i] = static_cast<float>(t > kEdge * kEdge * kEdge ? std::cbrt(t)
                                                            : t / (3 * kEdge * kEdge) + 4.0 / 29);
  }
  return table;
}

float root_of(float t) {
  static const std::array<float, kSteps + 2> kRoots = lightness_roots();
  const float place = t * static_cast<float>(kSteps);
  const auto step = static_cast<std::size_t>(place);
  const float part = place - static_cast<float>(step);
  return kRoots[step] + (kRoots[step + 1] - kRoots[step]) * part;
}

/// Hue as a unit vector, and chroma as its length; grey has hue 0.
struct Direction {
  double x = 1;
  double y = 0;
  double length = 0;

  Direction() = default;
  Direction(double along_a, double along_b)
      : length(std::sqrt(along_a * along_a + along_b * along_b)) {
    if (length == 0) return;
    x = along_a / length;
    y = along_b / length;
  }
  static Direction of_degrees(double angle) {
    return {std::cos(angle * std::numbers::pi / 180), std::sin(angle * std::numbers::pi / 180)};
  }
};

/// Returns the mean hue of CIEDE2000; where one colour is grey, the hue of the other.
Direction mean_hue(const Direction& a, const Direction& b) {
  if (a.length == 0) return b;
  if (b.length == 0) return a;
  const Direction mean(a.x + b.x, a.y + b.y);
  // Opposite hues: the mean is half the sum of their angles, each 0 to 360 degrees.
  if (mean.length < 1e-9) return a.y >= 0 ? Direction(-a.y, a.x) : Direction(a.y, -a.x);
  return mean;
}

}  // namespace

Lab lab_of(std::uint8_t red, std::uint8_t green, std::uint8_t blue) {
  static const std::array<float, 256> kLight = linear_light();
  const float r = kLight[red];
  const float g = kLight[green];
  const float b = kLight[blue];
  // Matrix of IEC 61966-2-1, its rows divided by X and Z of the D65 white point.
  const float x = root_of((0.4124F * r + 0.3576F * g + 0.1805F * b) / 0.9505F);
  const float y = root_of(0.2126F * r + 0.7152F * g + 0.0722F * b);
  const float z = root_of((0.0193F * r + 0.1192F * g + 0.9505F * b) / 1.0890F);
  return {116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

HueDifference hue_difference(const ConstImageView& a, const ConstImageView& b) {
  constexpr float kLeastSquare = kLeastChroma * kLeastChroma;
  constexpr double kDegrees = 180 / std::numbers::pi;
  HueDifference result;
  for (int y = 0; y < a.desc.height; ++y) {
    const std::uint8_t* pa = a.row(0, y);
    const std::uint8_t* pb = b.row(0, y);
    for (int x = 0; x < a.desc.width; ++x, pa += 3, pb += 3) {
      const Lab la = lab_of(pa[2], pa[1], pa[0]);
      if (la.a * la.a + la.b * la.b < kLeastSquare) continue;
      const Lab lb = lab_of(pb[2], pb[1], pb[0]);
      if (lb.a * lb.a + lb.b * lb.b < kLeastSquare) continue;
      // Angle between the two vectors (a*, b*), 0 to 180 degrees.
      const float cross = la.a * lb.b - la.b * lb.a;
      const float dot = la.a * lb.a + la.b * lb.b;
      result.sum_deg += static_cast<double>(std::fabs(std::atan2(cross, dot))) * kDegrees;
      ++result.pixels;
    }
  }
  return result;
}

double ciede2000(const Lab& a, const Lab& b) {
  using std::numbers::pi;
  // Chroma with a* stretched near the neutral axis: Sharma, Wu and Dalal (2005), equations 2 to 7.
  const auto chroma_of = [](double x, double y) { return std::sqrt(x * x + y * y); };
  const auto weight = [](double chroma) {
    const double third = chroma * chroma * chroma;
    const double seventh = third * third * chroma;
    constexpr double k25 = 6103515625.0;  // 25^7
    return std::sqrt(seventh / (seventh + k25));
  };
  const double stretch = 1 + 0.5 * (1 - weight((chroma_of(a.a, a.b) + chroma_of(b.a, b.b)) / 2));
  const Direction first(stretch * a.a, a.b);
  const Direction second(stretch * b.a, b.b);
  // Differences, equations 8 to 11: 2 sin(angle / 2) is the distance between the unit vectors of
  // two hues.
  const double lightness = static_cast<double>(b.l) - a.l;
  const double chroma = second.length - first.length;
  const double apart = chroma_of(second.x - first.x, second.y - first.y);
  const double hue = std::copysign(std::sqrt(first.length * second.length) * apart,
                                   first.x * second.y - first.y * second.x);
  // Weights, equations 12 to 22.
  const double mean_lightness = (static_cast<double>(a.l) + b.l) / 2;
  const double mean_chroma = (first.length + second.length) / 2;
  const Direction mean = mean_hue(first, second);
  const double cos2 = 2 * mean.x * mean.x - 1;
  const double sin2 = 2 * mean.x * mean.y;
  const double cos3 = mean.x * cos2 - mean.y * sin2;
  const double sin3 = mean.y * cos2 + mean.x * sin2;
  const double cos4 = 2 * cos2 * cos2 - 1;
  const double sin4 = 2 * sin2 * cos2;
  static const Direction k6 = Direction::of_degrees(6);
  static const Direction k30 = Direction::of_degrees(30);
  static const Direction k63 = Direction::of_degrees(63);
  static const Direction kBlue = Direction::of_degrees(275);
  const double t = 1 - 0.17 * (mean.x * k30.x + mean.y * k30.y) + 0.24 * cos2 +
                   0.32 * (cos3 * k6.x - sin3 * k6.y) - 0.20 * (cos4 * k63.x + sin4 * k63.y);
  // Rotation term of blue hues, around 275 degrees; below 1e-5 at more than 90 degrees from there,
  // taken as 0.
  double rotation = 0;
  const double to_blue = mean.x * kBlue.x + mean.y * kBlue.y;
  if (to_blue > 0) {
    const double off = std::atan2(kBlue.x * mean.y - kBlue.y * mean.x, to_blue) * 180 / pi / 25;
    rotation = -2 * weight(mean_chroma) * std::sin(pi / 3 * std::exp(-off * off));
  }
  const double off_middle = (mean_lightness - 50) * (mean_lightness - 50);
  const double l = lightness / (1 + 0.015 * off_middle / std::sqrt(20 + off_middle));
  const double c = chroma / (1 + 0.045 * mean_chroma);
  const double h = hue / (1 + 0.015 * mean_chroma * t);
  return std::sqrt(std::max(l * l + c * c + h * h + rotation * c * h, 0.0));
}

double colour_difference(const ConstImageView& a, const ConstImageView& b) {
  double sum = 0;
  for (int y = 0; y < a.desc.height; ++y) {
    const std::uint8_t* pa = a.row(0, y);
    const std::uint8_t* pb = b.row(0, y);
    for (int x = 0; x < a.desc.width; ++x, pa += 3, pb += 3) {
      if (pa[0] == pb[0] && pa[1] == pb[1] && pa[2] == pb[2]) continue;
      sum += ciede2000(lab_of(pa[2], pa[1], pa[0]), lab_of(pb[2], pb[1], pb[0]));
    }
  }
  return sum / (static_cast<double>(a.desc.width) * a.desc.height);
}

}  // namespace equalux::quality
