// The YCbCr bodies of fused_rows.h; included by fused_rows-inl.h, once for each target.
#if defined(EQUALUX_FUSED_YUV_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUALUX_FUSED_YUV_INL_H
#undef EQUALUX_FUSED_YUV_INL_H
#else
#define EQUALUX_FUSED_YUV_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace equalux {
namespace HWY_NAMESPACE {

/// The lower and upper halves of 32-bit lanes.
HWY_INLINE VI32 lower_word(V16 x) {
  return hn::And(hn::BitCast(DI32(), x), hn::Set(DI32(), 0xFFFF));
}
HWY_INLINE VI32 upper_word(V16 x) {
  return hn::BitCast(DI32(), hn::ShiftRight<16>(hn::BitCast(D32(), x)));
}
/// Two vectors of 32-bit lanes below 2^15, as the lower and upper halves of 32-bit lanes.
HWY_INLINE V16 join_words(VI32 lower, VI32 upper) {
  return hn::BitCast(D16(), hn::Or(lower, hn::ShiftLeft<16>(upper)));
}
/// Four vectors of 32-bit lanes 0 .. 255 as bytes: undoes lane_byte.
HWY_INLINE V8 join_bytes(VI32 b0, VI32 b1, VI32 b2, VI32 b3) {
  return hn::BitCast(D8(), hn::Or(hn::Or(b0, hn::ShiftLeft<8>(b1)),
                                  hn::Or(hn::ShiftLeft<16>(b2), hn::ShiftLeft<24>(b3))));
}

/// The whole part of floats from 0 to below 2^31.
HWY_INLINE VI32 whole_part(VF x) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  return VI32{_mm512_cvttps_epi32(x.raw)};
#elif HWY_TARGET == HWY_AVX2
  return VI32{_mm256_cvttps_epi32(x.raw)};
#else
  return hn::ConvertTo(DI32(), x);
#endif
}

/// YuvWeights as vectors, made once a row.
struct YuvVectors {
  VF red_w, green_u, green_w, blue_u;
  V8 offset, most;

  explicit YuvVectors(const YuvWeights& k)
      : red_w(weight(k.red_w)),
        green_u(weight(-k.green_u)),
        green_w(weight(k.green_w)),
        blue_u(weight(k.blue_u)),
        offset(hn::Set(D8(), static_cast<std::uint8_t>(k.luma_offset))),
        most(hn::Set(D8(), static_cast<std::uint8_t>(k.luma_max))) {}

 private:
  static HWY_INLINE VF weight(std::int32_t a) { return hn::Set(DF(), static_cast<float>(a)); }
};

/// Chroma samples less 128, in single precision.
struct ChromaFloats {
  VF u, w;
};
HWY_INLINE ChromaFloats centred(VI32 cb, VI32 cr) {
  const VI32 middle = hn::Set(DI32(), 128);
  return {hn::ConvertTo(DF(), hn::Sub(cb, middle)), hn::ConvertTo(DF(), hn::Sub(cr, middle))};
}

/// value_above_luma() of chroma, at most 255: more than that puts V at M whatever the luma.
/// Exact in single precision: every product and sum is a whole number below 2^24, and so is
/// 2^16 times the last one.
HWY_INLINE VI32 above_luma(const YuvVectors& k, const ChromaFloats& c) {
  const DF d;
  const VF red = hn::Mul(c.w, k.red_w);
  const VF green = hn::NegMulAdd(c.w, k.green_w, hn::Mul(c.u, k.green_u));
  const VF blue = hn::Mul(c.u, k.blue_u);
  const VF most = hn::Max(hn::Max(red, green), blue);
  const VF above = hn::MulAdd(most, hn::Set(d, 1.0f / 65536.0f), hn::Set(d, 0.5f));
  return whole_part(hn::Min(above, hn::Set(d, 255.0f)));
}

/// Chroma of one vector of luma. With kShared, two luma columns share a chroma sample and half a
/// vector of chroma is read; part[0] then holds the even samples and part[1] the odd ones,
/// otherwise part[k] holds samples k, 4 + k, 8 + k ...
template <bool kShared>
struct Chroma;

