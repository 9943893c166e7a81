#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "src/cpu/convolve/convolve_rows.h"

namespace equalux {
namespace {

std::uint8_t result(const RowOut& to, std::size_t x, std::uint32_t level) {
  if (to.copied != nullptr && to.copied[x % kConvolveBytes] != 0) return to.centre[x];
  return static_cast<std::uint8_t>(std::min(level, 255U));
}

std::uint32_t divide(std::uint32_t n, const LongDivision& division) {
  return division.shift >= 0 ? n >> division.shift : n / division.divisor;
}

std::int32_t sum_of(const std::vector<Tap>& taps, const std::uint8_t* const* rows, std::size_t x,
                    std::int32_t bias) {
  std::int32_t sum = bias;
  for (const Tap& tap : taps)
    sum += tap.weight * rows[tap.row][static_cast<std::ptrdiff_t>(x) + tap.offset];
  return std::max(sum, 0);
}

void short_taps(const ShortTaps& taps, const std::uint8_t* const* rows, const RowOut& to) {
  const ShortDivision& division = taps.division;
  for (std::size_t x = 0; x < to.n; ++x) {
    auto level = static_cast<std::uint32_t>(sum_of(taps.taps, rows, x, taps.bias));
    if (division.multiplier != 0) level = (level * division.multiplier) >> 16;
    to.out[x] = result(to, x, level >> division.shift);
  }
}

void long_taps(const LongTaps& taps, const std::uint8_t* const* rows, const RowOut& to) {
  for (std::size_t x = 0; x < to.n; ++x) {
    const auto sum = static_cast<std::uint32_t>(sum_of(taps.taps, rows, x, taps.bias));
    to.out[x] = result(to, x, divide(sum, taps.division));
  }
}

void weigh_row(const GaussianWeights& weights, std::ptrdiff_t step, const std::uint8_t* samples,
               std::size_t n, std::uint32_t* sums) {
  const auto half = [&](int k) {
    return static_cast<std::uint32_t>(weights.half[static_cast<std::size_t>(k)]);
  };
  for (std::size_t x = 0; x < n; ++x)
    sums[x] = kGaussianHalf + half(0) * samples[x];
  for (int k = 1; k <= weights.radius; ++k) {
    const std::uint8_t* left = samples - k * step;
    const std::uint8_t* right = samples + k * step;
    const std::uint32_t weight = half(k);
    for (std::size_t x = 0; x < n; ++x)
      sums[x] += weight * (std::uint32_t{left[x]} + right[x]);
  }
}

/// Columns that are summed at once.
using ColumnSums = std::array<std::uint32_t, kConvolveBytes>;

ColumnSums column_sums(const GaussianWeights& weights, const std::uint32_t* const* middle,
                       std::size_t begin) {
  ColumnSums sums;
  const auto half = [&](int k) {
    return static_cast<std::uint32_t>(weights.half[static_cast<std::size_t>(k)]);
  };
  for (std::size_t i = 0; i < sums.size(); ++i)
    sums[i] = half(0) * middle[0][begin + i];
  for (int k = 1; k <= weights.radius; ++k) {
    const std::uint32_t* up = middle[-k] + begin;
    const std::uint32_t* down = middle[k] + begin;
    const std::uint32_t weight = half(k);
    for (std::size_t i = 0; i < sums.size(); ++i)
      sums[i] += weight * (up[i] + down[i]);
  }
  return sums;
}

void weigh_columns(const GaussianWeights& weights, const std::uint32_t* const* rows,
                   std::size_t begin, std::size_t end, const RowOut& first, const RowOut& below) {
  const std::uint32_t* const* middle = rows + weights.radius;
  for (std::size_t x = begin; x < end; x += kConvolveBytes) {
    const ColumnSums sums = column_sums(weights, middle, x);
    const ColumnSums sums_below = column_sums(weights, middle + 1, x);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      first.out[x + i] = result(first, x + i, sums[i] >> 24);
      below.out[x + i] = result(below, x + i, sums_below[i] >> 24);
    }
  }
}

void box_row(int size, std::ptrdiff_t step, const std::uint8_t* samples, std::size_t n,
             std::uint16_t* sums) {
  const std::ptrdiff_t radius = size / 2 * step;
  const auto end = static_cast<std::ptrdiff_t>(n);
  for (std::ptrdiff_t x = 0; x < std::min(step, end); ++x) {
    unsigned sum = 0;
    for (std::ptrdiff_t i = -radius; i <= radius; i += step)
      sum += samples[x + i];
    sums[x] = static_cast<std::uint16_t>(sum);
  }
  for (std::ptrdiff_t x = step; x < end; ++x) {
    sums[x] = static_cast<std::uint16_t>(sums[x - step] + samples[x + radius] -
                                         samples[x - radius - step]);
  }
}

void box_columns(int size, const std::uint16_t* entering, const std::uint16_t* leaving,
                 std::uint32_t* sums, const RowOut& to) {
  const auto divisor = static_cast<std::uint32_t>(size * size);
  for (std::size_t x = 0; x < to.n; ++x) {
    sums[x] = sums[x] + entering[x] - leaving[x];
    if (to.out != nullptr) to.out[x] = result(to, x, (sums[x] + divisor / 2) / divisor);
  }
}

}  // namespace

