#include <algorithm>
#include <utility>

#include "src/cpu/convolve/convolve.h"

namespace equalux {
namespace {

/// Indices of positions -radius .. n + radius - 1, times `step`; -1 = constant.
std::vector<int> positions(int n, int radius, Border border, int step) {
  std::vector<int> at;
  for (int i = -radius; i < n + radius; ++i) {
    const int index = border_index(i, n, border);
    at.push_back(index < 0 ? -1 : index * step);
  }
  return at;
}

}  // namespace

SequentialConvolution::SequentialConvolution(ExactKernel kernel, const BorderRule& border)
    : kernel_(std::move(kernel)), border_(border) {
  weights_.assign(kernel_.weights.begin(), kernel_.weights.end());
  if (!kernel_.separable) return;
  for (const std::int32_t column : kernel_.column) {
    for (const std::int32_t row : kernel_.row)
      weights_.push_back(std::int64_t{column} * row);
  }
}

void SequentialConvolution::configure(const ImageDesc& desc) {
  columns_ = positions(desc.width, kernel_.radius(), border_.border, traits(desc.format).step[0]);
  lines_ = positions(desc.height, kernel_.radius(), border_.border, 1);
}

std::uint8_t SequentialConvolution::sample(const ConstImageView& in, int x, int y,
                                           int channel) const {
  std::int64_t sum = kernel_.bias;
  const std::int64_t* weight = weights_.data();
  for (int j = 0; j < kernel_.size; ++j) {
    const int line = lines_[static_cast<std::size_t>(y + j)];
    const std::uint8_t* row = line < 0 ? nullptr : in.row(0, line) + channel;
    for (int i = 0; i < kernel_.size; ++i) {
      const int at = columns_[static_cast<std::size_t>(x + i)];
      sum += *weight++ * (row == nullptr || at < 0 ? border_.value : row[at]);
    }
  }
  // Negative sums give 0 in any case; others fit in 32 bits.
  const auto positive = static_cast<std::uint32_t>(std::max<std::int64_t>(sum, 0));
  const std::uint32_t level = positive / static_cast<std::uint32_t>(kernel_.divisor);
  return static_cast<std::uint8_t>(std::min(level, 255U));
}

void SequentialConvolution::process(const ConstImageView& in, const ImageView& out) const {
  const FormatTraits& t = traits(in.desc.format);
  const int step = t.step[0];
  for (int y = 0; y < in.desc.height; ++y) {
    std::uint8_t* to = out.row(0, y);
    for (int x = 0; x < in.desc.width; ++x) {
      for (int channel = 0; channel < step; ++channel) {
        const bool copied = channel == t.alpha_offset;
        to[x * step + channel] =
            copied ? in.row(0, y)[x * step + channel] : sample(in, x, y, channel);
      }
    }
  }
}

}  // namespace equalux
