// YCbCr of fused_rows.h with changed saturation; included once for each target.
//
// d = v - y and v - m are properties of a chroma sample, the same for all luma it covers unless v
// was clamped. So k d, the reciprocal and the test for S = 1 are computed once for two or four
// samples of luma.
#if defined(EQUALUX_FUSED_SATURATE_YUV_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUALUX_FUSED_SATURATE_YUV_INL_H
#undef EQUALUX_FUSED_SATURATE_YUV_INL_H
#else
#define EQUALUX_FUSED_SATURATE_YUV_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace equalux {
namespace HWY_NAMESPACE {

HWY_INLINE bool all_zero(V8 x) {
  return hn::AllTrue(D8(), hn::Eq(x, hn::Zero(D8())));
}

/// Row from column `at` on, of kRows rows of luma.
template <std::size_t kRows, typename Row>
HWY_INLINE Row advance_rows(const Row& row, std::size_t at, bool shared) {
  const std::size_t c = shared ? at / 2 : at;
  return {{row.luma[0] + at, kRows == 1 ? nullptr : row.luma[1] + at}, row.cb + c, row.cr + c};
}

/// Fractional bits of luma that may be doubtful.
constexpr int kFineBits = 14;
constexpr float kFineSteps = 1 << kFineBits;

/// Bound of the error of such luma, in its last fractional bits. In units of 2^-24 W, where the
/// line takes x W off: f is off by 2, f d by 3, the rest of v by 1, a gain n floats from the
/// nearest by 2 n + 1, the product by 1: at most 3 x + (2 n + 3) (1 - x), below 2^-13 for n = 1 and
/// 2^-12 for n = 3. The last sum adds half a bit.
constexpr int doubtful_steps(bool close) {
  return close ? 2 : 4;
}

/// Bound of the relative error of chroma. In units of 2^-24, a gain n floats from the nearest to
/// the exact one is off by 2 n + 1, with n at most 1 or 3; two sums, their factor, the product with
/// it and, without a fused multiply-add, that with chroma round: 8 or 12, which are bounded by 10
/// and 16.
constexpr float doubt_of_sums(bool close) {
  return close ? 0x1.4p-21f : 0x1p-20f;
}
/// Bound of the relative error of chroma where S may reach 1. Its factor has a quotient and a
/// product more, and each gain is multiplied by it, in sums of four: 15.
constexpr float kDoubtOfLimitedSums = 0x1.2p-20f;

/// Factor of sums of gains, and bounds between which it and all rounding errors keep them.
struct SumFactor {
  VF factor, low, high;
  /// Distance from the nearest whole number that a result of the largest chroma must not exceed.
  float sure;

  SumFactor(float exact, float doubt)
      : factor(hn::Set(DF(), exact)),
        low(hn::Set(DF(), exact * (1 - doubt))),
        high(hn::Set(DF(), exact * (1 + doubt))),
        sure(0.5f - 130 * doubt) {}
};

/// Vector of luma in flight.
template <std::size_t kRows, bool kShared, bool kUniform, bool kLimits>
struct StartedLuma : Ready<kRows, kShared, kCovered<kRows, kShared>> {
  V8 above;  ///< largest channel less luma
  /// Largest less least channel, a word for each sample of shared chroma; luma less the least
  /// channel, in bytes, for other chroma.
  V8 range;
  typename LevelLookup<kUniform>::Numbers gains[kRows];

  HWY_INLINE void start(const YuvVectors<kCovered<kRows, kShared>>& k, const YuvWords& words,
                        const YuvRowIn& in) {
    if constexpr (kLimits) {
      above = this->chroma.load_above(k, words, in.cb, in.cr, range);
    } else {
      this->chroma.load(in.cb, in.cr);
      above = this->chroma.above(k);
    }
    for (std::size_t r = 0; r < kRows; ++r)
      this->v[r] = hn::Min(values(k, hn::LoadU(D8(), in.luma[r]), above), k.most);
  }
  /// Sets v of luma below black to 0. start() leaves this out, as few vectors have any.
  HWY_INLINE void blacken(const YuvVectors<kCovered<kRows, kShared>>& k,
                          const LevelLookup<kUniform>& lookup, const YuvRowIn& in) {
    V8 darkest = hn::LoadU(D8(), in.luma[0]);
    if constexpr (kRows == 2) darkest = hn::Min(darkest, hn::LoadU(D8(), in.luma[1]));
    if (all_zero(hn::SaturatedSub(k.offset, darkest))) return;
    for (std::size_t r = 0; r < kRows; ++r) {
      const V8 y = hn::LoadU(D8(), in.luma[r]);
      this->v[r] = hn::IfThenElseZero(at_least(y, k.offset), this->v[r]);
    }
    look_up(lookup);
  }
  HWY_INLINE void look_up(const LevelLookup<kUniform>& lookup) {
    for (std::size_t r = 0; r < kRows; ++r)
      lookup.look_up(this->v[r], gains[r]);
  }
  /// Luma less the least channel, for each luma sample.
  HWY_INLINE V8 below() const {
    if constexpr (!kLimits) {
      return hn::Zero(D8());
    } else if constexpr (kShared) {
      return hn::Sub(doubled(hn::BitCast(D16(), range)), above);
    } else {
      return range;
    }
  }
  /// Low bytes of words, doubled.
  static HWY_INLINE V8 doubled(V16 words) {
    const V16 low = hn::And(words, hn::Set(D16(), std::uint16_t{255}));
    return hn::BitCast(D8(), hn::Or(low, hn::ShiftLeft<8>(words)));
  }
};

/// Test for S = 1 in a vector of luma, by chroma samples: v < k (largest - least channel).
/// Conservative where v was clamped, as that difference is then above v - m.
template <std::size_t kRows, bool kShared, bool kUniform>
class LumaLimit {
 public:
  using Luma = StartedLuma<kRows, kShared, kUniform, true>;

  explicit HWY_INLINE LumaLimit(const SaturatedGains& gains)
      : may_(gains),
        share_(hn::Set(D16(), gains.limit_share)),
        most_held_(hn::Set(D16(), gains.most_held)) {}

