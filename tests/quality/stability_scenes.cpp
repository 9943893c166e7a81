#include "tests/quality/stability_scenes.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace equalux::scenes {
namespace {

constexpr int kWidth = StabilityScene::kDesc.width;
constexpr int kHeight = StabilityScene::kDesc.height;
constexpr int kPixels = kWidth * kHeight;
constexpr int kUnit = 256;  // of levels
constexpr int kLightBits = 14;
constexpr int kFullLight = 1 << kLightBits;
constexpr int kFlicker = kFullLight * 3 / 100;
constexpr int kNoiseBits = 16;  // log2 of the noise table

// The object: a rounded figure that comes in as far as kObjectEnd and goes back.
constexpr int kObjectWidth = 170;
constexpr int kObjectTop = 40;
constexpr int kObjectSpeed = 4;  // columns a frame
constexpr int kObjectEnd = 248;  // column of its right edge at most
constexpr int kObjectStay = 30;  // frames
constexpr int kObjectTravel = kObjectEnd / kObjectSpeed;
constexpr int kSignLeft = 480, kSignTop = 30, kSignRight = 610, kSignBottom = 100;
constexpr std::uint8_t kSignLevel = 250;
constexpr int kBar = kHeight / 8;

std::uint32_t mixed(std::uint32_t x, std::uint32_t y, std::uint32_t z) {
  std::uint32_t h = x * 0x9E3779B1U + y * 0x85EBCA77U + z * 0xC2B2AE3DU + 0x27D4EB2FU;
  h = (h ^ (h >> 15)) * 0x2C1B3C6DU;
  h = (h ^ (h >> 13)) * 0x297A2D39U;
  return h ^ (h >> 16);
}

std::uint32_t mixed(int x, int y, int z) {
  return mixed(static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y),
               static_cast<std::uint32_t>(z));
}

/// Smooth values of 0 to 255 between random corners `cell` pixels apart.
int smooth(int x, int y, int cell, int seed) {
  const auto corner = [&](int i, int j) {
    return static_cast<int>(mixed(x / cell + i, y / cell + j, seed) & 255U);
  };
  const auto eased = [cell](int at) {  // 3 k^2 - 2 k^3, in 2^-10
    const int k = at % cell * 1024 / cell;
    return k * k / 1024 * (3072 - 2 * k) / 1024;
  };
  const int u = eased(x);
  const int v = eased(y);
  const int above = corner(0, 0) * (1024 - u) + corner(1, 0) * u;
  const int below = corner(0, 1) * (1024 - u) + corner(1, 1) * u;
  return static_cast<int>((std::int64_t{above} * (1024 - v) + std::int64_t{below} * v) >> 20);
}

/// Texture around 0, about -128 to 127.
int texture(int x, int y, int seed) {
  return (4 * smooth(x, y, 90, seed) + 3 * smooth(x, y, 33, seed + 1) +
          2 * smooth(x, y, 11, seed + 2) + smooth(x, y, 3, seed + 3)) /
             10 -
         128;
}

/// How strongly a place reflects, and in which colour: patches side by side, as walls, doors and
/// furniture are. Percent of B, G, R.
std::array<int, 3> patch(int x, int y, int seed) {
  const int column = x / 80;
  const int top = static_cast<int>(mixed(column, 7, seed) % 120U);
  const int row = (y + top) / 120;
  const auto random = [&](int what, int most) {
    return static_cast<int>(mixed(column * 16 + row, what, seed) %
                            static_cast<std::uint32_t>(most));
  };
  const int grey = 72 + random(1, 56);
  return {grey * (84 + random(2, 33)) / 100, grey, grey * (88 + random(3, 33)) / 100};
}

/// A picture of about `level`, whose levels spread by about `spread`.
std::vector<std::uint16_t> paint_picture(int level, int spread, int seed) {
  std::vector<std::uint16_t> picture(static_cast<std::size_t>(kPixels) * 3);
  std::size_t at = 0;
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      const int lit = level * kUnit + texture(x, y, seed) * spread * kUnit / 32;
      for (const int percent : patch(x, y, seed)) {
        picture[at++] =
            static_cast<std::uint16_t>(std::clamp(lit * percent / 100, 2 * kUnit, 250 * kUnit));
      }
    }
  }
  return picture;
}

