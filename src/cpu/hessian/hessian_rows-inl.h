// SIMD bodies of hessian_rows.h; included once for each target.
//
// Lane layout: one pixel per lane, in order. Every lane does the fused multiply-adds of
// hessian_math.h in the same order, from the centre outwards, and roots are rounded correctly, so
// that results are bit-exact on all targets.
#if defined(EQUALUX_HESSIAN_ROWS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUALUX_HESSIAN_ROWS_INL_H
#undef EQUALUX_HESSIAN_ROWS_INL_H
#else
#define EQUALUX_HESSIAN_ROWS_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace equalux::hessian_loops {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if !HWY_NATIVE_FMA || !HWY_HAVE_FLOAT64 || HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

/// Plain C++ for targets without fused multiply-add, or whose roots are not rounded to nearest.
HessianRows target_hessian_rows() {
  return scalar_hessian_rows();
}

#else

using DF = hn::ScalableTag<float>;
using DI = hn::RebindToSigned<DF>;
using DBytes = hn::Rebind<std::uint8_t, DF>;
using DWords = hn::Rebind<std::uint16_t, DF>;
using VF = hn::Vec<DF>;
using VBytes = hn::Vec<DBytes>;

constexpr std::size_t kLanes = hn::MaxLanes(DF());

/// Vectors in flight in a loop, with three sums each: this hides the latency of sums, and a weight
/// is loaded once for both.
constexpr std::size_t kVectors = 2;
static_assert(kVectors * kLanes <= kRowSlack);

/// True where rows of derivatives have second copies: vectors of half a cache line.
constexpr bool kTwoCopies = kLanes == 8;

HWY_INLINE VF to_floats(VBytes v) {
  return hn::ConvertTo(DF(), hn::PromoteTo(DI(), v));
}

/// Bytes to floats, a vector at a time; the plain loop does the tail.
void gray_levels(const std::uint8_t* in, std::size_t n, float* out) {
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    hn::StoreU(to_floats(hn::LoadU(DBytes(), in + i)), DF(), out + i);
  scalar_hessian_rows().gray_levels(in + i, n - i, out + i);
}

/// luma_of_rgb() of vectors; the sum stays below 2^16.
HWY_INLINE VF luma_floats(VBytes r, VBytes g, VBytes b) {
  const DWords d;
  const auto weighted = [d](VBytes v, std::uint16_t w)
                            HWY_ATTR { return hn::Mul(hn::PromoteTo(d, v), hn::Set(d, w)); };
  const auto sum = hn::Add(hn::Add(weighted(r, 77), weighted(g, 150)),
                           hn::Add(weighted(b, 29), hn::Set(d, std::uint16_t{128})));
  return hn::ConvertTo(DF(), hn::PromoteTo(DI(), hn::ShiftRight<8>(sum)));
}

/// Levels of whole vectors of pixels of kStep bytes; returns the number of pixels done. pick(bytes)
/// computes levels from the vectors of bytes 0, 1, 2 (and 3).
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
HWY_INLINE std::size_t channel_levels(HessianChannel channel, const RgbLayout& at,
                                      const std::uint8_t* in, std::size_t n, float* out) {
  const auto one = [&](int byte) HWY_ATTR {
    return packed_levels<kStep>(in, n, out,
                                [byte](const VBytes* c) HWY_ATTR { return to_floats(c[byte]); });
  };
  switch (channel) {
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

void rgb_levels(HessianChannel channel, const RgbLayout& at, const std::uint8_t* in, std::size_t n,
                float* out) {
  const std::size_t done = at.step == 3 ? channel_levels<3>(channel, at, in, n, out)
                                        : channel_levels<4>(channel, at, in, n, out);
  scalar_hessian_rows().rgb_levels(channel, at, in + done * static_cast<std::size_t>(at.step),
                                   n - done, out + done);
}

/// Vectors of two rows in flight, with six sums and two samples in registers each.
constexpr std::size_t kPairVectors = HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86 ? 2 : 1;

/// Sums of a row with the three kernels.
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
    if constexpr (kTwoCopies) {
      hn::StoreU(smooth, d, out.smooth + kSecondCopy + at);
      hn::StoreU(slope, d, out.slope + kSecondCopy + at);
      hn::StoreU(curve, d, out.curve + kSecondCopy + at);
    }
  }
};

