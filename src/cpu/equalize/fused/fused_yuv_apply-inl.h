// Pass 2 of fused_rows.h, scaling, for YCbCr; included once for each target.
#if defined(EQUALUX_FUSED_YUV_APPLY_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUALUX_FUSED_YUV_APPLY_INL_H
#undef EQUALUX_FUSED_YUV_APPLY_INL_H
#else
#define EQUALUX_FUSED_YUV_APPLY_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace equalux {
namespace HWY_NAMESPACE {

/// Distance from the nearest whole number above which a chroma sample may be rounded to the wrong
/// side in single precision. Errors are below 1.2e-4: gains are off by at most 2^-22 (gain + 2),
/// |code - 128| gain is below 129 unless the result saturates, and sum, product and residual round
/// at 2^-24 each.
constexpr float kSureDistance = 0.5f - 1.0f / 8192.0f;

/// Scaled chroma in the lower halves of lanes, not yet saturated, and its distance from the exact
/// product.
struct Rounded {
  VI32 code;
  VF distance;
};

/// round(128 + u gain). |u gain| is at most 128 * 255, which fits in 16 bits.
HWY_INLINE Rounded scale_chroma(VF u, VF gain) {
  // 1.5 2^23 + 128: the last bit is worth 1, and the low bits are a two's complement number.
  const VF offset = hn::Set(DF(), 1.5f * kTwo23 + 128.0f);
  const VF shifted = hn::MulAdd(u, gain, offset);
  return {hn::BitCast(DI32(), shifted), hn::MulSub(u, gain, hn::Sub(shifted, offset))};
}

/// Larger of the magnitudes of a and b.
HWY_INLINE VF max_magnitude(VF a, VF b) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  return VF{_mm512_range_ps(a.raw, b.raw, 0b1011)};
#else
  return hn::Max(hn::Abs(a), hn::Abs(b));
#endif
}

/// 1 in lanes that single precision cannot decide.
HWY_INLINE VI32 unsure(const Rounded& r) {
  const DI32 d;
  const VF bound = hn::Set(DF(), kSureDistance);
  return hn::IfThenElseZero(hn::RebindMask(d, hn::Gt(hn::Abs(r.distance), bound)), hn::Set(d, 1));
}

/// Recomputes the flagged samples of one chroma plane in integers.
template <std::size_t kRows, bool kShared>
HWY_NOINLINE void correct_chroma(const GainTables& gains, const std::uint8_t* codes,
                                 const std::uint8_t (&v)[2][kBytes], const std::uint8_t* flags,
                                 std::uint8_t* out) {
  constexpr std::size_t kColumns = kShared ? 2 : 1;
  constexpr std::size_t kStep = std::min<std::size_t>(8, kChromaSamples<kShared>);
  for (std::size_t first = 0; first < kChromaSamples<kShared>; first += kStep) {
    std::uint64_t any = 0;
    std::memcpy(&any, flags + first, kStep);
    if (any == 0) continue;
    for (std::size_t i = first; i < first + kStep; ++i) {
      if (flags[i] == 0) continue;
      std::uint64_t sum = 0;
      for (std::size_t r = 0; r < kRows; ++r) {
        for (std::size_t x = 0; x < kColumns; ++x)
          sum += gains.gain48[v[r][kColumns * i + x]] >> 8;
      }
      out[i] = static_cast<std::uint8_t>(
          scale_chroma_exact(codes[i], sum, static_cast<int>(kRows * kColumns)));
    }
  }
}

/// Numbers in the lower halves of lanes, in the parts of Chroma.
template <bool kShared>
struct Parts {
  VI32 part[kChromaParts<kShared>];
};

/// Saturates two planes to bytes and stores them.
template <Stores kStores>
HWY_INLINE void write_planes(const Parts<true>& cb, const Parts<true>& cr, const YuvRowOut& out) {
  // Cached stores, as half vectors would be streamed as half cache lines.
  const VI16 cb_words = join_words(cb.part[0], cb.part[1]);
  const VI16 cr_words = join_words(cr.part[0], cr.part[1]);
  const DHalf8 d;
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  // Packing alternates eight bytes of each plane; the permute puts them in order.
  const V8 both{_mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7),
                                         _mm512_packus_epi16(cb_words.raw, cr_words.raw))};
  hn::StoreU(hn::LowerHalf(d, both), d, out.cb);
  hn::StoreU(hn::UpperHalf(d, both), d, out.cr);
