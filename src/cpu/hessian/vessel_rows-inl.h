// SIMD bodies of vessel_rows.h; included once for each target.
//
// Lane layout: one pixel per lane, in order. Operations and their order are those of vessel_math.h,
// and quotients are rounded correctly, so that results are bit-exact on all targets. Branches
// become masks: lanes that are masked out may hold infinities or NaN.
#if defined(EQUALUX_VESSEL_ROWS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUALUX_VESSEL_ROWS_INL_H
#undef EQUALUX_VESSEL_ROWS_INL_H
#else
#define EQUALUX_VESSEL_ROWS_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace equalux::vessel_loops {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if !HWY_NATIVE_FMA || !HWY_HAVE_FLOAT64 || HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

/// Plain C++ for targets without fused multiply-add, or whose quotients are not rounded to nearest.
VesselRows target_vessel_rows() {
  return scalar_vessel_rows();
}

#else

using DF = hn::ScalableTag<float>;
using DI = hn::RebindToSigned<DF>;
using DBytes = hn::Rebind<std::uint8_t, DF>;
using VF = hn::Vec<DF>;
using VI = hn::Vec<DI>;

constexpr std::size_t kLanes = hn::MaxLanes(DF());

void add_ridge(float sign, const float* second, std::size_t n, float* best) {
  const DF d;
  const VF signs = hn::Set(d, sign);
  for (std::size_t i = 0; i < n; i += kLanes) {
    const VF strength = hn::Max(hn::Mul(signs, hn::LoadU(d, second + i)), hn::Zero(d));
    hn::StoreU(hn::Max(strength, hn::LoadU(d, best + i)), d, best + i);
  }
}

/// exp_of_minus() of a vector. The mask comes before the conversion to integers, which is undefined
/// for large numbers and NaN.
HWY_INLINE VF exp_of_minus_vector(VF t) {
  const DF d;
  const VF whole = hn::Set(d, 12582912.0f);
  const VF x = hn::Mul(t, hn::Set(d, -1.44269504f));
  const VF n = hn::Sub(hn::Add(x, whole), whole);
  const VF f = hn::Sub(x, n);
  VF p = hn::Set(d, 1.5403530e-4f);
  p = hn::MulAdd(p, f, hn::Set(d, 1.3333558e-3f));
  p = hn::MulAdd(p, f, hn::Set(d, 9.6181291e-3f));
  p = hn::MulAdd(p, f, hn::Set(d, 5.5504109e-2f));
  p = hn::MulAdd(p, f, hn::Set(d, 2.4022651e-1f));
  p = hn::MulAdd(p, f, hn::Set(d, 6.9314718e-1f));
  p = hn::MulAdd(p, f, hn::Set(d, 1.0f));
  const auto in_range = hn::Gt(n, hn::Set(d, -126.0f));
  const VI exponent = hn::ConvertTo(DI(), hn::IfThenElseZero(in_range, n));
  const VI bits = hn::ShiftLeft<23>(hn::Add(exponent, hn::Set(DI(), 127)));
  return hn::IfThenElseZero(in_range, hn::Mul(p, hn::BitCast(d, bits)));
}

/// One division and two exponentials per pixel; a mask takes the place of the branch on polarity.
void add_frangi(float sign, const float* first, const float* second, const float* gain,
                std::size_t n, float* best) {
  const DF d;
  const VF signs = hn::Set(d, sign);
  for (std::size_t i = 0; i < n; i += kLanes) {
    const VF e1 = hn::LoadU(d, first + i);
    const VF e2 = hn::LoadU(d, second + i);
    const VF gains = hn::LoadU(d, gain + i);
    const VF ratio = hn::Div(e1, e2);
    const VF line = exp_of_minus_vector(hn::Mul(hn::Set(d, 2.0f), hn::Mul(ratio, ratio)));
    const VF a = hn::Mul(e1, gains);
    const VF b = hn::Mul(e2, gains);
    const VF s2 = hn::Mul(hn::Set(d, 12.5f), hn::MulAdd(a, a, hn::Mul(b, b)));
    const VF measure = hn::Mul(line, hn::Sub(hn::Set(d, 1.0f), exp_of_minus_vector(s2)));
    const auto of_polarity = hn::Gt(hn::Mul(signs, e2), hn::Zero(d));
    const VF kept = hn::IfThenElseZero(of_polarity, measure);
    hn::StoreU(hn::Max(kept, hn::LoadU(d, best + i)), d, best + i);
  }
}

