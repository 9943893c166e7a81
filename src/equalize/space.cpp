#include "src/equalize/space.h"

#include <cmath>

namespace equalux {
namespace {

/// White in 16-bit linear light.
constexpr double kWhite = 65535;

/// Linear light, 0 to 1, of an sRGB code (IEC 61966-2-1), which may be fractional.
double light_of(double code) {
  const double c = code / 255;
  return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}

/// Luminance of a level of lightness, 0 to 1 (CIE 15).
double luminance_of_level(double level) {
  const double lightness = level * 100 / 255;
  return lightness <= 8 ? lightness * 27 / 24389 : std::pow((lightness + 16) / 116, 3);
}

/// Steps at `function` of each result less one half.
template <typename Function>
SpaceSteps steps_of(Function function) {
  SpaceSteps steps{};
  for (std::size_t i = 1; i < 256; ++i) {
    steps.from[i] =
        static_cast<std::uint32_t>(std::ceil(kWhite * function(static_cast<double>(i) - 0.5)));
  }
  steps.from[256] = 65536;
  std::size_t result = 0;
  for (std::size_t i = 0; i < 4096; ++i) {
    while (steps.from[result + 1] <= 16 * i)
      ++result;
    steps.base[i] = static_cast<std::uint8_t>(result);
  }
  return steps;
}

}  // namespace

SpaceTables make_space_tables(Space space) {
  SpaceTables tables{};
  for (std::size_t code = 0; code < 256; ++code) {
    tables.light[code] =
        static_cast<std::uint16_t>(std::lround(kWhite * light_of(static_cast<double>(code))));
    const std::uint32_t amount =
        space == Space::luma ? static_cast<std::uint32_t>(code) : tables.light[code];
    tables.part[0][code] = kLumaWeights.red * amount;
    tables.part[1][code] = kLumaWeights.green * amount;
    tables.part[2][code] = kLumaWeights.blue * amount;
  }
  tables.levels = steps_of(luminance_of_level);
  tables.codes = steps_of(light_of);
  return tables;
}

}  // namespace equalux
