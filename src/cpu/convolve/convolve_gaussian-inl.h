// Sums of a Gaussian along rows, and of those down columns; included once for each target.
#if defined(EQUALUX_CONVOLVE_GAUSSIAN_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUALUX_CONVOLVE_GAUSSIAN_INL_H
#undef EQUALUX_CONVOLVE_GAUSSIAN_INL_H
#else
#define EQUALUX_CONVOLVE_GAUSSIAN_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace equalux::convolution {
namespace HWY_NAMESPACE {

/// Lanes of vectors of 16 and of 32 bits.
constexpr std::size_t kWords = hn::MaxLanes(D16());
constexpr std::size_t kLongs = hn::MaxLanes(D32());

/// Radius, known at compile time where kRadius is not 0.
template <int kRadius>
HWY_INLINE constexpr int radius_of(const GaussianWeights& weights) {
  return kRadius != 0 ? kRadius : weights.radius;
}

#ifdef EQUALUX_PAIRS
/// weight · (a + b) in 16 bits, in the order of InterleaveLower and InterleaveUpper of bytes.
HWY_INLINE ShortSums mirrored(const std::uint8_t* a, const std::uint8_t* b, V8 weight) {
  const D8 d;
  const V8 left = load_once(a);
  const V8 right = load_once(b);
  return {byte_pairs(hn::InterleaveLower(d, left, right), weight),
          byte_pairs(hn::InterleaveUpper(d, left, right), weight)};
}

/// Products of pairs of words, one of a and one of b, added in pairs.
HWY_INLINE LongSums products(const ShortSums& a, const ShortSums& b, VI16 weights) {
  const DI16 d;
  return {word_pairs(hn::InterleaveLower(d, a.first, b.first), weights),
          word_pairs(hn::InterleaveUpper(d, a.first, b.first), weights),
          word_pairs(hn::InterleaveLower(d, a.second, b.second), weights),
          word_pairs(hn::InterleaveUpper(d, a.second, b.second), weights)};
}

/// Sums along a row. Their order in memory is that of InterleaveLower and InterleaveUpper, of bytes
/// and then of words; the pass down columns keeps it.
template <int kRadius>
HWY_INLINE void row_loop(const GaussianWeights& weights, std::ptrdiff_t step,
                         const std::uint8_t* samples, std::size_t n, std::uint32_t* sums) {
  const D8 d;
  const DI16 d16;
  const DI32 d32;
  const int radius = radius_of<kRadius>(weights);
  const int small = kRadius != 0 ? kRadius + 1 : weights.small;
  const std::uint32_t* const factors = weights.factors.data();
  const VI16 middle = hn::BitCast(d16, hn::Set(D32(), factors[0]));
  const V8 one = hn::Set(d, std::uint8_t{1});
  for (std::size_t x = 0; x < n; x += kBytes) {
    const std::uint8_t* const at = samples + x;
    ShortSums rest{hn::Set(d16, kGaussianHalf), hn::Set(d16, kGaussianHalf)};
    for (int k = small; k <= radius; ++k) {
      const V8 weight = hn::BitCast(d, hn::Set(D32(), factors[k]));
      const ShortSums both = mirrored(at - k * step, at + k * step, weight);
      rest = {hn::Add(rest.first, both.first), hn::Add(rest.second, both.second)};
    }
    const V8 own = load_once(at);
    const V8 zero = hn::Zero(d);
    LongSums sum = products({hn::BitCast(d16, hn::InterleaveLower(d, own, zero)),
                             hn::BitCast(d16, hn::InterleaveUpper(d, own, zero))},
                            rest, middle);
    for (int k = 1; k < small; k += 2) {
      const VI16 pair = hn::BitCast(d16, hn::Set(D32(), factors[k]));
      const LongSums more = products(mirrored(at - k * step, at + k * step, one),
                                     mirrored(at - (k + 1) * step, at + (k + 1) * step, one), pair);
      sum = {hn::Add(sum.s0, more.s0), hn::Add(sum.s1, more.s1), hn::Add(sum.s2, more.s2),
             hn::Add(sum.s3, more.s3)};
    }
    auto* to = reinterpret_cast<std::int32_t*>(sums) + x;
    hn::Store(sum.s0, d32, to);
    hn::Store(sum.s1, d32, to + kLongs);
    hn::Store(sum.s2, d32, to + 2 * kLongs);
    hn::Store(sum.s3, d32, to + 3 * kLongs);
  }
}

/// Levels of sums with 24 fractional bits; their rounding is in the sums already.
HWY_INLINE V8 levels_of(V32 s0, V32 s1, V32 s2, V32 s3) {
  const auto level = [](V32 sum) HWY_ATTR { return hn::BitCast(DI32(), hn::ShiftRight<24>(sum)); };
  return join(join(level(s0), level(s1)), join(level(s2), level(s3)));
}
#else
/// Sums along a row in lanes of 32 bits, in order; one product for each pair of mirrored samples.
template <int kRadius>
HWY_INLINE void row_loop(const GaussianWeights& weights, std::ptrdiff_t step,
                         const std::uint8_t* samples, std::size_t n, std::uint32_t* sums) {
  const D32 d;
  const hn::Rebind<std::uint16_t, D32> d16;
  const hn::Rebind<std::uint8_t, D32> d8;
  const int radius = radius_of<kRadius>(weights);
  for (std::size_t x = 0; x < n; x += kLongs) {
    const std::uint8_t* const at = samples + x;
    const auto sample = [&](std::ptrdiff_t distance)
                            HWY_ATTR { return hn::PromoteTo(d16, hn::LoadU(d8, at + distance)); };
    const auto product = [&](auto words, int k) HWY_ATTR {
      const V32 weight = hn::Set(d, static_cast<std::uint32_t>(weights.half[k]));
      return hn::Mul(hn::PromoteTo(d, words), weight);
    };
    V32 sum = hn::Set(d, static_cast<std::uint32_t>(kGaussianHalf));
    sum = hn::Add(sum, product(sample(0), 0));
    for (int k = 1; k <= radius; ++k)
      sum = hn::Add(sum, product(hn::Add(sample(-k * step), sample(k * step)), k));
    hn::Store(sum, d, sums + x);
  }
}

/// Levels of sums with 24 fractional bits; their rounding is in the sums already.
HWY_INLINE V8 levels_of(V32 s0, V32 s1, V32 s2, V32 s3) {
  const hn::Rebind<std::uint8_t, D32> d8;
  alignas(kConvolveBytes) std::array<std::uint8_t, kBytes> levels;
  const auto put = [&](V32 sum, std::size_t at) HWY_ATTR {
    const VI32 level = hn::BitCast(DI32(), hn::ShiftRight<24>(sum));
    hn::StoreU(hn::DemoteTo(d8, level), d8, levels.data() + at);
  };
  put(s0, 0);
  put(s1, kLongs);
  put(s2, 2 * kLongs);
  put(s3, 3 * kLongs);
  return hn::Load(D8(), levels.data());
}
#endif

/// Adds a pair of rows to the sums of two adjacent rows of results, which share their loads: what
/// one reads now, the other has read or reads next. `up` and `down` hold the last rows.
HWY_INLINE void add_rows(V32 weight, const std::uint32_t* next_up, const std::uint32_t* next_down,
                         V32& first, V32& below, V32& up, V32& down) {
  const D32 d;
  const V32 above = hn::Load(d, next_up);
  first = hn::Add(first, hn::Mul(weight, hn::Add(above, down)));
  down = hn::Load(d, next_down);
  below = hn::Add(below, hn::Mul(weight, hn::Add(up, down)));
  up = above;
}

/// Sums of two rows of results for two vectors, a and b.
HWY_INLINE void column_sums(const std::int32_t* half, int radius,
                            const std::uint32_t* const* middle, std::size_t x, V32& first_a,
                            V32& first_b, V32& below_a, V32& below_b) {
  const D32 d;
  const V32 weight = hn::Set(d, static_cast<std::uint32_t>(half[0]));
  V32 up_a = hn::Load(d, middle[0] + x);
  V32 up_b = hn::Load(d, middle[0] + x + kLongs);
  V32 down_a = hn::Load(d, middle[1] + x);
  V32 down_b = hn::Load(d, middle[1] + x + kLongs);
  first_a = hn::Mul(up_a, weight);
  first_b = hn::Mul(up_b, weight);
  below_a = hn::Mul(down_a, weight);
  below_b = hn::Mul(down_b, weight);
  const auto add = [&](int k) HWY_ATTR {
    const V32 w = hn::Set(d, static_cast<std::uint32_t>(half[k]));
    const std::uint32_t* up = middle[-k] + x;
    const std::uint32_t* down = middle[k + 1] + x;
    add_rows(w, up, down, first_a, below_a, up_a, down_a);
    add_rows(w, up + kLongs, down + kLongs, first_b, below_b, up_b, down_b);
  };
  if (radius % 2 != 0) add(1);
  // Unrolled by two, so that registers rotate without moves.
  for (int k = 1 + radius % 2; k < radius; k += 2) {
    add(k);
    add(k + 1);
  }
}

/// Two rows of results for a vector of columns at a time, from 2 radius + 2 rows of sums, each
/// loaded once.
template <int kRadius>
HWY_INLINE void columns_loop(const GaussianWeights& weights, const std::uint32_t* const* rows,
                             std::size_t begin, std::size_t end, const RowOut first,
                             const RowOut below) {
  const int radius = radius_of<kRadius>(weights);
  const std::int32_t* half = weights.half.data();
  const std::uint32_t* const* middle = rows + radius;
  // Local copies, as the compiler must assume that stores of bytes change the originals.
  std::array<const std::uint32_t*, 2 * kRadius + 2> rows_held;
  std::array<std::int32_t, kRadius + 1> half_held;
  if constexpr (kRadius != 0) {
    std::copy_n(rows, rows_held.size(), rows_held.begin());
    std::copy_n(half, half_held.size(), half_held.begin());
    middle = rows_held.data() + radius;
    half = half_held.data();
  }
  const bool stream_first = may_stream(first);
  const bool stream_below = may_stream(below);
  for (std::size_t x = begin; x < end; x += kBytes) {
    V32 first_0, first_1, first_2, first_3;
    V32 below_0, below_1, below_2, below_3;
    column_sums(half, radius, middle, x, first_0, first_1, below_0, below_1);
    column_sums(half, radius, middle, x + 2 * kLongs, first_2, first_3, below_2, below_3);
    store(first, stream_first, x, levels_of(first_0, first_1, first_2, first_3));
    store(below, stream_below, x, levels_of(below_0, below_1, below_2, below_3));
  }
}

/// Calls loop(radius) with the radius as a compile-time constant; 0 where it has no loop of its
/// own.
template <typename Loop>
HWY_INLINE void with_radius(int radius, const Loop& loop) {
  switch (radius) {
    case 1:
      return loop(std::integral_constant<int, 1>());
    case 2:
      return loop(std::integral_constant<int, 2>());
    case 3:
      return loop(std::integral_constant<int, 3>());
    default:
      return loop(std::integral_constant<int, 0>());
  }
}

void weigh_row(const GaussianWeights& weights, std::ptrdiff_t step, const std::uint8_t* samples,
               std::size_t n, std::uint32_t* sums) {
  with_radius(weights.radius,
              [&](auto radius) HWY_ATTR { row_loop<radius()>(weights, step, samples, n, sums); });
}

void weigh_columns(const GaussianWeights& weights, const std::uint32_t* const* rows,
                   std::size_t begin, std::size_t end, const RowOut& first, const RowOut& below) {
  with_radius(weights.radius, [&](auto radius) HWY_ATTR {
    columns_loop<radius()>(weights, rows, begin, end, first, below);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace equalux::convolution
HWY_AFTER_NAMESPACE();

#endif  // include guard
