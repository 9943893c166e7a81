#include "tests/denoise/denoise_pictures.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace equalux::test {

std::vector<PixelFormat> denoised_formats() {
  std::vector<PixelFormat> taken;
  for (int i = 0; i < kPixelFormatCount; ++i) {
    const auto format = static_cast<PixelFormat>(i);
    if (takes(DenoiseParams{}, format)) taken.push_back(format);
  }
  return taken;
}

std::vector<DenoiseParams> denoise_option_cases() {
  return {{0.35, 24, 0.6, 0}, {1, 1, 1, 0},     {1, 31, 0, 0},    {1, 24, 0.6, 2.5},
          {0, 24, 0.6, 0},    {1, 24, 1, 64.0}, {1, 24, 0.1, 0.1}};
}

std::vector<int> component_indices(PixelFormat format) {
  switch (traits(format).model) {
    case ColorModel::gray:
      return {0};
    case ColorModel::rgb:
      return {1, 0, 2};
    default:
      return {0, 1, 2};
  }
}

int code_at(const ConstImageView& view, int component, int x, int y) {
  const FormatTraits& format = traits(view.desc.format);
  const std::uint8_t* at = samples_of(view, component).at(x, y);
  if (format.depth == 8) return *at;
  return std::min((at[0] | at[1] << 8) >> format.shift, (1 << format.depth) - 1);
}

std::vector<GridComponent> grids_of(const ConstImageView& view, int first, int step) {
  const FormatTraits& format = traits(view.desc.format);
  std::vector<GridComponent> all;
  for (const int component : component_indices(view.desc.format)) {
    const auto samples = samples_of(view, component);
    const bool chroma = format.model == ColorModel::yuv && component != 0;
    GridComponent grid{Grid(samples.columns, (samples.rows - first + step - 1) / step),
                       chroma ? format.chroma_shift_x : 0, chroma ? format.chroma_shift_y : 0,
                       chroma};
    for (int y = 0; y < grid.samples.rows; ++y)
      for (int x = 0; x < grid.samples.columns; ++x)
        grid.samples(x, y) = code_at(view, component, x, first + step * y);
    all.push_back(grid);
  }
  return all;
}

void draw_scene(const ImageView& out, const Scene& scene, int number, std::mt19937& random,
                std::normal_distribution<double>& normal) {
  const FormatTraits& format = traits(out.desc.format);
  const int unit = 1 << (format.depth - 8);
  const double turned = number < scene.cut ? 0 : 1.3;
  for (const int component : component_indices(out.desc.format)) {
    const auto samples = samples_of(out, component);
    const bool chroma = format.model == ColorModel::yuv && component != 0;
    const int scale = chroma ? 1 << format.chroma_shift_x : 1;
    const int together = chroma ? std::max(scene.shared, scene.blotches) : scene.shared;
    // Noise of some samples more on each side.
    std::vector<double> around;
    const int pitch = samples.columns + together - 1;
    if (together != 1) {
      around.resize(static_cast<std::size_t>(pitch * (samples.rows + together - 1)));
      for (double& each : around)
        each = normal(random);
    }
    const auto noise_at = [&](int x, int y) {
      if (together == 1) return normal(random);
      double sum = 0;
      for (int j = 0; j < together; ++j)
        for (int i = 0; i < together; ++i)
          sum += around[static_cast<std::size_t>((y + j) * pitch + x + i)];
      return sum / together;
    };
    for (int y = 0; y < samples.rows; ++y) {
      for (int x = 0; x < samples.columns; ++x) {
        const double u = scale * x + scene.dx * number + 40 * turned;
        const double v = scale * y + scene.dy * number;
        double level = chroma ? 128 + 12 * std::sin(u / 23 + component + turned)
                              : 60 + 14 * std::sin(u / 5) * std::cos(v / 7) +
                                    9 * std::sin(v / 3 + turned) + 30 * turned;
        const double thing = scale * x - (4.0 * number - 20);
        if (thing > 0 && thing < 14 && scale * y > 6 && scale * y < 25) level += chroma ? 30 : 70;
        if (scene.sigma != 0) level += scene.sigma * noise_at(x, y);
        const int code = std::clamp(static_cast<int>(std::lround(level * unit)), 0, 256 * unit - 1);
        std::uint8_t* const at = samples.at(x, y);
        at[0] = static_cast<std::uint8_t>(code << format.shift);
        if (format.depth > 8) at[1] = static_cast<std::uint8_t>(code << format.shift >> 8);
      }
    }
  }
}