  /// Returns not 0 where S may reach 1.
  HWY_INLINE V8 reached(const Luma& luma) const {
    if constexpr (!kShared) {
      return may_.template operator()<kUniform>(luma.v[0],
                                                hn::SaturatedAdd(luma.above, luma.range));
    } else if constexpr (kByLevel) {
      const V16 range = hn::BitCast(D16(), luma.range);
      V8 any = hn::BitCast(D8(), hn::ShiftRight<8>(range));
      for (const V8& v : luma.v)
        any = hn::Or(any, may_.template operator()<kUniform>(v, Luma::doubled(range)));
      return any;
    } else {
      const V16 least = least_of(luma);
      V16 free = hn::MulHigh(least, share_);
      if constexpr (!kUniform) free = hn::Max(free, hn::SaturatedSub(least, most_held_));
      return hn::BitCast(D8(), hn::SaturatedSub(hn::BitCast(D16(), luma.range), free));
    }
  }
  /// Returns not 0 where S may be above 1 before any change, as for luma below black; for v that
  /// was not clamped.
  HWY_INLINE V8 beyond(const Luma& luma) const {
    if constexpr (kShared) {
      return hn::BitCast(D8(), hn::SaturatedSub(hn::BitCast(D16(), luma.range), least_of(luma)));
    } else {
      // Compared by luma, as largest less least channel may exceed a byte.
      return hn::Or(hn::SaturatedSub(luma.range, hn::Sub(luma.v[0], luma.above)),
                    hn::SaturatedSub(luma.above, luma.v[0]));
    }
  }

 private:
  static constexpr bool kByLevel = !kUniform && EQUALUX_VBMI;

  /// Least v of the luma of each chroma sample, which has two columns.
  static HWY_INLINE V16 least_of(const Luma& luma) {
    const D16 d;
    V8 least = luma.v[0];
    if constexpr (kRows == 2) least = hn::Min(least, luma.v[1]);
    const V16 pairs = hn::BitCast(d, least);
    return hn::Min(hn::And(pairs, hn::Set(d, std::uint16_t{255})), hn::ShiftRight<8>(pairs));
  }

  MayReachOne may_;
  V16 share_;
  V16 most_held_;
};

/// Scaled vector of luma, and its gains for chroma.
struct SaturatedLuma {
  V8 luma;
  Floats gain;
};

/// Distance of luma below v, and v. For black and luma below it, v and W count as 1, so that f is 1
/// where k is over 1.
struct LumaScale {
  Floats under, value;
  Floats black;  ///< 1 where v is 0