#elif HWY_TARGET == HWY_AVX2
  const __m256i both =
      _mm256_permute4x64_epi64(_mm256_packus_epi16(cb_words.raw, cr_words.raw), 0xD8);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out.cb), _mm256_castsi256_si128(both));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out.cr), _mm256_extracti128_si256(both, 1));
#else
  hn::StoreU(hn::DemoteTo(d, cb_words), d, out.cb);
  hn::StoreU(hn::DemoteTo(d, cr_words), d, out.cr);
#endif
}
template <Stores kStores>
HWY_INLINE void write_planes(const Parts<false>& cb, const Parts<false>& cr, const YuvRowOut& out) {
  const auto bytes = [](const Parts<false>& p) HWY_ATTR {
    const DI16 d;
    const auto clamped = [](VI16 x) HWY_ATTR {
      return hn::Min(hn::Max(x, hn::Zero(DI16())), hn::Set(DI16(), 255));
    };
    const VI16 even = clamped(join_words(p.part[0], p.part[2]));
    const VI16 odd = clamped(join_words(p.part[1], p.part[3]));
    return hn::BitCast(D8(), hn::Or(even, hn::BitCast(d, hn::ShiftLeft<8>(odd))));
  };
  store<kStores>(bytes(cb), D8(), out.cb);
  store<kStores>(bytes(cr), D8(), out.cr);
}

/// Scaled chroma plane for one vector of luma.
template <bool kShared>
struct ScaledPlane {
  static constexpr std::size_t kParts = kChromaParts<kShared>;
  Rounded part[kParts];

  HWY_INLINE VF distance() const {
    VF most = max_magnitude(part[0].distance, part[1].distance);
    for (std::size_t i = 2; i < kParts; ++i)
      most = max_magnitude(most, part[i].distance);
    return most;
  }
  HWY_INLINE Parts<kShared> codes() const {
    Parts<kShared> p;
    for (std::size_t i = 0; i < kParts; ++i)
      p.part[i] = part[i].code;
    return p;
  }
  HWY_INLINE Parts<kShared> flags() const {
    Parts<kShared> p;
    for (std::size_t i = 0; i < kParts; ++i)
      p.part[i] = unsure(part[i]);
    return p;
  }
};

/// Sums the gains of luma samples for each chroma sample, in the parts of Chroma.
template <std::size_t kRows, bool kShared>
HWY_INLINE void sum_gains(const Floats (&g)[kRows], VF (&total)[kChromaParts<kShared>]) {
  Floats sum = g[0];
  if constexpr (kRows == 2) {
    sum = {hn::Add(g[0].f0, g[1].f0), hn::Add(g[0].f1, g[1].f1), hn::Add(g[0].f2, g[1].f2),
           hn::Add(g[0].f3, g[1].f3)};
  }
  if constexpr (kShared) {
    total[0] = hn::Add(sum.f0, sum.f1);
    total[1] = hn::Add(sum.f2, sum.f3);
  } else {
    total[0] = sum.f0;
    total[1] = sum.f1;
    total[2] = sum.f2;
    total[3] = sum.f3;
  }
}

#if EQUALUX_FIXED_GAINS
/// sum_gains() of fixed-point gains, in units of 2^-21.
template <std::size_t kRows, bool kShared>
HWY_INLINE void sum_gains(const FixedGains (&g)[kRows], VF (&total)[kChromaParts<kShared>]) {
  FixedGains sum = g[0];
  if constexpr (kRows == 2) {
    sum = {hn::Add(g[0].g0, g[1].g0), hn::Add(g[0].g1, g[1].g1), hn::Add(g[0].g2, g[1].g2),
           hn::Add(g[0].g3, g[1].g3)};
  }
  const auto to_float = [](V32 x) HWY_ATTR { return hn::ConvertTo(DF(), hn::BitCast(DI32(), x)); };
  if constexpr (kShared) {
    total[0] = to_float(hn::Add(sum.g0, sum.g1));
    total[1] = to_float(hn::Add(sum.g2, sum.g3));
  } else {
    total[0] = to_float(sum.g0);
    total[1] = to_float(sum.g1);
    total[2] = to_float(sum.g2);
    total[3] = to_float(sum.g3);
  }
}
using RowLookup = FixedLookup;
using RowGains = FixedGains;
#else
using RowLookup = GainLookup;
using RowGains = Floats;
#endif

/// Luma samples that a chroma sample covers. Chroma divided by this, times the sum of gains, is
/// chroma times the mean gain.
template <std::size_t kRows, bool kShared>
constexpr int kCovered = static_cast<int>(kRows) * (kShared ? 2 : 1);

