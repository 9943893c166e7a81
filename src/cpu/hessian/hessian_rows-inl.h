// The SIMD bodies of hessian_rows.h; included once for each target. Arithmetic as in
// hessian_math.h, operation by operation.
#if defined(EQUALUX_HESSIAN_ROWS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUALUX_HESSIAN_ROWS_INL_H
#undef EQUALUX_HESSIAN_ROWS_INL_H
#else
#define EQUALUX_HESSIAN_ROWS_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace equalux::hessian_rows {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if !HWY_NATIVE_FMA || !HWY_HAVE_FLOAT64 || HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

/// Without fma, or with roots that are not rounded to nearest, a target is served by plain C++.
HessianKernels target_hessian_kernels() {
  return scalar_hessian_kernels();
}

#else

using DF = hn::ScalableTag<float>;
using DI = hn::RebindToSigned<DF>;
using DBytes = hn::Rebind<std::uint8_t, DF>;
using DWords = hn::Rebind<std::uint16_t, DF>;
using VF = hn::Vec<DF>;
using VBytes = hn::Vec<DBytes>;

constexpr std::size_t kLanes = hn::MaxLanes(DF());

/// Vectors that a loop has under way, with three sums each: sums wait for themselves, and weights
/// are fetched once for both.
constexpr std::size_t kVectors = 2;
static_assert(kVectors * kLanes <= kRowSlack);

HWY_INLINE VF to_floats(VBytes v) {
  return hn::ConvertTo(DF(), hn::PromoteTo(DI(), v));
}

void gray_levels(const std::uint8_t* in, std::size_t n, float* out) {
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    hn::StoreU(to_floats(hn::LoadU(DBytes(), in + i)), DF(), out + i);
  scalar_hessian_kernels().gray_levels(in + i, n - i, out + i);
}

/// Luma as luma_of_rgb() has it: the sum stays below 2^16.
HWY_INLINE VF luma_floats(VBytes r, VBytes g, VBytes b) {
  const DWords d;
  const auto weighted = [d](VBytes v, std::uint16_t w)
                            HWY_ATTR { return hn::Mul(hn::PromoteTo(d, v), hn::Set(d, w)); };
  const auto sum = hn::Add(hn::Add(weighted(r, 77), weighted(g, 150)),
                           hn::Add(weighted(b, 29), hn::Set(d, std::uint16_t{128})));
  return hn::ConvertTo(DF(), hn::PromoteTo(DI(), hn::ShiftRight<8>(sum)));
}

/// Levels of whole vectors of pixels of kStep bytes; returns the pixels done. pick(bytes) makes the
/// level of the pixels' bytes 0, 1, 2 (and 3).
template <int kStep, typename Pick>
HWY_INLINE std::size_t packed_levels(const std::uint8_t* in, std::size_t n, float* out,
                                     const Pick& pick) {
  const DBytes d;
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes, in += kStep * kLanes) {
    VBytes c[4];
    if constexpr (kStep == 3) {
      hn::LoadInterleaved3(d, in, c[0], c[1], c[2]);
    } else {
      hn::LoadInterleaved4(d, in, c[0], c[1], c[2], c[3]);
    }
    hn::StoreU(pick(c), DF(), out + i);
  }
  return i;
}

template <int kStep>
HWY_INLINE std::size_t channel_levels(const ChannelLayout& layout, const std::uint8_t* in,
                                      std::size_t n, float* out) {
  const RgbLayout& at = layout.rgb;
  const auto one = [&](int channel) HWY_ATTR {
    return packed_levels<kStep>(
        in, n, out, [channel](const VBytes* c) HWY_ATTR { return to_floats(c[channel]); });
  };
  switch (layout.channel) {
    case HessianChannel::red:
      return one(at.r);
    case HessianChannel::green:
      return one(at.g);
    case HessianChannel::blue:
      return one(at.b);
    case HessianChannel::value:
      return packed_levels<kStep>(in, n, out, [&](const VBytes* c) HWY_ATTR {
        return to_floats(hn::Max(c[at.r], hn::Max(c[at.g], c[at.b])));
      });
    default:
      return packed_levels<kStep>(in, n, out, [&](const VBytes* c) HWY_ATTR {
        return luma_floats(c[at.r], c[at.g], c[at.b]);
      });
  }
}

