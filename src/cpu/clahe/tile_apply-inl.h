// Loops of tile_rows.h; included once for each target, after fused_rows-inl.h, whose parts they
// use.
#if defined(EQUALUX_TILE_APPLY_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUALUX_TILE_APPLY_INL_H
#undef EQUALUX_TILE_APPLY_INL_H
#else
#define EQUALUX_TILE_APPLY_INL_H
#endif

#if !HWY_NATIVE_FMA || !HWY_HAVE_FLOAT64

HWY_BEFORE_NAMESPACE();
namespace equalux {
namespace HWY_NAMESPACE {

/// Plain C++ for targets without fused multiply-add, or whose quotients are not rounded to nearest.
TileRows tile_rows() {
  return scalar_tile_rows();
}

}  // namespace HWY_NAMESPACE
}  // namespace equalux
HWY_AFTER_NAMESPACE();

#else

HWY_BEFORE_NAMESPACE();
namespace equalux {
namespace HWY_NAMESPACE {

/// mix_rows() of a vector of levels; the weight is scaled to 2^15, with which this product rounds
/// alike.
HWY_INLINE VI16 mix_levels(const std::uint16_t* above, const std::uint16_t* below, VI16 weight) {
  const D16 d;
  const VI16 a = hn::BitCast(DI16(), hn::Load(d, above));
  const VI16 b = hn::BitCast(DI16(), hn::Load(d, below));
  return hn::Add(a, hn::MulFixedPoint15(hn::Sub(b, a), weight));
}

#if EQUALUX_VBMI
/// Every second byte of two vectors, beginning with `first`.
struct SecondBytes {
  alignas(64) std::uint8_t index[64];
  constexpr explicit SecondBytes(int first) : index{} {
    for (int i = 0; i < 64; ++i)
      index[i] = static_cast<std::uint8_t>(2 * i + first);
  }
};
constexpr SecondBytes kEvenBytes(0);
constexpr SecondBytes kOddBytes(1);
#endif

/// Mixes the levels of two rows of tiles: 256 products of 16 bits for each tile column of a line.
void mix(const TileLevels& above, const TileLevels& below, int of_below, MixedLevels& mixed) {
  constexpr std::size_t kLanes = kBytes / 2;
  const VI16 weight = hn::Set(DI16(), static_cast<std::int16_t>(of_below * 128));
  for (std::size_t v = 0; v < 256; v += 2 * kLanes) {
    const VI16 first = mix_levels(above.level + v, below.level + v, weight);
    const VI16 second = mix_levels(above.level + v + kLanes, below.level + v + kLanes, weight);
#if EQUALUX_VBMI
    // Split into planes of low and high bytes, as GainLookup reads them.
    const __m512i low =
        _mm512_permutex2var_epi8(first.raw, _mm512_load_si512(kEvenBytes.index), second.raw);
    const __m512i high =
        _mm512_permutex2var_epi8(first.raw, _mm512_load_si512(kOddBytes.index), second.raw);
    _mm512_store_si512(mixed.bytes + v, low);
    _mm512_store_si512(mixed.bytes + 256 + v, high);
#else
    hn::Store(hn::BitCast(D8(), first), D8(), mixed.bytes + 2 * v);
    hn::Store(hn::BitCast(D8(), second), D8(), mixed.bytes + 2 * v + kBytes);
#endif
  }
}

/// Orders weights as to_floats() orders pixels, or as pixels lie where GainLookup::of_triples is
/// used. The low word is twice the weight of the left tile, the high word twice that of the right
/// one, as in gain_numerator().
void order_weights(WeightOrder order, const std::uint16_t* of_right, std::size_t n,
                   std::uint32_t* weights) {
  constexpr std::size_t kLanes = kBytes / 4;
  const bool in_a_row = order == WeightOrder::packed3 && EQUALUX_VBMI;
  for (std::size_t i = 0; i < (n + kBytes - 1) / kBytes * kBytes; ++i) {
    const std::size_t within = i % kBytes;
    const std::size_t pixel = in_a_row ? i : i - within + within % kLanes * 4 + within / kLanes;
    const std::uint32_t weight = of_right[std::min(pixel, n - 1)];
    weights[i] = 2 * (tiles::kFullWeight - weight) | (2 * weight) << 16;
  }
}

#if !EQUALUX_VBMI
/// Levels of the left (low word) and right (high word) tile, by v.
class LevelPairs {
 public:
  LevelPairs(const std::uint8_t* left, const std::uint8_t* right) {
    constexpr std::size_t kLanes = kBytes / 2;
    const D16 d;
    for (std::size_t v = 0; v < 256; v += kLanes) {
      const V16 l = hn::BitCast(d, hn::Load(D8(), left + 2 * v));
      const V16 r = hn::BitCast(d, hn::Load(D8(), right + 2 * v));
      hn::StoreInterleaved2(l, r, d, reinterpret_cast<std::uint16_t*>(pairs_ + v));
    }
  }
#if EQUALUX_FIXED_GAINS
  using Lookup = SteppedLookup<std::uint32_t>;
  using Numbers = Lookup::Numbers;
  HWY_INLINE void look_up(const V8& v, Numbers& numbers) const {
    Lookup(pairs_).look_up(v, numbers);
  }
  HWY_INLINE Floats finish(const V8& v, const Numbers& numbers) const {
    const FixedGains words = Lookup(pairs_).finish(v, numbers);
    const DF d;
    return {hn::BitCast(d, words.g0), hn::BitCast(d, words.g1), hn::BitCast(d, words.g2),
            hn::BitCast(d, words.g3)};
  }
#else
  struct Numbers {};
  HWY_INLINE void look_up(const V8&, Numbers&) const {}
  HWY_INLINE Floats finish(const V8& v, const Numbers&) const {
    const DI32 d;
    const auto* pairs = reinterpret_cast<const std::int32_t*>(pairs_);
    const auto gathered = [&](VI32 at)
                              HWY_ATTR { return hn::BitCast(DF(), hn::GatherIndex(d, pairs, at)); };
    return {gathered(lane_byte<0>(v)), gathered(lane_byte<1>(v)), gathered(lane_byte<2>(v)),
            gathered(lane_byte<3>(v))};
  }
#endif

