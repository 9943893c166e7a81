// Common part of both passes over YCbCr; included once for each target.
#if defined(EQUALUX_FUSED_YUV_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUALUX_FUSED_YUV_INL_H
#undef EQUALUX_FUSED_YUV_INL_H
#else
#define EQUALUX_FUSED_YUV_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace equalux {
namespace HWY_NAMESPACE {

/// Low halves of the 32-bit lanes of two vectors, as low and high halves of the lanes of one.
HWY_INLINE VI16 join_words(VI32 lower, VI32 upper) {
#if EQUALUX_FIXED_GAINS
  const DI16 d;
  return hn::OddEven(hn::BitCast(d, hn::ShiftLeft<16>(upper)), hn::BitCast(d, lower));
#else
  return hn::BitCast(DI16(), hn::OrAnd(hn::ShiftLeft<16>(upper), lower, hn::Set(DI32(), 0xFFFF)));
#endif
}

/// YuvWeights as vectors, made once a row, for chroma in units of 1 / kUnits.
template <int kUnits>
struct YuvVectors {
  VF red_w, green_u, green_w, blue_u;
  V8 offset, most;

  explicit YuvVectors(const YuvWeights& k)
      : red_w(weight(k.red_w)),
        green_u(weight(k.green_u)),
        green_w(weight(k.green_w)),
        blue_u(weight(k.blue_u)),
        offset(hn::Set(D8(), static_cast<std::uint8_t>(k.luma_offset))),
        most(hn::Set(D8(), static_cast<std::uint8_t>(k.luma_max))) {}