void rgb_levels(const ChannelLayout& layout, const std::uint8_t* in, std::size_t n, float* out) {
  const std::size_t done = layout.rgb.step == 3 ? channel_levels<3>(layout, in, n, out)
                                                : channel_levels<4>(layout, in, n, out);
  scalar_hessian_kernels().rgb_levels(layout, in + done * static_cast<std::size_t>(layout.rgb.step),
                                      n - done, out + done);
}

/// Vectors of two rows, with six sums and two samples that go from step to step each.
constexpr std::size_t kPairVectors = HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86 ? 2 : 1;

/// The three sums of a row.
struct RowSums {
  VF smooth, slope, curve;

  HWY_INLINE void begin(const HessianWeights& w, VF up, VF x, VF down) {
    const DF d;
    const VF sum = hn::Add(up, down);
    smooth = hn::MulAdd(hn::Set(d, w.smooth[1]), sum, hn::Mul(hn::Set(d, w.smooth[0]), x));
    curve = hn::MulAdd(hn::Set(d, w.curve[1]), sum, hn::Mul(hn::Set(d, w.curve[0]), x));
    slope = hn::Mul(hn::Set(d, w.slope[1]), hn::Sub(down, up));
  }
  HWY_INLINE void add(VF w0, VF w1, VF w2, VF up, VF down) {
    const VF sum = hn::Add(up, down);
    smooth = hn::MulAdd(w0, sum, smooth);
    curve = hn::MulAdd(w2, sum, curve);
    slope = hn::MulAdd(w1, hn::Sub(down, up), slope);
  }
  HWY_INLINE void store(const DerivativeRows& out, std::size_t at) const {
    const DF d;
    hn::StoreU(smooth, d, out.smooth + at);
    hn::StoreU(slope, d, out.slope + at);
    hn::StoreU(curve, d, out.curve + at);
  }
};

void vertical(const HessianWeights& weights, const float* const* rows, std::size_t n,
              const DerivativeRows& out) {
  const DF d;
  const float* const* const middle = rows + weights.radius;
  for (std::size_t i = 0; i < n; i += kLanes) {
    RowSums sums;
    sums.begin(weights, hn::LoadU(d, middle[-1] + i), hn::LoadU(d, middle[0] + i),
               hn::LoadU(d, middle[1] + i));
    for (int k = 2; k <= weights.radius; ++k) {
      const auto w = static_cast<std::size_t>(k);
      sums.add(hn::Set(d, weights.smooth[w]), hn::Set(d, weights.slope[w]),
               hn::Set(d, weights.curve[w]), hn::LoadU(d, middle[-k] + i),
               hn::LoadU(d, middle[k] + i));
    }
    sums.store(out, i);
  }
}