const ConvolveRows& scalar_convolve_rows() {
  static const ConvolveRows loops{"scalar",      short_taps, long_taps,   weigh_row,
                                  weigh_columns, box_row,    box_columns, flush_no_stores};
  return loops;
}

GaussianWeights gaussian_weights(const std::vector<std::int32_t>& all) {
  GaussianWeights weights;
  weights.half.assign(all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2), all.end());
  while (weights.half.size() > 1 && weights.half.back() == 0)
    weights.half.pop_back();
  weights.radius = static_cast<int>(weights.half.size()) - 1;
  weights.small = weights.radius + 1;
  if (weights.radius > kUnrolledRadius) {
    std::int32_t room = (std::numeric_limits<std::int16_t>::max() - kGaussianHalf) / (2 * 255);
    while (weights.half[static_cast<std::size_t>(weights.small - 1)] <= room)
      room -= weights.half[static_cast<std::size_t>(--weights.small)];
    // Weights before `small` must be paired.
    if (weights.small % 2 == 0 && weights.small <= weights.radius) ++weights.small;
  }
  weights.half.push_back(0);
  const auto half = [&](int k) {
    return static_cast<std::uint32_t>(weights.half[static_cast<std::size_t>(k)]);
  };
  for (int k = 0; k <= weights.radius; ++k) {
    const std::uint32_t next = k == 0 ? 1 : half(k + 1);
    weights.factors.push_back(k < weights.small ? half(k) | next << 16 : half(k) * 0x01010101U);
  }
  return weights;
}

ShortDivision short_division(std::uint32_t divisor) {
  const int log2 = std::bit_width(divisor) - 1;
  if (std::has_single_bit(divisor)) return {0, log2};
  // The multiplier 2^(16 + log2) / divisor, rounded up, is off by less than divisor <= 2^(log2 +
  // 1), and n times that stays below 2^(16 + log2): the floor of the quotient does not change.
  const std::uint64_t power = std::uint64_t{1} << (16 + log2);
  return {static_cast<std::uint16_t>((power + divisor - 1) / divisor), log2};
}

LongDivision long_division(std::uint32_t divisor) {
  const std::uint64_t most = 256 * std::uint64_t{divisor} - 1;
  LongDivision division;
  division.divisor = divisor;
  division.most = static_cast<std::int32_t>(std::min<std::uint64_t>(most, 0x7fffffff));
  if (std::has_single_bit(divisor)) division.shift = std::bit_width(divisor) - 1;
  // 2^-21 outweighs the three roundings of a quotient, 2^-24 each; quotients up to 255 are less
  // than 2^-12 too low.
  division.inverse = static_cast<float>((1 - 0x1p-21) / divisor);
  return division;
}

}  // namespace equalux