 private:
  static HWY_INLINE VF weight(std::int32_t a) {
    return hn::Set(DF(), static_cast<float>(a) * kUnits);
  }
};

/// Chroma less 128 in units of 1 / kUnits, in single precision.
struct ChromaFloats {
  VF u, w;
};

/// Conversion of codes to (code - 128) / kUnits: a code is placed in the mantissa of kFirst and the
/// offset is subtracted, which costs less than an integer conversion and a product.
template <int kUnits>
struct Centre {
  /// Float whose last bit is worth 1 / kUnits.
  static constexpr float kFirst = 8388608.0f / kUnits;
  static HWY_INLINE V32 bits() { return hn::BitCast(D32(), hn::Set(DF(), kFirst)); }
  static HWY_INLINE VF less_128(V32 lanes) {
    return hn::Sub(hn::BitCast(DF(), lanes), hn::Set(DF(), kFirst + 128.0f / kUnits));
  }
  /// Codes in the lower or upper halves of lanes.
  static HWY_INLINE VF lower(V16 x) {
#if EQUALUX_FIXED_GAINS
    return less_128(hn::BitCast(D32(), hn::OddEven(hn::BitCast(D16(), bits()), x)));
#else
    return less_128(hn::OrAnd(bits(), hn::BitCast(D32(), x), hn::Set(D32(), 0xFFFFu)));
#endif
  }
  static HWY_INLINE VF upper(V16 x) {
    return less_128(hn::Or(bits(), hn::ShiftRight<16>(hn::BitCast(D32(), x))));
  }
  /// Codes in byte k of lanes.
  template <int k>
  static HWY_INLINE VF byte(V8 x) {
    return less_128(hn::Or(bits(), hn::BitCast(D32(), lane_byte<k>(x))));
  }
};

/// Chroma never raises V by more than 255 above luma: value_above_luma() fits in a byte.
constexpr bool fits_byte(const YuvWeights& k) {
  const std::int32_t most = std::max(std::max(k.red_w, k.blue_u), k.green_u + k.green_w);
  return 128 * most + 32768 < (1 << 24);
}
static_assert(fits_byte(yuv_weights(ColorMatrix::bt601, ColorRange::full)) &&
              fits_byte(yuv_weights(ColorMatrix::bt709, ColorRange::full)) &&
              fits_byte(yuv_weights(ColorMatrix::bt2020, ColorRange::full)));

/// floor(x / 65536) of numbers that are not negative, in the low byte of lanes; the middle bytes
/// are 0.
HWY_INLINE V32 whole_codes(VF most) {
  const VF scale = hn::Set(DF(), 1.0f / 65536.0f);
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  // Rounded down by the addition itself.
  return hn::BitCast(D32(), VF{_mm512_fmadd_round_ps(most.raw, scale.raw, _mm512_set1_ps(kTwo23),
                                                     _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)});
#elif HWY_TARGET == HWY_AVX2
  return V32{_mm256_cvttps_epi32(hn::Mul(most, scale).raw)};
#else
  return hn::BitCast(D32(), hn::ConvertTo(DI32(), hn::Mul(most, scale)));
#endif
}

/// value_above_luma() of chroma, as whole_codes(). Exact in single precision, as all products and
/// sums are whole numbers below 2^24.
template <int kUnits>
HWY_INLINE V32 above_luma(const YuvVectors<kUnits>& k, const ChromaFloats& c) {
  const VF half = hn::Set(DF(), 32768.0f);
  const VF red = hn::MulAdd(c.w, k.red_w, half);
  const VF green = hn::NegMulAdd(c.w, k.green_w, hn::NegMulAdd(c.u, k.green_u, half));
  const VF blue = hn::MulAdd(c.u, k.blue_u, half);
  return whole_codes(hn::Max(hn::Max(red, green), blue));
}

/// whole_codes() of x or -x with `rounding` added.
template <bool kNegated>
HWY_INLINE V32 whole_codes_of(VF x, float rounding) {
#if HWY_TARGET == HWY_AVX2
  const DF d;
  const VF scale = hn::Set(d, 1.0f / 65536.0f);
  const VF added = hn::Set(d, rounding / 65536.0f);
  // Intrinsics, as the compiler would negate in a separate instruction.
  return V32{_mm256_cvttps_epi32(kNegated ? _mm256_fnmadd_ps(x.raw, scale.raw, added.raw)
                                          : _mm256_fmadd_ps(x.raw, scale.raw, added.raw))};
#else
  return whole_codes(kNegated ? hn::Sub(hn::Set(DF(), rounding), x)
                              : hn::Add(x, hn::Set(DF(), rounding)));
#endif
}

/// above_luma(), and saturation::least_above_luma() negated: its halves, rounded up, are rounded
/// down here.
struct AroundLuma {
  V32 above, below;
};
template <int kUnits>
HWY_INLINE AroundLuma around_luma(const YuvVectors<kUnits>& k, const ChromaFloats& c) {
  const VF red = hn::Mul(c.w, k.red_w);
  const VF green = hn::NegMulSub(c.w, k.green_w, hn::Mul(c.u, k.green_u));
  const VF blue = hn::Mul(c.u, k.blue_u);
  const VF most = hn::Max(hn::Max(red, green), blue);
  const VF least = hn::Min(hn::Min(red, green), blue);
  return {whole_codes_of<false>(most, 32768.0f), whole_codes_of<true>(least, 32767.0f)};
}

/// Low bytes of lanes, doubled: those of `even` become bytes 0 and 1, 4 and 5 ..., those of `odd`
/// the ones between.
HWY_INLINE V8 double_bytes(V32 even, V32 odd) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  const __m512i lower = _mm512_broadcast_i32x4(
      _mm_setr_epi8(0, 0, -1, -1, 4, 4, -1, -1, 8, 8, -1, -1, 12, 12, -1, -1));
  const __m512i upper = _mm512_broadcast_i32x4(
      _mm_setr_epi8(-1, -1, 0, 0, -1, -1, 4, 4, -1, -1, 8, 8, -1, -1, 12, 12));
  return V8{
      _mm512_or_si512(_mm512_shuffle_epi8(even.raw, lower), _mm512_shuffle_epi8(odd.raw, upper))};
#else
  const V16 words =
      hn::BitCast(D16(), join_words(hn::BitCast(DI32(), even), hn::BitCast(DI32(), odd)));
  return hn::BitCast(D8(), hn::Or(words, hn::ShiftLeft<8>(words)));
#endif
}

/// floor(weight x / 65536 + 1/2) of -128 <= x < 128 as x plus a rounded product of 16 bits, whose
/// factor this is. The bit that is shifted off does not matter to any x of any matrix.
constexpr std::int32_t word_weight(std::int32_t weight) {
  return (weight - 65536) >> 1;
}
constexpr bool rounds_exactly(std::int32_t weight) {
  for (std::int32_t x = -128; x < 128; ++x) {
    const std::int32_t product = (x * word_weight(weight) + (1 << 14)) >> 15;
    if (x + product != (weight * x + 32768) >> 16) return false;
  }
  return true;
}
constexpr bool round_exactly(ColorMatrix matrix) {
  for (const ColorRange range : {ColorRange::limited, ColorRange::full}) {
    const YuvWeights k = yuv_weights(matrix, range);
    if (!rounds_exactly(k.red_w) || !rounds_exactly(k.blue_u)) return false;
    if (k.green_u > 32767 || k.green_w > 65535) return false;
  }
  return true;
}
static_assert(round_exactly(ColorMatrix::bt601) && round_exactly(ColorMatrix::bt709) &&
              round_exactly(ColorMatrix::bt2020));