template <>
struct Chroma<true> {
  static constexpr std::size_t kSamples = kBytes / 2;
  static constexpr std::size_t kParts = 2;
  ChromaFloats part[kParts];

  HWY_INLINE Chroma(const std::uint8_t* cb_row, const std::uint8_t* cr_row) {
    const V16 cb = hn::PromoteTo(D16(), hn::LoadU(DHalf8(), cb_row));
    const V16 cr = hn::PromoteTo(D16(), hn::LoadU(DHalf8(), cr_row));
    part[0] = centred(lower_word(cb), lower_word(cr));
    part[1] = centred(upper_word(cb), upper_word(cr));
  }
  /// above_luma() of every luma sample.
  HWY_INLINE V8 above(const YuvVectors& k) const {
    const V16 words = join_words(above_luma(k, part[0]), above_luma(k, part[1]));
    return hn::BitCast(D8(), hn::Or(words, hn::ShiftLeft<8>(words)));
  }
};

template <>
struct Chroma<false> {
  static constexpr std::size_t kSamples = kBytes;
  static constexpr std::size_t kParts = 4;
  ChromaFloats part[kParts];

  HWY_INLINE Chroma(const std::uint8_t* cb_row, const std::uint8_t* cr_row) {
    const V8 cb = hn::LoadU(D8(), cb_row);
    const V8 cr = hn::LoadU(D8(), cr_row);
    part[0] = centred(lane_byte<0>(cb), lane_byte<0>(cr));
    part[1] = centred(lane_byte<1>(cb), lane_byte<1>(cr));
    part[2] = centred(lane_byte<2>(cb), lane_byte<2>(cr));
    part[3] = centred(lane_byte<3>(cb), lane_byte<3>(cr));
  }
  HWY_INLINE V8 above(const YuvVectors& k) const {
    return join_bytes(above_luma(k, part[0]), above_luma(k, part[1]), above_luma(k, part[2]),
                      above_luma(k, part[3]));
  }
};

/// yuv_value() of a vector of luma. Saturation at 255 is harmless: such a sum is past M.
HWY_INLINE V8 values(const YuvVectors& k, V8 luma, V8 above) {
  return hn::Min(hn::SaturatedSub(hn::SaturatedAdd(luma, above), k.offset), k.most);
}

template <std::size_t kRows, bool kShared>
HWY_INLINE void value_vector(const YuvVectors& k, const YuvRowIn& in,
                  const std::array<std::uint8_t*, 2>& v) {
  const D8 d;
  const V8 above = Chroma<kShared>(in.cb, in.cr).above(k);
  for (std::size_t r = 0; r < kRows; ++r) {
    hn::StoreU(values(k, hn::LoadU(d, in.luma[r]), above), d, v[r]);
  }
}

/// Distance from a whole number beyond which single precision may have rounded a chroma sample to
/// the wrong side. The error is below 1.2e-4: gains are at most 2^-22 (gain + 1) off,
/// |code - 128| gain stays below 129 where the result is not clamped, and sum, mean, product and
/// residual round at 2^-24 each.
constexpr float kSureDistance = 0.5f - 1.0f / 4096.0f;

/// Scaled chroma codes, 0 .. 255, and how far each lay from the whole number it became.
struct Rounded {
  VI32 code;
  VF distance;
};

/// round(128 + u gain), clamped to 0 .. 255.
HWY_INLINE Rounded scale_chroma(VF u, VF gain) {
  const DF d;
  const VF offset = hn::Set(d, kWhole + 128.0f);
  const VF shifted = hn::MulAdd(u, gain, offset);
  const VF residual = hn::MulSub(u, gain, hn::Sub(shifted, offset));
  const VF clamped =
      hn::Min(hn::Max(shifted, hn::Set(d, kWhole)), hn::Set(d, kWhole + 255.0f));
  return {hn::And(hn::BitCast(DI32(), clamped), hn::Set(DI32(), 255)), hn::Abs(residual)};
}

/// 1 in the lanes that are not sure.
HWY_INLINE VI32 unsure(const Rounded& r) {
  const DI32 d;
  const VF bound = hn::Set(DF(), kSureDistance);
  return hn::IfThenElseZero(hn::RebindMask(d, hn::Gt(r.distance, bound)), hn::Set(d, 1));
}

