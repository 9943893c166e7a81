// v of vectors of YCbCr of more than 8 bits; included once for each target, after
// deep_vectors-inl.h.
#if defined(EQUALUX_DEEP_VALUES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUALUX_DEEP_VALUES_INL_H
#undef EQUALUX_DEEP_VALUES_INL_H
#else
#define EQUALUX_DEEP_VALUES_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace equalux::deep_loops {
namespace HWY_NAMESPACE {

/// Weights of Cb and Cr in R, G or B less luma, split for 16-bit products: a whole number, and a
/// rest in units of 2^-16, within a half and so a signed word.
struct PairWeights {
  VI16 whole, rest;

  PairWeights(std::int32_t of_cb, std::int32_t of_cr)
      : whole(both(whole_of(of_cb), whole_of(of_cr))),
        rest(both(of_cb - 65536 * whole_of(of_cb), of_cr - 65536 * whole_of(of_cr))) {}

 private:
  static constexpr std::int32_t whole_of(std::int32_t weight) { return (weight + 32768) >> 16; }
  static VI16 both(std::int32_t of_cb, std::int32_t of_cr) {
    const auto lane =
        static_cast<std::uint32_t>(of_cr) << 16 | (static_cast<std::uint32_t>(of_cb) & 0xFFFFu);
    return hn::BitCast(DI16(), hn::Set(D32(), lane));
  }
};

/// Sums of products of even and odd words (pmaddwd).
HWY_INLINE VI32 sum_of_products(VI16 a, VI16 b) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  return VI32{_mm512_madd_epi16(a.raw, b.raw)};
#elif HWY_TARGET == HWY_AVX2
  return VI32{_mm256_madd_epi16(a.raw, b.raw)};
#elif HWY_ARCH_X86
  return VI32{_mm_madd_epi16(a.raw, b.raw)};
#else
  const DI32 d;
  const auto even = [&](VI16 x) HWY_ATTR {
    return hn::ShiftRight<16>(hn::ShiftLeft<16>(hn::BitCast(d, x)));
  };
  const auto odd = [&](VI16 x) HWY_ATTR { return hn::ShiftRight<16>(hn::BitCast(d, x)); };
  return hn::Add(hn::Mul(even(a), even(b)), hn::Mul(odd(a), odd(b)));
#endif
}

/// Returns true where sums of deep_value_above_luma() by the rests fit in 32 bits, at 16 bits:
/// chroma less the middle is at most 2^15.
constexpr bool fits_32_bits(const YuvWeights& k) {
  const auto rest = [](std::int32_t weight) {
    const std::int32_t part = (weight & 65535) < 32768 ? weight & 65535 : 65536 - (weight & 65535);
    return static_cast<std::int64_t>(part);
  };
  const std::int64_t most =
      std::max({rest(k.red_w), rest(k.green_u) + rest(k.green_w), rest(k.blue_u)});
  return 32768 * most + 32768 < (std::int64_t{1} << 31);
}
static_assert(fits_32_bits(yuv_weights(ColorMatrix::bt601, ColorRange::full)) &&
              fits_32_bits(yuv_weights(ColorMatrix::bt709, ColorRange::full)) &&
              fits_32_bits(yuv_weights(ColorMatrix::bt2020, ColorRange::full)) &&
              fits_32_bits(yuv_weights(ColorMatrix::bt601, ColorRange::limited)) &&
              fits_32_bits(yuv_weights(ColorMatrix::bt709, ColorRange::limited)) &&
              fits_32_bits(yuv_weights(ColorMatrix::bt2020, ColorRange::limited)));

/// v of vectors of YCbCr.
class YuvValues {
 public:
  explicit YuvValues(const DeepSamples& form)
      : codes(form),
        red_(0, form.weights.red_w),
        green_(-form.weights.green_u, -form.weights.green_w),
        blue_(form.weights.blue_u, 0),
        middle_(hn::Set(D16(), static_cast<std::uint16_t>(form.chroma_middle))),
        offset_(hn::Set(D16(), static_cast<std::uint16_t>(form.weights.luma_offset))),
        most_(hn::Set(D16(), static_cast<std::uint16_t>(form.weights.luma_max))) {}