 private:
  alignas(64) std::uint32_t pairs_[256];
};
#else
using LevelPairs = GainLookup;
#endif

/// gain_numerator() as a float, one multiply-add of words of levels and weights.
HWY_INLINE VF numerators(VF words, const std::uint32_t* weights) {
  const V32 w = hn::LoadU(D32(), weights);
  const VI32 levels = hn::BitCast(DI32(), words);
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  const VI32 sum{_mm512_madd_epi16(levels.raw, w.raw)};
#elif HWY_ARCH_X86
  const VI32 sum{_mm256_madd_epi16(levels.raw, w.raw)};
#else
  const VI32 mask = hn::Set(DI32(), 0xFFFF);
  const VI32 signed_w = hn::BitCast(DI32(), w);
  const VI32 sum = hn::Add(hn::Mul(hn::And(levels, mask), hn::And(signed_w, mask)),
                           hn::Mul(hn::ShiftRight<16>(levels), hn::ShiftRight<16>(signed_w)));
#endif
  return hn::ConvertTo(DF(), hn::Or(sum, hn::Set(DI32(), 1)));
}

/// Gains of a vector of pixels.
class SpanGains {
 public:
  SpanGains(const MixedLevels& left, const MixedLevels& right) : levels_(left.bytes, right.bytes) {}