/// Divisor of chroma for sums in the units of the gains.
template <std::size_t kRows, bool kShared>
constexpr int kGainUnits = kCovered<kRows, kShared> << (EQUALUX_FIXED_GAINS ? kFixedGainBits : 0);

/// Mask of lanes with x >= `least`.
HWY_INLINE hn::Mask<D8> at_least(V8 x, V8 least) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  return hn::Mask<D8>{_mm512_cmpge_epu8_mask(x.raw, least.raw)};
#else
  return hn::Eq(hn::Max(x, least), x);
#endif
}

/// Lesser of two bytes; 0 where `kept` is not set.
HWY_INLINE V8 min_or_zero(hn::Mask<D8> kept, V8 a, V8 b) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  return V8{_mm512_maskz_min_epu8(kept.raw, a.raw, b.raw)};
#else
  return hn::IfThenElseZero(kept, hn::Min(a, b));
#endif
}

/// Chroma and v of a vector of luma, the input of its scaling.
template <std::size_t kRows, bool kShared, int kUnits>
struct Ready {
  Chroma<kShared, kUnits> chroma;
  V8 v[kRows];

  HWY_INLINE void make(const YuvVectors<kUnits>& k, const YuvRowIn& in) {
    chroma.load(in.cb, in.cr);
    make_values(k, in, chroma.above(k));
  }
  HWY_INLINE void make_values(const YuvVectors<kUnits>& k, const YuvRowIn& in, V8 above) {
    for (std::size_t r = 0; r < kRows; ++r) {
      const V8 y = hn::LoadU(D8(), in.luma[r]);
      // Luma below black is kept and counts with gain 1, which v = 0 has.
      v[r] = min_or_zero(at_least(y, k.offset), values(k, y, above), k.most);
    }
  }
};

/// Ready, and the state of the Lookup of its gains.
template <std::size_t kRows, bool kShared, int kUnits, typename Lookup>
struct Started : Ready<kRows, kShared, kUnits> {
  typename Lookup::Numbers gains[kRows];

  HWY_INLINE void start(const YuvVectors<kUnits>& k, const YuvRowIn& in) { this->make(k, in); }
  HWY_INLINE void look_up(const Lookup& lookup) {
    for (std::size_t r = 0; r < kRows; ++r)
      lookup.look_up(this->v[r], gains[r]);
  }
};

template <std::size_t kRows, bool kShared>
using StartedRow = Started<kRows, kShared, kGainUnits<kRows, kShared>, RowLookup>;

/// Scales a vector of columns: luma by its gains, chroma by their mean. Single precision rounds
/// chroma right except near halves, which correct_chroma() recomputes in integers.
template <Stores kStores, std::size_t kRows, bool kShared>
HWY_INLINE void apply_vector(const YuvVectors<kGainUnits<kRows, kShared>>& k,
                             const GainTables& gains, const RowLookup& lookup,
                             const StartedRow<kRows, kShared>& ready, const YuvRowIn& in,
                             const YuvRowOut& out) {
  constexpr std::size_t kParts = kChromaParts<kShared>;
  const D8 d;
  const auto& chroma = ready.chroma;
  const auto& v = ready.v;
  V8 luma[kRows];
  RowGains g[kRows];
  for (std::size_t r = 0; r < kRows; ++r) {
    const V8 y = hn::LoadU(d, in.luma[r]);
    g[r] = lookup.finish(ready.v[r], ready.gains[r]);
    luma[r] = hn::Add(scale_bytes(hn::SaturatedSub(y, k.offset), g[r]), hn::Min(y, k.offset));
  }
  VF total[kParts];
  sum_gains<kRows, kShared>(g, total);
  ScaledPlane<kShared> cb;
  ScaledPlane<kShared> cr;
  for (std::size_t i = 0; i < kParts; ++i) {
    cb.part[i] = scale_chroma(chroma.part[i].u, total[i]);
    cr.part[i] = scale_chroma(chroma.part[i].w, total[i]);
  }
  const VF distance = max_magnitude(cb.distance(), cr.distance());
  if (HWY_LIKELY(hn::AllFalse(DF(), hn::Gt(distance, hn::Set(DF(), kSureDistance))))) {
    write_planes<kStores>(cb.codes(), cr.codes(), out);
  } else {
    alignas(64) std::uint8_t codes[2][kBytes];
    alignas(64) std::uint8_t flags[2][kBytes];
    alignas(64) std::uint8_t values[2][kBytes];
    std::memcpy(codes[0], in.cb, kChromaSamples<kShared>);
    std::memcpy(codes[1], in.cr, kChromaSamples<kShared>);
    for (std::size_t r = 0; r < kRows; ++r)
      hn::Store(v[r], d, values[r]);
    write_planes<Stores::cached>(cb.flags(), cr.flags(), {{nullptr, nullptr}, flags[0], flags[1]});
    write_planes<Stores::cached>(cb.codes(), cr.codes(), out);
    correct_chroma<kRows, kShared>(gains, codes[0], values, flags[0], out.cb);
    correct_chroma<kRows, kShared>(gains, codes[1], values, flags[1], out.cr);
  }
  for (std::size_t r = 0; r < kRows; ++r)
    store<kStores>(luma[r], d, out.luma[r]);
}