void vertical_pair(const HessianWeights& weights, const float* const* rows, std::size_t n,
                   const DerivativeRows& out, const DerivativeRows& out_below) {
  const DF d;
  const int r = weights.radius;
  const float* const* const middle = rows + r;
  for (std::size_t i = 0; i < n; i += kPairVectors * kLanes) {
    RowSums first[kPairVectors];
    RowSums below[kPairVectors];
    // What one row reads in a step, the other reads in the next.
    VF up[kPairVectors];
    VF down[kPairVectors];
    for (std::size_t v = 0; v < kPairVectors; ++v) {
      const std::size_t at = i + v * kLanes;
      const VF x = hn::LoadU(d, middle[0] + at);
      const VF x_below = hn::LoadU(d, middle[1] + at);
      up[v] = hn::LoadU(d, middle[-1] + at);
      down[v] = hn::LoadU(d, middle[2] + at);
      first[v].begin(weights, up[v], x, x_below);
      below[v].begin(weights, x, x_below, down[v]);
    }
    for (int k = 2; k <= r; ++k) {
      const auto w = static_cast<std::size_t>(k);
      const VF w0 = hn::Set(d, weights.smooth[w]);
      const VF w1 = hn::Set(d, weights.slope[w]);
      const VF w2 = hn::Set(d, weights.curve[w]);
      for (std::size_t v = 0; v < kPairVectors; ++v) {
        const std::size_t at = i + v * kLanes;
        const VF next_up = hn::LoadU(d, middle[-k] + at);
        const VF next_down = hn::LoadU(d, middle[k + 1] + at);
        first[v].add(w0, w1, w2, next_up, down[v]);
        below[v].add(w0, w1, w2, up[v], next_down);
        up[v] = next_up;
        down[v] = next_down;
      }
    }
    for (std::size_t v = 0; v < kPairVectors; ++v) {
      first[v].store(out, i + v * kLanes);
      below[v].store(out_below, i + v * kLanes);
    }
  }
}

/// hessian_eigenvalues() of a vector of pixels.
HWY_INLINE void store_eigenvalues(VF xx, VF xy, VF yy, float* first, float* second) {
  const DF d;
  const VF one_half = hn::Set(d, 0.5f);
  const VF middle = hn::Mul(one_half, hn::Add(xx, yy));
  const VF half = hn::Mul(one_half, hn::Sub(xx, yy));
  const VF root = hn::Sqrt(hn::MulAdd(half, half, hn::Mul(xy, xy)));
  const VF least = hn::Sub(middle, root);
  const VF most = hn::Add(middle, root);
  const auto in_order = hn::Le(hn::Abs(least), hn::Abs(most));
  hn::StoreU(hn::IfThenElse(in_order, least, most), d, first);
  hn::StoreU(hn::IfThenElse(in_order, most, least), d, second);
}

/// Sums along x of one row with the odd kernel: the samples beside kVectors vectors. A load that is
/// not aligned costs as much as two; with AVX-512 the pairs of this kernel come out of the aligned
/// vectors around instead, which leaves loads and arithmetic with the same work.
class SlopeSums {
 public:
  HWY_INLINE SlopeSums(const HessianWeights& weights, const float* in)
      : weights_(weights), in_(in) {
    const DF d;
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
    for (std::size_t v = 0; v < kVectors + 2; ++v)
      around_[v] = hn::LoadU(d, in + (v - 1) * kLanes);
#endif
    const VF w = hn::Set(d, weights.slope[1]);
    for (std::size_t v = 0; v < kVectors; ++v)
      sum[v] = hn::Mul(w, difference(v, 1));
  }
  HWY_INLINE void add(int k) {
    const DF d;
    const VF w = hn::Set(d, weights_.slope[static_cast<std::size_t>(k)]);
    for (std::size_t v = 0; v < kVectors; ++v)
      sum[v] = hn::MulAdd(w, difference(v, k), sum[v]);
  }

  VF sum[kVectors];

 private:
  /// x(k) - x(-k) of vector v.
  HWY_INLINE VF difference(std::size_t v, int k) const {
    const DF d;
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
    if (k <= static_cast<int>(kLanes)) {
      const auto lanes = hn::Iota(DI(), 0);
      const auto after = hn::Add(lanes, hn::Set(DI(), k));
      const auto before = hn::Add(lanes, hn::Set(DI(), static_cast<int>(kLanes) - k));
      const __m512 right =
          _mm512_permutex2var_ps(around_[v + 1].raw, after.raw, around_[v + 2].raw);
      const __m512 left = _mm512_permutex2var_ps(around_[v].raw, before.raw, around_[v + 1].raw);
      return hn::Sub(VF{right}, VF{left});
    }
#endif
    const float* x = in_ + v * kLanes;
    return hn::Sub(hn::LoadU(d, x + k), hn::LoadU(d, x - k));
  }