/// Recomputes the flagged samples of one chroma plane in integers.
template <std::size_t kRows, bool kShared>
HWY_NOINLINE void correct_chroma(const GainTables& gains, const std::uint8_t* codes,
                                 const std::uint8_t (&v)[2][kBytes], const std::uint8_t* flags,
                                 std::uint8_t* out) {
  constexpr std::size_t kColumns = kShared ? 2 : 1;
  for (std::size_t i = 0; i < Chroma<kShared>::kSamples; ++i) {
    if (flags[i] == 0) continue;
    std::uint64_t sum = 0;
    for (std::size_t r = 0; r < kRows; ++r) {
      for (std::size_t x = 0; x < kColumns; ++x) sum += gains.gain48[v[r][kColumns * i + x]] >> 8;
    }
    out[i] = static_cast<std::uint8_t>(
        scale_chroma_exact(codes[i], sum, static_cast<int>(kRows * kColumns)));
  }
}

/// One scaled chroma plane of one vector of luma, in parts as Chroma has them.
template <bool kShared>
struct ScaledPlane {
  static constexpr std::size_t kParts = Chroma<kShared>::kParts;
  Rounded part[kParts];

  HWY_INLINE ScaledPlane(const VF (&u)[kParts], const VF (&gain)[kParts]) {
    for (std::size_t i = 0; i < kParts; ++i) part[i] = scale_chroma(u[i], gain[i]);
  }
  HWY_INLINE VF distance() const {
    VF most = part[0].distance;
    for (std::size_t i = 1; i < kParts; ++i) most = hn::Max(most, part[i].distance);
    return most;
  }
  template <Stores kStores>
  HWY_INLINE void write(std::uint8_t* out) const {
    if constexpr (kShared) {
      write_parts<kStores>(out, part[0].code, part[1].code);
    } else {
      write_parts<kStores>(out, part[0].code, part[1].code, part[2].code, part[3].code);
    }
  }
  HWY_INLINE void write_flags(std::uint8_t* out) const {
    if constexpr (kShared) {
      write_parts<Stores::cached>(out, unsure(part[0]), unsure(part[1]));
    } else {
      write_parts<Stores::cached>(out, unsure(part[0]), unsure(part[1]), unsure(part[2]),
                                  unsure(part[3]));
    }
  }

 private:
  template <Stores kStores>
  static HWY_INLINE void write_parts(std::uint8_t* out, VI32 even, VI32 odd) {
    const hn::Vec<DI16> words = hn::BitCast(DI16(), join_words(even, odd));
    store<kStores>(hn::DemoteTo(DHalf8(), words), DHalf8(), out);
  }
  template <Stores kStores>
  static HWY_INLINE void write_parts(std::uint8_t* out, VI32 b0, VI32 b1, VI32 b2, VI32 b3) {
    store<kStores>(join_bytes(b0, b1, b2, b3), D8(), out);
  }
};

/// Gains of the luma samples of a vector to mean gains of its chroma samples, in Chroma's parts.
template <std::size_t kRows, bool kShared>
HWY_INLINE void mean_gains(const Floats (&g)[kRows], VF (&mean)[Chroma<kShared>::kParts]) {
  Floats sum = g[0];
  if constexpr (kRows == 2) {
    sum = {hn::Add(g[0].f0, g[1].f0), hn::Add(g[0].f1, g[1].f1), hn::Add(g[0].f2, g[1].f2),
           hn::Add(g[0].f3, g[1].f3)};
  }
  if constexpr (kShared) {
    const VF part = hn::Set(DF(), kRows == 2 ? 0.25f : 0.5f);
    mean[0] = hn::Mul(hn::Add(sum.f0, sum.f1), part);
    mean[1] = hn::Mul(hn::Add(sum.f2, sum.f3), part);
  } else {
    mean[0] = sum.f0;
    mean[1] = sum.f1;
    mean[2] = sum.f2;
    mean[3] = sum.f3;
  }
}