  HWY_INLINE LumaScale(V8 d, V8 v)
      : under(to_floats(d)),
        value(to_floats(hn::Max(v, hn::Set(D8(), std::uint8_t{1})))),
        black(to_floats(hn::SaturatedSub(hn::Set(D8(), std::uint8_t{1}), v))) {}
};
/// Scaled lanes whose f is at most v times `inverse`, and their gains for chroma.
struct ScaledLuma {
  Scaled luma;
  VF gain;
  FloatMask limited;
};
/// Luma scaled by a gain and the common k, or less where S would pass 1.
template <bool kLimits>
HWY_INLINE ScaledLuma scaled_luma(const LevelGains& g, const LumaScale& by, std::size_t i,
                                  VF inverse) {
  ScaledLuma result;
  VF factor = g.factor;
  if constexpr (kLimits) {
    const VF limit = hn::Mul(part_of(by.value, i), inverse);
    result.limited = hn::Lt(limit, factor);
    factor = hn::Min(factor, limit);
  }
  const VF gain = part_of(g.gain, i);
  result.luma =
      scaled_part(hn::NegMulAdd(factor, part_of(by.under, i), part_of(by.value, i)), gain);
  result.gain = hn::Mul(gain, factor);
  return result;
}
/// Luma scaled by a line, or by less slope where S would pass 1.
template <bool kLimits>
HWY_INLINE ScaledLuma scaled_luma(const LevelLines& lines, const LumaScale& by, std::size_t i,
                                  VF inverse) {
  ScaledLuma result;
  const VF value = part_of(lines.value, i);
  result.gain = part_of(lines.slope, i);
  if constexpr (kLimits) {
    const VF limit = hn::Mul(hn::Add(value, part_of(by.black, i)), inverse);
    // Negated comparison, true for NaN too.
    result.limited = hn::Not(hn::Ge(limit, result.gain));
    result.gain = hn::Min(result.gain, limit);
  }
  result.luma = rounded(hn::NegMulAdd(result.gain, part_of(by.under, i), value));
  return result;
}

/// Scales a vector of luma. Adds lanes with f = v / (v - m) to `limited`, and the doubtful ones of
/// these to `bad`.
template <bool kLimits, typename With, typename Levels>
HWY_INLINE SaturatedLuma saturated_luma_of(const With& with, const Levels& levels, V8 code, V8 v,
                                           V8 spread, FloatMask (&limited)[4],
                                           FloatMask (&bad)[4]) {
  const D8 d8;
  const V8 y = hn::SaturatedSub(code, with.k.offset);
  const V8 d = hn::SaturatedSub(v, y);
  const V8 excess = hn::SaturatedSub(y, v);
  const V8 one = hn::Set(d8, std::uint8_t{1});
  const LumaScale by(d, v);
  Floats belows = by.under;
  if constexpr (kLimits) {
    const V8 below = hn::SaturatedSub(hn::SaturatedAdd(d, spread), excess);
    belows = to_floats(hn::Max(hn::Min(below, v), one));
  }
  V32 lanes[4];
  VF gains[4];
  for (std::size_t i = 0; i < 4; ++i) {
    const ScaledLuma scaled =
        scaled_luma<kLimits>(levels, by, i, reciprocal_of(part_of(belows, i)));
    gains[i] = scaled.gain;
    if constexpr (kLimits) {
      limited[i] = hn::Or(limited[i], scaled.limited);
      bad[i] = hn::Or(bad[i], doubtful(scaled.limited, scaled.luma.distance));
      lanes[i] = sure_bits(bad[i], scaled.luma.shifted);
    } else {
      lanes[i] = hn::BitCast(D32(), scaled.luma.shifted);
    }
  }
  V8 result = join_bytes(lanes[0], lanes[1], lanes[2], lanes[3]);
  if (HWY_UNLIKELY(!all_zero(excess))) {
    // v was clamped to white, below luma: such luma is scaled without saturation.
    const VF white = with.white_gain;
    result = hn::IfThenElse(hn::Eq(excess, hn::Zero(d8)), result,
                            scale_bytes(y, {white, white, white, white}));
  }
  result = hn::SaturatedAdd(result, with.k.offset);
  return {hn::IfThenElse(hn::Eq(v, hn::Zero(d8)), code, result),
          {gains[0], gains[1], gains[2], gains[3]}};
}

/// Redoes the flagged chroma samples of a vector and their luma; `in` is a copy of it.
template <std::size_t kRows, bool kShared>
HWY_NOINLINE void redo_cells(const SaturatedGains& gains, const std::uint64_t* gain48,
                             const YuvWeights& weights, const std::uint8_t (&flags)[kBytes],
                             const YuvRowIn& in, const YuvRowOut& out) {
  constexpr Sampling kSampling =
      kRows == 2 ? Sampling::s420 : (kShared ? Sampling::s422 : Sampling::s444);
  constexpr std::size_t kColumns = kShared ? 2 : 1;
  for_flagged(flags, [&](std::size_t c) {
    const std::size_t x = kColumns * c;
    saturate_yuv(gains, gain48, kSampling, weights, advance(in, x, kShared), kColumns,
                 advance(out, x, kShared));
  });
}

/// Fractional parts of luma in the format of `fine`, shifted to the top of words.
#if EQUALUX_FIXED_GAINS
using DFractions = D16;
#else
using DFractions = D32;
#endif
using Fractions = hn::Vec<DFractions>;
constexpr int kAboveFine = 8 * static_cast<int>(sizeof(hn::TFromD<DFractions>)) - kFineBits;

/// Bytes above kFineBits of lanes, b[k] to bytes k, 4 + k, 8 + k ... `least` gets the least of it
/// and the fractional parts.
HWY_INLINE V8 join_fine(const V32 (&x)[4], Fractions& least) {
#if EQUALUX_FIXED_GAINS
  const D16 d;
  // Two lanes of 32 bits become a lane of two words, and another one of two fractional parts.
  const auto words = [&](V32 lower, V32 upper) HWY_ATTR {
    const V16 high = hn::BitCast(d, hn::ShiftLeft<kAboveFine>(upper));
    least =
        hn::Min(least, hn::OddEven(hn::BitCast(d, hn::ShiftLeft<16 + kAboveFine>(lower)), high));
    return hn::OddEven(high, hn::BitCast(d, hn::ShiftRight<kFineBits>(lower)));
  };
  const V16 even = hn::And(words(x[0], x[2]), hn::Set(d, std::uint16_t{255}));
  return hn::BitCast(D8(), hn::Or(even, hn::ShiftLeft<8>(words(x[1], x[3]))));
#else
  for (const V32& lanes : x)
    least = hn::Min(least, hn::ShiftLeft<kAboveFine>(lanes));
  const auto byte = [](V32 lanes) HWY_ATTR {
    return hn::And(hn::ShiftRight<kFineBits>(lanes), hn::Set(D32(), 255u));
  };
  return join_bytes(byte(x[0]), byte(x[1]), byte(x[2]), byte(x[3]));
#endif
}

/// 256 k d in words, for the even and odd bytes of a vector.
struct WordPair {
  V16 even, odd;
};

/// Constants of a row; kept in memory, as the compiler would compute them again for each vector.
template <std::size_t kRows, bool kShared, bool kUniform>
struct LumaSaturation {
  YuvVectors<kCovered<kRows, kShared>> k;
  YuvWords words;
  LevelLookup<kUniform> lookup;
  LumaLimit<kRows, kShared, kUniform> limit;
  V8 white;  ///< luma code of white
  VF white_gain;
  V16 uniform;    ///< k, in units of 1 / saturation::kOne
  V16 low_bytes;  ///< 255
  /// Addends that round single precision to whole numbers, to multiples of 256 and to kFineBits
  /// fractional bits, and add the code of black. `fine` also adds a half and doubtful_steps().
  VF whole, whole_256, fine;
  Fractions doubt;    ///< twice doubtful_steps()
  SumFactor sums;     ///< k, or 1 where each level has its own
  SumFactor limited;  ///< 1, where S may reach 1
  bool ends;          ///< some v is that of black or of white
  bool undone;        ///< some level must be redone
  bool exact;
  /// Stores of saturate_vector(). They are no constant there, so that it is compiled once; few
  /// vectors take it.
  Stores stores = Stores::cached;

  LumaSaturation(const YuvWeights& weights, const SaturatedGains& gains)
      : k(weights),
        words(weights),
        lookup(gains),
        limit(gains),
        white(hn::Set(D8(), static_cast<std::uint8_t>(weights.luma_max + weights.luma_offset))),
        white_gain(hn::Set(DF(), gains.white_gain)),
        uniform(hn::Set(D16(), gains.factors[0])),
        low_bytes(hn::Set(D16(), std::uint16_t{255})),
        sums(kUniform ? gains.factor : 1.0f, doubt_of_sums(gains.close)),
        limited(1, kDoubtOfLimitedSums),
        ends(gains.ends),
        undone(gains.undone),
        exact(gains.exact) {
    const auto black = static_cast<float>(weights.luma_offset);
    whole = hn::Set(DF(), kTwo23 + black);
    whole_256 = hn::Set(DF(), saturation::kOne * (kTwo23 + black));
    const int steps = doubtful_steps(gains.close);
    fine = hn::Set(DF(), 768.5f + black + static_cast<float>(steps) / kFineSteps);
    doubt = hn::Set(DFractions(), static_cast<hn::TFromD<DFractions>>((2 * steps) << kAboveFine));
  }
};

/// New luma where f is k, `under` below v, and its gains for chroma. With kAlike all luma is at or
/// above black, whose code is added, and the samples of a chroma sample are equally far below v.
template <bool kAlike, bool kShared, bool kUniform>
class FreeLuma;

/// g (v - k d) with a common k: 256 (v - k d) is a whole number of 16 bits.
template <bool kAlike, bool kShared>
class FreeLuma<kAlike, kShared, true> {
 public:
  template <typename With>
  HWY_INLINE FreeLuma(const With& with, V8 under) {
    const V16 words = hn::BitCast(D16(), under);
    less_.even = hn::Mul(hn::And(words, with.low_bytes), with.uniform);
    less_.odd = kAlike && kShared ? less_.even : hn::Mul(hn::ShiftRight<8>(words), with.uniform);
  }
  template <typename With>
  HWY_INLINE V8 operator()(const With& with, const LevelGains& g, V8 v) const {
    const V16 values = hn::BitCast(D16(), v);
    const V16 even = hn::Sub(hn::ShiftLeft<8>(values), less_.even);
    const V16 odd = hn::Sub(hn::AndNot(with.low_bytes, values), less_.odd);
    const VF whole = kAlike ? with.whole_256 : hn::Set(DF(), saturation::kOne * kTwo23);
    const auto scaled = [&](V32 part, VF gain) HWY_ATTR {
      return hn::BitCast(D32(),
                         hn::MulAdd(hn::ConvertTo(DF(), hn::BitCast(DI32(), part)), gain, whole));
    };
    const auto lower = [](V16 x) HWY_ATTR {
#if EQUALUX_FIXED_GAINS
      return hn::BitCast(D32(), hn::OddEven(hn::Zero(D16()), x));
#else
      return hn::And(hn::BitCast(D32(), x), hn::Set(D32(), 0xFFFFu));
#endif
    };
    const auto upper = [](V16 x) HWY_ATTR { return hn::ShiftRight<16>(hn::BitCast(D32(), x)); };
    return join_bytes(scaled(lower(even), g.gain.f0), scaled(lower(odd), g.gain.f1),
                      scaled(upper(even), g.gain.f2), scaled(upper(odd), g.gain.f3));
  }
  static HWY_INLINE const Floats& share(const LevelGains& g) {
    return g.gain;
  }