  using Numbers = LevelPairs::Numbers;
  HWY_INLINE void look_up(const V8& v, Numbers& numbers) const { levels_.look_up(v, numbers); }
  /// Gains of pixels v in the order of to_floats().
  HWY_INLINE Floats finish(const V8& v, const Numbers& numbers,
                           const std::uint32_t* weights) const {
    return gains(levels_.finish(v, numbers), to_floats(at_least_one(v)), weights);
  }
#if EQUALUX_VBMI
  /// Gains of pixels in the order of scale_triples().
  HWY_INLINE Floats triples(V8 v, const std::uint32_t* weights) const {
    const V8 x = at_least_one(v);
    const auto values = [](__m128i sixteen) HWY_ATTR {
      return VF{_mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(sixteen))};
    };
    return gains(
        levels_.of_triples(v),
        {values(_mm512_castsi512_si128(x.raw)), values(_mm512_extracti32x4_epi32(x.raw, 1)),
         values(_mm512_extracti32x4_epi32(x.raw, 2)), values(_mm512_extracti32x4_epi32(x.raw, 3))},
        weights);
  }
#endif

 private:
  static HWY_INLINE V8 at_least_one(V8 v) {
    return hn::Max(v, hn::Set(D8(), std::uint8_t{1}));
  }
  static HWY_INLINE Floats gains(const Floats& words, const Floats& values,
                                 const std::uint32_t* weights) {
    constexpr std::size_t kLanes = kBytes / 4;
    const VF unit = hn::Set(DF(), 1.0f / tiles::kNumeratorLevel);
    const auto gain = [&](VF word, VF v, std::size_t k) HWY_ATTR {
      return hn::Mul(numerators(word, weights + k * kLanes), hn::Div(unit, v));
    };
    return {gain(words.f0, values.f0, 0), gain(words.f1, values.f1, 1),
            gain(words.f2, values.f2, 2), gain(words.f3, values.f3, 3)};
  }

