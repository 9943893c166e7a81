#pragma once

#include <cstdint>

#include <equalux/image.h>

/// Arithmetic on single samples, written once for host and device. docs/algorithm.md has the
/// formulas.
#if defined(__CUDACC__)
#define EQUALUX_HD __host__ __device__ __forceinline__
#else
#define EQUALUX_HD inline
#endif

namespace equalux {

/// Integer weights by which V is computed from a YCbCr sample, with 16 fractional bits.
struct YuvWeights {
  std::int32_t luma_offset;  ///< code of black: 16 or 0
  std::int32_t luma_max;     ///< M, codes from black to white: 219 or 255
  std::int32_t red_w;        ///< weight of Cr in R - Y
  std::int32_t green_u;      ///< weight of Cb in Y - G
  std::int32_t green_w;      ///< weight of Cr in Y - G
  std::int32_t blue_u;       ///< weight of Cb in B - Y
};

/// Weights of a matrix and range, in luma codes for each chroma code, from R - Y = 2 (1 - Kr) Cr
/// and the like (ITU-R BT.601, BT.709, BT.2020).
constexpr YuvWeights yuv_weights(ColorMatrix matrix, ColorRange range) {
  const double kr = matrix == ColorMatrix::bt601   ? 0.299
                    : matrix == ColorMatrix::bt709 ? 0.2126
                                                   : 0.2627;
  const double kb = matrix == ColorMatrix::bt601   ? 0.114
                    : matrix == ColorMatrix::bt709 ? 0.0722
                                                   : 0.0593;
  const double kg = 1.0 - kr - kb;
  const bool limited = range == ColorRange::limited;
  const double unit = 65536.0 * (limited ? 219.0 / 224.0 : 1.0);
  const auto fixed = [unit](double k) { return static_cast<std::int32_t>(unit * k + 0.5); };
  return {limited ? 16 : 0,
          limited ? 219 : 255,
          fixed(2.0 * (1.0 - kr)),
          fixed(2.0 * kb * (1.0 - kb) / kg),
          fixed(2.0 * kr * (1.0 - kr) / kg),
          fixed(2.0 * (1.0 - kb))};
}

/// V less luma, in luma codes: max(R, G, B) - Y, rounded to nearest. Never negative, as one of R -
/// Y, G - Y and B - Y always is at least 0.
EQUALUX_HD std::int32_t value_above_luma(const YuvWeights& k, std::int32_t cb, std::int32_t cr) {
  const std::int32_t u = cb - 128;
  const std::int32_t w = cr - 128;
  const std::int32_t red = k.red_w * w;
  const std::int32_t green = -k.green_u * u - k.green_w * w;
  const std::int32_t blue = k.blue_u * u;
  const std::int32_t most = red > green ? (red > blue ? red : blue) : (green > blue ? green : blue);
  return (most + 32768) >> 16;
}

/// value_above_luma() for more than 8 bits. u and w are Cb and Cr less the middle; at depth 16 the
/// products need 64 bits, up to 12 bits `Wide` may be std::int32_t.
template <typename Wide = std::int64_t>
EQUALUX_HD std::int32_t deep_value_above_luma(const YuvWeights& k, std::int32_t u, std::int32_t w) {
  const Wide red = Wide{k.red_w} * w;
  const Wide green = -Wide{k.green_u} * u - Wide{k.green_w} * w;
  const Wide blue = Wide{k.blue_u} * u;
  const Wide most = red > green ? (red > blue ? red : blue) : (green > blue ? green : blue);
  return static_cast<std::int32_t>((most + 32768) >> 16);
}

/// Value channel of a YCbCr sample, 0 to M.
EQUALUX_HD std::int32_t yuv_value(const YuvWeights& k, std::int32_t luma, std::int32_t above) {
  const std::int32_t v = luma - k.luma_offset + above;
  return v < 0 ? 0 : (v > k.luma_max ? k.luma_max : v);
}

/// Pixel of the staged chain: hue in degrees, 0 to below 360; saturation and value 0 to 1.
struct Hsv {
  float h;
  float s;
  float v;
};

/// HSV of an 8-bit RGB pixel by six sectors, in single precision with a fixed order of operations.
EQUALUX_HD Hsv rgb_to_hsv_pixel(std::int32_t r, std::int32_t g, std::int32_t b) {
  const std::int32_t most = r > g ? (r > b ? r : b) : (g > b ? g : b);
  const std::int32_t least = r < g ? (r < b ? r : b) : (g < b ? g : b);
  const std::int32_t delta = most - least;
  Hsv out;
  out.v = static_cast<float>(most) / 255.0f;
  out.s = most == 0 ? 0.0f : 1.0f - static_cast<float>(least) / static_cast<float>(most);
  if (delta == 0) {
    out.h = 0.0f;
    return out;
  }
  const float d = static_cast<float>(delta);
  float sector;
  if (most == r) {
    sector = static_cast<float>(g - b) / d;
    if (sector < 0.0f) sector = sector + 6.0f;
  } else if (most == g) {
    sector = static_cast<float>(b - r) / d + 2.0f;
  } else {
    sector = static_cast<float>(r - g) / d + 4.0f;
  }
  out.h = 60.0f * sector;
  return out;
}

/// Pixel of three 8-bit channels.
struct Rgb {
  std::uint8_t r;
  std::uint8_t g;
  std::uint8_t b;
};

/// round(255 x), halves up, for x of 0 to 1.
EQUALUX_HD std::int32_t level_of(float x) {
  return static_cast<std::int32_t>(255.0f * x + 0.5f);
}

/// RGB of an HSV pixel: chroma c = v s, second largest component x = c (1 - |h / 60 mod 2 - 1|),
/// least channel m = v - c.
EQUALUX_HD Rgb hsv_to_rgb_pixel(const Hsv& in) {
  const float sector = in.h / 60.0f;
  const auto whole = static_cast<std::int32_t>(sector);
  const float within = sector - static_cast<float>(whole & ~1);  // sector mod 2, exact
  const float from_one = within - 1.0f;
  const float c = in.v * in.s;
  const float x = c * (1.0f - (from_one < 0.0f ? -from_one : from_one));
  const float m = in.v - c;
  const auto high = static_cast<std::uint8_t>(level_of(c + m));
  const auto middle = static_cast<std::uint8_t>(level_of(x + m));
  const auto low = static_cast<std::uint8_t>(level_of(m));
  switch (whole) {
    case 0:
      return {high, middle, low};
    case 1:
      return {middle, high, low};
    case 2:
      return {low, high, middle};
    case 3:
      return {low, middle, high};
    case 4:
      return {middle, low, high};
    default:
      return {high, low, middle};
  }
}

}  // namespace equalux
