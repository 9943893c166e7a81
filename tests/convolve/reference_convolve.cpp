#include "tests/convolve/reference_convolve.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace equalux::test {
namespace {

/// The sample at any position, or the constant.
double sample_at(const ConstImageView& in, Border border, int border_value, int x, int y,
                 int channel) {
  const int width = in.desc.width;
  const int height = in.desc.height;
  const auto fold = [border](int i, int n) {
    if (border == Border::replicate || n == 1) return std::clamp(i, 0, n - 1);
    while (i < 0 || i >= n)
      i = i < 0 ? -i : 2 * (n - 1) - i;
    return i;
  };
  if (border == Border::constant && (x < 0 || y < 0 || x >= width || y >= height)) {
    return border_value;
  }
  const int step = traits(in.desc.format).step[0];
  return in.row(0, fold(y, height))[fold(x, width) * step + channel];
}

}  // namespace

ReferenceKernel reference_kernel(std::string_view name) {
  if (name == "box-blur") return {3, {1, 1, 1, 1, 1, 1, 1, 1, 1}, 9, 0};
  if (name == "gaussian-blur") return {3, {1, 2, 1, 2, 4, 2, 1, 2, 1}, 16, 0};
  if (name == "edge") return {3, {-1, -1, -1, -1, 8, -1, -1, -1, -1}, 1, 0};
  if (name == "emboss-horizontal") return {3, {0, 0, 0, 1, 0, -1, 0, 0, 0}, 1, 128};
  if (name == "emboss-vertical") return {3, {0, 1, 0, 0, 0, 0, 0, -1, 0}, 1, 128};
  if (name == "sharpen") return {3, {0, -1, 0, -1, 5, -1, 0, -1, 0}, 1, 0};
  if (name == "identity") return {3, {0, 0, 0, 0, 1, 0, 0, 0, 0}, 1, 0};
  throw std::invalid_argument("no such kernel");
}

ReferenceKernel reference_box(int size) {
  const double count = double{1} * size * size;
  return {size, std::vector<double>(static_cast<std::size_t>(size) * size, 1.0), count, 0};
}

ReferenceKernel reference_gaussian(const std::vector<int>& row) {
  ReferenceKernel kernel{static_cast<int>(row.size()), {}, 4096.0 * 4096.0, 0};
  for (const int column : row) {
    for (const int weight : row)
      kernel.weights.push_back(double{1} * column * weight);
  }
  return kernel;
}

void reference_convolve(const ReferenceKernel& kernel, Border border, int border_value,
                        const ConstImageView& in, const ImageView& out) {
  copy_image(in, out);
  const FormatTraits& t = traits(in.desc.format);
  const int radius = kernel.size / 2;
  for (int y = 0; y < in.desc.height; ++y) {
    for (int i = 0; i < in.desc.width * t.step[0]; ++i) {
      const int channel = i % t.step[0];
      if (channel == t.alpha_offset) continue;
      double sum = 0;
      for (int k = 0; k < kernel.size * kernel.size; ++k) {
        const double weight = kernel.weights[static_cast<std::size_t>(k)];
        if (weight == 0) continue;
        sum +=
            weight * sample_at(in, border, border_value, i / t.step[0] + k % kernel.size - radius,
                               y + k / kernel.size - radius, channel);
      }
      const double level = std::floor(sum / kernel.divisor + kernel.offset + 0.5);
      out.row(0, y)[i] = static_cast<std::uint8_t>(std::clamp(level, 0.0, 255.0));
    }
  }
}

}  // namespace equalux::test
