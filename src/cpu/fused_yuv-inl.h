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

/// 16-bit lanes for the even and for the odd bytes of a vector.
struct Words {
  VI16 even, odd;
};

/// Two vectors of 32-bit lanes below 2^15, as the lower and upper halves of 32-bit lanes.
HWY_INLINE VI16 join_words(VI32 lower, VI32 upper) {
  return hn::BitCast(DI16(), hn::Or(lower, hn::ShiftLeft<16>(upper)));
}
/// The lower and upper halves of 32-bit lanes.
HWY_INLINE VI32 lower_word(V16 x) {
  return hn::And(hn::BitCast(DI32(), x), hn::Set(DI32(), 0xFFFF));
}
HWY_INLINE VI32 upper_word(V16 x) {
  return hn::BitCast(DI32(), hn::ShiftRight<16>(hn::BitCast(D32(), x)));
}

/// value_above_luma() of chroma codes.
HWY_INLINE VI32 above_luma(const YuvWeights& k, VI32 cb, VI32 cr) {
  const DI32 d;
  const VI32 middle = hn::Set(d, 128);
  const VI32 u = hn::Sub(cb, middle);
  const VI32 w = hn::Sub(cr, middle);
  const VI32 red = hn::Mul(w, hn::Set(d, k.red_w));
  const VI32 green =
      hn::Neg(hn::Add(hn::Mul(u, hn::Set(d, k.green_u)), hn::Mul(w, hn::Set(d, k.green_w))));
  const VI32 blue = hn::Mul(u, hn::Set(d, k.blue_u));
  const VI32 most = hn::Max(hn::Max(red, green), blue);
  return hn::ShiftRight<16>(hn::Add(most, hn::Set(d, 32768)));
}

/// Chroma of one vector of luma, and what it adds to it. With kShared, two luma columns share a
/// chroma sample and half a vector of chroma is read.
template <bool kShared>
struct Chroma;

template <>
struct Chroma<true> {
  V16 cb, cr;  // 16-bit lane i: sample i
  static constexpr std::size_t kSamples = kBytes / 2;

  Chroma(const std::uint8_t* cb_row, const std::uint8_t* cr_row)
      : cb(hn::PromoteTo(D16(), hn::LoadU(DHalf8(), cb_row))),
        cr(hn::PromoteTo(D16(), hn::LoadU(DHalf8(), cr_row))) {}

  HWY_INLINE Words above(const YuvWeights& k) const {
    const VI16 a = join_words(above_luma(k, lower_word(cb), lower_word(cr)),
                              above_luma(k, upper_word(cb), upper_word(cr)));
    return {a, a};
  }
};

template <>
struct Chroma<false> {
  V8 cb, cr;
  static constexpr std::size_t kSamples = kBytes;

  Chroma(const std::uint8_t* cb_row, const std::uint8_t* cr_row)
      : cb(hn::LoadU(D8(), cb_row)), cr(hn::LoadU(D8(), cr_row)) {}

  HWY_INLINE Words above(const YuvWeights& k) const {
    return {join_words(above_luma(k, lane_byte<0>(cb), lane_byte<0>(cr)),
                       above_luma(k, lane_byte<2>(cb), lane_byte<2>(cr))),
            join_words(above_luma(k, lane_byte<1>(cb), lane_byte<1>(cr)),
                       above_luma(k, lane_byte<3>(cb), lane_byte<3>(cr)))};
  }
};

/// yuv_value() of a vector of luma.
HWY_INLINE V8 values(const YuvWeights& k, V8 luma, const Words& above) {
  const DI16 d;
  const D16 d16;
  const VI16 zero = hn::Zero(d);
  const VI16 most = hn::Set(d, static_cast<std::int16_t>(k.luma_max));
  const VI16 offset = hn::Set(d, static_cast<std::int16_t>(k.luma_offset));
  const auto value = [&](V16 y, VI16 a) {
    const VI16 v = hn::Add(hn::Sub(hn::BitCast(d, y), offset), a);
    return hn::Min(hn::Max(v, zero), most);
  };
  const V16 words = hn::BitCast(d16, luma);
  const VI16 even = value(hn::And(words, hn::Set(d16, std::uint16_t{255})), above.even);
  const VI16 odd = value(hn::ShiftRight<8>(words), above.odd);
  return hn::BitCast(D8(), hn::Or(even, hn::ShiftLeft<8>(odd)));
}

