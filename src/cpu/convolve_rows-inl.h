// The SIMD bodies of convolve_rows.h; included once for each target. In a namespace of their own:
// fused_rows-inl.h has its own vectors of the same names.
#if defined(EQUALUX_CONVOLVE_ROWS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUALUX_CONVOLVE_ROWS_INL_H
#undef EQUALUX_CONVOLVE_ROWS_INL_H
#else
#define EQUALUX_CONVOLVE_ROWS_INL_H
#endif

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

HWY_BEFORE_NAMESPACE();
namespace equalux::convolution {
namespace HWY_NAMESPACE {

/// A target without vectors is served by the plain C++ loops.
ConvolveKernels target_convolve_kernels() {
  return scalar_convolve_kernels();
}

}  // namespace HWY_NAMESPACE
}  // namespace equalux::convolution
HWY_AFTER_NAMESPACE();

#else

// clang-format off: the second builds on the first
#include "cpu/convolve_lanes-inl.h"
#include "cpu/convolve_taps-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace equalux::convolution {
namespace HWY_NAMESPACE {

/// Sixteen-bit sums of two rows of bytes cost half of what 32-bit ones do.
void column_sums(const SymmetricWeights& column, const std::uint8_t* const* rows, std::size_t n,
                 std::uint32_t* sums) {
  const D32 d32;
  const hn::Rebind<std::uint8_t, D32> d8;
  const int radius = column.size / 2;
  for (std::size_t x = 0; x < n; x += hn::MaxLanes(d32)) {
    const auto widened = [&](int row)
                             HWY_ATTR { return hn::PromoteTo(d32, hn::LoadU(d8, rows[row] + x)); };
    const auto weight = [&](int row) HWY_ATTR {
      return hn::Set(d32, static_cast<std::uint32_t>(column.weights[row]));
    };
    V32 sum = hn::Mul(widened(radius), weight(radius));
    for (int j = 0; j < radius; ++j) {
      const V32 both = hn::Add(widened(j), widened(column.size - 1 - j));
      sum = hn::Add(sum, hn::Mul(both, weight(j)));
    }
    hn::StoreU(sum, d32, sums + x);
  }
}

/// Results of one vector of 32-bit lanes.
HWY_INLINE V32 row_sum(const SymmetricWeights& row, std::ptrdiff_t step, std::uint32_t bias,
                       const std::uint32_t* sums) {
  const D32 d32;
  const int radius = row.size / 2;
  const auto at = [&](std::ptrdiff_t steps)
                      HWY_ATTR { return hn::LoadU(d32, sums + steps * step); };
  const auto weight = [&](int i) HWY_ATTR {
    return hn::Set(d32, static_cast<std::uint32_t>(row.weights[i]));
  };
  V32 sum = hn::Add(hn::Set(d32, bias), hn::Mul(at(0), weight(radius)));
  for (int i = 0; i < radius; ++i) {
    const V32 both = hn::Add(at(i - radius), at(radius - i));
    sum = hn::Add(sum, hn::Mul(both, weight(i)));
  }
  return sum;
}

void row_sums(const SymmetricWeights& row, std::ptrdiff_t step, std::uint32_t bias,
              const LongDivision& division, const std::uint32_t* sums, const RowOut& to) {
  const D32 d32;
  const DI32 di32;
  const hn::Rebind<std::uint8_t, D32> d8;
  constexpr std::size_t kLanes = hn::MaxLanes(d32);
  alignas(kConvolveBytes) std::array<std::uint8_t, kBytes> levels;
  const bool stream = may_stream(to);
  for (std::size_t x = 0; x < to.n; x += kBytes) {
    for (std::size_t part = 0; part < kBytes; part += kLanes) {
      const V32 sum = row_sum(row, step, bias, sums + x + part);
      const V32 level = division.shift >= 0
                            ? hn::Min(hn::ShiftRightSame(sum, division.shift), hn::Set(d32, 255u))
                            : hn::BitCast(d32, divide(hn::BitCast(di32, sum), division));
      hn::StoreU(hn::DemoteTo(d8, hn::BitCast(di32, level)), d8, levels.data() + part);
    }
    store(to, stream, x, hn::Load(D8(), levels.data()));
  }
}

void flush_stores() {
  hwy::FlushStream();
}

ConvolveKernels target_convolve_kernels() {
  return {hwy::TargetName(HWY_TARGET), short_taps, long_taps, column_sums, row_sums, flush_stores};
}

}  // namespace HWY_NAMESPACE
}  // namespace equalux::convolution
HWY_AFTER_NAMESPACE();

#endif  // vectors
#endif  // include guard