/// Returns true where all stores of a row's vectors are aligned for streaming.
template <std::size_t kRows, bool kShared>
HWY_INLINE bool may_stream(Stores stores, const YuvRowOut& out) {
  constexpr std::size_t kChromaBytes = kChromaSamples<kShared>;
  return stores == Stores::streaming && aligned(out.luma[0], kBytes) &&
         (kRows == 1 || aligned(out.luma[1], kBytes)) && aligned(out.cb, kChromaBytes) &&
         aligned(out.cr, kChromaBytes);
}

template <std::size_t kRows, bool kShared>
void apply_yuv_rows(const YuvWeights& weights, const GainTables& gains, Stores stores,
                    const YuvRowIn in, std::size_t n, const YuvRowOut out) {
  const YuvVectors<kGainUnits<kRows, kShared>> k(weights);
  const RowLookup lookup(gains);
  std::size_t i = 0;
  // Several vectors are in flight in each step, to hide latencies. No prefetches: the hardware
  // reads rows ahead, and prefetch instructions cost more than they gained, also for frames larger
  // than all caches.
  const auto all = [&](auto kind) HWY_ATTR {
#if EQUALUX_FIXED_GAINS
    // Pipeline: v of vector i + 3, look-up of i + 2, scaling of i.
    StartedRow<kRows, kShared> ring[4];
    const std::size_t vectors = n / kBytes;
    const auto start = [&](std::size_t vector) HWY_ATTR {
      if (vector < vectors) ring[vector % 4].start(k, advance(in, vector * kBytes, kShared));
    };
    const auto look_up = [&](std::size_t vector) HWY_ATTR {
      if (vector < vectors) ring[vector % 4].look_up(lookup);
    };
    start(0);
    start(1);
    start(2);
    look_up(0);
    look_up(1);
    for (std::size_t vector = 0; vector < vectors; ++vector, i += kBytes) {
      const YuvRowIn from = advance(in, i, kShared);
      start(vector + 3);
      look_up(vector + 2);
      apply_vector<kind(), kRows, kShared>(k, gains, lookup, ring[vector % 4], from,
                                           advance(out, i, kShared));
    }
#else
    // Pipeline in registers: v of the next vector beside the scaling of this one.
    if (n < kBytes) return;
    StartedRow<kRows, kShared> ready;
    ready.start(k, in);
    for (; i + kBytes <= n; i += kBytes) {
      const YuvRowIn from = advance(in, i, kShared);
      const std::size_t next = i + 2 * kBytes <= n ? i + kBytes : i;
      StartedRow<kRows, kShared> after;
      after.start(k, advance(in, next, kShared));
      apply_vector<kind(), kRows, kShared>(k, gains, lookup, ready, from, advance(out, i, kShared));
      ready = after;
    }
#endif
  };
  if (may_stream<kRows, kShared>(stores, out)) {
    all(std::integral_constant<Stores, Stores::streaming>());
  } else {
    all(std::integral_constant<Stores, Stores::cached>());
  }
  if (i == n) return;
  Tail<kRows, kShared> tail(advance(in, i, kShared), n - i);
  StartedRow<kRows, kShared> last;
  last.start(k, tail.in());
  last.look_up(lookup);
  apply_vector<Stores::cached, kRows, kShared>(k, gains, lookup, last, tail.in(), tail.out());
  tail.copy_to(advance(out, i, kShared));
}

inline void apply_yuv(Sampling sampling, const YuvWeights& k, const GainTables& gains,
                      Stores stores, const YuvRowIn& in, std::size_t n, const YuvRowOut& out) {
  switch (sampling) {
    case Sampling::s420:
      return apply_yuv_rows<2, true>(k, gains, stores, in, n, out);
    case Sampling::s422:
      return apply_yuv_rows<1, true>(k, gains, stores, in, n, out);
    default:
      return apply_yuv_rows<1, false>(k, gains, stores, in, n, out);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace equalux
HWY_AFTER_NAMESPACE();

#endif  // include guard
