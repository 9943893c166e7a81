// SIMD body of hue_rows.h; included once for each target.
//
// Lane layout: one colour per lane, in order. Operations and their order are those of hue_math.h,
// without fused multiply-adds, and quotients are rounded correctly, so that results are bit-exact
// on all targets.
#if defined(EQUALUX_HUE_ROWS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUALUX_HUE_ROWS_INL_H
#undef EQUALUX_HUE_ROWS_INL_H
#else
#define EQUALUX_HUE_ROWS_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace equalux::hue_loops {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

/// Plain C++ loops for targets without vectors.
HueRows target_hue_rows() {
  return scalar_hue_rows();
}

#else

using DF = hn::ScalableTag<float>;
using DI = hn::RebindToSigned<DF>;
using VF = hn::Vec<DF>;

constexpr std::size_t kLanes = hn::MaxLanes(DF());

/// Colours for which the first part is done before the second: few need the second, and these are
/// packed into full vectors.
constexpr std::size_t kChunk = 256;
/// Vectors in flight at once.
constexpr std::size_t kTogether = 2;
constexpr std::size_t kRoom = kChunk + kTogether * kLanes;

HWY_INLINE VF set(float x) {
  return hn::Set(DF(), x);
}

/// Difference between the bits of a float from 2^29 on, shifted left by 6, and its whole number.
constexpr std::int32_t kThirdsBias =
    static_cast<std::int32_t>(0x20000000U - (__builtin_bit_cast(std::uint32_t, 0x1p29F) << 6));

/// cube_root() of a vector.
HWY_INLINE VF cube_root_vector(VF x) {
  const VF bits = hn::ConvertTo(DF(), hn::BitCast(DI(), x));
  const auto bias = hn::Set(DI(), kThirdsBias);
  const VF third = hn::Add(hn::Mul(bits, set(1.0F / 3.0F)), set(709958144.0F));
  // 2^29 to 2^30, so that its fraction bits are those of the result.
  VF root = hn::BitCast(DF(), hn::Add(hn::ShiftLeft<6>(hn::BitCast(DI(), third)), bias));
  for (int i = 0; i < 2; ++i) {
    const VF cube = hn::Mul(hn::Mul(root, root), root);
    root = hn::Div(hn::Mul(root, hn::Add(hn::Add(cube, x), x)), hn::Add(hn::Add(cube, cube), x));
  }
  return root;
}

/// lab_root() of a vector, both branches computed and one selected.
HWY_INLINE VF lab_root_vector(VF x) {
  const VF straight = hn::Add(hn::Mul(x, set(24389.0F / 3132.0F)), set(16.0F / 116.0F));
  return hn::IfThenElse(hn::Gt(x, set(kRootFrom)), cube_root_vector(x), straight);
}

/// lab_power() of a vector, both branches computed and one selected.
HWY_INLINE VF lab_power_vector(VF f) {
  const VF straight = hn::Mul(hn::Sub(f, set(16.0F / 116.0F)), set(3132.0F / 24389.0F));
  const VF cube = hn::Mul(hn::Mul(f, f), f);
  return hn::IfThenElse(hn::Gt(f, set(6.0F / 29.0F)), cube, straight);
}

struct Colours {
  VF red, green, blue;
};

/// x wx + y wy + z wz, summed from the left.
HWY_INLINE VF weighted(VF x, float wx, VF y, float wy, VF z, float wz) {
  return hn::Add(hn::Add(hn::Mul(set(wx), x), hn::Mul(set(wy), y)), hn::Mul(set(wz), z));
}

/// colour_of() of a vector.
HWY_INLINE Colours colours_of(VF y, VF root, VF a, VF b) {
  const VF x = lab_power_vector(hn::Add(root, a));
  const VF z = lab_power_vector(hn::Add(root, b));
  return {weighted(x, 3.0802145F, y, -1.5372080F, z, -0.5430065F),
          weighted(x, -0.9209686F, y, 1.8757561F, z, 0.0452126F),
          weighted(x, 0.0529525F, y, -0.2040211F, z, 1.1510686F)};
}