template <Stores kStores, std::size_t kRows, bool kShared>
HWY_INLINE void apply_vector(const YuvVectors& k, const GainTables& gains,
                             const GainLookup& lookup, const YuvRowIn& in, const YuvRowOut& out) {
  constexpr std::size_t kParts = Chroma<kShared>::kParts;
  const D8 d;
  const V8 offset = k.offset;
  const Chroma<kShared> chroma(in.cb, in.cr);
  const V8 above = chroma.above(k);
  V8 v[kRows];
  V8 luma[kRows];
  Floats g[kRows];
  for (std::size_t r = 0; r < kRows; ++r) {
    const V8 y = hn::LoadU(d, in.luma[r]);
    // Below black a sample is left alone and counts with gain 1, which is what v = 0 has.
    v[r] = hn::IfThenElseZero(hn::Eq(hn::Max(y, offset), y), values(k, y, above));
    g[r] = lookup(v[r]);
    luma[r] = hn::Add(scale_bytes(hn::SaturatedSub(y, offset), g[r]), hn::Min(y, offset));
  }
  VF mean[kParts];
  mean_gains<kRows, kShared>(g, mean);
  VF u[kParts];
  VF w[kParts];
  for (std::size_t i = 0; i < kParts; ++i) {
    u[i] = chroma.part[i].u;
    w[i] = chroma.part[i].w;
  }
  const ScaledPlane<kShared> cb(u, mean);
  const ScaledPlane<kShared> cr(w, mean);
  const VF distance = hn::Max(cb.distance(), cr.distance());
  if (HWY_LIKELY(hn::AllFalse(DF(), hn::Gt(distance, hn::Set(DF(), kSureDistance))))) {
    // Half vectors would be streamed as half cache lines.
    constexpr Stores kChromaStores = kShared ? Stores::cached : kStores;
    cb.template write<kChromaStores>(out.cb);
    cr.template write<kChromaStores>(out.cr);
  } else {
    alignas(64) std::uint8_t codes[2][kBytes];
    alignas(64) std::uint8_t flags[2][kBytes];
    alignas(64) std::uint8_t values[2][kBytes];
    std::memcpy(codes[0], in.cb, Chroma<kShared>::kSamples);
    std::memcpy(codes[1], in.cr, Chroma<kShared>::kSamples);
    for (std::size_t r = 0; r < kRows; ++r) hn::Store(v[r], d, values[r]);
    cb.write_flags(flags[0]);
    cr.write_flags(flags[1]);
    cb.template write<Stores::cached>(out.cb);
    cr.template write<Stores::cached>(out.cr);
    correct_chroma<kRows, kShared>(gains, codes[0], values, flags[0], out.cb);
    correct_chroma<kRows, kShared>(gains, codes[1], values, flags[1], out.cr);
  }
  for (std::size_t r = 0; r < kRows; ++r) store<kStores>(luma[r], d, out.luma[r]);
}

/// Columns `at` and on of a row.
template <typename Row>
HWY_INLINE Row advance(const Row& row, std::size_t at, bool shared) {
  const std::size_t c = shared ? at / 2 : at;
  return {{row.luma[0] + at, row.luma[1] == nullptr ? nullptr : row.luma[1] + at},
          row.cb + c, row.cr + c};
}

/// The last columns of a row, fewer than a vector, copied to whole vectors. The last luma sample
/// is repeated, which leaves the mean gain of the last chroma sample as it is.
template <std::size_t kRows, bool kShared>
struct Tail {
  alignas(64) std::uint8_t luma[2][kBytes];
  alignas(64) std::uint8_t cb[kBytes];
  alignas(64) std::uint8_t cr[kBytes];
  std::size_t columns;
  std::size_t samples;

  Tail(const YuvRowIn& in, std::size_t n)
      : columns(n), samples(kShared ? (n + 1) / 2 : n) {
    for (std::size_t r = 0; r < kRows; ++r) {
      std::memcpy(luma[r], in.luma[r], n);
      std::memset(luma[r] + n, in.luma[r][n - 1], kBytes - n);
    }
    std::memset(cb, 128, kBytes);
    std::memset(cr, 128, kBytes);
    std::memcpy(cb, in.cb, samples);
    std::memcpy(cr, in.cr, samples);
  }
  YuvRowIn in() const { return {{luma[0], luma[1]}, cb, cr}; }
  YuvRowOut out() { return {{luma[0], luma[1]}, cb, cr}; }
};