 private:
  WordPair less_;
};

/// W - s d with a k for each level.
template <bool kAlike, bool kShared>
class FreeLuma<kAlike, kShared, false> {
 public:
  template <typename With>
  HWY_INLINE FreeLuma(const With&, V8 under) {
    const auto part = [](VI32 lanes) HWY_ATTR { return hn::ConvertTo(DF(), lanes); };
    under_[0] = part(lane_byte<0>(under));
    under_[2] = part(lane_byte<2>(under));
    under_[1] = kAlike && kShared ? under_[0] : part(lane_byte<1>(under));
    under_[3] = kAlike && kShared ? under_[2] : part(lane_byte<3>(under));
  }
  template <typename With>
  HWY_INLINE V8 operator()(const With& with, const LevelLines& lines, V8) const {
    const VF whole = kAlike ? with.whole : hn::Set(DF(), kTwo23);
    V32 lanes[4];
    for (std::size_t i = 0; i < 4; ++i) {
      const VF luma = hn::NegMulAdd(part_of(lines.slope, i), under_[i], part_of(lines.value, i));
      lanes[i] = hn::BitCast(D32(), hn::Add(luma, whole));
    }
    return join_bytes(lanes[0], lanes[1], lanes[2], lanes[3]);
  }
  static HWY_INLINE const Floats& share(const LevelLines& lines) { return lines.slope; }

 private:
  VF under_[4];
};

/// Both chroma planes of a vector.
template <bool kShared>
struct ScaledChroma {
  ScaledPlane<kShared> cb, cr;

  /// Scales chroma by `total`, the sums of gains.
  template <int kUnits>
  HWY_INLINE ScaledChroma(const Chroma<kShared, kUnits>& chroma,
                          const VF (&total)[kChromaParts<kShared>]) {
    for (std::size_t i = 0; i < kChromaParts<kShared>; ++i) {
      cb.part[i] = scale_chroma(chroma.part[i].u, total[i]);
      cr.part[i] = scale_chroma(chroma.part[i].w, total[i]);
    }
  }
  HWY_INLINE VF distance() const {
    VF most = max_magnitude(cb.part[0].distance, cr.part[0].distance);
    for (std::size_t i = 1; i < kChromaParts<kShared>; ++i)
      most = hn::Max(most, max_magnitude(cb.part[i].distance, cr.part[i].distance));
    return most;
  }
  /// Rounds halves up. Where sums are exact, what is not sure is on a half.
  HWY_INLINE void put_halves_up() {
    for (std::size_t i = 0; i < kChromaParts<kShared>; ++i) {
      for (Rounded* each : {&cb.part[i], &cr.part[i]}) {
        const auto below = hn::Gt(each->distance, hn::Set(DF(), kSureSaturated));
        each->code = hn::Add(each->code,
                             hn::IfThenElseZero(hn::RebindMask(DI32(), below), hn::Set(DI32(), 1)));
      }
    }
  }
};

/// True where no result is nearer to a half than `sure` allows.
HWY_INLINE bool all_sure(VF distance, float sure = kSureSaturated) {
  return hn::AllFalse(DF(), hn::Gt(distance, hn::Set(DF(), sure)));
}

/// Chroma planes of a vector, scaled by two bounds of each sum of gains. Rounding is monotonic, so
/// that codes are right where both bounds give the same: a result on a half never has that. AVX-512
/// has an instruction for the larger distance of two results, which is less work.
template <bool kShared>
class BoundedChroma {
 public:
  Parts<kShared> cb, cr;

  template <int kUnits>
  HWY_INLINE BoundedChroma(const Chroma<kShared, kUnits>& chroma,
                           const VF (&total)[kChromaParts<kShared>], const SumFactor& by) {
#if EQUALUX_FIXED_GAINS
    const VF offset = hn::Set(DF(), 1.5f * kTwo23 + 128.0f);
    V32 differences = hn::Zero(D32());
    for (std::size_t i = 0; i < kChromaParts<kShared>; ++i) {
      const VF least = hn::Mul(total[i], by.low);
      const VF most = hn::Mul(total[i], by.high);
      const auto scaled = [&](VF u) HWY_ATTR {
        const V32 code = hn::BitCast(D32(), hn::MulAdd(u, least, offset));
        const V32 other = hn::BitCast(D32(), hn::MulAdd(u, most, offset));
        differences = hn::Or(differences, hn::Xor(code, other));
        return hn::BitCast(DI32(), code);
      };
      cb.part[i] = scaled(chroma.part[i].u);
      cr.part[i] = scaled(chroma.part[i].w);
    }
    sure_ = all_zero(hn::BitCast(D8(), differences));
#else
    VF scaled[kChromaParts<kShared>];
    for (std::size_t i = 0; i < kChromaParts<kShared>; ++i)
      scaled[i] = hn::Mul(total[i], by.factor);
    const ScaledChroma<kShared> both(chroma, scaled);
    cb = both.cb.codes();
    cr = both.cr.codes();
    sure_ = all_sure(both.distance(), by.sure);
#endif
  }
  HWY_INLINE bool sure() const {
    return sure_;
  }

