// The first shot, back to front: sky, hills, lighthouse, houses, quay, water, boat, fog.
#include "buildings.h"
#include "scenes.h"

namespace clip {
namespace {

constexpr float kWaterline = 240;
constexpr Color kFog{0.47F, 0.50F, 0.56F};
constexpr Color kAfterglow{0.86F, 0.52F, 0.34F};

Color sky_color(const Dusk& dusk, float x, float y) {
  const float low = saturate(y / kWaterline);
  Color sky = mix(Color{0.25F, 0.30F, 0.42F}, Color{0.60F, 0.53F, 0.53F}, low * low);
  const float from_sun = ((x - 470) * (x - 470) + 9 * (y - 226) * (y - 226)) / (250.0F * 250.0F);
  sky = sky + kAfterglow * (0.55F * glow(from_sun));
  const float drift = x + 6 * dusk.t;
  const float veil = cloud(drift * 0.007F, y * 0.024F, 5, 11);
  const float bank = smoothstep(0.45F, 0.72F, veil) * (1 - 0.5F * low);
  sky = mix(sky, Color{0.20F, 0.22F, 0.30F} + kAfterglow * (0.35F * low), 0.75F * bank);
  return sky * dusk.day;
}

Paint hill(const Dusk& dusk, float x, float y, float crest, float relief, float far, int seed) {
  const float edge = crest - relief * cloud(x * 0.011F, 0.5F, 4, seed);
  const float wood = cloud(x * 0.16F, y * 0.22F, 3, seed + 5);
  const Color slope = Color{0.17F, 0.22F, 0.20F} * (0.5F + wood);
  return {mix(slope, kFog, far) * dusk.day, cover((edge + 3 * wood) - y)};
}

// The lamp turns: the beam is short when it points at us, and then we are dazzled.
void paint_lighthouse(Canvas& canvas, const Dusk& dusk) {
  const float cx = 585 - 0.8F * dusk.pan;
  const float top = 128;
  canvas.paint(area_around(cx, 190, 40, 80), [&](float x, float y) -> Paint {
    const float half = 6.5F + 5.5F * (y - top) / 95;
    const float side = (x - cx) / half;
    const bool red = fract((y - 112) / 42) < 0.5F;
    const float stone = 0.75F + 0.4F * noise(x * 0.7F, y * 0.35F, 61);
    const Color wall = (red ? Color{0.52F, 0.20F, 0.17F} : Color{0.66F, 0.63F, 0.58F}) *
                       (stone * (0.75F - 0.3F * side));
    Paint p{wall, cover(std::max(std::fabs(x - cx) - half, std::max(top - y, y - 226)))};
    p = over(p, {Color{0.14F, 0.14F, 0.16F}, cover(box(x, y, cx - 9, top - 2, cx + 9, top + 2))});
    p = over(p, {Color{0.95F, 0.84F, 0.58F}, cover(box(x, y, cx - 5, top - 14, cx + 5, top - 2))});
    p = over(p, {Color{0.30F, 0.13F, 0.12F}, cover(ellipse(x - cx, y - top + 14, 7, 6))});
    return {mix(p.color, kFog * dusk.day, 0.28F), p.cover};
  });
  const float turn = 0.16F * dusk.t + 0.30F;
  const float along = sine(turn + 0.25F);
  const float towards = std::max(0.0F, sine(turn));
  canvas.paint({}, [&](float x, float y) -> Paint {
    const float dx = (x - cx) * (along < 0 ? -1.0F : 1.0F);
    const float dy = y - (top - 8);
    const float reach = 40 + 330 * std::fabs(along);
    const float spread = 3 + 0.09F * std::max(dx, 0.0F);
    const float beam = dx > 0 ? saturate(1 - dx / reach) * glow(dy * dy / (spread * spread)) : 0;
    const float r = 14 + 46 * towards * towards;
    const float halo = glow((dx * dx + dy * dy) / (r * r));
    return {Color{1.0F, 0.90F, 0.66F}, 0.30F * beam + 0.62F * halo};
  });
}

void paint_trees(Canvas& canvas, const Dusk& dusk) {
  const float sway = 1.6F * sine(0.21F * dusk.t);
  for (int i = 0; i < 3; ++i) {
    const float cx = 448 + 31 * static_cast<float>(i) - dusk.pan;
    const float cy = 182 - 9 * random_at(i, 7);
    canvas.paint(area_around(cx, 180, 50, 60), [&](float x, float y) -> Paint {
      const float lean = sway * saturate((222 - y) / 60);
      const float leaf = cloud((x - lean + dusk.pan) * 0.17F, y * 0.17F, 3, 70 + i);
      const float crown = ellipse(x - lean - cx, y - cy, 22, 27) + 22 * (leaf - 0.5F);
      const Color green = Color{0.22F, 0.27F, 0.15F} * (0.35F + 1.2F * leaf);
      const Paint trunk{Color{0.17F, 0.13F, 0.11F},
                        cover(segment(x, y, cx, 224, cx + 0.5F * lean, cy, 2.2F))};
      Paint p = over(trunk, {green, cover(crown)});
      p.color = mix(p.color * dusk.light(x, y), kFog * dusk.day, 0.16F);
      return p;
    });
  }
}

void paint_quay(Canvas& canvas, const Dusk& dusk) {
  canvas.paint({0, 205, kWidth, 242}, [&](float x, float y) -> Paint {
    const float wx = x + dusk.pan;
    const float rubble = 7 * cloud(wx * 0.06F, 2.5F, 3, 40);
    const float top = wx < 520 ? 214 : 218 + rubble;
    const float row = std::floor((y - top) / 8);
    const float along = wx / 19 + 0.5F * row;
    const float joint = std::min(fract(along) * 19, fract((y - top) / 8) * 8);
    const float tone =
        0.6F + 0.35F * random_at(static_cast<int>(std::floor(along)), static_cast<int>(row), 41) +
        0.3F * (cloud(wx * 0.3F, y * 0.3F, 2, 42) - 0.5F);
    Color stone = Color{0.37F, 0.35F, 0.33F} * (tone * (joint < 1 ? 0.66F : 1.0F));
    if (y < top + 3) stone = Color{0.50F, 0.48F, 0.45F} * (0.7F + 0.4F * tone);
    const float weed = smoothstep(228, 240, y + 6 * noise(wx * 0.2F, 0, 43));
    stone = mix(stone, Color{0.13F, 0.20F, 0.13F}, 0.7F * weed);
    return {stone * dusk.light(x, y), cover(top - y)};
  });
}

void paint_walker(Canvas& canvas, const Dusk& dusk, float start, float speed, Color coat) {
  const float cx = start + speed * dusk.t - dusk.pan;
  const float stride = 4 * sine(0.9F * dusk.t + start);
  canvas.paint(area_around(cx, 202, 16, 18), [&](float x, float y) -> Paint {
    const float dx = x - cx;
    const Color dark{0.10F, 0.10F, 0.12F};
    Paint p{dark, cover(segment(dx, y, 0, 205, stride, 214, 1.3F))};
    p = over(p, {dark, cover(segment(dx, y, 0, 205, -stride, 214, 1.3F))});
    p = over(p, {coat, cover(segment(dx, y, 0, 197, 0, 206, 2.9F))});
    p = over(p, {Color{0.48F, 0.36F, 0.29F}, cover(ellipse(dx, y - 191.5F, 2.2F, 2.6F))});
    p = over(p, {coat * 1.25F, std::min(cover(ellipse(dx, y - 189, 10, 6)), cover(y - 188))});
    p.color = p.color * dusk.light(x, y);
    return p;
  });
}

// In boat coordinates: bow to the left, y down from the waterline.
Paint fishing_boat(const Dusk& dusk, float x, float y) {
  const float forward = saturate((24 - x) / 88);
  const float sheer = -15 - 15 * forward * forward;
  const float keel_x = std::max(-66 - 0.55F * (y + 10) - x, x - 56);
  const float hull = std::max(std::max(sheer - y, y - 7), keel_x);
  const float plank =
      0.78F + 0.3F * random_at(static_cast<int>(std::floor((y - sheer) / 4)), 0, 51);
  const float wear = 0.7F + 0.6F * cloud(x * 0.12F, y * 0.3F, 3, 52);
  Color paint = y > -4 ? Color{0.42F, 0.14F, 0.11F} : Color{0.14F, 0.32F, 0.40F};
  if (y < sheer + 4) paint = Color{0.66F, 0.62F, 0.54F};
  const Color rope{0.40F, 0.31F, 0.22F};

  Paint p{rope, cover(segment(x, y, -14, -14, -14, -78, 1.3F))};
  p = over(p, {rope, 0.7F * cover(segment(x, y, -14, -77, -64, -30, 0.4F))});
  p = over(p, {rope, 0.7F * cover(segment(x, y, -14, -77, 52, -16, 0.4F))});
  p = over(p, {rope, cover(segment(x, y, -14, -26, 6, -60, 0.9F))});
  const float flap = 1.5F * sine(0.12F * (x + 14) - 1.1F * dusk.t);
  p = over(p, {Color{0.66F, 0.22F, 0.17F}, cover(box(x, y + flap, -13, -79, 2, -71))});
  const float grain = 0.8F + 0.35F * noise(x * 0.9F, y * 0.12F, 53);
  p = over(p, {Color{0.62F, 0.56F, 0.45F} * grain, cover(box(x, y, 10, -45, 38, -12))});
  p = over(p, {Color{0.30F, 0.16F, 0.13F}, cover(box(x, y, 6, -49, 42, -44))});
  p = over(p, {Color{0.22F, 0.21F, 0.20F}, cover(box(x, y, 28, -60, 33, -48))});
  const Color pane = mix(Color{0.16F, 0.19F, 0.23F}, Color{1.5F, 1.05F, 0.55F}, dusk.lamp(2));
  p = over(p, {pane, cover(box(x, y, 13, -40, 21, -30))});
  p = over(p, {pane, cover(box(x, y, 25, -40, 33, -30))});
  for (int i = 0; i < 3; ++i) {
    const float bx = -44 + 9 * static_cast<float>(i);
    p = over(p, {Color{0.74F, 0.36F, 0.14F} * wear, cover(ellipse(x - bx, y + 22, 4.4F, 4.4F))});
  }
  return over(p, {paint * (plank * wear), cover(hull)});
}

struct Wave {
  float dx, dy, slope;
};

// How far the water at (x, y) bends what it mirrors: more, and in longer waves, nearer to us.
Wave wave_at(const Dusk& dusk, float x, float y) {
  const float near = (y - kWaterline + 6) / 120;
  const float scale = 1 / (6 + 46 * near);
  const float wx = x + dusk.pan;
  const float a =
      cloud(wx * 0.30F * scale + 0.25F * dusk.t, y * 2.2F * scale - 0.5F * dusk.t, 3, 21);
  const float b =
      cloud(wx * 0.22F * scale - 0.2F * dusk.t, y * 1.7F * scale + 0.4F * dusk.t, 3, 25);
  return {(a - 0.5F) * (3 + 16 * near), (b - 0.5F) * (5 + 46 * near), a + b - 1};
}

void paint_water(Canvas& canvas, const Dusk& dusk) {
  canvas.paint({0, static_cast<int>(kWaterline), kWidth, kHeight}, [&](float x, float y) -> Paint {
    const Wave w = wave_at(dusk, x, y);
    const float depth = (y - kWaterline) / 120;
    const float mirrored = std::min(2 * kWaterline - y + w.dy, kWaterline - 1);
    const Color reflected = canvas.sample(x + w.dx, mirrored);
    Color water = reflected * Color{0.62F, 0.66F, 0.68F} + Color{0.015F, 0.03F, 0.035F};
    water = mix(water, Color{0.10F, 0.15F, 0.17F} * dusk.day, 0.25F + 0.35F * depth);
    water = water + kFog * (0.55F * dusk.day * std::max(0.0F, w.slope) * w.slope * 4);
    return {water * (1 + 0.5F * w.slope), 1};
  });
}

void paint_boat(Canvas& canvas, const Dusk& dusk) {
  const float cx = 560 - 48 * dusk.t;
  const float bob = 1.4F * sine(0.37F * dusk.t);
  const float roll = 0.012F * sine(0.31F * dusk.t + 0.2F);
  const float base = 272;
  const auto boat = [&](float x, float y) {
    const float dx = x - cx;
    const float dy = y - base - bob;
    return fishing_boat(dusk, dx - roll * dy, dy + roll * dx);
  };
  canvas.paint(area_around(cx, base + 45, 100, 45), [&](float x, float y) -> Paint {
    if (y < base) return {};
    const Wave w = wave_at(dusk, x, y);
    Paint p = boat(x + w.dx, 2 * (base + 3) - y + 0.6F * w.dy);
    return {p.color * dusk.light(x, y) * 0.55F, 0.8F * p.cover * saturate(1 - (y - base) / 90)};
  });
  canvas.paint(area_around(cx + 90, base + 5, 190, 16), [&](float x, float y) -> Paint {
    const float behind = x - cx + 58;
    const float arm = std::fabs(y - base - 4) - 0.045F * behind;
    const float foam = cloud(x * 0.13F, y * 0.8F + dusk.t, 3, 31);
    const float fade = saturate(behind / 20) * saturate(1 - behind / 240);
    return {kFog * 1.1F * dusk.day, 0.5F * fade * foam * glow(arm * arm / 4)};
  });
  canvas.paint(area_around(cx, base - 36, 76, 50), [&](float x, float y) -> Paint {
    if (y > base + 4) return {};
    Paint p = boat(x, y);
    p.color = mix(p.color * (dusk.light(x, y) * 0.6F + Color{0.4F, 0.4F, 0.4F} * dusk.day),
                  kFog * dusk.day, 0.05F);
    return p;
  });
}

void paint_gulls(Canvas& canvas, const Dusk& dusk) {
  for (int i = 0; i < 4; ++i) {
    const float k = static_cast<float>(i);
    const float cx = 130 + 40 * k + (17 + 3 * k) * dusk.t;
    const float cy = 62 + 13 * random_at(i, 3) * k + 4 * sine(0.2F * dusk.t + 0.3F * k);
    const float lift = 3.4F * sine(1.5F * dusk.t + 0.27F * k);
    canvas.paint(area_around(cx, cy, 10, 8), [&](float x, float y) -> Paint {
      const float left = segment(x, y, cx, cy, cx - 7, cy - lift, 0.7F);
      const float right = segment(x, y, cx, cy, cx + 7, cy - lift, 0.7F);
      return {Color{0.60F, 0.58F, 0.57F} * dusk.day, 0.9F * cover(std::min(left, right))};
    });
  }
}

// Leaves close to the camera frame the picture and give it its darkest part.
void paint_branch(Canvas& canvas, const Dusk& dusk) {
  canvas.paint({0, 0, 260, 120}, [&](float x, float y) -> Paint {
    const float sway = 3 * sine(0.17F * dusk.t + 0.004F * x);
    const float leaf = cloud((x + 1.3F * dusk.pan) * 0.085F, (y - sway) * 0.11F, 4, 91);
    const float reach = 0.30F * x + 1.05F * (y - sway) - 62 + 96 * (leaf - 0.5F);
    const float vein = noise(x * 0.5F + 1.3F * dusk.pan * 0.5F, y * 0.5F, 92);
    const Color green = Color{0.09F, 0.12F, 0.07F} * (0.35F + 1.1F * vein * leaf);
    return {green * dusk.day, cover(0.4F * reach)};
  });
}

void paint_fog(Canvas& canvas, const Dusk& dusk, float thickness) {
  canvas.paint({}, [&](float x, float y) -> Paint {
    const float wx = x + 0.7F * dusk.pan;
    const float drift = cloud(wx * 0.009F - 0.16F * dusk.t, y * 0.021F + 0.05F * dusk.t, 4, 81);
    const float level = (y - 226) / 62;
    const float bank = glow(level * level) * smoothstep(0.30F, 0.75F, drift);
    const Color lit = kFog * dusk.day + dusk.lamp_light(x, y) * 0.10F;
    return {lit, thickness * (0.10F + 0.58F * bank)};
  });
}

}  // namespace

void paint_harbour(Canvas& canvas, float t) {
  const Dusk dusk(t);
  canvas.paint({}, [&](float x, float y) { return Paint{sky_color(dusk, x, y), 1}; });
  canvas.paint({0, 120, kWidth, 242}, [&](float x, float y) {
    const Paint back = hill(dusk, x + 0.15F * dusk.pan, y, 205, 70, 0.72F, 31);
    return over(back, hill(dusk, x + 0.3F * dusk.pan, y, 226, 55, 0.48F, 37));
  });
  paint_lighthouse(canvas, dusk);
  paint_houses(canvas, dusk);
  paint_trees(canvas, dusk);
  paint_quay(canvas, dusk);
  paint_walker(canvas, dusk, 246, 13, Color{0.42F, 0.13F, 0.12F});
  paint_walker(canvas, dusk, 262, 13, Color{0.13F, 0.22F, 0.36F});
  paint_walker(canvas, dusk, 420, -16, Color{0.32F, 0.30F, 0.16F});
  paint_lamps(canvas, dusk);
  paint_gulls(canvas, dusk);
  paint_water(canvas, dusk);
  paint_fog(canvas, dusk, 0.75F);
  paint_boat(canvas, dusk);
  paint_fog(canvas, dusk, 0.35F);
  paint_branch(canvas, dusk);
}

}  // namespace clip