/// Sums of twelve random bytes have a standard deviation of 256: a level, in our units.
std::vector<std::int16_t> make_noise() {
  std::vector<std::int16_t> noise(std::size_t{1} << kNoiseBits);
  for (std::size_t i = 0; i < noise.size(); ++i) {
    int sum = 0;
    for (int word = 0; word < 3; ++word) {
      const std::uint32_t bits = mixed(static_cast<int>(i), word, 99);
      for (int byte = 0; byte < 4; ++byte)
        sum += static_cast<int>((bits >> (8 * byte)) & 255U);
    }
    noise[i] = static_cast<std::int16_t>((sum - 12 * 255 / 2) * StabilityScene::kNoiseSigma);
  }
  return noise;
}

/// A table of noise, in 2^-8 levels, that each row of each frame starts at a random place of.
class NoiseRow {
 public:
  NoiseRow(int y, int frame) : at_(mixed(y, frame, 17)) {}
  [[nodiscard]] int next() {
    static const std::vector<std::int16_t> kNoise = make_noise();
    return kNoise[at_++ & ((1U << kNoiseBits) - 1)];
  }

 private:
  std::uint32_t at_;
};

std::uint8_t exposed(int level, int light, NoiseRow& noise) {
  const int seen = ((level * light) >> kLightBits) + noise.next();
  return static_cast<std::uint8_t>(std::clamp((seen + kUnit / 2) / kUnit, 0, 255));
}

/// 1024 sin(2 pi turns / 1024), within 2: exact enough for light, and equal everywhere.
int sine(std::int64_t turns) {
  const int t = static_cast<int>(turns & 1023);
  const int half = t & 511;
  const int parabola = half * (512 - half) / 64;  // 0 to 1024
  const int value = (parabola * 795 + parabola * parabola / 1024 * 229) / 1024;
  return t < 512 ? value : -value;
}

/// Column behind the object's right edge; 0 while it is outside.
int object_edge(int frame, FrameSpan event) {
  const int in = (frame - event.begin + 1) * kObjectSpeed;
  const int out = (event.end - 1 - frame) * kObjectSpeed;
  return std::clamp(std::min(in, out), 0, kObjectEnd);
}

/// The object fills its box but for the corners at the top.
bool in_object(int x, int y, int right) {
  if (right == 0) return false;
  const int left = right - kObjectWidth;
  if (x < left || x >= right || y < kObjectTop) return false;
  const int half = kObjectWidth / 2;
  const int dx = x - (left + half);
  const int dy = std::min(0, y - (kObjectTop + half));
  return dx * dx + dy * dy <= half * half;
}

bool in_sign(int x, int y) {
  return x >= kSignLeft && x < kSignRight && y >= kSignTop && y < kSignBottom;
}

bool in_bar(int y) {
  return y < kBar || y >= kHeight - kBar;
}

std::vector<std::uint8_t> still_pixels(SceneKind kind) {
  std::vector<std::uint8_t> still(static_cast<std::size_t>(kPixels), 1);
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      const bool touched = (kind == SceneKind::object && x < kObjectEnd) ||
                           (kind == SceneKind::logo && in_sign(x, y)) ||
                           (kind == SceneKind::letterbox && in_bar(y));
      if (touched) still[static_cast<std::size_t>(y * kWidth + x)] = 0;
    }
  }
  return still;
}

int clip_length(SceneKind kind) {
  return kind == SceneKind::beat_120hz || kind == SceneKind::fade ? 240 : 180;
}

FrameSpan event_of(SceneKind kind) {
  switch (kind) {
    case SceneKind::object:
      return {20, 20 + 2 * kObjectTravel + kObjectStay};
    case SceneKind::cut:
      return {90, 91};
    case SceneKind::fade:
      return {60, 180};
    case SceneKind::logo:
    case SceneKind::letterbox:
      return {60, 120};
    default:
      return {0, clip_length(kind)};
  }
}

}  // namespace

const std::vector<SceneKind>& all_scenes() {
  static const std::vector<SceneKind> all{
      SceneKind::noise,      SceneKind::object,     SceneKind::flicker,
      SceneKind::beat_100hz, SceneKind::beat_120hz, SceneKind::cut,
      SceneKind::fade,       SceneKind::logo,       SceneKind::letterbox};
  return all;
}

