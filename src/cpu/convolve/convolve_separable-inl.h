// Sums by columns and along rows; included once for each target.
#if defined(EQUALUX_CONVOLVE_SEPARABLE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUALUX_CONVOLVE_SEPARABLE_INL_H
#undef EQUALUX_CONVOLVE_SEPARABLE_INL_H
#else
#define EQUALUX_CONVOLVE_SEPARABLE_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace equalux::convolution {
namespace HWY_NAMESPACE {

#ifdef EQUALUX_PAIRS
/// The rows of equal weight added up, row k and the one as far from the other end; the middle row
/// by itself. In 16 bits, the bytes that InterleaveLower and InterleaveUpper give.
HWY_INLINE ShortSums mirrored_rows(const std::uint8_t* const* rows, int size, int k,
                                   std::size_t x) {
  const D8 d;
  const V8 ones = hn::Set(d, std::uint8_t{1});
  const V8 a = hn::LoadU(d, rows[k] + x);
  const int other = size - 1 - k;
  const V8 b = other == k ? hn::Zero(d) : hn::LoadU(d, rows[other] + x);
  return {byte_pairs(hn::InterleaveLower(d, a, b), ones),
          byte_pairs(hn::InterleaveUpper(d, a, b), ones)};
}

void column_sums(const SymmetricWeights& column, const std::uint8_t* const* rows, std::size_t n,
                 std::uint32_t* sums) {
  const DI16 d;
  const int radius = column.size / 2;
  for (std::size_t x = 0; x < n; x += kBytes) {
    const VI32 zero = hn::Zero(DI32());
    LongSums sum{zero, zero, zero, zero};
    for (int k = 0; k <= radius; k += 2) {
      const ShortSums p = mirrored_rows(rows, column.size, k, x);
      ShortSums q{hn::Zero(d), hn::Zero(d)};
      VI16 weights = weight_pair(column.weights[k], 0);
      if (k < radius) {
        q = mirrored_rows(rows, column.size, k + 1, x);
        weights = weight_pair(column.weights[k], column.weights[k + 1]);
      }
      sum.s0 = hn::Add(sum.s0, word_pairs(hn::InterleaveLower(d, p.first, q.first), weights));
      sum.s1 = hn::Add(sum.s1, word_pairs(hn::InterleaveUpper(d, p.first, q.first), weights));
      sum.s2 = hn::Add(sum.s2, word_pairs(hn::InterleaveLower(d, p.second, q.second), weights));
      sum.s3 = hn::Add(sum.s3, word_pairs(hn::InterleaveUpper(d, p.second, q.second), weights));
    }
    store_blocks(sum.s0, sum.s1, sum.s2, sum.s3, sums + x);
  }
}
#else
void column_sums(const SymmetricWeights& column, const std::uint8_t* const* rows, std::size_t n,
                 std::uint32_t* sums) {
  const D32 d32;
  const hn::Rebind<std::uint8_t, D32> d8;
  const int radius = column.size / 2;
  const auto widened = [&](int row, std::size_t x)
                           HWY_ATTR { return hn::PromoteTo(d32, hn::LoadU(d8, rows[row] + x)); };
  const auto weight = [&](int row) HWY_ATTR {
    return hn::Set(d32, static_cast<std::uint32_t>(column.weights[row]));
  };
  for (std::size_t x = 0; x < n; x += hn::MaxLanes(d32)) {
    V32 sum = hn::Mul(widened(radius, x), weight(radius));
    for (int j = 0; j < radius; ++j) {
      const V32 both = hn::Add(widened(j, x), widened(column.size - 1 - j, x));
      sum = hn::Add(sum, hn::Mul(both, weight(j)));
    }
    hn::StoreU(sum, d32, sums + x);
  }
}
#endif

void slide_sums(const std::uint8_t* entering, const std::uint8_t* leaving, std::size_t n,
                std::uint32_t* sums) {
  const D32 d32;
  const hn::Rebind<std::uint8_t, D32> d8;
  for (std::size_t x = 0; x < n; x += hn::MaxLanes(d32)) {
    const V32 more = hn::PromoteTo(d32, hn::LoadU(d8, entering + x));
    const V32 less = hn::PromoteTo(d32, hn::LoadU(d8, leaving + x));
    const V32 sum = hn::LoadU(d32, sums + x);
    hn::StoreU(hn::Sub(hn::Add(sum, more), less), d32, sums + x);
  }
}

/// Four vectors of sums along a row.
struct RowSums {
  V32 s0, s1, s2, s3;
};

/// Adds weight · (sums at `a` and at `b`); kOnes: weights are 1.
template <bool kOnes>
HWY_INLINE void add_mirrored(RowSums& row, const std::uint32_t* a, const std::uint32_t* b,
                             std::uint32_t weight) {
  const D32 d;
  constexpr std::size_t kLanes = hn::MaxLanes(d);
  const V32 weights = hn::Set(d, weight);
  const auto add = [&](V32& sum, std::size_t i) HWY_ATTR {
    const V32 both = hn::Add(hn::LoadU(d, a + i), hn::LoadU(d, b + i));
    sum = hn::Add(sum, kOnes ? both : hn::Mul(both, weights));
  };
  add(row.s0, 0);
  add(row.s1, kLanes);
  add(row.s2, 2 * kLanes);
  add(row.s3, 3 * kLanes);
}

template <bool kOnes>
HWY_INLINE void row_loop(const SymmetricWeights& row, std::ptrdiff_t step, std::uint32_t bias,
                         const LongDivision& division, const std::uint32_t* sums,
                         const RowOut& to) {
  const D32 d;
  const DI32 di;
  const hn::Rebind<std::uint8_t, D32> d8;
  constexpr std::size_t kLanes = hn::MaxLanes(d);
  alignas(kConvolveBytes) std::array<std::uint8_t, kBytes> levels;
  const int radius = row.size / 2;
  const V32 middle = hn::Set(d, static_cast<std::uint32_t>(row.weights[radius]));
  const bool stream = may_stream(to);
  const auto level = [&](V32 sum) HWY_ATTR {
    // Shifts take the whole of 32 bits, which a Gaussian's sums need.
    const VI32 value =
        division.shift >= 0
            ? hn::BitCast(di, hn::Min(hn::ShiftRightSame(sum, division.shift), hn::Set(d, 255u)))
            : divide(hn::BitCast(di, sum), division);
    return hn::DemoteTo(d8, value);
  };
  for (std::size_t x = 0; x < to.n; x += kBytes) {
    const std::uint32_t* at = sums + x;
    const auto begin = [&](std::size_t i) HWY_ATTR {
      const V32 own = hn::LoadU(d, at + i);
      return hn::Add(hn::Set(d, bias), kOnes ? own : hn::Mul(own, middle));
    };
    RowSums sum{begin(0), begin(kLanes), begin(2 * kLanes), begin(3 * kLanes)};
    for (int i = 1; i <= radius; ++i) {
      add_mirrored<kOnes>(sum, at - i * step, at + i * step,
                          static_cast<std::uint32_t>(row.weights[radius - i]));
    }
    hn::StoreU(level(sum.s0), d8, levels.data());
    hn::StoreU(level(sum.s1), d8, levels.data() + kLanes);
    hn::StoreU(level(sum.s2), d8, levels.data() + 2 * kLanes);
    hn::StoreU(level(sum.s3), d8, levels.data() + 3 * kLanes);
    store(to, stream, x, hn::Load(D8(), levels.data()));
  }
}

void row_sums(const SymmetricWeights& row, std::ptrdiff_t step, std::uint32_t bias,
              const LongDivision& division, const std::uint32_t* sums, const RowOut& to) {
  const bool ones = std::all_of(row.weights, row.weights + row.size,
                                [](std::int32_t weight) { return weight == 1; });
  if (ones) {
    row_loop<true>(row, step, bias, division, sums, to);
  } else {
    row_loop<false>(row, step, bias, division, sums, to);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace equalux::convolution
HWY_AFTER_NAMESPACE();

#endif  // include guard