void contrast_gains(const float* light, std::size_t n, float* gain) {
  const DF d;
  for (std::size_t i = 0; i < n; i += kLanes) {
    const VF levels = hn::Max(hn::LoadU(d, light + i), hn::Zero(d));
    hn::StoreU(hn::Div(hn::Set(d, kBarGain), hn::Add(levels, hn::Set(d, kDimLight))), d, gain + i);
  }
}

void keep_within(float sign, const float* light, const float* own_level, std::size_t n,
                 float* measure) {
  const DF d;
  for (std::size_t i = 0; i < n; i += kLanes) {
    const VF over = hn::Sub(hn::LoadU(d, light + i), hn::LoadU(d, own_level + i));
    const auto inside = hn::Gt(hn::Mul(hn::Set(d, sign), over), hn::Zero(d));
    hn::StoreU(hn::IfThenElseZero(inside, hn::LoadU(d, measure + i)), d, measure + i);
  }
}

void scale(const float* gain, std::size_t n, float* measure) {
  const DF d;
  for (std::size_t i = 0; i < n; i += kLanes) {
    hn::StoreU(hn::Mul(hn::LoadU(d, measure + i), hn::LoadU(d, gain + i)), d, measure + i);
  }
}

/// Stores n bytes; numbers(i) returns a vector of 32-bit numbers of 0 to 255.
template <typename Numbers>
HWY_INLINE void store_bytes(std::size_t n, std::uint8_t* out, const Numbers& numbers) {
  const DBytes d;
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    hn::StoreU(hn::DemoteTo(d, numbers(i)), d, out + i);
  if (i == n) return;
  alignas(64) std::uint8_t last[kLanes];
  hn::Store(hn::DemoteTo(d, numbers(i)), d, last);
  std::memcpy(out + i, last, n - i);
}

/// `value` where `mask` is set, else 0.
template <typename Mask>
HWY_INLINE VI number_where(Mask mask, int value) {
  return hn::IfThenElseZero(hn::RebindMask(DI(), mask), hn::Set(DI(), value));
}

void classify(const float* measure, float low, float high, std::size_t n, std::uint8_t* out) {
  const DF d;
  store_bytes(n, out, [&](std::size_t i) HWY_ATTR {
    const VF m = hn::LoadU(d, measure + i);
    return hn::Add(number_where(hn::Ge(m, hn::Set(d, low)), 1),
                   number_where(hn::Ge(m, hn::Set(d, high)), 1));
  });
}

void heat(const float* measure, float full, std::size_t n, std::uint8_t* out) {
  const DF d;
  store_bytes(n, out, [&](std::size_t i) HWY_ATTR {
    const VF level = hn::Mul(hn::LoadU(d, measure + i), hn::Set(d, full));
    return hn::ConvertTo(DI(), hn::Min(level, hn::Set(d, 255.0f)));
  });
}

void shapes(const float* first, const float* second, float threshold, float line_ratio,
            float blob_ratio, std::size_t n, std::uint8_t* out) {
  const DF d;
  store_bytes(n, out, [&](std::size_t i) HWY_ATTR {
    const VF e1 = hn::LoadU(d, first + i);
    const VF e2 = hn::LoadU(d, second + i);
    const VF strength = hn::Abs(e2);
    const auto strong = hn::Ge(strength, hn::Set(d, threshold));
    const auto dark = hn::Gt(e2, hn::Zero(d));
    const VF along = hn::IfThenElse(dark, e1, hn::Neg(e1));
    const auto line = hn::Le(hn::Abs(along), hn::Mul(hn::Set(d, line_ratio), strength));
    const auto blob = hn::AndNot(line, hn::Ge(along, hn::Mul(hn::Set(d, blob_ratio), strength)));
    const VI kind = hn::Add(number_where(line, 1), number_where(blob, 3));
    const auto some = hn::And(strong, hn::Or(line, blob));
    const VI bright = number_where(hn::Not(dark), 1);
    return hn::IfThenElseZero(hn::RebindMask(DI(), some), hn::Add(kind, bright));
  });
}

VesselRows target_vessel_rows() {
  return {hwy::TargetName(HWY_TARGET),
          add_ridge,
          add_frangi,
          contrast_gains,
          scale,
          keep_within,
          classify,
          heat,
          shapes};
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace equalux::vessel_loops
HWY_AFTER_NAMESPACE();

#endif  // include guard
