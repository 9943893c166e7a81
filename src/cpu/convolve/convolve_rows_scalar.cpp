#include <algorithm>
#include <bit>

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

void column_sums(const SymmetricWeights& column, const std::uint8_t* const* rows, std::size_t n,
                 std::uint32_t* sums) {
  std::fill_n(sums, n, 0U);
  for (int j = 0; j < column.size; ++j) {
    const auto weight = static_cast<std::uint32_t>(column.weights[j]);
    for (std::size_t x = 0; x < n; ++x)
      sums[x] += weight * rows[j][x];
  }
}

void slide_sums(const std::uint8_t* entering, const std::uint8_t* leaving, std::size_t n,
                std::uint32_t* sums) {
  for (std::size_t x = 0; x < n; ++x)
    sums[x] = sums[x] + entering[x] - leaving[x];
}

void row_sums(const SymmetricWeights& row, std::ptrdiff_t step, std::uint32_t bias,
              const LongDivision& division, const std::uint32_t* sums, const RowOut& to) {
  const std::uint32_t* first = sums - row.size / 2 * step;
  for (std::size_t x = 0; x < to.n; ++x) {
    std::uint32_t sum = bias;
    for (int i = 0; i < row.size; ++i)
      sum += static_cast<std::uint32_t>(row.weights[i]) *
             first[static_cast<std::ptrdiff_t>(x) + i * step];
    to.out[x] = result(to, x, divide(sum, division));
  }
}

void flush_stores() {}

}  // namespace

const ConvolveKernels& scalar_convolve_kernels() {
  static const ConvolveKernels kernels{"scalar",   short_taps, long_taps,   column_sums,
                                       slide_sums, row_sums,   flush_stores};
  return kernels;
}

ShortDivision short_division(std::uint32_t divisor) {
  const int log2 = std::bit_width(divisor) - 1;
  if (std::has_single_bit(divisor)) return {0, log2};
  // Rounding 2^(16 + log2) / divisor up errs by less than divisor <= 2^(log2 + 1), and n times that
  // stays below 2^(16 + log2): the quotient's floor does not change.
  const std::uint64_t power = std::uint64_t{1} << (16 + log2);
  return {static_cast<std::uint16_t>((power + divisor - 1) / divisor), log2};
}

LongDivision long_division(std::uint32_t divisor) {
  const std::uint64_t most = 256 * std::uint64_t{divisor} - 1;
  LongDivision division;
  division.divisor = divisor;
  division.most = static_cast<std::int32_t>(std::min<std::uint64_t>(most, 0x7fffffff));
  if (std::has_single_bit(divisor)) division.shift = std::bit_width(divisor) - 1;
  // 2^-21 outweighs the three roundings on the way to a quotient, of 2^-24 each; quotients up to
  // 255 come out less than 2^-12 too low.
  division.inverse = static_cast<float>((1 - 0x1p-21) / divisor);
  return division;
}

}  // namespace equalux