  const HessianWeights& weights_;
  const float* in_;
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  VF around_[kVectors + 2];
#endif
};

void eigenvalues(const HessianWeights& weights, const ConstDerivativeRows& in, std::size_t n,
                 float* first, float* second) {
  const DF d;
  const int r = weights.radius;
  for (std::size_t i = 0; i < n; i += kVectors * kLanes) {
    VF xx[kVectors];
    VF yy[kVectors];
    const auto add = [&](int k) HWY_ATTR {
      const VF w0 = hn::Set(d, weights.smooth[static_cast<std::size_t>(k)]);
      const VF w2 = hn::Set(d, weights.curve[static_cast<std::size_t>(k)]);
      for (std::size_t v = 0; v < kVectors; ++v) {
        const float* smooth = in.smooth + i + v * kLanes;
        const float* curve = in.curve + i + v * kLanes;
        xx[v] = hn::MulAdd(w2, hn::Add(hn::LoadU(d, smooth - k), hn::LoadU(d, smooth + k)), xx[v]);
        yy[v] = hn::MulAdd(w0, hn::Add(hn::LoadU(d, curve - k), hn::LoadU(d, curve + k)), yy[v]);
      }
    };
    for (std::size_t v = 0; v < kVectors; ++v) {
      const std::size_t at = i + v * kLanes;
      xx[v] = hn::Mul(hn::Set(d, weights.curve[0]), hn::LoadU(d, in.smooth + at));
      yy[v] = hn::Mul(hn::Set(d, weights.smooth[0]), hn::LoadU(d, in.curve + at));
    }
    SlopeSums xy(weights, in.slope + i);
    add(1);
    for (int k = 2; k <= r; ++k) {
      add(k);
      xy.add(k);
    }
    for (std::size_t v = 0; v < kVectors; ++v) {
      const std::size_t at = i + v * kLanes;
      store_eigenvalues(xx[v], xy.sum[v], yy[v], first + at, second + at);
    }
  }
}

void smooth(const HessianWeights& weights, const float* in, std::size_t n, float* out) {
  const DF d;
  for (std::size_t i = 0; i < n; i += kVectors * kLanes) {
    VF sum[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) {
      sum[v] = hn::Mul(hn::Set(d, weights.smooth[0]), hn::LoadU(d, in + i + v * kLanes));
    }
    for (int k = 1; k <= weights.radius; ++k) {
      const VF w = hn::Set(d, weights.smooth[static_cast<std::size_t>(k)]);
      for (std::size_t v = 0; v < kVectors; ++v) {
        const float* x = in + i + v * kLanes;
        sum[v] = hn::MulAdd(w, hn::Add(hn::LoadU(d, x - k), hn::LoadU(d, x + k)), sum[v]);
      }
    }
    for (std::size_t v = 0; v < kVectors; ++v)
      hn::StoreU(sum[v], d, out + i + v * kLanes);
  }
}

void store(const float* in, std::size_t n, bool stream, std::uint8_t* out) {
  const DF d;
  std::size_t i = 0;
  if (stream && reinterpret_cast<std::uintptr_t>(out) % (kLanes * sizeof(float)) == 0) {
    for (; i + kLanes <= n; i += kLanes)
      hn::Stream(hn::LoadU(d, in + i), d, reinterpret_cast<float*>(out) + i);
  }
  std::memcpy(out + i * sizeof(float), in + i, (n - i) * sizeof(float));
}

void flush_stores() {
  hwy::FlushStream();
}

HessianKernels target_hessian_kernels() {
  return {hwy::TargetName(HWY_TARGET),
          gray_levels,
          rgb_levels,
          vertical,
          vertical_pair,
          eigenvalues,
          smooth,
          store,
          flush_stores};
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace equalux::hessian_rows
HWY_AFTER_NAMESPACE();

#endif  // include guard