/// YuvWeights for products of 16 bits.
struct YuvWords {
  VI16 red_w, blue_u;  ///< word_weight()
  VI16 green;          ///< alternating -green_u and the low word of -green_w
  VI16 green_whole;    ///< all ones if that word is 65536 above -green_w, else 0

  explicit YuvWords(const YuvWeights& k)
      : red_w(hn::Set(DI16(), static_cast<std::int16_t>(word_weight(k.red_w)))),
        blue_u(hn::Set(DI16(), static_cast<std::int16_t>(word_weight(k.blue_u)))),
        green(hn::BitCast(DI16(),
                          hn::Set(D32(), (static_cast<std::uint32_t>(-k.green_w) << 16) |
                                             (static_cast<std::uint32_t>(-k.green_u) & 0xFFFF)))),
        green_whole(hn::Set(DI16(), static_cast<std::int16_t>(k.green_w > 32768 ? -1 : 0))) {}
};

#if EQUALUX_FIXED_GAINS && HWY_ARCH_X86
/// Largest channel less luma, and largest less least channel, of words of chroma less 128. Both
/// are rounded as value_above_luma() and saturation::least_above_luma() round them.
struct WordsAroundLuma {
  V16 above, range;
};
HWY_INLINE WordsAroundLuma words_around_luma(const YuvWords& k, VI16 u, VI16 w) {
  const DI16 d;
  const DI32 d32;
  const VI16 red = hn::Add(w, hn::MulFixedPoint15(w, k.red_w));
  const VI16 blue = hn::Add(u, hn::MulFixedPoint15(u, k.blue_u));
  const auto sum = [&](VI16 pairs) HWY_ATTR {
    VI32 none = hn::Zero(d32);
    return hn::ShiftRight<16>(
        hn::ReorderWidenMulAccumulate(d32, pairs, k.green, hn::Set(d32, 32768), none));
  };
  // Interleaving and packing leave words in their half of 16 bytes, in order.
  const VI16 pairs =
      hn::ReorderDemote2To(d, sum(hn::InterleaveLower(d, u, w)), sum(hn::InterleaveUpper(d, u, w)));
  const VI16 green = hn::Sub(pairs, hn::And(w, k.green_whole));
  const VI16 most = hn::Max(hn::Max(red, blue), green);
  const VI16 least = hn::Min(hn::Min(red, blue), green);
  return {hn::BitCast(D16(), most), hn::BitCast(D16(), hn::Sub(most, least))};
}
#endif

/// Chroma of one vector of luma, in units of 1 / kUnits. With kShared, two luma columns share a
/// sample and half a vector of chroma is read: part[0] holds the even samples, part[1] the odd
/// ones. Otherwise part[k] holds samples k, 4 + k, 8 + k ...
template <bool kShared, int kUnits>
struct Chroma;

template <int kUnits>
struct Chroma<true, kUnits> {
  static constexpr std::size_t kSamples = kBytes / 2;
  static constexpr std::size_t kParts = 2;
  ChromaFloats part[kParts];

  HWY_INLINE void load(const std::uint8_t* cb_row, const std::uint8_t* cr_row) {
    const V16 cb = hn::PromoteTo(D16(), hn::LoadU(DHalf8(), cb_row));
    const V16 cr = hn::PromoteTo(D16(), hn::LoadU(DHalf8(), cr_row));
    part[0] = {Centre<kUnits>::lower(cb), Centre<kUnits>::lower(cr)};
    part[1] = {Centre<kUnits>::upper(cb), Centre<kUnits>::upper(cr)};
  }
  /// above_luma() of every luma sample.
  HWY_INLINE V8 above(const YuvVectors<kUnits>& k) const {
    return double_bytes(above_luma(k, part[0]), above_luma(k, part[1]));
  }
#if EQUALUX_FIXED_GAINS && HWY_ARCH_X86
  /// Loads chroma. Returns above_luma() of every luma sample; `range` receives the largest less the
  /// least channel, a word a sample.
  HWY_INLINE V8 load_above(const YuvVectors<kUnits>&, const YuvWords& words,
                           const std::uint8_t* cb_row, const std::uint8_t* cr_row, V8& range) {
    load(cb_row, cr_row);
    const auto centred = [](const std::uint8_t* row) HWY_ATTR {
      return hn::Sub(hn::BitCast(DI16(), hn::PromoteTo(D16(), hn::LoadU(DHalf8(), row))),
                     hn::Set(DI16(), 128));
    };
    const WordsAroundLuma around = words_around_luma(words, centred(cb_row), centred(cr_row));
    range = hn::BitCast(D8(), around.range);
    return hn::BitCast(D8(), hn::Or(around.above, hn::ShiftLeft<8>(around.above)));
  }
#else
  /// Loads chroma. Returns above_luma() of every luma sample; `range` receives the largest less the
  /// least channel, a word a sample.
  HWY_INLINE V8 load_above(const YuvVectors<kUnits>& k, const YuvWords&, const std::uint8_t* cb_row,
                           const std::uint8_t* cr_row, V8& range) {
    load(cb_row, cr_row);
    const AroundLuma even = around_luma(k, part[0]);
    const AroundLuma odd = around_luma(k, part[1]);
    const auto both = [](const AroundLuma& x)
                          HWY_ATTR { return hn::BitCast(DI32(), hn::Add(x.above, x.below)); };
    range = hn::BitCast(D8(), join_words(both(even), both(odd)));
    return double_bytes(even.above, odd.above);
  }
#endif
};