 private:
  bool sure_;
};

/// Scales a vector in which f is k everywhere and no luma is above v. Returns false, with nothing
/// written, where a result is doubtful. With kAlike the luma of a chroma sample is equally far
/// below v.
template <bool kAlike, Stores kStores, std::size_t kRows, bool kShared, bool kUniform, bool kLimits>
HWY_INLINE bool saturate_freely(const LumaSaturation<kRows, kShared, kUniform>& with,
                                const LevelLookup<kUniform>& lookup,
                                const StartedLuma<kRows, kShared, kUniform, kLimits>& ready,
                                const YuvRowIn& in, const YuvRowOut& out) {
  using Free = FreeLuma<kAlike, kShared, kUniform>;
  const D8 d8;
  V8 luma[kRows];
  Floats g[kRows];
  Free free(with, ready.above);
  for (std::size_t r = 0; r < kRows; ++r) {
    const auto levels = lookup.finish(ready.v[r], ready.gains[r]);
    if constexpr (kAlike) {
      luma[r] = free(with, levels, ready.v[r]);
    } else {
      const V8 code = hn::LoadU(d8, in.luma[r]);
      free = Free(with, hn::SaturatedSub(ready.v[r], hn::SaturatedSub(code, with.k.offset)));
      luma[r] = hn::Add(free(with, levels, ready.v[r]), hn::Min(code, with.k.offset));
    }
    g[r] = Free::share(levels);
  }
  VF total[kChromaParts<kShared>];
  sum_gains<kRows, kShared>(g, total);
  const BoundedChroma<kShared> chroma(ready.chroma, total, with.sums);
  const auto write_luma = [&]() HWY_ATTR {
    for (std::size_t r = 0; r < kRows; ++r)
      store<kStores>(luma[r], d8, out.luma[r]);
  };
  if (HWY_UNLIKELY(!chroma.sure())) {
    if (!with.exact) return false;
    for (VF& each : total)
      each = hn::Mul(each, with.sums.factor);
    ScaledChroma<kShared> halves(ready.chroma, total);
    halves.put_halves_up();
    write_planes<kStores>(halves.cb.codes(), halves.cr.codes(), out);
    write_luma();
    return true;
  }
  write_planes<kStores>(chroma.cb, chroma.cr, out);
  write_luma();
  return true;
}

/// Colours of chroma samples, in the lanes of a part.
struct CellColours {
  VF above;    ///< largest channel less luma
  VF range;    ///< v - m, or 1 where that is 0
  VF inverse;  ///< reciprocal of range
};
/// Makes the colours of a vector's chroma samples: one division for each lane of chroma.
template <bool kShared, typename Started>
HWY_INLINE void make_cells(const Started& luma, CellColours (&cells)[kChromaParts<kShared>]) {
  // Gray counts as if its channels were 1 apart: at v = 0 the quotient would not exist.
  const VF one = hn::Set(DF(), 1.0f);
  const auto cell = [&](VI32 above, VI32 range) HWY_ATTR {
    const VF wide = hn::Max(hn::ConvertTo(DF(), range), one);
    return CellColours{hn::ConvertTo(DF(), above), wide, hn::Div(one, wide)};
  };
  if constexpr (kShared) {
    const V32 range = hn::BitCast(D32(), luma.range);
    const auto lanes = [](V32 x) HWY_ATTR { return hn::BitCast(DI32(), x); };
    cells[0] = cell(lane_byte<0>(luma.above), lanes(hn::And(range, hn::Set(D32(), 0xFFFFu))));
    cells[1] = cell(lane_byte<2>(luma.above), lanes(hn::ShiftRight<16>(range)));
  } else {
    const auto part = [&](VI32 above, VI32 below)
                          HWY_ATTR { return cell(above, hn::Add(above, below)); };
    cells[0] = part(lane_byte<0>(luma.above), lane_byte<0>(luma.range));
    cells[1] = part(lane_byte<1>(luma.above), lane_byte<1>(luma.range));
    cells[2] = part(lane_byte<2>(luma.above), lane_byte<2>(luma.range));
    cells[3] = part(lane_byte<3>(luma.above), lane_byte<3>(luma.range));
  }
}

/// Vector of luma where S may reach 1, in the format of `fine`; its gains are added to `total`.
/// kBeyond: S may be above 1, and is kept so.
template <bool kBeyond>
struct LimitedLuma {
  V32 bits[4];