/// excess_of() of a vector.
HWY_INLINE VF excess_vector(const Colours& colours) {
  const VF most = hn::Max(hn::Max(colours.red, colours.green), colours.blue);
  const VF least = hn::Min(hn::Min(colours.red, colours.green), colours.blue);
  return hn::Max(hn::Sub(most, set(1.0F)), hn::Neg(least));
}

/// Interval on the line from gray to a colour that contains the end of sRGB.
struct Chord {
  VF inside, outside, excess_inside, excess_outside;

  /// Zero of the excess by linear interpolation.
  HWY_INLINE VF root() const {
    const VF rise = hn::Mul(hn::Sub(outside, inside), excess_inside);
    const VF run = hn::Add(hn::Sub(excess_outside, excess_inside), set(1e-30F));
    return hn::Sub(inside, hn::Div(rise, run));
  }
};

/// State between the two parts of at_same_hue(): of all colours, or packed, of those outside sRGB.
struct Halfway {
  alignas(64) float luminance[kRoom];
  alignas(64) float root[kRoom];
  alignas(64) float a[kRoom];
  alignas(64) float b[kRoom];
  alignas(64) float excess[kRoom];
};

/// Packs those of n colours that are outside sRGB, and pads their last vector with zeros. `places`
/// receives their positions; returns their number.
HWY_INLINE std::size_t collect_outside(const Halfway& from, std::size_t n, Halfway& to,
                                       std::uint32_t* places) {
  // Branchless, as such branches would be mispredicted.
  std::size_t count = 0;
  for (std::size_t i = 0; i < n; ++i) {
    places[count] = static_cast<std::uint32_t>(i);
    count += from.excess[i] <= kGamutSlack ? 0 : 1;
  }
  const auto copy = [&](const float* all, float* outside) {
    for (std::size_t i = 0; i < count; ++i)
      outside[i] = all[places[i]];
    std::fill_n(outside + count, kTogether * kLanes, 0.0F);
  };
  copy(from.luminance, to.luminance);
  copy(from.root, to.root);
  copy(from.a, to.a);
  copy(from.b, to.b);
  copy(from.excess, to.excess);
  return count;
}

/// Light in 16 bits.
HWY_INLINE VF rounded_light_vector(VF light) {
  const VF within = hn::Min(hn::Max(light, hn::Zero(DF())), set(1.0F));
  const VF scaled = hn::Add(hn::Mul(within, set(65535.0F)), set(0.5F));
  return hn::Floor(scaled);
}

/// First part of at_same_hue(), after which colours inside sRGB are done. kTogether vectors at once
/// hide the latencies of dependent steps.
HWY_INLINE void full_chroma(float* red, float* green, float* blue, const float* gain,
                            std::size_t at, Halfway& all) {
  const DF d;
  struct Each {
    VF x, y, z, luminance, root, a, b;
  };
  Each each[kTogether];
  for (std::size_t k = 0; k < kTogether; ++k) {
    const std::size_t i = at + kLanes * k;
    const VF r = hn::LoadU(d, red + i);
    const VF g = hn::LoadU(d, green + i);
    const VF b = hn::LoadU(d, blue + i);
    Each& e = each[k];
    e.x = weighted(r, 0.4338769F, g, 0.3762230F, b, 0.1899001F);
    e.y = weighted(r, 0.2126F, g, 0.7152F, b, 0.0722F);
    e.z = weighted(r, 0.0177227F, g, 0.1094582F, b, 0.8728191F);
    e.luminance = hn::Min(hn::Mul(e.y, hn::LoadU(d, gain + i)), set(1.0F));
  }
  for (Each& e : each) {
    const VF root_before = lab_root_vector(e.y);
    e.root = lab_root_vector(e.luminance);
    const VF grown = hn::Div(e.root, root_before);
    e.a = hn::Mul(hn::Sub(lab_root_vector(e.x), root_before), grown);
    e.b = hn::Mul(hn::Sub(lab_root_vector(e.z), root_before), grown);
  }
  for (std::size_t k = 0; k < kTogether; ++k) {
    const std::size_t i = at + kLanes * k;
    const Each& e = each[k];
    const Colours whole = colours_of(e.luminance, e.root, e.a, e.b);
    hn::Store(e.luminance, d, all.luminance + i);
    hn::Store(e.root, d, all.root + i);
    hn::Store(e.a, d, all.a + i);
    hn::Store(e.b, d, all.b + i);
    hn::Store(excess_vector(whole), d, all.excess + i);
    hn::StoreU(rounded_light_vector(whole.red), d, red + i);
    hn::StoreU(rounded_light_vector(whole.green), d, green + i);
    hn::StoreU(rounded_light_vector(whole.blue), d, blue + i);
  }
}

