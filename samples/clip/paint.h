// What both scenes of the sample clip are painted with: colours, noise, shapes, a canvas.
//
// The clip must come out with the same bytes on every machine, so only operations that IEEE 754
// rounds exactly are used (+ - * / sqrt floor), sine is a polynomial, and randomness is an integer
// hash. Build with -ffp-contract=off.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace clip {

inline constexpr int kWidth = 640;
inline constexpr int kHeight = 360;
inline constexpr int kFramesPerSecond = 25;

// Linear in display values: 0 is black, 1 is white; values may leave that range until the end.
struct Color {
  float r = 0, g = 0, b = 0;
};
inline Color operator+(Color a, Color c) {
  return {a.r + c.r, a.g + c.g, a.b + c.b};
}
inline Color operator*(Color a, Color c) {
  return {a.r * c.r, a.g * c.g, a.b * c.b};
}
inline Color operator*(Color a, float k) {
  return {a.r * k, a.g * k, a.b * k};
}

// A colour and how much of the pixel it covers, 0..1.
struct Paint {
  Color color;
  float cover = 0;
};

inline float saturate(float x) {
  return std::min(std::max(x, 0.0F), 1.0F);
}
inline float mix(float a, float b, float k) {
  return a + (b - a) * k;
}
inline Color mix(Color a, Color b, float k) {
  return a + (b + a * -1.0F) * k;
}
inline float fract(float x) {
  return x - std::floor(x);
}

inline float smoothstep(float from, float to, float x) {
  const float k = saturate((x - from) / (to - from));
  return k * k * (3 - 2 * k);
}

// sin(2 pi turns), within 0.0011.
inline float sine(float turns) {
  const float q = 2 * fract(turns) - 1;
  const float y = 4 * q * (1 - std::fabs(q));
  return -(0.225F * (y * std::fabs(y) - y) + y);
}

// 1 at the centre, falling off softly; `d2` is the squared distance in units of the radius.
inline float glow(float d2) {
  return 1 / (1 + d2 * (1 + d2));
}

// ---- noise -------------------------------------------------------------------------------------

inline std::uint32_t hash_bits(std::uint32_t x, std::uint32_t y, std::uint32_t z = 0) {
  std::uint32_t h = x * 0x8DA6B343U ^ y * 0xD8163841U ^ z * 0xCB1AB31FU;
  h = (h ^ (h >> 15)) * 0x2C1B3C6DU;
  h = (h ^ (h >> 12)) * 0x297A2D39U;
  return h ^ (h >> 15);
}

// Uniform in [0, 1).
inline float random_at(int x, int y, int z = 0) {
  const auto bits = hash_bits(static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y),
                              static_cast<std::uint32_t>(z));
  return static_cast<float>(bits >> 8) * (1.0F / 16777216.0F);
}

// Smooth noise in [0, 1], one feature a unit.
inline float noise(float x, float y, int seed = 0) {
  const float fx = std::floor(x);
  const float fy = std::floor(y);
  const int ix = static_cast<int>(fx);
  const int iy = static_cast<int>(fy);
  const float u = smoothstep(0, 1, x - fx);
  const float v = smoothstep(0, 1, y - fy);
  return mix(mix(random_at(ix, iy, seed), random_at(ix + 1, iy, seed), u),
             mix(random_at(ix, iy + 1, seed), random_at(ix + 1, iy + 1, seed), u), v);
}

// Noise over several scales, in [0, 1], mean 1/2.
inline float cloud(float x, float y, int octaves, int seed = 0) {
  float sum = 0;
  float weight = 0.5F;
  float total = 0;
  for (int i = 0; i < octaves; ++i) {
    sum += weight * noise(x, y, seed + i);
    total += weight;
    weight *= 0.5F;
    // Turned a little at each scale, so that the lattice does not show.
    const float rotated = 1.6F * x - 1.2F * y + 7.3F;
    y = 1.2F * x + 1.6F * y + 3.1F;
    x = rotated;
  }
  return sum / total;
}

// ---- shapes: signed distance in pixels, negative inside -----------------------------------------

inline float box(float x, float y, float left, float top, float right, float bottom) {
  return std::max(std::max(left - x, x - right), std::max(top - y, y - bottom));
}

inline float length(float x, float y) {
  return std::sqrt(x * x + y * y);
}

inline float ellipse(float x, float y, float rx, float ry) {
  // Not the true distance, but right where it matters: near the edge.
  const float k = length(x / rx, y / ry);
  return (k - 1) * std::min(rx, ry);
}

inline float segment(float x, float y, float x0, float y0, float x1, float y1, float radius) {
  const float dx = x1 - x0;
  const float dy = y1 - y0;
  const float k = saturate(((x - x0) * dx + (y - y0) * dy) / (dx * dx + dy * dy));
  return length(x - x0 - k * dx, y - y0 - k * dy) - radius;
}

// How much of a pixel lies inside, with a soft edge one pixel wide.
inline float cover(float distance) {
  return saturate(0.5F - distance);
}

// ---- canvas ------------------------------------------------------------------------------------

inline Paint over(Paint below, Paint above) {
  const float total = below.cover + above.cover - below.cover * above.cover;
  if (total <= 0) return {};
  return {mix(below.color, above.color, above.cover / total), total};
}

struct Area {
  int left = 0, top = 0, right = kWidth, bottom = kHeight;
};

// The pixels that a shape around (x, y) reaches, clipped to the picture.
inline Area area_around(float x, float y, float reach_x, float reach_y) {
  const auto whole = [](float v, int most) {
    return std::clamp(static_cast<int>(std::floor(v)), 0, most);
  };
  return {whole(x - reach_x, kWidth), whole(y - reach_y, kHeight), whole(x + reach_x + 1, kWidth),
          whole(y + reach_y + 1, kHeight)};
}

class Canvas {
 public:
  Canvas() : pixels_(static_cast<std::size_t>(kWidth) * kHeight) {}

  [[nodiscard]] Color& at(int x, int y) {
    return pixels_[static_cast<std::size_t>(y) * kWidth + static_cast<std::size_t>(x)];
  }

  // Between pixels, and at the nearest edge outside the picture.
  [[nodiscard]] Color sample(float x, float y) {
    x = std::clamp(x, 0.0F, static_cast<float>(kWidth - 1) - 0.01F);
    y = std::clamp(y, 0.0F, static_cast<float>(kHeight - 1) - 0.01F);
    const int ix = static_cast<int>(x);
    const int iy = static_cast<int>(y);
    const float u = x - static_cast<float>(ix);
    const float v = y - static_cast<float>(iy);
    return mix(mix(at(ix, iy), at(ix + 1, iy), u), mix(at(ix, iy + 1), at(ix + 1, iy + 1), u), v);
  }

  // Lays `shader(x, y) -> Paint`, asked at pixel centres, over what is there.
  template <typename Shader>
  void paint(Area area, const Shader& shader) {
    for (int y = area.top; y < area.bottom; ++y) {
      for (int x = area.left; x < area.right; ++x) {
        const Paint p = shader(static_cast<float>(x) + 0.5F, static_cast<float>(y) + 0.5F);
        if (p.cover > 0) at(x, y) = mix(at(x, y), p.color, p.cover);
      }
    }
  }

 private:
  std::vector<Color> pixels_;
};

}  // namespace clip
