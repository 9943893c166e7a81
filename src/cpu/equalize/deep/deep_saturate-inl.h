// Common part of pass 2 of deep_rows.h with changed saturation, for packed RGB and YCbCr; included
// by deep_rows-inl.h, once for each target.
//
// A channel v - d becomes value - slope d by the DeepLine of its v or, where all levels have the
// same k, gain (v - k d) as in deep_rgb_gain() and DeepScaling; these prove that results round
// right. Where k (v - m) exceeds v, S is 1, with another slope or factor. The plain loops redo
// results that may be wrong.
#if defined(EQUALUX_DEEP_SATURATE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUALUX_DEEP_SATURATE_INL_H
#undef EQUALUX_DEEP_SATURATE_INL_H
#else
#define EQUALUX_DEEP_SATURATE_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace equalux::deep_loops {
namespace HWY_NAMESPACE {

using FloatMask = hn::Mask<DF>;

/// Four masks for the lanes of Doubles.
struct Lanes {
  FloatMask f[4];
};

/// Loads the pair of numbers of each entry(i) and deinterleaves it into two vectors.
template <typename At>
HWY_INLINE void look_up_entries(const At& entry, VF& first, VF& second) {
#if HWY_ARCH_X86
  const auto at = [&](std::size_t i) HWY_ATTR { return _mm_load_pd(entry(i)); };
#if HWY_TARGET <= HWY_AVX3
  const auto four = [&](std::size_t i) HWY_ATTR {
    const __m256d low = _mm256_insertf128_pd(_mm256_castpd128_pd256(at(i)), at(i + 2), 1);
    const __m256d high = _mm256_insertf128_pd(_mm256_castpd128_pd256(at(i + 4)), at(i + 6), 1);
    return _mm512_insertf64x4(_mm512_castpd256_pd512(low), high, 1);
  };
  const __m512d even = four(0);
  const __m512d odd = four(1);
  first = VF{_mm512_unpacklo_pd(even, odd)};
  second = VF{_mm512_unpackhi_pd(even, odd)};
#elif HWY_TARGET == HWY_AVX2
  const __m256d even = _mm256_insertf128_pd(_mm256_castpd128_pd256(at(0)), at(2), 1);
  const __m256d odd = _mm256_insertf128_pd(_mm256_castpd128_pd256(at(1)), at(3), 1);
  first = VF{_mm256_unpacklo_pd(even, odd)};
  second = VF{_mm256_unpackhi_pd(even, odd)};
#else
  first = VF{_mm_unpacklo_pd(at(0), at(1))};
  second = VF{_mm_unpackhi_pd(at(0), at(1))};
#endif
#else
  alignas(64) double lanes[2][hn::MaxLanes(DF())];
  for (std::size_t i = 0; i < hn::MaxLanes(DF()); ++i) {
    lanes[0][i] = entry(i)[0];
    lanes[1][i] = entry(i)[1];
  }
  first = hn::Load(DF(), lanes[0]);
  second = hn::Load(DF(), lanes[1]);
#endif
}

/// Mask of lanes whose line is not exact.
HWY_INLINE FloatMask is_inexact(VF value) {
  const D64 d;
  const V64 bit = hn::And(hn::BitCast(d, value), hn::Set(d, std::uint64_t{1}));
  return hn::RebindMask(DF(), hn::Eq(bit, hn::Zero(d)));
}

HWY_INLINE bool any_set(V16 words) {
  return !hn::AllTrue(D16(), hn::Eq(words, hn::Zero(D16())));
}

/// Test for S = 1, by the largest k of all levels.
class MayReachOne {
 public:
  explicit MayReachOne(const DeepSaturation& saturation)
      : inverse_(hn::Set(
            D16(), static_cast<std::uint16_t>(
                       saturation.limits ? 65536 * saturation::kOne / saturation.most : 65535))) {}
  /// Returns more than 0 where the least channel, `below` under v, may exceed the limit 256 v / k,
  /// which is rounded down: conservative.
  HWY_INLINE V16 excess(V16 v, V16 below) const {
    return hn::SaturatedSub(below, hn::MulHigh(v, inverse_));
  }
  /// Returns true where a pixel of a vector may.
  HWY_INLINE bool operator()(V16 v, V16 below) const { return any_set(excess(v, below)); }

 private:
  V16 inverse_;
};

/// Mask of lanes where S comes to 1. `below` must be at least 1 where the line's value is not 0.
HWY_INLINE FloatMask reaches_one(VF value, VF slope, VF below) {
  return hn::Gt(hn::Mul(slope, below), value);
}
/// Slope with which S is 1, in such lanes.
HWY_INLINE VF limited_slope(FloatMask reaches, VF value, VF slope, VF below) {
  const VF exact = hn::Mul(value, hn::Set(DF(), 2.0 - kAboveValue));
  return hn::IfThenElse(reaches, hn::Div(exact, below), slope);
}

/// Largest distance of results from their rounded values.
class Distances {
 public:
  HWY_INLINE Distances() : farthest_(hn::Zero(DF())) {}
  HWY_INLINE void add(VF result, VF rounded) {
    farthest_ = hn::Max(farthest_, hn::Abs(hn::Sub(result, rounded)));
  }
  HWY_INLINE void add(VF result, VF rounded, FloatMask where) {
    farthest_ = hn::Max(farthest_, hn::IfThenElseZero(where, hn::Abs(hn::Sub(result, rounded))));
  }
  HWY_INLINE bool any_beyond(VF distance) const {
    return !hn::AllFalse(DF(), hn::Gt(farthest_, distance));
  }

 private:
  VF farthest_;
};

/// Curve for the plain loops that redo a row.
HWY_INLINE SaturatedCurve plain_curve(const DeepGains& gains, const DeepSaturation& saturation) {
  return {saturation.factors.data(), gains.curve.data()};
}

}  // namespace HWY_NAMESPACE
}  // namespace equalux::deep_loops
HWY_AFTER_NAMESPACE();

#endif  // include guard