  LevelPairs levels_;
};

/// Vector of pixels in planes, with v and the levels in flight.
template <std::size_t kPlanes>
struct TilePixels {
  V8 plane[kPlanes];
  V8 v;
  SpanGains::Numbers levels;
};

/// Runs load(from, pixels) and store(pixels, gains, to) on vectors of pixels, the tail on a copy.
/// Three vectors are in flight in each step, as in apply_yuv_rows().
template <std::size_t kPlanes, typename Load, typename Store>
HWY_INLINE void for_weighted(const SpanGains& span, const std::uint32_t* weights,
                             const std::uint8_t* in, std::size_t n, std::uint8_t* out,
                             const Load& load, const Store& store_pixels) {
  constexpr std::size_t kStep = kPlanes * kBytes;
  const std::size_t whole = n / kBytes;
  const std::size_t rest = n % kBytes * kPlanes;
  const std::size_t vectors = whole + (rest != 0 ? 1 : 0);
  alignas(64) std::uint8_t rest_in[kStep];
  alignas(64) std::uint8_t rest_out[kStep];
  if (rest != 0) {
    std::memset(rest_in, 0, kStep);
    std::memcpy(rest_in, in + kStep * whole, rest);
  }
  TilePixels<kPlanes> ring[4];
  const auto start = [&](std::size_t i) HWY_ATTR {
    if (i >= vectors) return;
    TilePixels<kPlanes>& pixels = ring[i % 4];
    const std::uint8_t* from = i < whole ? in + kStep * i : rest_in;
    prefetch_ahead(from, kStep);
    load(from, pixels);
  };
  const auto look_up = [&](std::size_t i) HWY_ATTR {
    if (i < vectors) span.look_up(ring[i % 4].v, ring[i % 4].levels);
  };
  start(0);
  start(1);
  look_up(0);
  for (std::size_t i = 0; i < vectors; ++i) {
    start(i + 2);
    look_up(i + 1);
    const TilePixels<kPlanes>& pixels = ring[i % 4];
    const Floats gains = span.finish(pixels.v, pixels.levels, weights + kBytes * i);
    store_pixels(pixels, gains, i < whole ? out + kStep * i : rest_out);
  }
  if (rest != 0) std::memcpy(out + kStep * whole, rest_out, rest);
}

void apply_tile_gray(const MixedLevels& left, const MixedLevels& right,
                     const std::uint32_t* weights, const std::uint8_t* in, std::size_t n,
                     std::uint8_t* out) {
  const D8 d;
  for_weighted<1>(
      SpanGains(left, right), weights, in, n, out,
      [&](const std::uint8_t* from, TilePixels<1>& pixels)
          HWY_ATTR { pixels.v = hn::LoadU(d, from); },
      [&](const TilePixels<1>& pixels, const Floats& gains, std::uint8_t* to)
          HWY_ATTR { hn::StoreU(scale_bytes(pixels.v, gains), d, to); });
}

void apply_tile_rgb3(const MixedLevels& left, const MixedLevels& right,
                     const std::uint32_t* weights, const std::uint8_t* in, std::size_t n,
                     std::uint8_t* out) {
  const SpanGains span(left, right);
#if EQUALUX_VBMI
  for_vectors<3>(in, n, out, [&](const std::uint8_t* from, std::uint8_t* to) HWY_ATTR {
    prefetch_ahead(from, 3 * kBytes);
    scale_triples<Stores::cached>(span.triples(triple_values(from), weights), from, to);
    weights += kBytes;
  });
#else
  for_weighted<3>(
      span, weights, in, n, out,
      [&](const std::uint8_t* from, TilePixels<3>& pixels) HWY_ATTR {
        load_triples(from, pixels.plane[0], pixels.plane[1], pixels.plane[2]);
        pixels.v = max3(pixels.plane[0], pixels.plane[1], pixels.plane[2]);
      },
      [&](const TilePixels<3>& pixels, const Floats& gains, std::uint8_t* to) HWY_ATTR {
        hn::StoreInterleaved3(scale_bytes(pixels.plane[0], gains),
                              scale_bytes(pixels.plane[1], gains),
                              scale_bytes(pixels.plane[2], gains), D8(), to);
      });
#endif
}

void apply_tile_rgb4(const MixedLevels& left, const MixedLevels& right,
                     const std::uint32_t* weights, const std::uint8_t* in, std::size_t n, int color,
                     std::uint8_t* out) {
  const D8 d;
  for_weighted<4>(
      SpanGains(left, right), weights, in, n, out,
      [&](const std::uint8_t* from, TilePixels<4>& pixels) HWY_ATTR {
        V8* p = pixels.plane;
        hn::LoadInterleaved4(d, from, p[0], p[1], p[2], p[3]);
        pixels.v = max3(color == 0 ? p[0] : p[3], p[1], p[2]);
      },
      [&](const TilePixels<4>& pixels, const Floats& gains, std::uint8_t* to) HWY_ATTR {
        const V8* p = pixels.plane;
        const V8 first = color == 0 ? scale_bytes(p[0], gains) : p[0];
        const V8 last = color == 0 ? p[3] : scale_bytes(p[3], gains);
        hn::StoreInterleaved4(first, scale_bytes(p[1], gains), scale_bytes(p[2], gains), last, d,
                              to);
      });
}

template <std::size_t kRows, bool kShared>
using StartedCells = Started<kRows, kShared, kCovered<kRows, kShared>, SpanGains>;

/// Scales a vector of luma columns and its chroma.
template <std::size_t kRows, bool kShared>
HWY_INLINE void apply_tile_cells(const YuvVectors<kCovered<kRows, kShared>>& k,
                                 const SpanGains& span, const std::uint32_t* weights,
                                 const StartedCells<kRows, kShared>& ready, const YuvRowIn& in,
                                 const YuvRowOut& out) {
  constexpr std::size_t kParts = kChromaParts<kShared>;
  const D8 d;
  V8 luma[kRows];
  Floats g[kRows];
  for (std::size_t r = 0; r < kRows; ++r) {
    const V8 y = hn::LoadU(d, in.luma[r]);
    g[r] = span.finish(ready.v[r], ready.gains[r], weights);
    luma[r] = hn::Add(scale_bytes(hn::SaturatedSub(y, k.offset), g[r]), hn::Min(y, k.offset));
  }
  VF total[kParts];
  sum_gains<kRows, kShared>(g, total);
  Parts<kShared> cb;
  Parts<kShared> cr;
  for (std::size_t i = 0; i < kParts; ++i) {
    cb.part[i] = scale_chroma(ready.chroma.part[i].u, total[i]).code;
    cr.part[i] = scale_chroma(ready.chroma.part[i].w, total[i]).code;
  }
  write_planes<Stores::cached>(cb, cr, out);
  for (std::size_t r = 0; r < kRows; ++r)
    hn::StoreU(luma[r], d, out.luma[r]);
}

/// Scales a row of vectors, three of them in flight as in for_weighted(); the tail is a copy.
template <std::size_t kRows, bool kShared>
void apply_tile_lines(const YuvWeights& yuv, const MixedLevels& left, const MixedLevels& right,
                      const std::uint32_t* weights, const YuvRowIn in, std::size_t n,
                      const YuvRowOut out) {
  const YuvVectors<kCovered<kRows, kShared>> k(yuv);
  const SpanGains span(left, right);
  const std::size_t whole = n / kBytes;
  const std::size_t rest = n % kBytes;
  const std::size_t vectors = whole + (rest != 0 ? 1 : 0);
  // Tail: a last vector that is not whole is copied.
  const std::size_t last = rest != 0 ? whole * kBytes : 0;
  Tail<kRows, kShared> tail(advance(in, last, kShared), rest != 0 ? rest : std::min(n, kBytes));
  StartedCells<kRows, kShared> ring[4];
  const auto source = [&](std::size_t i) HWY_ATTR {
    return i < whole ? advance(in, i * kBytes, kShared) : tail.in();
  };
  const auto start = [&](std::size_t i) HWY_ATTR {
    if (i < vectors) ring[i % 4].start(k, source(i));
  };
  const auto look_up = [&](std::size_t i) HWY_ATTR {
    if (i < vectors) ring[i % 4].look_up(span);
  };
  start(0);
  start(1);
  look_up(0);
  for (std::size_t i = 0; i < vectors; ++i) {
    const YuvRowIn from = source(i);
    for (std::size_t r = 0; r < kRows; ++r)
      prefetch_ahead(from.luma[r], kBytes);
    start(i + 2);
    look_up(i + 1);
    apply_tile_cells<kRows, kShared>(k, span, weights + i * kBytes, ring[i % 4], from,
                                     i < whole ? advance(out, i * kBytes, kShared) : tail.out());
  }
  if (rest == 0) return;
  tail.copy_to(advance(out, last, kShared));
}

void apply_tile_yuv(Sampling sampling, const YuvWeights& yuv, const MixedLevels& left,
                    const MixedLevels& right, const std::uint32_t* weights, const YuvRowIn& in,
                    std::size_t n, const YuvRowOut& out) {
  switch (sampling) {
    case Sampling::s420:
      return apply_tile_lines<2, true>(yuv, left, right, weights, in, n, out);
    case Sampling::s422:
      return apply_tile_lines<1, true>(yuv, left, right, weights, in, n, out);
    default:
      return apply_tile_lines<1, false>(yuv, left, right, weights, in, n, out);
  }
}

/// Streams aligned vectors; memcpy() does the ends, and targets without vectors of 16 bytes.
void stream_row(const std::uint8_t* in, std::size_t bytes, std::uint8_t* out) {
  if constexpr (kBytes < 16) {
    std::memcpy(out, in, bytes);
  } else {
    const D8 d;
    const std::size_t past = reinterpret_cast<std::uintptr_t>(out) % kBytes;
    std::size_t i = std::min(past == 0 ? 0 : kBytes - past, bytes);
    std::memcpy(out, in, i);
    for (; i + kBytes <= bytes; i += kBytes)
      hn::Stream(hn::LoadU(d, in + i), d, out + i);
    std::memcpy(out + i, in + i, bytes - i);
  }
}

TileRows tile_rows() {
  return {
      mix,       order_weights, apply_tile_gray, apply_tile_rgb3, apply_tile_rgb4, apply_tile_yuv,
      stream_row};
}

}  // namespace HWY_NAMESPACE
}  // namespace equalux
HWY_AFTER_NAMESPACE();

#endif  // fma
#endif  // include guard
