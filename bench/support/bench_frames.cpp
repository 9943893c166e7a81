#include "bench/support/bench_frames.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "src/cpu/common/parallel.h"

namespace equalux::bench {
namespace {

/// Bytes of all frames that take turns: more than the last-level caches of current servers hold for
/// one core.
constexpr std::size_t kRingBytes = std::size_t{400} << 20;

/// Returns the hash of a lattice point, 0 to 1.
float lattice(int x, int y, std::uint32_t seed) {
  std::uint32_t h = static_cast<std::uint32_t>(x) * 0x9E3779B1u ^
                    static_cast<std::uint32_t>(y) * 0x85EBCA77u ^ seed * 0xC2B2AE3Du;
  h ^= h >> 15;
  h *= 0x2C1B3C6Du;
  h ^= h >> 13;
  return static_cast<float>(h & 0xFFFF) / 65535.0f;
}

/// Computes value noise: smooth between lattice points `cell` pixels apart.
float value_noise(float x, float y, float cell, std::uint32_t seed) {
  const float gx = x / cell;
  const float gy = y / cell;
  const int ix = static_cast<int>(std::floor(gx));
  const int iy = static_cast<int>(std::floor(gy));
  const float fx = gx - static_cast<float>(ix);
  const float fy = gy - static_cast<float>(iy);
  const float top = std::lerp(lattice(ix, iy, seed), lattice(ix + 1, iy, seed), fx);
  const float low = std::lerp(lattice(ix, iy + 1, seed), lattice(ix + 1, iy + 1, seed), fx);
  return std::lerp(top, low, fy);
}

std::uint8_t scene(float x, float y, int plane) {
  const auto seed = static_cast<std::uint32_t>(17 + plane);
  float level = 0.55f * value_noise(x, y, 311.0f, 3) + 0.25f * value_noise(x, y, 67.0f, 5) +
                0.12f * value_noise(x, y, 13.0f, seed) + 0.08f * value_noise(x, y, 2.1f, seed + 9);
  level = level * level * 1.3f;
  return static_cast<std::uint8_t>(std::clamp(20.0f + 190.0f * level, 0.0f, 255.0f));
}

std::uint8_t chroma(float x, float y, int plane) {
  const float tint = value_noise(x, y, 97.0f, static_cast<std::uint32_t>(41 + plane)) - 0.5f;
  return static_cast<std::uint8_t>(128.0f + 50.0f * tint);
}

/// Writes sample x of a row; samples of more than 8 bits get grain below the level.
void put_sample(const FormatTraits& form, std::uint8_t* row, std::size_t x, int y,
                std::uint8_t level) {
  if (form.depth == 8) {
    row[x] = level;
    return;
  }
  const auto most = static_cast<float>((1 << (form.depth - 8)) - 1);
  const auto grain = static_cast<int>(most * lattice(static_cast<int>(x), y, 23));
  const int word = ((level << (form.depth - 8)) + grain) << form.shift;
  row[2 * x] = static_cast<std::uint8_t>(word & 255);
  row[2 * x + 1] = static_cast<std::uint8_t>(word >> 8);
}

}  // namespace

std::vector<Image> natural_frames(const ImageDesc& desc, int count) {
  std::vector<Image> frames;
  const FormatTraits& t = traits(desc.format);
  // Draws one frame; the others are shifted copies, as from a camera that pans.
  frames.emplace_back(desc);
  for (int p = 0; p < t.planes; ++p) {
    const bool is_chroma = t.model == ColorModel::yuv && p > 0;
    const auto bytes = static_cast<std::size_t>(sample_bytes(desc.format));
    const std::size_t step = is_chroma ? 1 : static_cast<std::size_t>(t.step[0]) / bytes;
    RowExecutor(0).for_rows(plane_rows(desc, p), [&](int begin, int end, int) {
      for (int y = begin; y < end; ++y) {
        std::uint8_t* row = frames[0].view().row(p, y);
        for (std::size_t x = 0; x < row_bytes(desc, p) / bytes; ++x) {
          const auto fx = static_cast<float>(x / step);
          const auto channel = static_cast<int>(x % step);
          put_sample(t, row, x, y,
                     is_chroma
                         ? chroma(fx, static_cast<float>(y), p + (t.planes == 2 ? channel : 0))
                         : scene(fx, static_cast<float>(y), channel));
        }
      }
    });
  }
  for (int i = 1; i < count; ++i) {
    frames.emplace_back(desc);
    const ConstImageView from = frames[0].view();
    for (int p = 0; p < t.planes; ++p) {
      const auto group = static_cast<std::size_t>(t.step[static_cast<std::size_t>(p)]) * 2;
      const std::size_t bytes = row_bytes(desc, p);
      const std::size_t shift =
          static_cast<std::size_t>(i) * 8 * group % std::max<std::size_t>(bytes / group * group, 1);
      for (int y = 0; y < plane_rows(desc, p); ++y) {
        std::uint8_t* row = frames.back().view().row(p, y);
        std::copy_n(from.row(p, y) + shift, bytes - shift, row);
        std::copy_n(from.row(p, y), shift, row + (bytes - shift));
      }
    }
  }
  return frames;
}

int ring_length(const ImageDesc& desc) {
  return static_cast<int>(std::clamp<std::size_t>(kRingBytes / tight_bytes(desc), 6, 64));
}

}  // namespace equalux::bench
