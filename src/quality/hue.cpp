#include "src/quality/hue.h"

#include <cmath>
#include <cstddef>
#include <numbers>

namespace equalux::quality {
namespace {

constexpr std::size_t kSteps = 4096;

/// Light of an sRGB level, 0 to 1.
std::array<float, 256> linear_light() {
  std::array<float, 256> table{};
  for (std::size_t i = 0; i < table.size(); ++i) {
    const double c = static_cast<double>(i) / 255;
    table[i] = static_cast<float>(c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4));
  }
  return table;
}

/// CIE's cube root with its straight part near black, at steps of 0 to 1 and one beyond.
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

}  // namespace

Lab lab_of(std::uint8_t red, std::uint8_t green, std::uint8_t blue) {
  static const std::array<float, 256> kLight = linear_light();
  const float r = kLight[red];
  const float g = kLight[green];
  const float b = kLight[blue];
  // IEC 61966-2-1's matrix, its rows divided by D65's X and Z.
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
      // The angle between two vectors; differences over 180 degrees cannot come out.
      const float cross = la.a * lb.b - la.b * lb.a;
      const float dot = la.a * lb.a + la.b * lb.b;
      result.sum_deg += static_cast<double>(std::fabs(std::atan2(cross, dot))) * kDegrees;
      ++result.pixels;
    }
  }
  return result;
}

}  // namespace equalux::quality