BlockCodec::BlockCodec(const ImageDesc& desc, Coding coding, double step)
    : coding_(coding), step_(step), last_(desc) {
  for (const int component : component_indices(desc.format)) {
    const auto samples = samples_of(last_.view(), component);
    for (int y = 0; y < samples.rows; ++y)
      for (int x = 0; x < samples.columns; ++x)
        *samples.at(x, y) = 128;
  }
  for (int u = 0; u < kSide; ++u)
    for (int x = 0; x < kSide; ++x)
      cosine_[at(u, x)] = std::sqrt((u == 0 ? 1.0 : 2.0) / kSide) *
                          std::cos((2 * x + 1) * u * std::numbers::pi / (2 * kSide));
}

void BlockCodec::code(const ImageView& frame) {
  for (const int component : component_indices(frame.desc.format)) {
    const auto samples = samples_of(frame, component);
    const auto last = samples_of(last_.view(), component);
    for (int y = 0; y + kSide <= samples.rows; y += kSide)
      for (int x = 0; x + kSide <= samples.columns; x += kSide)
        code_block(samples, last, x, y);
  }
  if (coding_ == Coding::inter) copy_image(frame, last_.view());
}

/// Discrete cosine transform (DCT) of a block, or its inverse.
BlockCodec::Block BlockCodec::transformed(const Block& block, bool inverse) const {
  const auto basis = [&](int to, int from) {
    return inverse ? cosine_[at(from, to)] : cosine_[at(to, from)];
  };
  Block across{};
  Block both{};
  for (int i = 0; i < kSide; ++i)
    for (int j = 0; j < kSide; ++j)
      for (int k = 0; k < kSide; ++k)
        across[at(i, j)] += block[at(i, k)] * basis(j, k);
  for (int i = 0; i < kSide; ++i)
    for (int j = 0; j < kSide; ++j)
      for (int k = 0; k < kSide; ++k)
        both[at(i, j)] += across[at(k, j)] * basis(i, k);
  return both;
}

/// Differences from a frame are rounded towards 0, as encoders do.
double BlockCodec::quantized(double number, int frequency) const {
  const bool inter = coding_ == Coding::inter;
  const double step = inter ? step_ : step_ * (1 + 0.5 * frequency);
  return std::copysign(step * std::floor(std::abs(number) / step + (inter ? 1.0 / 6 : 0.5)),
                       number);
}

void BlockCodec::code_block(const Samples<std::uint8_t>& samples, const Samples<std::uint8_t>& last,
                            int x, int y) const {
  Block block;
  for (int j = 0; j < kSide; ++j)
    for (int i = 0; i < kSide; ++i)
      block[at(j, i)] = *samples.at(x + i, y + j) - *last.at(x + i, y + j);
  block = transformed(block, false);
  for (int j = 0; j < kSide; ++j)
    for (int i = 0; i < kSide; ++i)
      block[at(j, i)] = quantized(block[at(j, i)], i + j);
  block = transformed(block, true);
  for (int j = 0; j < kSide; ++j) {
    for (int i = 0; i < kSide; ++i) {
      const double level = *last.at(x + i, y + j) + block[at(j, i)];
      *samples.at(x + i, y + j) =
          static_cast<std::uint8_t>(std::clamp(std::lround(level), 0L, 255L));
    }
  }
}

}  // namespace equalux::test
