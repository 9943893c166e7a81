// The SIMD body of hue_rows.h; included once for each target. Arithmetic as in hue_math.h,
// operation by operation.
#if defined(EQUALUX_HUE_ROWS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUALUX_HUE_ROWS_INL_H
#undef EQUALUX_HUE_ROWS_INL_H
#else
#define EQUALUX_HUE_ROWS_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace equalux::hue_rows {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

HueKernels target_hue_kernels() {
  return scalar_hue_kernels();
}

#else

using DF = hn::ScalableTag<float>;
using DI = hn::RebindToSigned<DF>;
using VF = hn::Vec<DF>;

constexpr std::size_t kLanes = hn::MaxLanes(DF());

HWY_INLINE VF set(float x) {
  return hn::Set(DF(), x);
}

HWY_INLINE VF cube_root_vector(VF x) {
  const VF bits = hn::ConvertTo(DF(), hn::BitCast(DI(), x));
  const VF third = hn::Add(hn::Mul(bits, set(1.0F / 3.0F)), set(709958144.0F));
  VF root = hn::BitCast(DF(), hn::ConvertTo(DI(), third));
  for (int i = 0; i < 2; ++i) {
    const VF cube = hn::Mul(hn::Mul(root, root), root);
    root = hn::Div(hn::Mul(root, hn::Add(hn::Add(cube, x), x)), hn::Add(hn::Add(cube, cube), x));
  }
  return root;
}

HWY_INLINE VF lab_root_vector(VF x) {
  const VF straight = hn::Add(hn::Mul(x, set(24389.0F / 3132.0F)), set(16.0F / 116.0F));
  return hn::IfThenElse(hn::Gt(x, set(kRootFrom)), cube_root_vector(x), straight);
}

HWY_INLINE VF lab_power_vector(VF f) {
  const VF straight = hn::Mul(hn::Sub(f, set(16.0F / 116.0F)), set(3132.0F / 24389.0F));
  const VF cube = hn::Mul(hn::Mul(f, f), f);
  return hn::IfThenElse(hn::Gt(f, set(6.0F / 29.0F)), cube, straight);
}

struct Colours {
  VF red, green, blue;
};

/// x wx + y wy + z wz, from the left.
HWY_INLINE VF weighted(VF x, float wx, VF y, float wy, VF z, float wz) {
  return hn::Add(hn::Add(hn::Mul(set(wx), x), hn::Mul(set(wy), y)), hn::Mul(set(wz), z));
}

HWY_INLINE Colours colours_of(VF y, VF root, VF a, VF b) {
  const VF x = lab_power_vector(hn::Add(root, a));
  const VF z = lab_power_vector(hn::Add(root, b));
  return {weighted(x, 3.0802145F, y, -1.5372080F, z, -0.5430065F),
          weighted(x, -0.9209686F, y, 1.8757561F, z, 0.0452126F),
          weighted(x, 0.0529525F, y, -0.2040211F, z, 1.1510686F)};
}

HWY_INLINE VF excess_vector(const Colours& colours) {
  const VF most = hn::Max(hn::Max(colours.red, colours.green), colours.blue);
  const VF least = hn::Min(hn::Min(colours.red, colours.green), colours.blue);
  return hn::Max(hn::Sub(most, set(1.0F)), hn::Neg(least));
}

HWY_INLINE Colours same_hue_vector(const Colours& from, VF gain) {
  const VF x = weighted(from.red, 0.4338769F, from.green, 0.3762230F, from.blue, 0.1899001F);
  const VF y = weighted(from.red, 0.2126F, from.green, 0.7152F, from.blue, 0.0722F);
  const VF z = weighted(from.red, 0.0177227F, from.green, 0.1094582F, from.blue, 0.8728191F);
  const VF one = set(1.0F);
  const VF luminance = hn::Min(hn::Mul(y, gain), one);
  const VF root_before = lab_root_vector(y);
  const VF root = lab_root_vector(luminance);
  const VF grown = hn::Div(root, root_before);
  const VF a = hn::Mul(hn::Sub(lab_root_vector(x), root_before), grown);
  const VF b = hn::Mul(hn::Sub(lab_root_vector(z), root_before), grown);
  VF inside = hn::Zero(DF());
  VF outside = one;
  VF excess_inside = hn::Max(hn::Sub(luminance, one), hn::Neg(luminance));
  VF excess_outside = excess_vector(colours_of(luminance, root, a, b));
  const auto whole = hn::Le(excess_outside, set(kGamutSlack));
  const auto chord = [&] {
    const VF rise = hn::Mul(hn::Sub(outside, inside), excess_inside);
    const VF run = hn::Add(hn::Sub(excess_outside, excess_inside), set(1e-30F));
    return hn::Sub(inside, hn::Div(rise, run));
  };
  for (int i = 0; i < 8 && !hn::AllTrue(DF(), whole); ++i) {
    const VF middle = i % 2 == 0 ? chord() : hn::Mul(set(0.5F), hn::Add(inside, outside));
    const VF excess =
        excess_vector(colours_of(luminance, root, hn::Mul(middle, a), hn::Mul(middle, b)));
    const auto within = hn::Le(excess, set(kGamutSlack));
    inside = hn::IfThenElse(within, middle, inside);
    outside = hn::IfThenElse(within, outside, middle);
    excess_inside = hn::IfThenElse(within, excess, excess_inside);
    excess_outside = hn::IfThenElse(within, excess_outside, excess);
  }
  const VF part = hn::IfThenElse(whole, one, chord());
  return colours_of(luminance, root, hn::Mul(part, a), hn::Mul(part, b));
}

void map(float* red, float* green, float* blue, const float* gain, std::size_t n) {
  const DF d;
  for (std::size_t i = 0; i < n; i += kLanes) {
    const Colours mapped =
        same_hue_vector({hn::LoadU(d, red + i), hn::LoadU(d, green + i), hn::LoadU(d, blue + i)},
                        hn::LoadU(d, gain + i));
    hn::StoreU(mapped.red, d, red + i);
    hn::StoreU(mapped.green, d, green + i);
    hn::StoreU(mapped.blue, d, blue + i);
  }
}

HueKernels target_hue_kernels() {
  return {hwy::TargetName(HWY_TARGET), map};
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace equalux::hue_rows
HWY_AFTER_NAMESPACE();
#endif  // EQUALUX_HUE_ROWS_INL_H
