#include "buildings.h"

#include <array>

namespace clip {
namespace {

constexpr float kStreet = 214;
constexpr int kLamps = 6;
constexpr float kLampSpacing = 122;
constexpr float kLampHeight = 160;
constexpr Color kLampColor{1.0F, 0.70F, 0.36F};

enum class Wall { brick, plank, plaster };

struct House {
  float left, width, eaves, gable;
  Wall wall;
  Color paint;
  int columns, rows;
};

constexpr std::array<House, 8> kHouses{{
    {-34, 66, 128, 30, Wall::plaster, {0.52F, 0.42F, 0.25F}, 3, 3},
    {32, 54, 112, 36, Wall::brick, {0.48F, 0.22F, 0.17F}, 2, 4},
    {86, 70, 138, 26, Wall::plank, {0.24F, 0.35F, 0.40F}, 3, 3},
    {156, 48, 102, 34, Wall::plaster, {0.55F, 0.50F, 0.42F}, 2, 4},
    {204, 62, 126, 34, Wall::plank, {0.50F, 0.17F, 0.14F}, 3, 3},
    {266, 58, 118, 28, Wall::brick, {0.42F, 0.31F, 0.22F}, 2, 4},
    {324, 50, 142, 32, Wall::plank, {0.32F, 0.37F, 0.24F}, 2, 3},
    {374, 44, 150, 26, Wall::plaster, {0.46F, 0.34F, 0.34F}, 2, 2},
}};

float lamp_x(int i) {
  return 58 + kLampSpacing * static_cast<float>(i);
}

float brick(float x, float y) {
  const float row = std::floor(y / 5);
  const float along = x / 10 + 0.5F * fract(0.5F * row) * 2;
  const float joint = std::min(fract(y / 5) * 5, fract(along) * 10);
  const float tone = random_at(static_cast<int>(std::floor(along)), static_cast<int>(row), 1);
  return joint < 1 ? 1.18F : 0.72F + 0.45F * tone;
}

float plank(float x, float y) {
  const float board = std::floor(x / 5);
  const float gap = fract(x / 5) * 5;
  const float tone = random_at(static_cast<int>(board), 0, 2);
  const float grain = noise(x * 0.9F, y * 0.09F, 3);
  return gap < 0.9F ? 0.55F : 0.72F + 0.25F * tone + 0.25F * grain;
}

float plaster(float x, float y) {
  const float crack = std::fabs(cloud(x * 0.045F, y * 0.045F, 4, 4) - 0.5F);
  return 0.68F + 0.62F * cloud(x * 0.09F, y * 0.06F, 4, 5) - 0.35F * smoothstep(0.02F, 0, crack);
}

float wall_texture(Wall wall, float x, float y) {
  switch (wall) {
    case Wall::brick:
      return brick(x, y);
    case Wall::plank:
      return plank(x, y);
    case Wall::plaster:
      break;
  }
  return plaster(x, y);
}

// `lit` multiplies what the evening light falls on; `own` is light of the thing's own.
struct Surface {
  Color lit, own;
  float cover = 0;
};

// A window pane in its frame; (u, v) from the window's centre.
Surface window(const Dusk& dusk, float u, float v, int id) {
  constexpr float kHalfWidth = 5;
  constexpr float kHalfHeight = 7.5F;
  const float inside = box(u, v, -kHalfWidth, -kHalfHeight, kHalfWidth, kHalfHeight);
  if (inside > 2.5F) return {};
  const bool sill = v > kHalfHeight;
  const bool bar = std::fabs(u) < 0.7F || std::fabs(v + 2) < 0.7F || inside > -0.6F;
  if (sill || bar) return {Color{0.50F, 0.48F, 0.43F}, {}, cover(inside - 1.4F)};
  const float curtain = 0.65F + 0.5F * noise(u * 0.8F + static_cast<float>(id), v * 0.1F, 6);
  const bool at_home = random_at(id, 8) < 0.55F;
  const float on = at_home ? dusk.lamp(id % kLamps) : 0;
  const Color room = mix(kLampColor, Color{1.0F, 0.82F, 0.56F}, random_at(id, 9)) * curtain;
  const Color glass = Color{0.15F, 0.19F, 0.25F} * (0.8F - 0.05F * v);
  return {mix(glass, Color{}, on), room * (1.05F * on), 1};
}

Surface windows_of(const Dusk& dusk, const House& house, int index, float x, float y) {
  const float cell_w = house.width / static_cast<float>(house.columns);
  const float cell_h = (kStreet - house.eaves) / static_cast<float>(house.rows);
  const auto column = static_cast<int>(std::floor((x - house.left) / cell_w));
  const auto row = static_cast<int>(std::floor((y - house.eaves) / cell_h));
  if (row < 0 || row >= house.rows || column < 0 || column >= house.columns) return {};
  const float u = x - house.left - cell_w * (static_cast<float>(column) + 0.5F);
  const float v = y - house.eaves - cell_h * (static_cast<float>(row) + 0.52F);
  const int id = 16 * index + 4 * row + column;
  if (row == house.rows - 1 && column == index % house.columns) {
    const float door = box(u, v, -6, -7, 6, 40);
    const float panel = std::fabs(std::fabs(u) - 3) < 0.6F || std::fabs(v - 2) < 0.7F ? 0.6F : 1;
    const Color paint =
        mix(Color{0.16F, 0.25F, 0.21F}, Color{0.36F, 0.16F, 0.12F}, random_at(index, 12));
    return {paint * panel, {}, cover(door)};
  }
  return window(dusk, u, v, id);
}

// The front under its gable: every second house turns its roof's side to the quay instead.
Surface front(const Dusk& dusk, const House& house, int index, float x, float y) {
  const float middle = house.left + 0.5F * house.width;
  const float across = std::fabs(x - middle) / (0.5F * house.width);
  const bool gabled = index % 2 == 1;
  const float slope = gabled ? across : std::max(0.0F, 3 * across - 2.2F);
  const float ridge = house.eaves - house.gable * (1 - slope);
  const float beyond =
      box(x, y, house.left - 2, house.eaves - 60, house.left + house.width + 2, kStreet);
  const float outside = std::max(ridge - y, beyond);
  if (outside > 1) return {};

  const bool roof = gabled ? y < ridge + 5 : y < house.eaves;
  const float row = std::floor(y / 3.5F);
  const float tile =
      random_at(static_cast<int>(std::floor(x / 4 + 0.5F * row)), static_cast<int>(row), 13);
  const float lap = fract(y / 3.5F) < 0.3F ? 0.65F : 1;
  const Color slate =
      mix(Color{0.20F, 0.20F, 0.24F}, Color{0.34F, 0.18F, 0.14F}, random_at(index, 14));
  if (roof) return {slate * (lap * (0.6F + 0.6F * tile)), {}, cover(outside)};

  const float grime = 0.62F + 0.5F * smoothstep(kStreet + 5, kStreet - 70, y);
  const float stain = 0.75F + 0.5F * cloud(x * 0.13F, y * 0.035F, 3, 15);
  const float shadow = y < house.eaves + 5 && !gabled ? 0.6F : 1;
  Surface s{
      house.paint * (wall_texture(house.wall, x, y) * grime * stain * shadow), {}, cover(outside)};
  const Surface w = windows_of(dusk, house, index, x, y);
  s.lit = mix(s.lit, w.lit, w.cover);
  s.own = w.own * w.cover;
  return s;
}

void paint_smoke(Canvas& canvas, const Dusk& dusk, float cx, float top) {
  canvas.paint(area_around(cx + 24, top - 40, 70, 44), [&](float x, float y) -> Paint {
    const float up = (top - y) / 80;
    if (up < 0) return {};
    const float bend = 46 * up * up + 3 * sine(0.5F * up - 0.3F * dusk.t);
    const float width = 3 + 17 * up;
    const float side = (x - cx - bend) / width;
    const float puff = cloud((x - bend) * 0.07F, y * 0.07F + 1.1F * dusk.t, 4, 17);
    const float thick = smoothstep(0.25F, 0.75F, puff) * saturate(1 - side * side) * (1 - up);
    return {Color{0.50F, 0.51F, 0.55F} * dusk.day, 0.75F * saturate(thick)};
  });
}

void paint_chimney(Canvas& canvas, const Dusk& dusk, float cx, float top) {
  canvas.paint(area_around(cx, top + 15, 8, 18), [&](float x, float y) -> Paint {
    const float stack = std::min(box(x, y, cx - 4, top, cx + 4, top + 30),
                                 box(x, y, cx - 5.5F, top, cx + 5.5F, top + 3));
    const Color wall = Color{0.40F, 0.24F, 0.19F} * brick(x + dusk.pan, y);
    return {wall * dusk.light(x, y), cover(stack)};
  });
}

}  // namespace

Dusk::Dusk(float seconds)
    : t(seconds), pan(9 * seconds), day(mix(1.0F, 0.66F, smoothstep(0.6F, 4.2F, seconds))) {}

float Dusk::lamp(int i) const {
  const float start = 2.0F + 0.27F * static_cast<float>((i * 5) % kLamps);
  // A lamp of that age strikes twice before it stays on.
  const float strike = t > start - 0.16F && t < start - 0.08F ? 0.5F : 0;
  return std::max(strike, smoothstep(start, start + 0.5F, t));
}

Color Dusk::lamp_light(float x, float y) const {
  float sum = 0;
  for (int i = 0; i < kLamps; ++i) {
    const float dx = (x + pan - lamp_x(i)) / 52;
    const float dy = (y - kLampHeight) / 60;
    sum += lamp(i) * glow(dx * dx + dy * dy);
  }
  return kLampColor * sum;
}

Color Dusk::light(float x, float y) const {
  return Color{0.74F, 0.78F, 0.86F} * day + lamp_light(x, y) * 1.15F;
}

void paint_houses(Canvas& canvas, const Dusk& dusk) {
  for (const int i : {1, 4, 6}) {
    const House& house = kHouses[static_cast<std::size_t>(i)];
    const float cx = house.left + 0.72F * house.width - dusk.pan;
    const float top = house.eaves - house.gable;
    if (i != 4) paint_smoke(canvas, dusk, cx, top - 2);
    paint_chimney(canvas, dusk, cx, top - 2);
  }
  canvas.paint({0, 60, 440, 216}, [&](float x, float y) -> Paint {
    const float wx = x + dusk.pan;
    for (int i = 0; i < static_cast<int>(kHouses.size()); ++i) {
      const House& house = kHouses[static_cast<std::size_t>(i)];
      if (wx < house.left || wx >= house.left + house.width) continue;
      const Surface s = front(dusk, house, i, wx, y);
      const Color seen = s.lit * dusk.light(x, y) + s.own;
      return {mix(seen, Color{0.47F, 0.50F, 0.56F} * dusk.day, 0.08F), s.cover};
    }
    return {};
  });
}

void paint_lamps(Canvas& canvas, const Dusk& dusk) {
  for (int i = 0; i < kLamps; ++i) {
    const float cx = lamp_x(i) - dusk.pan;
    const float on = dusk.lamp(i);
    canvas.paint(area_around(cx, 186, 90, 90), [&](float x, float y) -> Paint {
      const float dx = x - cx;
      const float dy = y - kLampHeight;
      const Color iron{0.09F, 0.10F, 0.10F};
      Paint p{iron, cover(segment(dx, y, 0, kStreet, 0, kLampHeight + 6, 1.4F))};
      p = over(p, {iron, cover(box(dx, y, -3, kStreet - 8, 3, kStreet))});
      p = over(p, {iron, cover(box(dx, dy, -5, -8, 5, -5))});
      p.color = p.color * dusk.light(x, y);
      const Color bulb = mix(Color{0.34F, 0.36F, 0.38F}, Color{1.7F, 1.4F, 0.95F}, on);
      p = over(p, {bulb, cover(ellipse(dx, dy, 4.2F, 5.5F))});
      const float halo = 0.5F * on * glow((dx * dx + dy * dy) / 260);
      return over({p.color, p.cover}, {kLampColor * 1.2F, std::max(0.0F, halo - 0.012F)});
    });
  }
}

}  // namespace clip