template <std::size_t kRows, bool kShared>
void value_yuv_rows(const YuvWeights& weights, const YuvRowIn in, std::size_t n,
                    const std::array<std::uint8_t*, 2> v) {
  const YuvVectors k(weights);
  std::size_t i = 0;
  for (; i + kBytes <= n; i += kBytes) {
    value_vector<kRows, kShared>(k, advance(in, i, kShared),
                                 {v[0] + i, kRows == 2 ? v[1] + i : nullptr});
  }
  if (i == n) return;
  const Tail<kRows, kShared> tail(advance(in, i, kShared), n - i);
  alignas(64) std::uint8_t rest[2][kBytes];
  value_vector<kRows, kShared>(k, tail.in(), {rest[0], rest[1]});
  for (std::size_t r = 0; r < kRows; ++r) std::memcpy(v[r] + i, rest[r], n - i);
}

template <std::size_t kRows, bool kShared>
void apply_yuv_rows(const YuvWeights& weights, const GainTables& gains, Stores stores,
                    const YuvRowIn in, std::size_t n, const YuvRowOut out) {
  const YuvVectors k(weights);
  const GainLookup lookup(gains);
  const std::size_t chroma_bytes = Chroma<kShared>::kSamples;
  const bool stream = stores == Stores::streaming && aligned(out.luma[0], kBytes) &&
                      (kRows == 1 || aligned(out.luma[1], kBytes)) &&
                      aligned(out.cb, chroma_bytes) && aligned(out.cr, chroma_bytes);
  std::size_t i = 0;
  const auto all = [&](auto kind) {
    for (; i + kBytes <= n; i += kBytes) {
      const YuvRowIn from = advance(in, i, kShared);
      for (std::size_t r = 0; r < kRows; ++r) prefetch_ahead(from.luma[r], kBytes);
      prefetch_ahead(from.cb, chroma_bytes);
      prefetch_ahead(from.cr, chroma_bytes);
      apply_vector<kind(), kRows, kShared>(k, gains, lookup, from, advance(out, i, kShared));
    }
  };
  if (stream) {
    all(std::integral_constant<Stores, Stores::streaming>());
  } else {
    all(std::integral_constant<Stores, Stores::cached>());
  }
  if (i == n) return;
  Tail<kRows, kShared> tail(advance(in, i, kShared), n - i);
  apply_vector<Stores::cached, kRows, kShared>(k, gains, lookup, tail.in(), tail.out());
  const YuvRowOut rest = advance(out, i, kShared);
  for (std::size_t r = 0; r < kRows; ++r) std::memcpy(rest.luma[r], tail.luma[r], tail.columns);
  std::memcpy(rest.cb, tail.cb, tail.samples);
  std::memcpy(rest.cr, tail.cr, tail.samples);
}

void value_yuv(YuvLayout layout, const YuvWeights& k, const YuvRowIn& in, std::size_t n,
               const std::array<std::uint8_t*, 2>& v) {
  switch (layout) {
    case YuvLayout::s420: return value_yuv_rows<2, true>(k, in, n, v);
    case YuvLayout::s422: return value_yuv_rows<1, true>(k, in, n, v);
    case YuvLayout::s444: return value_yuv_rows<1, false>(k, in, n, v);
  }
}

void apply_yuv(YuvLayout layout, const YuvWeights& k, const GainTables& gains, Stores stores,
               const YuvRowIn& in, std::size_t n, const YuvRowOut& out) {
  switch (layout) {
    case YuvLayout::s420: return apply_yuv_rows<2, true>(k, gains, stores, in, n, out);
    case YuvLayout::s422: return apply_yuv_rows<1, true>(k, gains, stores, in, n, out);
    case YuvLayout::s444: return apply_yuv_rows<1, false>(k, gains, stores, in, n, out);
  }
}

RowKernels target_row_kernels() {
  return {hwy::TargetName(HWY_TARGET), value_rgb3, value_rgb4, value_yuv, apply_gray,
          apply_rgb3, apply_rgb4, apply_yuv, flush_stores, fold_pairs, split, merge};
}

}  // namespace HWY_NAMESPACE
}  // namespace equalux
HWY_AFTER_NAMESPACE();

#endif  // include guard