std::string_view name_of(SceneKind kind) {
  constexpr std::array<std::string_view, 9> kNames{
      "noise", "object", "flicker", "beat-100hz", "beat-120hz", "cut", "fade", "logo", "letterbox"};
  return kNames.at(static_cast<std::size_t>(kind));
}

StabilityScene::StabilityScene(SceneKind kind)
    : kind_(kind),
      frames_(clip_length(kind)),
      event_(event_of(kind)),
      light_(light_over_time()),
      first_(paint_picture(52, 26, 1)),
      still_(still_pixels(kind)) {
  if (kind == SceneKind::cut) second_ = paint_picture(140, 16, 500);
  if (kind == SceneKind::object) second_ = paint_picture(180, 30, 900);
}

std::int64_t StabilityScene::pts_ns(int frame) {
  return std::int64_t{frame} * 1'000'000'000 / kFramesPerSecond;
}

std::vector<int> StabilityScene::light_over_time() const {
  std::vector<int> light(static_cast<std::size_t>(frames_), kFullLight);
  int sign = 1;
  for (int i = 0; i < frames_; ++i) {
    int& now = light[static_cast<std::size_t>(i)];
    if (kind_ == SceneKind::flicker) {
      // A slip one frame in ten: nothing can tune itself to the period.
      if (mixed(i, 1, 5) % 10 != 0) sign = -sign;
      now += sign * kFlicker;
    } else if (kind_ == SceneKind::beat_100hz) {
      now += kFlicker * sine(std::int64_t{i} * 1024 * 100 / kFramesPerSecond) / 1024;
    } else if (kind_ == SceneKind::beat_120hz) {
      now += kFlicker * sine(std::int64_t{i} * 1024 * 120 * 1001 / 30000) / 1024;
    } else if (kind_ == SceneKind::fade) {
      const int length = event_.end - event_.begin;
      const int gone = std::clamp(i - event_.begin, 0, length);
      now -= kFullLight * 3 / 4 * gone / length;
    }
  }
  return light;
}

void StabilityScene::draw(int frame, const ImageView& to) const {
  const bool during = frame >= event_.begin && frame < event_.end;
  const bool after_cut = kind_ == SceneKind::cut && frame >= event_.begin;
  const std::vector<std::uint16_t>& picture = after_cut ? second_ : first_;
  const int right = kind_ == SceneKind::object ? object_edge(frame, event_) : 0;
  const int light = light_[static_cast<std::size_t>(frame)];
  for (int y = 0; y < kHeight; ++y) {
    std::uint8_t* out = to.row(0, y);
    NoiseRow noise(y, frame);
    for (int x = 0; x < kWidth; ++x) {
      const std::size_t at = 3 * static_cast<std::size_t>(y * kWidth + x);
      const bool sign = during && kind_ == SceneKind::logo && in_sign(x, y);
      const bool bar = during && kind_ == SceneKind::letterbox && in_bar(y);
      const bool object = in_object(x, y, right);
      const std::size_t of_object = at + 3 * static_cast<std::size_t>(kWidth - right);
      for (std::size_t c = 0; c < 3; ++c) {
        const int level = object ? second_[of_object % second_.size() + c] : picture[at + c];
        const std::uint8_t seen = exposed(level, light, noise);
        // Signs and bars are put on after the camera: neither light nor noise reaches them.
        out[3 * static_cast<std::size_t>(x) + c] = sign ? kSignLevel : bar ? 0 : seen;
      }
    }
  }
}

Image StabilityScene::frame(int frame) const {
  Image image(kDesc);
  draw(frame, image.view());
  return image;
}

void darken(const ConstImageView& bgr, int percent, int frame, const ImageView& to) {
  const int light = kFullLight * percent / 100;
  for (int y = 0; y < bgr.desc.height; ++y) {
    const std::uint8_t* in = bgr.row(0, y);
    std::uint8_t* out = to.row(0, y);
    NoiseRow noise(y, frame);
    for (std::size_t x = 0; x < 3 * static_cast<std::size_t>(bgr.desc.width); ++x)
      out[x] = exposed(in[x] * kUnit, light, noise);
  }
}

}  // namespace equalux::scenes