  /// V less luma, for each column.
  template <DeepChroma kChroma>
  HWY_INLINE V16 above(const ChromaCodes<kChroma>& chroma) const {
    const auto pairs = pairs_of(chroma);
    if constexpr (ChromaCodes<kChroma>::kShared) {
      const V32 lanes = differences(pairs.first).most();
      return joined(lanes, lanes);
    } else {
      return joined(differences(pairs.first).most(), differences(pairs.second).most());
    }
  }

  /// V less luma, and luma less the least channel.
  struct Spread {
    V16 above, below;
  };
  template <DeepChroma kChroma>
  HWY_INLINE Spread spread(const ChromaCodes<kChroma>& chroma) const {
    const auto pairs = pairs_of(chroma);
    const Differences even = differences(pairs.first);
    if constexpr (ChromaCodes<kChroma>::kShared) {
      const V32 most = even.most();
      const V32 least = even.least();
      return {joined(most, most), joined(least, least)};
    } else {
      const Differences odd = differences(pairs.second);
      return {joined(even.most(), odd.most()), joined(even.least(), odd.least())};
    }
  }

  /// yuv_value(). Saturation at 65,535 is harmless, as such a sum is above M.
  HWY_INLINE V16 of(V16 luma, V16 above) const {
    return hn::Min(hn::SaturatedSub(hn::SaturatedAdd(luma, above), offset_), most_);
  }
  /// yuv_value(), 0 for luma below black, which is kept and counts with gain 1.
  HWY_INLINE V16 of_kept(V16 luma, V16 above) const {
    return hn::IfThenElseZero(hn::Eq(hn::Max(luma, offset_), luma), of(luma, above));
  }

  Codes codes;

 private:
  /// Pairs of Cb and Cr less the middle, for all columns, or for even and odd columns.
  template <DeepChroma kChroma>
  HWY_INLINE ChromaCodes<kChroma> pairs_of(const ChromaCodes<kChroma>& chroma) const {
    const V16 first = hn::Sub(chroma.first, middle_);
    if constexpr (ChromaCodes<kChroma>::kShared) {
      return {first, first};
    } else {
      const V16 second = hn::Sub(chroma.second, middle_);
      const auto up = hn::BitCast(D16(), hn::ShiftLeft<16>(hn::BitCast(D32(), second)));
      const auto down = hn::BitCast(D16(), hn::ShiftRight<16>(hn::BitCast(D32(), first)));
      return {hn::OddEven(up, first), hn::OddEven(second, down)};
    }
  }
  static HWY_INLINE V16 joined(V32 even, V32 odd) {
    return hn::BitCast(D16(), hn::Or(even, hn::ShiftLeft<16>(odd)));
  }

  /// R, G and B less luma for pairs; their largest and least are deep_value_above_luma() and
  /// least_above_luma(). Each is rounded before the comparison, as rounding keeps the order.
  struct Differences {
    VI32 red, green, blue;
    HWY_INLINE V32 most() const { return hn::BitCast(D32(), hn::Max(hn::Max(red, green), blue)); }
    /// Magnitude of the least, which is 0 or negative.
    HWY_INLINE V32 least() const {
      return hn::BitCast(D32(), hn::Neg(hn::Min(hn::Min(red, green), blue)));
    }
  };
  HWY_INLINE Differences differences(V16 pairs) const {
    const VI16 chroma = hn::BitCast(DI16(), pairs);
    const auto channel = [&](const PairWeights& k) HWY_ATTR {
      const VI32 rest = hn::Add(sum_of_products(chroma, k.rest), hn::Set(DI32(), 32768));
      return hn::Add(sum_of_products(chroma, k.whole), hn::ShiftRight<16>(rest));
    };
    return {channel(red_), channel(green_), channel(blue_)};
  }

  PairWeights red_, green_, blue_;
  V16 middle_, offset_, most_;
};

}  // namespace HWY_NAMESPACE
}  // namespace equalux::deep_loops
HWY_AFTER_NAMESPACE();

#endif  // include guard