  template <typename With, std::size_t kParts>
  HWY_INLINE LimitedLuma(const With& with, const LevelGains& g, V8 v,
                         const CellColours (&cells)[kParts], VF (&total)[kParts]) {
    const Floats values = to_floats(v);
    for (std::size_t i = 0; i < 4; ++i) {
      const CellColours& cell = cells[i * kParts / 4];
      const VF value = part_of(values, i);
      VF limit = hn::Mul(value, cell.inverse);
      if constexpr (kBeyond) limit = hn::Max(limit, hn::Set(DF(), 1.0f));
      const VF f = hn::Min(limit, g.factor);
      const VF part = hn::NegMulAdd(f, cell.above, value);
      bits[i] = hn::BitCast(D32(), hn::MulAdd(part, part_of(g.gain, i), with.fine));
      VF& sum = total[i * kParts / 4];
      sum = hn::MulAdd(part_of(g.gain, i), f, sum);
    }
  }
  template <typename With, std::size_t kParts>
  HWY_INLINE LimitedLuma(const With& with, const LevelLines& lines, V8 v,
                         const CellColours (&cells)[kParts], VF (&total)[kParts]) {
    Floats values;
    Floats black;
    if constexpr (kBeyond) {
      const LumaScale by(hn::Zero(D8()), v);
      values = by.value;
      black = by.black;
    }
    for (std::size_t i = 0; i < 4; ++i) {
      const CellColours& cell = cells[i * kParts / 4];
      const VF value = part_of(lines.value, i);
      VF limit;
      if constexpr (kBeyond) {
        limit = hn::Div(hn::Add(value, part_of(black, i)), hn::Min(part_of(values, i), cell.range));
      } else {
        limit = hn::Mul(value, cell.inverse);
      }
      const VF gain = hn::Min(limit, part_of(lines.slope, i));
      bits[i] = hn::BitCast(D32(), hn::Add(hn::NegMulAdd(gain, cell.above, value), with.fine));
      VF& sum = total[i * kParts / 4];
      sum = hn::Add(sum, gain);
    }
  }
};

/// saturate_freely() where S may reach 1.
template <bool kBeyond, Stores kStores, std::size_t kRows, bool kShared, bool kUniform>
HWY_INLINE bool saturate_limited(const LumaSaturation<kRows, kShared, kUniform>& with,
                                 const LevelLookup<kUniform>& lookup,
                                 const StartedLuma<kRows, kShared, kUniform, true>& ready,
                                 const YuvRowOut& out) {
  constexpr std::size_t kParts = kChromaParts<kShared>;
  CellColours cells[kParts];
  make_cells<kShared>(ready, cells);
  V8 luma[kRows];
  VF total[kParts];
  for (VF& each : total)
    each = hn::Zero(DF());
  Fractions least = with.doubt;  // small ones are doubtful
  for (std::size_t r = 0; r < kRows; ++r) {
    const LimitedLuma<kBeyond> limited(with, lookup.finish(ready.v[r], ready.gains[r]), ready.v[r],
                                       cells, total);
    luma[r] = join_fine(limited.bits, least);
  }
  const BoundedChroma<kShared> chroma(ready.chroma, total, with.limited);
  const bool luma_sure = hn::AllTrue(DFractions(), hn::Eq(least, with.doubt));
  if (HWY_UNLIKELY(!luma_sure || !chroma.sure())) return false;
  write_planes<kStores>(chroma.cb, chroma.cr, out);
  for (std::size_t r = 0; r < kRows; ++r)
    store<kStores>(luma[r], D8(), out.luma[r]);
  return true;
}

/// saturate_limited() as a function of its own: the loop around it stays short and keeps more
/// registers. Not for targets whose vectors in flight are in registers, which would be spilled for
/// the call.
template <bool kBeyond, Stores kStores, std::size_t kRows, bool kShared, bool kUniform>
HWY_NOINLINE bool saturate_limited_apart(const LumaSaturation<kRows, kShared, kUniform>& with,
                                         const StartedLuma<kRows, kShared, kUniform, true>& ready,
                                         const YuvRowOut& out) {
  return saturate_limited<kBeyond, kStores>(with, with.lookup, ready, out);
}

/// Scales a vector with clamped v or luma below black, if f is k everywhere.
template <Stores kStores, std::size_t kRows, bool kShared, bool kUniform, bool kLimits>
HWY_NOINLINE bool saturate_clamped(const LumaSaturation<kRows, kShared, kUniform>& with,
                                   const StartedLuma<kRows, kShared, kUniform, kLimits>& ready,
                                   const YuvRowIn in, const YuvRowOut out) {
  // Luma above white is above v.
  V8 over = hn::SaturatedSub(hn::LoadU(D8(), in.luma[0]), with.white);
  if constexpr (kRows == 2)
    over = hn::Or(over, hn::SaturatedSub(hn::LoadU(D8(), in.luma[1]), with.white));
  return all_zero(over) && saturate_freely<false, kStores>(with, with.lookup, ready, in, out);
}

/// Returns not 0 where luma is below black: colours may lift its v above that of black.
template <std::size_t kRows, bool kShared, bool kUniform>
HWY_INLINE V8 below_black(const LumaSaturation<kRows, kShared, kUniform>& with,
                          const YuvRowIn& in) {
  V8 darkest = hn::LoadU(D8(), in.luma[0]);
  if constexpr (kRows == 2) darkest = hn::Min(darkest, hn::LoadU(D8(), in.luma[1]));
  return hn::SaturatedSub(with.k.offset, darkest);
}

/// Returns not 0 where v was clamped or luma is below black.
template <std::size_t kRows, bool kShared, bool kUniform, bool kLimits>
HWY_INLINE V8 unlike_luma(const LumaSaturation<kRows, kShared, kUniform>& with,
                          const StartedLuma<kRows, kShared, kUniform, kLimits>& ready,
                          const YuvRowIn& in) {
  const D8 d8;
  // Unless v was clamped it is luma plus `raise`. A sum past 255 wraps, and never equals the v of
  // white.
  const V8 raise = hn::Sub(ready.above, with.k.offset);
  V8 unlike = below_black(with, in);
  for (std::size_t r = 0; r < kRows; ++r) {
    const V8 code = hn::LoadU(d8, in.luma[r]);
    unlike = hn::Or(unlike, hn::Xor(hn::Add(code, raise), ready.v[r]));
  }
  return unlike;
}

/// Least v of two rows of luma, or v of one.
template <std::size_t kRows>
HWY_INLINE V8 least_value(const V8 (&v)[kRows]) {
  if constexpr (kRows == 2) return hn::Min(v[0], v[1]);
  return v[0];
}

/// Returns not 0 where v is that of black or white, and so may have been clamped.
template <std::size_t kRows, bool kShared, bool kUniform, bool kLimits>
HWY_INLINE V8 at_ends(const LumaSaturation<kRows, kShared, kUniform>& with,
                      const StartedLuma<kRows, kShared, kUniform, kLimits>& ready) {
  const D8 d8;
  if (!with.ends) return hn::Zero(d8);
  V8 most = ready.v[0];
  if constexpr (kRows == 2) most = hn::Max(most, ready.v[1]);
  const auto black = hn::Eq(least_value(ready.v), hn::Zero(d8));
  return hn::VecFromMask(d8, hn::Or(black, hn::Eq(most, with.k.most)));
}

/// Returns true if f is k everywhere and v is like luma, as saturate_freely<true>() needs it. May
/// return false for such a vector, too, as it takes v alone.
template <std::size_t kRows, bool kShared, bool kUniform, bool kLimits>
HWY_INLINE bool surely_free(const LumaSaturation<kRows, kShared, kUniform>& with,
                            const StartedLuma<kRows, kShared, kUniform, kLimits>& ready) {
  // Luma below black has a v less than `above`, unless that is 0. Its least channel is below 0,
  // which is S above 1.
  V8 other;
  if constexpr (kLimits) {
    other = with.limit.reached(ready);
  } else {
    other = hn::SaturatedSub(ready.above, least_value(ready.v));
  }
  return all_zero(hn::Or(other, at_ends(with, ready)));
}

/// saturate_freely() as a function of its own, for few vectors.
template <Stores kStores, std::size_t kRows, bool kShared, bool kUniform, bool kLimits>
HWY_NOINLINE bool saturate_freely_apart(const LumaSaturation<kRows, kShared, kUniform>& with,
                                        const StartedLuma<kRows, kShared, kUniform, kLimits>& ready,
                                        const YuvRowIn in, const YuvRowOut out) {
  return saturate_freely<true, kStores>(with, with.lookup, ready, in, out);
}

/// saturate_limited(), apart where that is faster.
template <bool kBeyond, Stores kStores, std::size_t kRows, bool kShared, bool kUniform>
HWY_INLINE bool saturate_at_limit(const LumaSaturation<kRows, kShared, kUniform>& with,
                                  const LevelLookup<kUniform>& lookup,
                                  const StartedLuma<kRows, kShared, kUniform, true>& ready,
                                  const YuvRowOut& out) {
#if EQUALUX_FIXED_GAINS
  (void)lookup;
  return saturate_limited_apart<kBeyond, kStores>(with, ready, out);
#else
  return saturate_limited<kBeyond, kStores>(with, lookup, ready, out);
#endif
}

/// Scales a vector for which surely_free() is false; returns false where none of the functions
/// above applies.
template <Stores kStores, std::size_t kRows, bool kShared, bool kUniform, bool kLimits>
HWY_INLINE bool saturate_others(const LumaSaturation<kRows, kShared, kUniform>& with,
                                const LevelLookup<kUniform>& lookup,
                                const StartedLuma<kRows, kShared, kUniform, kLimits>& ready,
                                const YuvRowIn& in, const YuvRowOut& out) {
  V8 reached = hn::Zero(D8());
  if constexpr (kLimits) {
    if (all_zero(hn::Or(with.limit.beyond(ready), at_ends(with, ready))))
      return saturate_at_limit<false, kStores>(with, lookup, ready, out);
    reached = with.limit.reached(ready);
  }
  const V8 unlike = unlike_luma(with, ready, in);
  if constexpr (kLimits) {
    if (!all_zero(reached)) {
      return all_zero(unlike) && saturate_at_limit<true, kStores>(with, lookup, ready, out);
    }
  }
  if (EQUALUX_FIXED_GAINS && all_zero(unlike))
    return saturate_freely_apart<kStores>(with, ready, in, out);
  auto kept = ready;  // copy in memory, so that `ready` stays in registers
  if (all_zero(unlike)) return saturate_freely_apart<kStores>(with, kept, in, out);
  kept.blacken(with.k, with.lookup, in);
  return saturate_clamped<kStores>(with, kept, in, out);
}

/// Scales the vector at column `x` of rows by the first of the functions above that applies;
/// returns false where none does. Addresses are computed where they are needed, which is late.
template <Stores kStores, std::size_t kRows, bool kShared, bool kUniform, bool kLimits>
HWY_INLINE bool saturate_surely(const LumaSaturation<kRows, kShared, kUniform>& with,
                                const LevelLookup<kUniform>& lookup,
                                const StartedLuma<kRows, kShared, kUniform, kLimits>& ready,
                                const YuvRowIn& in, const YuvRowOut& out, std::size_t x) {
  if (HWY_UNLIKELY(with.undone)) return false;
  if (surely_free(with, ready)) {
    return saturate_freely<true, kStores>(with, lookup, ready, in,
                                          advance_rows<kRows>(out, x, kShared));
  }
  return saturate_others<kStores>(with, lookup, ready, advance_rows<kRows>(in, x, kShared),
                                  advance_rows<kRows>(out, x, kShared));
}

/// Stores a scaled vector as with.stores says.
template <std::size_t kRows, bool kShared, bool kUniform>
HWY_INLINE void write_vector(const LumaSaturation<kRows, kShared, kUniform>& with,
                             const ScaledChroma<kShared>& chroma, const V8 (&luma)[kRows],
                             const YuvRowOut& out) {
  const auto write = [&](auto kind) HWY_ATTR {
    write_planes<kind()>(chroma.cb.codes(), chroma.cr.codes(), out);
    for (std::size_t r = 0; r < kRows; ++r)
      store<kind()>(luma[r], D8(), out.luma[r]);
  };
  if (with.stores == Stores::streaming) {
    write(std::integral_constant<Stores, Stores::streaming>());
  } else {
    write(std::integral_constant<Stores, Stores::cached>());
  }
}

/// Scales any vector; the plain loops redo what is doubtful.
template <std::size_t kRows, bool kShared, bool kUniform, bool kLimits>
HWY_NOINLINE void saturate_vector(const LumaSaturation<kRows, kShared, kUniform>& with,
                                  const YuvWeights& weights, const SaturatedGains& gains,
                                  const std::uint64_t* gain48,
                                  StartedLuma<kRows, kShared, kUniform, kLimits>& ready,
                                  const YuvRowIn in, const YuvRowOut out) {
  constexpr std::size_t kParts = kChromaParts<kShared>;
  const D8 d;
  ready.blacken(with.k, with.lookup, in);
  V8 codes[kRows];
  V8 luma[kRows];
  Floats g[kRows];
  FloatMask bad[4];
  FloatMask limited[4];
  clear(bad);
  clear(limited);
  const V8 below = ready.below();
  for (std::size_t r = 0; r < kRows; ++r) {
    codes[r] = hn::LoadU(d, in.luma[r]);
    const SaturatedLuma result =
        saturated_luma_of<kLimits>(with, with.lookup.finish(ready.v[r], ready.gains[r]), codes[r],
                                   ready.v[r], below, limited, bad);
    luma[r] = result.luma;
    g[r] = result.gain;
  }
  VF total[kParts];
  sum_gains<kRows, kShared>(g, total);
  ScaledChroma<kShared> scaled(ready.chroma, total);
  const auto& cb = scaled.cb;
  const auto& cr = scaled.cr;
  const bool chroma_doubtful = !all_sure(scaled.distance());
  if (HWY_LIKELY(!chroma_doubtful && !(kLimits && any_of(bad)))) {
    write_vector(with, scaled, luma, out);
    return;
  }
  // Valid where no limit applies and all luma has inexact = 0; other samples are redone.
  scaled.put_halves_up();
  // Curves that leave values unchanged give many halves, none of them doubtful.
  if (gains.exact && !(kLimits && (any_of(bad) || any_of(limited)))) {
    write_vector(with, scaled, luma, out);
    return;
  }
  alignas(64) std::uint8_t asked[kBytes];
  hn::Store(flags_of(limited), d, asked);
  if (!gains.exact) {
    alignas(64) std::uint8_t v[kBytes];
    for (std::size_t r = 0; r < kRows; ++r) {
      hn::Store(ready.v[r], d, v);
      for (std::size_t x = 0; x < kBytes; ++x)
        asked[x] = static_cast<std::uint8_t>(asked[x] | gains.inexact[v[x]]);
    }
  }
  alignas(64) std::uint8_t before[2][kBytes];
  alignas(64) std::uint8_t chroma[2][kBytes];
  alignas(64) std::uint8_t flags[kBytes] = {};
  alignas(64) std::uint8_t luma_flags[kBytes];
  alignas(64) std::uint8_t cr_flags[kBytes];
  for (std::size_t r = 0; r < kRows; ++r)
    hn::Store(codes[r], d, before[r]);
  std::memcpy(chroma[0], in.cb, kChromaSamples<kShared>);
  std::memcpy(chroma[1], in.cr, kChromaSamples<kShared>);
  Parts<kShared> cb_flags;
  Parts<kShared> cr_flags_of;
  const auto flagged = [](const Rounded& x) HWY_ATTR {
    return hn::IfThenElseZero(
        hn::RebindMask(DI32(), hn::Gt(hn::Abs(x.distance), hn::Set(DF(), kSureSaturated))),
        hn::Set(DI32(), 1));
  };
  for (std::size_t i = 0; i < kParts; ++i) {
    cb_flags.part[i] = flagged(cb.part[i]);
    cr_flags_of.part[i] = flagged(cr.part[i]);
  }
  write_planes<Stores::cached>(cb_flags, cr_flags_of, {{nullptr, nullptr}, flags, cr_flags});
  write_planes<Stores::cached>(cb.codes(), cr.codes(), out);
  for (std::size_t r = 0; r < kRows; ++r)
    hn::StoreU(luma[r], d, out.luma[r]);
  hn::Store(flags_of(bad), d, luma_flags);
  for (std::size_t c = 0; c < kChromaSamples<kShared>; ++c) {
    const std::size_t x = kShared ? 2 * c : c;
    const int may_be_wrong = asked[x] | (kShared ? asked[x + 1] : 0);
    flags[c] = static_cast<std::uint8_t>(((flags[c] | cr_flags[c]) & may_be_wrong) | luma_flags[x] |
                                         (kShared ? luma_flags[x + 1] : 0));
  }
  redo_cells<kRows, kShared>(gains, gain48, weights, flags,
                             {{before[0], before[1]}, chroma[0], chroma[1]}, out);
}

/// Scales rows of luma that share chroma, with several vectors in flight; the tail is a copy.
template <std::size_t kRows, bool kShared, bool kUniform, bool kLimits>
void saturate_yuv_rows(const YuvWeights& weights, const SaturatedGains& gains,
                       const std::uint64_t* gain48, Stores stores, const YuvRowIn in, std::size_t n,
                       const YuvRowOut out) {
  using Luma = StartedLuma<kRows, kShared, kUniform, kLimits>;
  LumaSaturation<kRows, kShared, kUniform> with(weights, gains);
  const auto& k = with.k;
  // Local copies, which stay in registers as no function takes their address.
  const LevelLookup<kUniform> lookup(gains);
  const std::size_t vectors = n / kBytes;
  const auto all = [&](auto kind) HWY_ATTR {
    const auto from = [&](std::size_t i)
                          HWY_ATTR { return advance_rows<kRows>(in, i * kBytes, kShared); };
    const auto to = [&](std::size_t i)
                        HWY_ATTR { return advance_rows<kRows>(out, i * kBytes, kShared); };
#if EQUALUX_FIXED_GAINS
    Luma ring[4];
    const auto start = [&](std::size_t i) HWY_ATTR {
      if (i < vectors)
        ring[i % 4].start(k, with.words, advance_rows<kRows>(in, i * kBytes, kShared));
    };
    const auto look_up = [&](std::size_t i) HWY_ATTR {
      if (i < vectors) ring[i % 4].look_up(lookup);
    };
    start(0);
    start(1);
    look_up(0);
    for (std::size_t i = 0; i < vectors; ++i) {
      start(i + 2);
      look_up(i + 1);
      Luma& ready = ring[i % 4];
      if (!saturate_surely<kind()>(with, lookup, ready, in, out, i * kBytes))
        saturate_vector(with, weights, gains, gain48, ready, from(i), to(i));
    }
#else
    // Pipeline in registers: v of the next vector beside the scaling of this one.
    if (vectors == 0) return;
    Luma ready;
    ready.start(k, with.words, in);
    for (std::size_t i = 0; i < vectors; ++i) {
      Luma after;
      after.start(k, with.words, advance(in, (i + 1 < vectors ? i + 1 : i) * kBytes, kShared));
      if (!saturate_surely<kind()>(with, lookup, ready, in, out, i * kBytes)) {
        Luma kept = ready;  // copy in memory, so that `ready` stays in registers
        saturate_vector(with, weights, gains, gain48, kept, from(i), to(i));
      }
      ready = after;
    }
#endif
  };
  if (may_stream<kRows, kShared>(stores, out)) {
    with.stores = Stores::streaming;
    all(std::integral_constant<Stores, Stores::streaming>());
  } else {
    all(std::integral_constant<Stores, Stores::cached>());
  }
  const std::size_t done = vectors * kBytes;
  if (done == n) return;
  Tail<kRows, kShared> tail(advance(in, done, kShared), n - done);
  Luma last;
  last.start(k, with.words, tail.in());
  last.look_up(lookup);
  with.stores = Stores::cached;
  saturate_vector(with, weights, gains, gain48, last, tail.in(), tail.out());
  tail.copy_to(advance(out, done, kShared));
}

template <std::size_t kRows, bool kShared>
void saturate_sampling(const SaturatedGains& gains, const std::uint64_t* gain48,
                       const YuvWeights& k, Stores stores, const YuvRowIn& in, std::size_t n,
                       const YuvRowOut& out) {
  with_kinds(gains, [&](auto uniform, auto limits) {
    saturate_yuv_rows<kRows, kShared, uniform(), limits()>(k, gains, gain48, stores, in, n, out);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace equalux
HWY_AFTER_NAMESPACE();

#endif  // include guard
