#pragma once

#include <array>
#include <cstdint>

#include <equalux/image.h>

#include "src/format/pixel_math.h"

/// Colours of pixel classes, and tinting of frames with them, in integers for host and device.
namespace equalux {

/// Colour in every form that a frame may have.
struct ClassColour {
  std::uint8_t r, g, b;
  std::uint8_t gray;  ///< replacement in frames without colour
  std::uint8_t y, cb, cr;
};

/// Colours by class; class 0 is never tinted.
inline constexpr int kMaxClasses = 5;
using ClassColours = std::array<ClassColour, kMaxClasses>;

/// Returns a colour with Y'CbCr for a stream's matrix and range.
[[nodiscard]] inline ClassColour class_colour(std::uint8_t r, std::uint8_t g, std::uint8_t b,
                                              std::uint8_t gray, ColorMatrix matrix,
                                              ColorRange range) {
  const double kr = matrix == ColorMatrix::bt601   ? 0.299
                    : matrix == ColorMatrix::bt709 ? 0.2126
                                                   : 0.2627;
  const double kb = matrix == ColorMatrix::bt601   ? 0.114
                    : matrix == ColorMatrix::bt709 ? 0.0722
                                                   : 0.0593;
  const bool limited = range == ColorRange::limited;
  const double luma = kr * r + (1 - kr - kb) * g + kb * b;
  const double y_scale = limited ? 219.0 / 255 : 1;
  const double c_scale = limited ? 224.0 / 255 : 1;
  const auto code = [](double offset, double level) {
    const double x = offset + level + 0.5;
    return static_cast<std::uint8_t>(x < 0 ? 0 : x > 255 ? 255 : x);
  };
  return {r,
          g,
          b,
          gray,
          code(limited ? 16 : 0, y_scale * luma),
          code(128, c_scale * (b - luma) / (2 * (1 - kb))),
          code(128, c_scale * (r - luma) / (2 * (1 - kr)))};
}

/// Returns the colour of vessels, green.
[[nodiscard]] inline ClassColours vessel_colours(ColorMatrix matrix, ColorRange range) {
  ClassColours colours{};
  colours[1] = class_colour(0, 255, 0, 255, matrix, range);
  return colours;
}

/// Returns the colours of shapes: dark lines blue, bright lines yellow, dark blobs magenta, bright
/// blobs red; in gray frames shades from white to black.
[[nodiscard]] inline ClassColours shape_colours(ColorMatrix matrix, ColorRange range) {
  return {ClassColour{}, class_colour(0, 96, 255, 255, matrix, range),
          class_colour(255, 224, 0, 0, matrix, range),
          class_colour(255, 0, 255, 192, matrix, range),
          class_colour(255, 32, 0, 64, matrix, range)};
}

/// Share of the colour in a tinted sample, of 256.
inline constexpr std::int32_t kTint = 144;

/// Tinted sample, rounded to nearest.
EQUALUX_HD std::uint8_t tinted(std::int32_t sample, std::int32_t colour) {
  return static_cast<std::uint8_t>((sample * (256 - kTint) + colour * kTint + 128) >> 8);
}

/// Tinted chroma sample that covers `pixels` pixels, of which `count` are tinted with colours that
/// add up to `sum`.
EQUALUX_HD std::uint8_t tinted_chroma(std::int32_t sample, std::int32_t sum, std::int32_t count,
                                      std::int32_t pixels) {
  const std::int32_t kept = sample * (256 * pixels - kTint * count);
  return static_cast<std::uint8_t>((kept + kTint * sum + 128 * pixels) / (256 * pixels));
}

}  // namespace equalux