template <std::size_t kRows, bool kShared>
void value_vector(const YuvWeights& k, const YuvRowIn& in,
                  const std::array<std::uint8_t*, 2>& v) {
  const D8 d;
  const Words above = Chroma<kShared>(in.cb, in.cr).above(k);
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

/// round(128 + (code - 128) gain), clamped to 0 .. 255.
HWY_INLINE Rounded scale_chroma(VI32 code, VF gain) {
  const DF d;
  const VF u = hn::ConvertTo(d, hn::Sub(code, hn::Set(DI32(), 128)));
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

/// Four vectors of 32-bit lanes 0 .. 255 as bytes: undoes lane_byte.
HWY_INLINE V8 join_bytes(VI32 b0, VI32 b1, VI32 b2, VI32 b3) {
  return hn::BitCast(D8(), hn::Or(hn::Or(b0, hn::ShiftLeft<8>(b1)),
                                  hn::Or(hn::ShiftLeft<16>(b2), hn::ShiftLeft<24>(b3))));
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

/// What scaling one chroma plane gives for one vector of luma.
template <bool kShared>
struct ScaledPlane;

template <>
struct ScaledPlane<true> {
  Rounded even, odd;

  HWY_INLINE ScaledPlane(V16 codes, const VF (&gain)[4])
      : even(scale_chroma(lower_word(codes), gain[0])),
        odd(scale_chroma(upper_word(codes), gain[1])) {}
  HWY_INLINE VF distance() const { return hn::Max(even.distance, odd.distance); }
  template <Stores kStores>
  HWY_INLINE void write(std::uint8_t* out) const {
    store<kStores>(half(even.code, odd.code), DHalf8(), out);
  }
  HWY_INLINE void write_flags(std::uint8_t* out) const {
    hn::StoreU(half(unsure(even), unsure(odd)), DHalf8(), out);
  }

 private:
  static HWY_INLINE hn::Vec<DHalf8> half(VI32 lower, VI32 upper) {
    return hn::DemoteTo(DHalf8(), join_words(lower, upper));
  }
};

template <>
struct ScaledPlane<false> {
  Rounded r0, r1, r2, r3;

  HWY_INLINE ScaledPlane(V8 codes, const VF (&gain)[4])
      : r0(scale_chroma(lane_byte<0>(codes), gain[0])),
        r1(scale_chroma(lane_byte<1>(codes), gain[1])),
        r2(scale_chroma(lane_byte<2>(codes), gain[2])),
        r3(scale_chroma(lane_byte<3>(codes), gain[3])) {}
  HWY_INLINE VF distance() const {
    return hn::Max(hn::Max(r0.distance, r1.distance), hn::Max(r2.distance, r3.distance));
  }
  template <Stores kStores>
  HWY_INLINE void write(std::uint8_t* out) const {
    store<kStores>(join_bytes(r0.code, r1.code, r2.code, r3.code), D8(), out);
  }
  HWY_INLINE void write_flags(std::uint8_t* out) const {
    hn::StoreU(join_bytes(unsure(r0), unsure(r1), unsure(r2), unsure(r3)), D8(), out);
  }
};

/// Gains of the luma samples of a vector, summed over rows, to mean gains of chroma samples.
template <std::size_t kRows, bool kShared>
HWY_INLINE void mean_gains(const Floats (&g)[kRows], VF (&mean)[4]) {
  Floats sum = g[0];
  if constexpr (kRows == 2) {
    sum = {hn::Add(g[0].f0, g[1].f0), hn::Add(g[0].f1, g[1].f1), hn::Add(g[0].f2, g[1].f2),
           hn::Add(g[0].f3, g[1].f3)};
  }
  if constexpr (kShared) {
    const VF part = hn::Set(DF(), kRows == 2 ? 0.25f : 0.5f);
    mean[0] = mean[2] = hn::Mul(hn::Add(sum.f0, sum.f1), part);
    mean[1] = mean[3] = hn::Mul(hn::Add(sum.f2, sum.f3), part);
  } else {
    mean[0] = sum.f0;
    mean[1] = sum.f1;
    mean[2] = sum.f2;
    mean[3] = sum.f3;
  }
}

template <Stores kStores, std::size_t kRows, bool kShared>
HWY_INLINE void apply_vector(const YuvWeights& k, const GainTables& gains,
                             const GainLookup& lookup, const YuvRowIn& in, const YuvRowOut& out) {
  const D8 d;
  const V8 offset = hn::Set(d, static_cast<std::uint8_t>(k.luma_offset));
  const Chroma<kShared> chroma(in.cb, in.cr);
  const Words above = chroma.above(k);
  V8 v[kRows];
  V8 luma[kRows];
  Floats g[kRows];
  for (std::size_t r = 0; r < kRows; ++r) {
    const V8 y = hn::LoadU(d, in.luma[r]);
    // Below black a sample is left alone, which is what v = 0 does.
    v[r] = hn::IfThenElseZero(hn::Eq(hn::Max(y, offset), y), values(k, y, above));
    g[r] = lookup(v[r]);
    const V8 scaled = hn::Add(scale_bytes(hn::SaturatedSub(y, offset), g[r]), offset);
    luma[r] = hn::IfThenElse(hn::Eq(v[r], hn::Zero(d)), y, scaled);
  }
  VF mean[4];
  mean_gains<kRows, kShared>(g, mean);
  const ScaledPlane<kShared> cb(chroma.cb, mean);
  const ScaledPlane<kShared> cr(chroma.cr, mean);
  const VF distance = hn::Max(cb.distance(), cr.distance());
  if (HWY_LIKELY(hn::AllFalse(DF(), hn::Gt(distance, hn::Set(DF(), kSureDistance))))) {
    cb.template write<kStores>(out.cb);
    cr.template write<kStores>(out.cr);
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
void value_yuv_rows(const YuvWeights& k, const YuvRowIn& in, std::size_t n,
                    const std::array<std::uint8_t*, 2>& v) {
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
void apply_yuv_rows(const YuvWeights& k, const GainTables& gains, Stores stores,
                    const YuvRowIn& in, std::size_t n, const YuvRowOut& out) {
  const GainLookup lookup(gains);
  const std::size_t chroma_bytes = Chroma<kShared>::kSamples;
  const bool stream = stores == Stores::streaming && aligned(out.luma[0], kBytes) &&
                      (kRows == 1 || aligned(out.luma[1], kBytes)) &&
                      aligned(out.cb, chroma_bytes) && aligned(out.cr, chroma_bytes);
  std::size_t i = 0;
  const auto all = [&](auto kind) {
    for (; i + kBytes <= n; i += kBytes) {
      apply_vector<kind(), kRows, kShared>(k, gains, lookup, advance(in, i, kShared),
                                           advance(out, i, kShared));
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
          apply_rgb3, apply_rgb4, apply_yuv, flush_stores, split, merge};
}

}  // namespace HWY_NAMESPACE
}  // namespace equalux
HWY_AFTER_NAMESPACE();

#endif  // include guard