template <int kUnits>
struct Chroma<false, kUnits> {
  static constexpr std::size_t kSamples = kBytes;
  static constexpr std::size_t kParts = 4;
  ChromaFloats part[kParts];

  HWY_INLINE void load(const std::uint8_t* cb_row, const std::uint8_t* cr_row) {
    using C = Centre<kUnits>;
    const V8 cb = hn::LoadU(D8(), cb_row);
    const V8 cr = hn::LoadU(D8(), cr_row);
    part[0] = {C::template byte<0>(cb), C::template byte<0>(cr)};
    part[1] = {C::template byte<1>(cb), C::template byte<1>(cr)};
    part[2] = {C::template byte<2>(cb), C::template byte<2>(cr)};
    part[3] = {C::template byte<3>(cb), C::template byte<3>(cr)};
  }
  HWY_INLINE V8 above(const YuvVectors<kUnits>& k) const {
    return join_bytes(above_luma(k, part[0]), above_luma(k, part[1]), above_luma(k, part[2]),
                      above_luma(k, part[3]));
  }
  /// Loads chroma. Returns above_luma() of every luma sample; `below` receives luma less the least
  /// channel.
  HWY_INLINE V8 load_above(const YuvVectors<kUnits>& k, const YuvWords&, const std::uint8_t* cb_row,
                           const std::uint8_t* cr_row, V8& below) {
    load(cb_row, cr_row);
    AroundLuma around[kParts];
    for (std::size_t i = 0; i < kParts; ++i)
      around[i] = around_luma(k, part[i]);
    below = join_bytes(around[0].below, around[1].below, around[2].below, around[3].below);
    return join_bytes(around[0].above, around[1].above, around[2].above, around[3].above);
  }
};

/// yuv_value() of a vector of luma, not yet limited to M. Saturation at 255 is harmless, as such a
/// sum is above M.
template <int kUnits>
HWY_INLINE V8 values(const YuvVectors<kUnits>& k, V8 luma, V8 above) {
  return hn::SaturatedSub(hn::SaturatedAdd(luma, above), k.offset);
}

/// Chroma samples that a vector of luma covers, and float vectors that they fill.
template <bool kShared>
constexpr std::size_t kChromaSamples = Chroma<kShared, 1>::kSamples;
template <bool kShared>
constexpr std::size_t kChromaParts = Chroma<kShared, 1>::kParts;

/// Row from column `at` on.
template <typename Row>
HWY_INLINE Row advance(const Row& row, std::size_t at, bool shared) {
  const std::size_t c = shared ? at / 2 : at;
  return {{row.luma[0] + at, row.luma[1] == nullptr ? nullptr : row.luma[1] + at},
          row.cb + c,
          row.cr + c};
}

/// Tail of a row, less than a vector, copied to whole vectors. The last luma sample is repeated,
/// which keeps the mean gain of the last chroma sample.
template <std::size_t kRows, bool kShared>
struct Tail {
  alignas(64) std::uint8_t luma[2][kBytes];
  alignas(64) std::uint8_t cb[kBytes];
  alignas(64) std::uint8_t cr[kBytes];
  std::size_t columns;
  std::size_t samples;

  Tail(const YuvRowIn& in, std::size_t n) : columns(n), samples(kShared ? (n + 1) / 2 : n) {
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
  /// Copies the n pixels to their place.
  void copy_to(const YuvRowOut& rest) const {
    for (std::size_t r = 0; r < kRows; ++r)
      std::memcpy(rest.luma[r], luma[r], columns);
    std::memcpy(rest.cb, cb, samples);
    std::memcpy(rest.cr, cr, samples);
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace equalux
HWY_AFTER_NAMESPACE();

#endif  // include guard