/// One row: 2 r + 1 loads for three sums of a vector of columns.
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

/// Two rows at once: 2 r + 2 loads for six sums, about half of what two calls of vertical() need.
void vertical_pair(const HessianWeights& weights, const float* const* rows, std::size_t n,
                   const DerivativeRows& out, const DerivativeRows& out_below) {
  const DF d;
  const int r = weights.radius;
  const float* const* const middle = rows + r;
  for (std::size_t i = 0; i < n; i += kPairVectors * kLanes) {
    RowSums first[kPairVectors];
    RowSums below[kPairVectors];
    // Rows share loads: what one row reads in a step, the other reads in the next.
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
template <bool kStream>
HWY_INLINE void store_eigenvalues(VF xx, VF xy, VF yy, const EigenvalueRows& to, std::size_t at) {
  const DF d;
  const VF one_half = hn::Set(d, 0.5f);
  const VF middle = hn::Mul(one_half, hn::Add(xx, yy));
  const VF half = hn::Mul(one_half, hn::Sub(xx, yy));
  const VF root = hn::Sqrt(hn::MulAdd(half, half, hn::Mul(xy, xy)));
  const VF least = hn::Sub(middle, root);
  const VF most = hn::Add(middle, root);
  const auto in_order = hn::Le(hn::Abs(least), hn::Abs(most));
  const VF first = hn::IfThenElse(in_order, least, most);
  const VF second = hn::IfThenElse(in_order, most, least);
  if constexpr (kStream) {
    hn::Stream(first, d, to.first + at);
    hn::Stream(second, d, to.second + at);
  } else {
    hn::StoreU(first, d, to.first + at);
    hn::StoreU(second, d, to.second + at);
  }
}

#if HWY_TARGET == HWY_AVX2
/// Sums along x with the three kernels, for two vectors that share a cache line.
struct DerivativeSums {
  VF xx_0, xx_1, xy_0, xy_1, yy_0, yy_1;
};

/// Samples of a row of derivatives k to the right and k to the left of two vectors.
struct Beside {
  VF right_0, right_1, left_0, left_1;

  /// Loads for distances up to 8 (kFar = 0), 9 to 16 (kFar = 1), and so on alternating. Each load
  /// takes the copy of the row in which it does not cross a cache line.
  template <int kFar>
  static HWY_INLINE Beside load(const float* row, std::ptrdiff_t k) {
    const DF d;
    constexpr std::size_t kOne = kFar == 0 ? 0 : kSecondCopy;
    constexpr std::size_t kOther = kFar == 0 ? kSecondCopy : 0;
    return {hn::LoadU(d, row + kOne + k), hn::LoadU(d, row + kOther + kLanes + k),
            hn::LoadU(d, row + kOther - k), hn::LoadU(d, row + kOne + kLanes - k)};
  }
};

/// Adds the samples at distances `from` to `to`, all of the same kFar: 12 loads for six
/// multiply-adds.
template <int kFar>
HWY_INLINE void add_beside(const HessianWeights& weights, const ConstDerivativeRows& at, int from,
                           int to, DerivativeSums& sums) {
  const DF d;
  for (int k = from; k <= to; ++k) {
    const auto w = static_cast<std::size_t>(k);
    const VF w0 = hn::Set(d, weights.smooth[w]);
    const VF w1 = hn::Set(d, weights.slope[w]);
    const VF w2 = hn::Set(d, weights.curve[w]);
    const Beside smooth = Beside::load<kFar>(at.smooth, k);
    sums.xx_0 = hn::MulAdd(w2, hn::Add(smooth.left_0, smooth.right_0), sums.xx_0);
    sums.xx_1 = hn::MulAdd(w2, hn::Add(smooth.left_1, smooth.right_1), sums.xx_1);
    const Beside slope = Beside::load<kFar>(at.slope, k);
    sums.xy_0 = hn::MulAdd(w1, hn::Sub(slope.right_0, slope.left_0), sums.xy_0);
    sums.xy_1 = hn::MulAdd(w1, hn::Sub(slope.right_1, slope.left_1), sums.xy_1);
    const Beside curve = Beside::load<kFar>(at.curve, k);
    sums.yy_0 = hn::MulAdd(w0, hn::Add(curve.left_0, curve.right_0), sums.yy_0);
    sums.yy_1 = hn::MulAdd(w0, hn::Add(curve.left_1, curve.right_1), sums.yy_1);
  }
}

/// Sums of the centre and of distance 1.
HWY_INLINE DerivativeSums first_sums(const HessianWeights& weights, const ConstDerivativeRows& at) {
  const DF d;
  const VF w0 = hn::Set(d, weights.smooth[0]);
  const VF w2 = hn::Set(d, weights.curve[0]);
  const VF next0 = hn::Set(d, weights.smooth[1]);
  const VF next1 = hn::Set(d, weights.slope[1]);
  const VF next2 = hn::Set(d, weights.curve[1]);
  const Beside smooth = Beside::load<0>(at.smooth, 1);
  const Beside slope = Beside::load<0>(at.slope, 1);
  const Beside curve = Beside::load<0>(at.curve, 1);
  return {
      hn::MulAdd(next2, hn::Add(smooth.left_0, smooth.right_0),
                 hn::Mul(w2, hn::LoadU(d, at.smooth))),
      hn::MulAdd(next2, hn::Add(smooth.left_1, smooth.right_1),
                 hn::Mul(w2, hn::LoadU(d, at.smooth + kLanes))),
      hn::Mul(next1, hn::Sub(slope.right_0, slope.left_0)),
      hn::Mul(next1, hn::Sub(slope.right_1, slope.left_1)),
      hn::MulAdd(next0, hn::Add(curve.left_0, curve.right_0), hn::Mul(w0, hn::LoadU(d, at.curve))),
      hn::MulAdd(next0, hn::Add(curve.left_1, curve.right_1),
                 hn::Mul(w0, hn::LoadU(d, at.curve + kLanes)))};
}

/// Two vectors, one cache line, at a time, with six sums in registers. Distances come in blocks of
/// kLanes, between which the copies for left and right swap.
template <bool kStream>
HWY_INLINE void eigenvalue_loop(const HessianWeights& weights, const ConstDerivativeRows& in,
                                std::size_t n, const EigenvalueRows to) {
  constexpr int kBlock = kLanes;
  const int r = weights.radius;
  for (std::size_t i = 0; i < n; i += 2 * kLanes) {
    const ConstDerivativeRows at{in.smooth + i, in.slope + i, in.curve + i};
    DerivativeSums sums = first_sums(weights, at);
    add_beside<0>(weights, at, 2, std::min(r, kBlock), sums);
    for (int k = kBlock; k < r; k += 2 * kBlock) {
      add_beside<1>(weights, at, k + 1, std::min(r, k + kBlock), sums);
      add_beside<0>(weights, at, k + kBlock + 1, std::min(r, k + 2 * kBlock), sums);
    }
    store_eigenvalues<kStream>(sums.xx_0, sums.xy_0, sums.yy_0, to, i);
    store_eigenvalues<kStream>(sums.xx_1, sums.xy_1, sums.yy_1, to, i + kLanes);
  }
}
#else
/// Sums along x with the odd kernel, for kVectors vectors. An unaligned load costs as much as two
/// aligned ones; with AVX-512 the samples of this kernel are permuted from aligned vectors instead,
/// which balances loads and arithmetic.
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

/// kVectors vectors at a time, with three sums each.
template <bool kStream>
HWY_INLINE void eigenvalue_loop(const HessianWeights& weights, const ConstDerivativeRows& in,
                                std::size_t n, const EigenvalueRows to) {
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
      store_eigenvalues<kStream>(xx[v], xy.sum[v], yy[v], to, at);
    }
  }
}
#endif

void eigenvalues(const HessianWeights& weights, const ConstDerivativeRows& in, std::size_t n,
                 const EigenvalueRows& to) {
  if (to.stream) {
    eigenvalue_loop<true>(weights, in, n, to);
  } else {
    eigenvalue_loop<false>(weights, in, n, to);
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

/// Streams whole vectors where `out` is aligned to them; memcpy() does the rest.
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

HessianRows target_hessian_rows() {
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
}  // namespace equalux::hessian_loops
HWY_AFTER_NAMESPACE();

#endif  // include guard
