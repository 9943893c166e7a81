// Draws the sample clip: nine seconds of a harbour at dusk, in fog, and of what swims below it.
//
//   c++ -std=c++20 -O2 -ffp-contract=off samples/make_clip.cpp samples/clip/*.cpp -o make_clip
//   ./make_clip clip.y4m clip.wav
//
// Needs nothing but a compiler and writes the same bytes everywhere; make_clip.sh encodes them.
#include <array>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "clip/scenes.h"
#include "clip/tune.h"

namespace {

using namespace clip;

constexpr int kFrames = kHarbourFrames + kReefFrames;

float seconds(int frames) {
  return static_cast<float>(frames) / kFramesPerSecond;
}

// Haze and underexposure in one: blacks are lifted and everything lies in the lower third, which
// is what an equalizer is for. The grain keeps the gradients from banding once they are stretched.
void expose(Canvas& canvas, int frame) {
  const bool above = frame < kHarbourFrames;
  const Color lift = above ? Color{0.100F, 0.106F, 0.118F} : Color{0.050F, 0.085F, 0.095F};
  const float range = above ? 0.56F : 0.50F;
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      Color& c = canvas.at(x, y);
      const auto shoulder = [](float v) { return v / (1 + 0.18F * v * v); };
      const float grain = (random_at(x, y, frame) + random_at(y, x, frame + 999) - 1) * 0.004F;
      c = lift + Color{shoulder(c.r), shoulder(c.g), shoulder(c.b)} * range +
          Color{grain, grain, grain};
    }
  }
}

// ---- YUV4MPEG2, 4:2:0, BT.709, limited range
// ------------------------------------------------------

struct YCbCr {
  float y, cb, cr;
};

YCbCr to_ycbcr(Color c) {
  const float r = saturate(c.r);
  const float g = saturate(c.g);
  const float b = saturate(c.b);
  const float luma = 0.2126F * r + 0.7152F * g + 0.0722F * b;
  return {luma, (b - luma) / 1.8556F, (r - luma) / 1.5748F};
}

char byte(float v) {
  return static_cast<char>(static_cast<unsigned char>(std::floor(v + 0.5F)));
}

// Chroma sits at even columns, halfway between two rows (MPEG-2's place for it).
void write_frame(std::ostream& out, Canvas& canvas) {
  constexpr std::size_t kLuma = static_cast<std::size_t>(kWidth) * kHeight;
  std::vector<YCbCr> yuv;
  yuv.reserve(kLuma);
  std::string luma;
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      yuv.push_back(to_ycbcr(canvas.at(x, y)));
      luma += byte(16 + 219 * yuv.back().y);
    }
  }
  std::string blue;
  std::string red;
  for (int y = 0; y < kHeight; y += 2) {
    for (int x = 0; x < kWidth; x += 2) {
      float cb = 0;
      float cr = 0;
      for (int dy = 0; dy < 2; ++dy) {
        for (int dx = -1; dx <= 1; ++dx) {
          const int column = std::max(x + dx, 0);
          const YCbCr& p =
              yuv[static_cast<std::size_t>(y + dy) * kWidth + static_cast<std::size_t>(column)];
          const float weight = dx == 0 ? 0.25F : 0.125F;
          cb += weight * p.cb;
          cr += weight * p.cr;
        }
      }
      blue += byte(128 + 224 * cb);
      red += byte(128 + 224 * cr);
    }
  }
  out << "FRAME\n" << luma << blue << red;
}

std::ofstream create(const std::string& path) {
  std::ofstream out(path, std::ios::binary);
  if (!out) throw std::runtime_error(path + ": cannot be created");
  return out;
}

void finish(std::ofstream& out, const std::string& path) {
  if (!out.flush()) throw std::runtime_error(path + ": cannot be written to its end");
}

void write_video(const std::string& path) {
  std::ofstream out = create(path);
  out << "YUV4MPEG2 W" << kWidth << " H" << kHeight << " F" << kFramesPerSecond
      << ":1 Ip A1:1 C420mpeg2 XCOLORRANGE=LIMITED\n";
  Canvas canvas;
  for (int i = 0; i < kFrames; ++i) {
    if (i < kHarbourFrames) {
      paint_harbour(canvas, seconds(i));
    } else {
      paint_reef(canvas, seconds(i - kHarbourFrames));
    }
    expose(canvas, i);
    write_frame(out, canvas);
  }
  finish(out, path);
}

// ---- WAV
// ------------------------------------------------------------------------------------------

void put_little_endian(std::ostream& out, std::uint32_t value, int bytes) {
  for (int i = 0; i < bytes; ++i)
    out.put(static_cast<char>(value >> (8 * i) & 0xFFU));
}

void write_sound(const std::string& path) {
  const std::vector<std::int16_t> pcm = play_tune(seconds(kFrames), seconds(kHarbourFrames));
  const auto size = static_cast<std::uint32_t>(pcm.size() * 2);
  std::ofstream out = create(path);
  out << "RIFF";
  put_little_endian(out, 36 + size, 4);
  out << "WAVEfmt ";
  put_little_endian(out, 16, 4);
  put_little_endian(out, 1, 2);  // PCM
  put_little_endian(out, 2, 2);  // channels
  put_little_endian(out, kSampleRate, 4);
  put_little_endian(out, kSampleRate * 4, 4);
  put_little_endian(out, 4, 2);
  put_little_endian(out, 16, 2);
  out << "data";
  put_little_endian(out, size, 4);
  for (const std::int16_t sample : pcm) {
    put_little_endian(out, static_cast<std::uint16_t>(sample), 2);
  }
  finish(out, path);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: make_clip VIDEO.y4m SOUND.wav\n");
    return 2;
  }
  try {
    write_video(argv[1]);
    write_sound(argv[2]);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "make_clip: %s\n", e.what());
    return 74;
  }
  return 0;
}