/// Second part. Results replace a, b and root.
HWY_INLINE void cut_chroma(Halfway& rows, std::size_t at) {
  const DF d;
  const VF one = set(1.0F);
  struct Each {
    VF luminance, root, a, b;
    Chord chord;
  };
  Each each[kTogether];
  for (std::size_t k = 0; k < kTogether; ++k) {
    const std::size_t i = at + kLanes * k;
    Each& e = each[k];
    e.luminance = hn::Load(d, rows.luminance + i);
    e.root = hn::Load(d, rows.root + i);
    e.a = hn::Load(d, rows.a + i);
    e.b = hn::Load(d, rows.b + i);
    e.chord = {hn::Zero(d), one, hn::Max(hn::Sub(e.luminance, one), hn::Neg(e.luminance)),
               hn::Load(d, rows.excess + i)};
  }
  const auto colours_at = [](const Each& e, VF part) HWY_ATTR {
    return colours_of(e.luminance, e.root, hn::Mul(part, e.a), hn::Mul(part, e.b));
  };
  for (int step = 0; step < 8; ++step) {
    for (Each& e : each) {
      Chord& c = e.chord;
      const VF middle = step % 2 == 0 ? c.root() : hn::Mul(set(0.5F), hn::Add(c.inside, c.outside));
      const VF excess = excess_vector(colours_at(e, middle));
      const auto within = hn::Le(excess, set(kGamutSlack));
      c.inside = hn::IfThenElse(within, middle, c.inside);
      c.outside = hn::IfThenElse(within, c.outside, middle);
      c.excess_inside = hn::IfThenElse(within, excess, c.excess_inside);
      c.excess_outside = hn::IfThenElse(within, c.excess_outside, excess);
    }
  }
  for (std::size_t k = 0; k < kTogether; ++k) {
    const std::size_t i = at + kLanes * k;
    const Colours colours = colours_at(each[k], each[k].chord.root());
    hn::Store(rounded_light_vector(colours.red), d, rows.a + i);
    hn::Store(rounded_light_vector(colours.green), d, rows.b + i);
    hn::Store(rounded_light_vector(colours.blue), d, rows.root + i);
  }
}

/// Maps up to kChunk colours: the first part for all, the second, eight steps of search, for those
/// outside sRGB, packed into full vectors.
void map_chunk(float* red, float* green, float* blue, const float* gain, std::size_t n) {
  Halfway all;
  for (std::size_t i = 0; i < n; i += kTogether * kLanes)
    full_chroma(red, green, blue, gain, i, all);
  Halfway outside;
  std::uint32_t places[kChunk];
  const std::size_t count = collect_outside(all, n, outside, places);
  for (std::size_t i = 0; i < count; i += kTogether * kLanes)
    cut_chroma(outside, i);
  for (std::size_t i = 0; i < count; ++i) {
    red[places[i]] = outside.a[i];
    green[places[i]] = outside.b[i];
    blue[places[i]] = outside.root[i];
  }
}

void map(float* red, float* green, float* blue, const float* gain, std::size_t n) {
  for (std::size_t i = 0; i < n; i += kChunk)
    map_chunk(red + i, green + i, blue + i, gain + i, std::min(kChunk, n - i));
}

HueRows target_hue_rows() {
  return {hwy::TargetName(HWY_TARGET), map};
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace equalux::hue_loops
HWY_AFTER_NAMESPACE();
#endif  // EQUALUX_HUE_ROWS_INL_H
