// Pass 1 of fused_rows.h, the histogram, and first_parted(); included once for each target.
#if defined(EQUALUX_FUSED_COUNT_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUALUX_FUSED_COUNT_INL_H
#undef EQUALUX_FUSED_COUNT_INL_H
#else
#define EQUALUX_FUSED_COUNT_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace equalux {
namespace HWY_NAMESPACE {

/// Pairs of neighbours as PairHistogram indexes them: first in the low byte, difference in the high
/// one.
HWY_INLINE V8 as_pairs(V8 v) {
  const V16 first = hn::ShiftLeft<8>(hn::BitCast(D16(), v));
  return hn::Sub(v, hn::BitCast(D8(), first));
}

/// Counts pairs in two tables in turn: half the increments of count_single().
HWY_INLINE void count_pairs(const std::uint8_t* pairs, std::size_t bytes, PairTables& tables) {
  for (std::size_t j = 0; j < bytes; j += 8) {
    for (std::size_t k = 0; k < 4; ++k) {
      std::uint16_t pair;
      std::memcpy(&pair, pairs + j + 2 * k, sizeof pair);
      ++tables[k % 2][pair];
    }
  }
}

/// Counts bytes in eight tables in turn; one load of 64 bits for eight bytes.
HWY_INLINE void count_single(const std::uint8_t* v, std::size_t bytes, SingleTables& tables) {
  for (std::size_t j = 0; j < bytes; j += 8) {
    std::uint64_t eight;
    std::memcpy(&eight, v + j, sizeof eight);
    for (std::size_t t = 0; t < 8; ++t)
      ++tables[t][(eight >> (8 * t)) & 255];
  }
}

/// count_single() for any number of bytes.
HWY_INLINE void count_rest(const std::uint8_t* v, std::size_t n, SingleTables& tables) {
  const std::size_t eights = n / 8 * 8;
  count_single(v, eights, tables);
  for (std::size_t i = eights; i < n; ++i)
    ++tables[i % tables.size()][v[i]];
}

/// Values of v for one step of a counting loop.
template <std::size_t kVectors>
struct StepValues {
  V8 v[kVectors];
};

/// Counts values(0) .. values(steps - 1), pipelined by one step: increments are bound by stores,
/// values by vector instructions, so that the values of a step are computed while those before are
/// counted.
template <std::size_t kVectors, typename Values>
HWY_INLINE void count_steps(std::size_t steps, const Counters& counters, const Values& values) {
  constexpr std::size_t kStep = kVectors * kBytes;
  if (steps == 0) return;
  alignas(64) std::uint8_t bytes[2][kStep];
  const auto all = [&](const auto& form, const auto& count) HWY_ATTR {
    const auto compute = [&](std::size_t step) HWY_ATTR {
      const StepValues<kVectors> x = values(step);
      for (std::size_t i = 0; i < kVectors; ++i) {
        hn::Store(form(x.v[i]), D8(), bytes[step % 2] + kBytes * i);
      }
    };
    compute(0);
    for (std::size_t step = 1; step < steps; ++step) {
      compute(step);
      count(bytes[(step - 1) % 2]);
    }
    count(bytes[(steps - 1) % 2]);
  };
  if (counters.pairs != nullptr) {
    all([](V8 v) HWY_ATTR { return as_pairs(v); },
        [&](const std::uint8_t* x) HWY_ATTR { count_pairs(x, kStep, *counters.pairs); });
  } else {
    all([](V8 v) HWY_ATTR { return v; },
        [&](const std::uint8_t* x) HWY_ATTR { count_single(x, kStep, counters.single); });
  }
}

/// Prefetches the cache lines from `begin` on.
HWY_INLINE void prefetch_lines(const std::uint8_t* begin, std::size_t bytes) {
  for (std::size_t line = 0; line < bytes; line += 64)
    hwy::Prefetch(begin + line);
}

/// Counts a row of pixels of kPixel bytes. `value` computes v of a vector of pixels.
template <std::size_t kPixel, typename Value>
HWY_INLINE void count_pixels(const std::uint8_t* in, std::size_t n, const std::uint8_t* ahead,
                             const Counters& counters, const Value& value) {
  constexpr std::size_t kStep = kPixel * kBytes;
  const std::size_t steps = n / kBytes;
  count_steps<1>(steps, counters, [&](std::size_t step) HWY_ATTR {
    prefetch_lines(ahead + kStep * step, kStep);
    return StepValues<1>{{value(in + kStep * step)}};
  });
  const std::size_t done = steps * kBytes;
  if (done == n) return;
  alignas(64) std::uint8_t rest[kStep] = {};
  alignas(64) std::uint8_t v[kBytes];
  std::memcpy(rest, in + kPixel * done, kPixel * (n - done));
  hn::Store(value(rest), D8(), v);
  count_rest(v, n - done, counters.single);
}

void count_gray(const std::uint8_t* in, std::size_t n, const std::uint8_t* ahead,
                const Counters& counters) {
  count_pixels<1>(in, n, ahead, counters,
                  [](const std::uint8_t* from) HWY_ATTR { return hn::LoadU(D8(), from); });
}

void count_rgb3(const std::uint8_t* in, std::size_t n, const std::uint8_t* ahead,
                const Counters& counters) {
  count_pixels<3>(in, n, ahead, counters, [](const std::uint8_t* from) HWY_ATTR {
    V8 a;
    V8 b;
    V8 c;
    load_triples(from, a, b, c);
    return max3(a, b, c);
  });
}

void count_rgb4(const std::uint8_t* in, std::size_t n, int color, const std::uint8_t* ahead,
                const Counters& counters) {
  count_pixels<4>(in, n, ahead, counters, [color](const std::uint8_t* from) HWY_ATTR {
    V8 p0;
    V8 p1;
    V8 p2;
    V8 p3;
    hn::LoadInterleaved4(D8(), from, p0, p1, p2, p3);
    return max3(color == 0 ? p0 : p3, p1, p2);
  });
}

/// v of a vector of columns, limited to M.
template <std::size_t kRows, bool kShared>
HWY_INLINE StepValues<kRows> yuv_values(const YuvVectors<1>& k, const YuvRowIn& in) {
  Chroma<kShared, 1> chroma;
  chroma.load(in.cb, in.cr);
  const V8 above = chroma.above(k);
  StepValues<kRows> x;
  for (std::size_t r = 0; r < kRows; ++r)

    x.v[r] = hn::Min(values(k, hn::LoadU(D8(), in.luma[r]), above), k.most);
  return x;
}

/// Counts rows of luma that share chroma, kRows vectors in each step; the tail is a copy.
template <std::size_t kRows, bool kShared>
void count_yuv_rows(const YuvWeights& weights, const YuvRowIn in, std::size_t n,
                    const YuvRowIn ahead, const Counters& counters) {
  const YuvVectors<1> k(weights);
  const std::size_t steps = n / kBytes;
  count_steps<kRows>(steps, counters, [&](std::size_t step) HWY_ATTR {
    const YuvRowIn next = advance(ahead, step * kBytes, kShared);
    for (std::size_t r = 0; r < kRows; ++r)
      prefetch_lines(next.luma[r], kBytes);
    prefetch_lines(next.cb, kChromaSamples<kShared>);
    prefetch_lines(next.cr, kChromaSamples<kShared>);
    return yuv_values<kRows, kShared>(k, advance(in, step * kBytes, kShared));
  });
  const std::size_t done = steps * kBytes;
  if (done == n) return;
  const Tail<kRows, kShared> tail(advance(in, done, kShared), n - done);
  const StepValues<kRows> x = yuv_values<kRows, kShared>(k, tail.in());
  for (std::size_t r = 0; r < kRows; ++r) {
    alignas(64) std::uint8_t v[kBytes];
    hn::Store(x.v[r], D8(), v);
    count_rest(v, n - done, counters.single);
  }
}

void count_yuv(Sampling sampling, const YuvWeights& k, const YuvRowIn& in, std::size_t n,
               const YuvRowIn& ahead, const Counters& counters) {
  switch (sampling) {
    case Sampling::s420:
      return count_yuv_rows<2, true>(k, in, n, ahead, counters);
    case Sampling::s422:
      return count_yuv_rows<1, true>(k, in, n, ahead, counters);
    default:
      return count_yuv_rows<1, false>(k, in, n, ahead, counters);
  }
}

/// Adds pair tables to `counts` and clears them: one pass over 512 KiB.
void fold_pairs(PairTables& tables, ValueHistogram& counts) {
  const D32 d;
  constexpr std::size_t kLanes = hn::MaxLanes(D32());
  // Sums by the first value, and by first + difference, which is the second value modulo 256.
  alignas(64) std::uint32_t first[256] = {};
  alignas(64) std::uint32_t second[512] = {};
  for (std::size_t difference = 0; difference < 256; ++difference) {
    for (std::size_t i = 0; i < 256; i += kLanes) {
      V32 sum = hn::Zero(d);
      for (PairHistogram& table : tables) {
        std::uint32_t* at = table.data() + 256 * difference + i;
        sum = hn::Add(sum, hn::LoadU(d, at));
        hn::StoreU(hn::Zero(d), d, at);
      }
      hn::Store(hn::Add(hn::Load(d, first + i), sum), d, first + i);
      std::uint32_t* to = second + difference + i;
      hn::StoreU(hn::Add(hn::LoadU(d, to), sum), d, to);
    }
  }
  for (std::size_t v = 0; v < 256; ++v)
    counts[v] += first[v] + second[v] + second[v + 256];
}

void fold(const Counters& counters, ValueHistogram& counts) {
  if (counters.pairs != nullptr) fold_pairs(*counters.pairs, counts);
  for (ValueHistogram& table : counters.single) {
    for (std::size_t v = 0; v < table.size(); ++v)
      counts[v] += table[v];
    table.fill(0);
  }
}

/// Tests a vector of c at a time.
std::int32_t first_parted(const GainBounds& bounds, std::int32_t max_c) {
#if HWY_HAVE_FLOAT64
  // Same products and sums as parted(), in the same precision.
  const hn::ScalableTag<double> d;
  using D = decltype(d);
  constexpr std::int32_t kLanes = static_cast<std::int32_t>(hn::MaxLanes(D()));
  const auto low = hn::Set(d, bounds.low);
  const auto high = hn::Set(d, bounds.high);
  const auto half = hn::Set(d, 0.5);
  const auto step = hn::Set(d, static_cast<double>(kLanes));
  auto c = hn::Iota(d, 1.0);
  for (std::int32_t i = 1; i <= max_c; i += kLanes) {
    const auto below = hn::Floor(hn::Add(hn::Mul(c, low), half));
    const auto above = hn::Floor(hn::Add(hn::Mul(c, high), half));
    const auto differ = hn::Ne(below, above);
    if (HWY_UNLIKELY(!hn::AllFalse(d, differ))) {
      const std::int32_t found = i + static_cast<std::int32_t>(hn::FindFirstTrue(d, differ));
      return found <= max_c ? found : 0;
    }
    c = hn::Add(c, step);
  }
  return 0;
#else
  return scalar_fused_rows().first_parted(bounds, max_c);
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace equalux
HWY_AFTER_NAMESPACE();

#endif  // include guard
