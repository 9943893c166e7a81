// The second shot, under water: shafts of light, rocks, kelp, an anchor, a school of fish.
#include "scenes.h"

namespace clip {
namespace {

constexpr Color kDeep{0.04F, 0.15F, 0.20F};
constexpr Color kShallow{0.22F, 0.52F, 0.52F};

float drift_of(float t) {
  return 7 * t;
}

Color water_color(float y) {
  const float down = saturate(y / 330);
  return mix(kShallow, kDeep, 1 - (1 - down) * (1 - down));
}

// Colours drown in the distance, red first.
Color drown(Color c, float y, float far) {
  const Color kept = c * Color{mix(1, 0.35F, far), mix(1, 0.8F, far), mix(1, 0.9F, far)};
  return mix(kept, water_color(y), far);
}

// Bright lines where the waves focus the light: the ridges of two noises that cross.
float caustics(float x, float y, float t) {
  const float a = std::fabs(cloud(x + 0.6F * t, y + 0.9F * t, 2, 101) - 0.5F);
  const float b = std::fabs(cloud(x - 0.7F * t, y + 0.5F * t, 2, 105) - 0.5F);
  return smoothstep(0.16F, 0, a) * 0.6F + smoothstep(0.16F, 0, b) * 0.6F;
}

void paint_surface(Canvas& canvas, float t) {
  canvas.paint({0, 0, kWidth, 70}, [&](float x, float y) -> Paint {
    const float shrink = 1 / (8 + 0.9F * (70 - y));
    const float ripple = caustics((x - 320) * shrink * 0.9F, 40 * shrink + 1.3F * t, t);
    return {Color{0.62F, 0.86F, 0.80F}, saturate(ripple) * 0.55F * saturate((60 - y) / 60)};
  });
}

void paint_hull(Canvas& canvas, float t) {
  const float cx = 420 - 40 * t;
  const float cy = 22 + 1.5F * sine(0.37F * t);
  canvas.paint(area_around(cx, cy, 130, 40), [&](float x, float y) -> Paint {
    const float dx = x - cx;
    const float dy = y - cy;
    const float taper = dx < 0 ? 1 - 0.35F * dx * dx / 8100 : 1;
    const float hull = ellipse(dx, dy + 16, 92, 32 * taper);
    const float keel = box(dx, dy, -60, 8, 84, 20);
    const float blade = ellipse(dx - 92, dy - 12, 1.5F + 3.5F * std::fabs(sine(2.1F * t)), 9);
    const float plank = fract((dy + 0.05F * dx) / 6) < 0.2F ? 0.7F : 1;
    const float growth = 0.6F + 0.7F * cloud(dx * 0.1F, dy * 0.1F, 3, 111);
    const Color paint = Color{0.30F, 0.17F, 0.16F} * (plank * growth);
    const Paint p =
        over({Color{0.35F, 0.30F, 0.16F}, cover(blade)}, {paint, cover(std::min(hull, keel))});
    return {drown(p.color, y, 0.42F), p.cover};
  });
}

void paint_shafts(Canvas& canvas, float t) {
  // A cloud leaves the sun: the shafts brighten once during the shot.
  const float sun = mix(0.5F, 1.0F, smoothstep(1.0F, 2.2F, t));
  canvas.paint({}, [&](float x, float y) -> Paint {
    const float slant = x + 0.42F * y + 60;
    const float fan = (slant - 260) / (1 + 0.0011F * y);
    const float a = noise(fan * 0.022F + 0.10F * t, 0.4F * t, 121);
    const float b = noise(fan * 0.061F - 0.13F * t, 0.5F * t, 122);
    const float shaft = smoothstep(0.45F, 0.95F, 0.62F * a + 0.42F * b);
    return {Color{0.66F, 0.88F, 0.76F}, 0.42F * sun * shaft * saturate(1.05F - y / 330)};
  });
}

void paint_ridge(Canvas& canvas, float t, float crest, float relief, float far, int seed) {
  const float move = drift_of(t) * (1.2F - far);
  canvas.paint({0, 90, kWidth, kHeight}, [&](float x, float y) -> Paint {
    const float wx = x + move;
    const float edge = crest - relief * (cloud(wx * 0.008F, 0.3F, 5, seed) - 0.3F);
    const float bump = cloud(wx * 0.055F, y * 0.075F, 5, seed + 9);
    const float lit = cloud(wx * 0.055F + 0.12F, y * 0.075F + 0.2F, 5, seed + 9);
    const Color stone = mix(Color{0.30F, 0.30F, 0.26F}, Color{0.42F, 0.20F, 0.26F},
                            smoothstep(0.5F, 0.7F, noise(wx * 0.03F, y * 0.04F, seed + 3)));
    const float shade = 0.55F + 0.5F * bump + 2.6F * (bump - lit);
    return {drown(stone * shade, y, far), cover(edge + 9 * (bump - 0.5F) - y)};
  });
}

void paint_sand(Canvas& canvas, float t) {
  const float move = drift_of(t);
  canvas.paint({0, 285, kWidth, kHeight}, [&](float x, float y) -> Paint {
    const float depth = 60 / (y - 262);
    const float wx = (x - 320) * depth + move * 0.9F;
    const float wy = 90 * depth;
    const float bend = 2.2F * noise(wx * 0.02F, wy * 0.06F, 131);
    const float ripple = sine(wy * 0.11F + 0.012F * wx + bend);
    const float grain = noise(wx * 1.3F, wy * 2.1F, 132);
    const Color sand = Color{0.52F, 0.47F, 0.36F} * (0.72F + 0.16F * ripple + 0.22F * grain);
    const float net = caustics(wx * 0.03F, wy * 0.06F, 1.3F * t);
    const float edge = 296 + 5 * noise((x + move) * 0.02F, 0, 133);
    return {drown(sand + Color{0.26F, 0.34F, 0.30F} * (0.7F * net), y, 0.30F), cover(edge - y)};
  });
}

// A boulder with anemones on it.
void paint_boulder(Canvas& canvas, float t, float at, float base, float rx, float ry, int seed) {
  const float cx = at - drift_of(t) * 1.1F;
  canvas.paint(area_around(cx, base - 0.4F * ry, rx + 14, ry + 14), [&](float x, float y) -> Paint {
    const float dx = x - cx;
    const float dy = y - base;
    const float bump = cloud(dx * 0.07F, dy * 0.07F, 5, seed);
    const float lit = cloud(dx * 0.07F + 0.1F, dy * 0.07F + 0.22F, 5, seed);
    const float shape = ellipse(dx, dy, rx, ry) + 14 * (bump - 0.5F);
    Color stone = Color{0.34F, 0.33F, 0.31F} * (0.5F + 0.5F * bump + 3.0F * (bump - lit));
    // One anemone a cell, its tentacles waving around the centre.
    const float u = fract(dx / 17 + 0.5F) - 0.5F;
    const float v = fract(dy / 15 + 0.5F) - 0.5F;
    const int id = static_cast<int>(std::floor(dx / 17 + 0.5F)) +
                   31 * static_cast<int>(std::floor(dy / 15 + 0.5F));
    const float wave = 0.06F * sine(5 * noise(u * 7 + 0.5F * t, v * 7, seed + 1));
    const float bloom = smoothstep(0.42F, 0.22F, length(u, v) + wave);
    const Color flesh =
        mix(Color{0.62F, 0.20F, 0.30F}, Color{0.66F, 0.46F, 0.16F}, random_at(id, seed));
    const bool grows = random_at(id, seed + 2) < 0.55F;
    if (grows) stone = mix(stone, flesh * (0.5F + 2.2F * wave + 0.6F * bloom), bloom);
    const float shade = 0.45F + 0.55F * smoothstep(0.9F, -0.6F, dy / ry);
    return {drown(stone * shade, y, 0.20F), std::min(cover(shape), saturate((base + 5 - y) / 3))};
  });
}

void paint_anchor(Canvas& canvas, float t) {
  const float cx = 446 - drift_of(t);
  const float cy = 303;
  canvas.paint(area_around(cx, cy - 18, 70, 70), [&](float x, float y) -> Paint {
    // It lies tilted, half in the sand.
    const float dx = 0.78F * (x - cx) + 0.30F * (y - cy);
    const float dy = -0.30F * (x - cx) + 0.78F * (y - cy);
    const float ring = std::fabs(length(dx, dy + 58) - 6) - 1.8F;
    const float stock = segment(dx, dy, -17, -46, 17, -46, 2.3F);
    const float shank = segment(dx, dy, 0, -52, 0, 10, 3.1F);
    const float bow = std::max(std::fabs(length(dx, dy + 20) - 31) - 3.4F, -9 - dy);
    const float fluke =
        std::min(segment(dx, dy, -33, -10, -23, -13, 4), segment(dx, dy, 33, -10, 23, -13, 4));
    const float shape = std::min(std::min(std::min(ring, stock), std::min(shank, bow)), fluke);
    const float rust = cloud(dx * 0.13F, dy * 0.13F, 4, 141);
    const Color iron = mix(Color{0.20F, 0.17F, 0.16F}, Color{0.55F, 0.28F, 0.15F}, rust);
    const float round = 0.65F + 0.35F * saturate(-shape / 3);
    return {drown(iron * round, y, 0.22F),
            std::min(cover(shape), saturate((cy + 15 - 5 * rust - y) / 2))};
  });
}

void paint_kelp(Canvas& canvas, float t, float root, float height, float far, int seed) {
  const float base = root - drift_of(t) * (1.25F - far);
  const float scale = 1.25F - far;
  canvas.paint(area_around(base, 345 - 0.5F * height, 60, 0.5F * height + 16),
               [&](float x, float y) -> Paint {
                 const float up = (345 - y) / height;
                 if (up < 0 || up > 1) return {};
                 const float phase = 0.13F * static_cast<float>(seed);
                 const float sway = 30 * up * up * sine(0.17F * t - 0.35F * up + phase) + 10 * up;
                 const float dx = x - base - sway;
                 // Blades leave the stem left and right in turn, and hang.
                 const float step = (345 - y) / (14 * scale);
                 const float side = fract(step * 0.5F) < 0.5F ? 1.0F : -1.0F;
                 const float out = dx * side / (31 * scale);
                 const float rise =
                     fract(step) - 0.45F - 0.35F * out + 0.1F * sine(0.4F * t + out + step * 0.1F);
                 const float blade =
                     std::fabs(rise) - 0.42F * saturate(out * 5) * saturate(1 - out);
                 const float stem = std::fabs(dx) - 2.2F * scale * (1 - 0.6F * up);
                 const float leaf = out > 0 ? std::max(blade * 12 * scale, -dx * side) : 1;
                 const float vein = 0.7F + 0.5F * noise(dx * 0.35F, y * 0.12F, seed);
                 const float through = 0.75F + 0.5F * saturate(out) + 0.5F * up;
                 const Color green = mix(Color{0.20F, 0.24F, 0.08F}, Color{0.36F, 0.30F, 0.10F},
                                         random_at(seed, 151));
                 return {drown(green * (vein * through), y, far), cover(std::min(stem, leaf))};
               });
}

enum class Kind { silver, orange };

// Swims to the right; `size` is half its length.
void paint_fish(Canvas& canvas, float cx, float cy, float size, float beat, Kind kind, float far) {
  canvas.paint(area_around(cx, cy, size * 1.5F, size), [&](float x, float y) -> Paint {
    const float u = (x - cx) / size;
    const float wag = 0.16F * (u < 0 ? u * u : 0) * sine(beat);
    const float v = (y - cy) / size - wag;
    const float girth = kind == Kind::silver ? 0.30F : 0.42F;
    const float body = (length(u, v / girth * 0.85F) - 0.85F) * girth;
    const float tail =
        std::max(std::max(u + 0.68F, -1.25F - u), std::fabs(v) - 0.75F * (-0.55F - u));
    const float fin =
        std::max(std::max(std::fabs(u + 0.1F - 0.3F * v) - 0.34F, v), -v - girth * 1.35F);
    const float shape = std::min(std::min(body, tail), fin) * size;
    const float scales = 0.85F + 0.3F * noise(u * 9, v * 14, 161);
    Color skin =
        mix(Color{0.62F, 0.68F, 0.68F}, Color{0.20F, 0.30F, 0.38F}, smoothstep(0.12F, -0.18F, v));
    if (kind == Kind::orange) {
      const float band = std::min(std::fabs(u - 0.28F + 0.3F * v * v), std::fabs(u + 0.30F));
      skin = mix(Color{0.86F, 0.40F, 0.10F}, Color{0.80F, 0.78F, 0.72F},
                 smoothstep(0.13F, 0.07F, band));
      skin = skin * (1 - 0.6F * smoothstep(0.19F, 0.15F, band) * smoothstep(0.07F, 0.13F, band));
    }
    const float eye = length(u - 0.60F, v + 0.07F);
    if (eye < 0.10F) skin = eye < 0.055F ? Color{0.03F, 0.03F, 0.04F} : Color{0.8F, 0.8F, 0.7F};
    const float round = 0.72F + 0.35F * smoothstep(0.35F, -0.30F, v);
    return {drown(skin * (scales * round), y, far), cover(shape)};
  });
}

void paint_school(Canvas& canvas, float t) {
  for (int i = 0; i < 34; ++i) {
    const float k = static_cast<float>(i);
    const float along = 150 * random_at(i, 171) + 60 * random_at(i, 172);
    const float cx = -60 + along + 78 * t + 5 * sine(0.31F * t + 0.17F * k);
    const float arc = 22 * sine((cx + 80) / 520);
    const float cy = 128 + 62 * random_at(i, 173) - arc + 3 * sine(0.5F * t + 0.37F * k);
    const float size = 8 + 4 * random_at(i, 174);
    paint_fish(canvas, cx, cy, size, 2.2F * t + 0.29F * k, Kind::silver, 0.40F);
  }
}

void paint_bubbles(Canvas& canvas, float t) {
  for (int i = 0; i < 30; ++i) {
    const float k = static_cast<float>(i);
    const float age = fract(random_at(i, 181) + t * (0.20F + 0.08F * random_at(i, 182)));
    const float r = 1.2F + 3.0F * random_at(i, 183) * (0.5F + age);
    const float cx = 250 + 20 * random_at(i, 184) + 8 * sine(0.9F * t + 0.21F * k) - drift_of(t);
    const float cy = 322 - 330 * age;
    canvas.paint(area_around(cx, cy, r + 2, r + 2), [&](float x, float y) -> Paint {
      const float d = length(x - cx, y - cy);
      const float rim = cover(std::fabs(d - r) - 0.35F);
      const float spot = cover(length(x - cx + 0.4F * r, y - cy + 0.4F * r) - 0.3F * r);
      return {Color{0.62F, 0.84F, 0.82F}, 0.6F * std::max(rim, spot) + 0.08F * cover(d - r)};
    });
  }
}

void paint_motes(Canvas& canvas, float t) {
  for (int i = 0; i < 90; ++i) {
    const float near = random_at(i, 191);
    const float cx = kWidth * fract(random_at(i, 192) - 0.02F * t * (0.5F + near));
    const float cy = kHeight * fract(random_at(i, 193) + 0.012F * t * (0.5F + near));
    const float r = 0.6F + 1.1F * near;
    canvas.paint(area_around(cx, cy, 4, 4), [&](float x, float y) -> Paint {
      return {Color{0.50F, 0.66F, 0.64F}, 0.5F * cover(length(x - cx, y - cy) - r)};
    });
  }
}

}  // namespace

void paint_reef(Canvas& canvas, float t) {
  canvas.paint({}, [](float, float y) { return Paint{water_color(y), 1}; });
  paint_surface(canvas, t);
  paint_hull(canvas, t);
  paint_ridge(canvas, t, 226, 110, 0.72F, 210);
  paint_kelp(canvas, t, 566, 250, 0.62F, 221);
  paint_kelp(canvas, t, 612, 210, 0.58F, 222);
  paint_school(canvas, t);
  paint_ridge(canvas, t, 272, 120, 0.45F, 230);
  paint_sand(canvas, t);
  paint_kelp(canvas, t, 500, 190, 0.40F, 223);
  paint_anchor(canvas, t);
  paint_boulder(canvas, t, 590, 336, 74, 62, 240);
  paint_boulder(canvas, t, 226, 322, 46, 30, 250);
  paint_boulder(canvas, t, 320, 330, 26, 16, 260);
  paint_shafts(canvas, t);
  paint_bubbles(canvas, t);
  paint_fish(canvas, 470 - 16 * t, 226 + 4 * sine(0.3F * t), 17, 1.3F * t, Kind::orange, 0.18F);
  paint_fish(canvas, 180 + 30 * t, 262 + 5 * sine(0.25F * t), 23, 1.5F * t, Kind::orange, 0.10F);
  paint_kelp(canvas, t, 60, 330, 0.10F, 224);
  paint_kelp(canvas, t, 118, 260, 0.18F, 225);
  paint_kelp(canvas, t, 668, 300, 0.12F, 226);
  paint_motes(canvas, t);
}

}  // namespace clip
