// Curve of deep_rows.h from cumulative sums; included by deep_rows-inl.h, once for each target.
#if defined(EQUALUX_DEEP_CURVE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUALUX_DEEP_CURVE_INL_H
#undef EQUALUX_DEEP_CURVE_INL_H
#else
#define EQUALUX_DEEP_CURVE_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace equalux::deep_loops {
namespace HWY_NAMESPACE {

/// deep_curve_level(): M (cdf - offset) 2^14 / span, rounded half up. The dividend has 47 bits
/// followed by zeros, exact in double precision. The quotient by a reciprocal is below 2^30 and
/// less than 2^-20 off: rounded to nearest it is right or a neighbour, and the remainder, which a
/// fused multiply-add gives exactly, tells which.
void curve_levels(const CurveScale& scale, std::uint32_t max_value, std::uint32_t* levels) {
#if HWY_NATIVE_FMA
  const DF d;
  const hn::Rebind<std::uint32_t, DF> d32;
  const hn::Rebind<std::int32_t, DF> di32;
  constexpr std::uint32_t kLanes = static_cast<std::uint32_t>(hn::MaxLanes(DF()));
  // Conversion to double takes signed numbers.
  const bool fits = scale.span != 0 && scale.span < (std::uint64_t{1} << 31);
  if (!fits || max_value + 1 < kLanes)
    return scalar_deep_rows().curve_levels(scale, max_value, levels);
  const auto span = static_cast<double>(scale.span);
  const VF divisor = hn::Set(d, span);
  const VF inverse = hn::Set(d, 1.0 / span);
  const VF unit = hn::Set(d, static_cast<double>(max_value) * (1 << kDeepCurveBits));
  const VF one = hn::Set(d, 1.0);
  const auto offset = hn::Set(d32, static_cast<std::uint32_t>(scale.offset));
  const auto levels_at = [&](std::uint32_t v) HWY_ATTR {
    const auto above = hn::Sub(hn::Max(hn::LoadU(d32, levels + v), offset), offset);
    const VF dividend = hn::Mul(hn::PromoteTo(d, hn::BitCast(di32, above)), unit);
    const VF near = hn::Round(hn::Mul(dividend, inverse));
    const VF left = hn::NegMulAdd(near, divisor, dividend);
    const VF twice = hn::Add(left, left);
    const VF more = hn::IfThenElseZero(hn::Ge(twice, divisor), one);
    const VF less = hn::IfThenElseZero(hn::Lt(twice, hn::Neg(divisor)), one);
    return hn::BitCast(d32, hn::DemoteTo(di32, hn::Add(near, hn::Sub(more, less))));
  };
  std::uint32_t v = 0;
  const std::uint32_t last = max_value + 1 - kLanes;
  // Last vector, overlapping the ones before: computed first, while those are still sums.
  const auto at_the_end = levels_at(last);
  for (; v < last; v += kLanes)
    hn::StoreU(levels_at(v), d32, levels + v);
  hn::StoreU(at_the_end, d32, levels + last);
#else
  scalar_deep_rows().curve_levels(scale, max_value, levels);
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace equalux::deep_loops
HWY_AFTER_NAMESPACE();

#endif  // include guard
