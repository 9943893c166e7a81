// YCbCr of fused_rows.h where saturation is changed; included once for each target.
//
// d and v - m are those of a chroma sample, for all of the luma that it covers, unless v was
// clamped: so k d, the reciprocal and the question whether S may come to 1 are made once for two or
// four samples of luma.
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

/// Columns `at` and on of a row of kRows rows of luma.
template <std::size_t kRows, typename Row>
HWY_INLINE Row advance_rows(const Row& row, std::size_t at, bool shared) {
  const std::size_t c = shared ? at / 2 : at;
  return {{row.luma[0] + at, kRows == 1 ? nullptr : row.luma[1] + at}, row.cb + c, row.cr + c};
}

/// Bits behind the point of luma that may be in doubt.
constexpr int kFineBits = 14;
constexpr float kFineSteps = 1 << kFineBits;

/// How many steps of the last of them it is off at most. In 2^-24 of W, where a part x of W is
/// taken off: f is 2 off, f d 3, what remains of v another 1, the gain 2 n + 1 if it is n steps
/// from the nearest, and the product 1, which is at most 3 x + (2 n + 3) (1 - x), less than 2^-13
/// for n = 1 and 2^-12 for n = 3 with half a step for the last sum.
constexpr int doubtful_steps(bool close) {
  return close ? 2 : 4;
}

/// kSureDistance where S does not come to 1 and no gain is more than one step from the nearest to
/// the exact one, 3 in 2^-24 of itself. k, two sums and a product round once more each: 7 of 129.
constexpr float kSureOfClose = 0.5f - 1.0f / 15000.0f;

/// A vector of luma on its way.
template <std::size_t kRows, bool kShared, bool kUniform, bool kLimits>
struct StartedLuma : Ready<kRows, kShared, kCovered<kRows, kShared>> {
  V8 above;  ///< how far the largest channel lies over luma
  /// Where chroma is shared, how far the least channel lies under the largest, in words by chroma
  /// sample; else how far it lies under luma.
  V8 range;
  typename LevelLookup<kUniform>::Numbers gains[kRows];

  HWY_INLINE void start(const YuvVectors<kCovered<kRows, kShared>>& k, const YuvRowIn& in) {
    this->chroma.load(in.cb, in.cr);
    if constexpr (kLimits) {
      above = this->chroma.above(k, range);
    } else {
      above = this->chroma.above(k);
    }
    for (std::size_t r = 0; r < kRows; ++r)
      this->v[r] = hn::Min(values(k, hn::LoadU(D8(), in.luma[r]), above), k.most);
  }
  /// Luma below black counts as black. start() leaves that out, as few vectors have any.
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
  /// How far the least channel lies under luma, by luma sample.
  HWY_INLINE V8 below() const {
    if constexpr (!kLimits) {
      return hn::Zero(D8());
    } else if constexpr (kShared) {
      return hn::Sub(doubled(hn::BitCast(D16(), range)), above);
    } else {
      return range;
    }
  }
  /// The low bytes of words, twice.
  static HWY_INLINE V8 doubled(V16 words) {
    const V16 low = hn::And(words, hn::Set(D16(), std::uint16_t{255}));
    return hn::BitCast(D8(), hn::Or(low, hn::ShiftLeft<8>(words)));
  }
};

/// Where S may come to 1 in a vector of luma, by its chroma: where v is less than k times what
/// lies between the least channel and the largest. V that was clamped is taken for what it was.
template <std::size_t kRows, bool kShared, bool kUniform>
class LumaLimit {
 public:
  using Luma = StartedLuma<kRows, kShared, kUniform, true>;

  explicit HWY_INLINE LumaLimit(const SaturatedGains& gains)
      : may_(gains),
        factor_(hn::Set(DI16(), static_cast<std::int16_t>(4 * gains.most_factor))),
        most_held_(hn::Set(DI16(), gains.most_held)) {}

  /// Not 0 where S may come to 1.
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
      // Products are rounded down, and so away from 0.
      const VI16 range = hn::BitCast(DI16(), luma.range);
      const VI16 least = least_of(luma);
      VI16 room = hn::Add(least, hn::MulHigh(hn::Mul(range, hn::Set(DI16(), -64)), factor_));
      if constexpr (!kUniform) room = hn::Max(room, hn::Sub(hn::Sub(least, most_held_), range));
      return negative(room);
    }
  }
  /// Not 0 where it may be above 1 without a change of saturation; of v that was not clamped.
  HWY_INLINE V8 beyond(const Luma& luma) const {
    if constexpr (kShared) {
      return negative(hn::Sub(least_of(luma), hn::BitCast(DI16(), luma.range)));
    } else {
      // By luma: what lies between the least channel and the largest may be more than a byte.
      return hn::SaturatedSub(luma.range, hn::Sub(luma.v[0], luma.above));
    }
  }

 private:
  static constexpr bool kByLevel = !kUniform && EQUALUX_VBMI;

  static HWY_INLINE V8 negative(VI16 words) {
    return hn::BitCast(D8(), hn::ShiftRight<15>(hn::BitCast(D16(), words)));
  }
  /// The least v of the luma of each chroma sample, which has two columns.
  static HWY_INLINE VI16 least_of(const Luma& luma) {
    const D16 d;
    V8 least = luma.v[0];
    if constexpr (kRows == 2) least = hn::Min(least, luma.v[1]);
    const V16 pairs = hn::BitCast(d, least);
    return hn::BitCast(
        DI16(), hn::Min(hn::And(pairs, hn::Set(d, std::uint16_t{255})), hn::ShiftRight<8>(pairs)));
  }

  MayReachOne may_;
  VI16 factor_;
  VI16 most_held_;
};

/// A vector of luma, and what it tells its chroma.
struct SaturatedLuma {
  V8 luma;
  Floats gain;
};

/// How far luma lies under v, and v itself. Of black, and of luma below it, v is 1 and W too, so
/// that f is 1 where k is over 1.
struct LumaScale {
  Floats under, value;
  Floats black;  ///< 1 where v is 0

  HWY_INLINE LumaScale(V8 d, V8 v)
      : under(to_floats(d)),
        value(to_floats(hn::Max(v, hn::Set(D8(), std::uint8_t{1})))),
        black(to_floats(hn::SaturatedSub(hn::Set(D8(), std::uint8_t{1}), v))) {}
};
/// What lanes become whose f is at most `inverse` times v, and what they tell their chroma.
struct ScaledLuma {
  Scaled luma;
  VF gain;
  FloatMask limited;
};
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
template <bool kLimits>
HWY_INLINE ScaledLuma scaled_luma(const LevelLines& lines, const LumaScale& by, std::size_t i,
                                  VF inverse) {
  ScaledLuma result;
  const VF value = part_of(lines.value, i);
  result.gain = part_of(lines.slope, i);
  if constexpr (kLimits) {
    const VF limit = hn::Mul(hn::Add(value, part_of(by.black, i)), inverse);
    // Of what is not a number, too.
    result.limited = hn::Not(hn::Ge(limit, result.gain));
    result.gain = hn::Min(result.gain, limit);
  }
  result.luma = rounded(hn::NegMulAdd(result.gain, part_of(by.under, i), value));
  return result;
}

/// Adds the lanes whose limit serves to `limited`, and of these the doubtful ones to `bad`.
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
    // v was clamped to white's, below luma, which becomes what it becomes without saturation.
    const VF white = with.white_gain;
    result = hn::IfThenElse(hn::Eq(excess, hn::Zero(d8)), result,
                            scale_bytes(y, {white, white, white, white}));
  }
  result = hn::SaturatedAdd(result, with.k.offset);
  return {hn::IfThenElse(hn::Eq(v, hn::Zero(d8)), code, result),
          {gains[0], gains[1], gains[2], gains[3]}};
}

/// Redoes the flagged chroma samples of a vector of luma, of which `in` is a copy, and their luma.
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

/// 256 k d in words, for the even and the odd bytes of a vector.
struct WordPair {
  V16 even, odd;
};

/// What a row's vectors are scaled with; constants, too, which the compiler would make again for
/// each vector.
template <std::size_t kRows, bool kShared, bool kUniform>
struct LumaSaturation {
  YuvVectors<kCovered<kRows, kShared>> k;
  LevelLookup<kUniform> lookup;
  LumaLimit<kRows, kShared, kUniform> limit;
  V8 white;  ///< code of white
  VF white_gain;
  V16 uniform;       ///< k in 1 / saturation::kOne
  VF uniform_float;  ///< k
  V16 low_bytes;     ///< 255
  /// Make single precision round to whole numbers, to whole multiples of 256, and to kFineBits
  /// behind the point, and add the code of black; the last one adds a half and doubtful_steps()
  /// too.
  VF whole, whole_256, fine;
  V32 doubt;   ///< twice doubtful_steps(), in the upper bits
  float sure;  ///< kSureDistance, or more
  bool ends;   ///< some v is that of black or of white
  bool exact;

  LumaSaturation(const YuvWeights& weights, const SaturatedGains& gains)
      : k(weights),
        lookup(gains),
        limit(gains),
        white(hn::Set(D8(), static_cast<std::uint8_t>(weights.luma_max + weights.luma_offset))),
        white_gain(hn::Set(DF(), gains.white_gain)),
        uniform(hn::Set(D16(), gains.factors[0])),
        uniform_float(hn::Set(DF(), gains.factor)),
        low_bytes(hn::Set(D16(), std::uint16_t{255})),
        sure(gains.close ? kSureOfClose : kSureDistance),
        ends(gains.ends),
        exact(gains.exact) {
    const auto black = static_cast<float>(weights.luma_offset);
    whole = hn::Set(DF(), kWhole + black);
    whole_256 = hn::Set(DF(), saturation::kOne * (kWhole + black));
    const int steps = doubtful_steps(gains.close);
    fine = hn::Set(DF(), 768.5f + black + static_cast<float>(steps) / kFineSteps);
    doubt = hn::Set(D32(), static_cast<std::uint32_t>(2 * steps) << (32 - kFineBits));
  }
};

/// What luma becomes that lies `under` below v, where k serves, and what it tells its chroma. With
/// kAlike all luma is at or above black, whose code is added, and the samples of a chroma sample
/// lie as far under v.
template <bool kAlike, bool kShared, bool kUniform>
class FreeLuma;

/// g (v - k d) for one k of all levels: 256 (v - k d) is a whole number of 16 bits.
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
    const VF whole = kAlike ? with.whole_256 : hn::Set(DF(), saturation::kOne * kWhole);
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

/// W - s d for a k of each level.
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
    const VF whole = kAlike ? with.whole : hn::Set(DF(), kWhole);
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

  /// `total` are sums of what luma tells its chroma.
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
  /// Where sums have no rounding, what is beyond the sure distance of a half is on it, and goes up.
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

HWY_INLINE bool all_sure(VF distance, float sure = kSureSaturated) {
  return hn::AllFalse(DF(), hn::Gt(distance, hn::Set(DF(), sure)));
}

/// Scales a vector where k serves all pixels and no luma lies over v. Where a result is in doubt
/// nothing is written, and the answer is false. With kAlike all luma that a chroma sample covers
/// lies as far under its v.
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
  if constexpr (kUniform) {
    for (VF& each : total)
      each = hn::Mul(each, with.uniform_float);
  }
  ScaledChroma<kShared> chroma(ready.chroma, total);
  if (HWY_UNLIKELY(!all_sure(chroma.distance(), with.sure))) {
    if (!with.exact) return false;
    chroma.put_halves_up();
  }
  write_planes<kStores>(chroma.cb.codes(), chroma.cr.codes(), out);
  for (std::size_t r = 0; r < kRows; ++r)
    store<kStores>(luma[r], d8, out.luma[r]);
  return true;
}

/// Colours of a chroma sample, in the lanes of a part.
struct CellColours {
  VF above;    ///< of the largest channel over luma
  VF range;    ///< v - m, or 1 where that is 0
  VF inverse;  ///< of that
};
template <bool kShared, typename Started>
HWY_INLINE void make_cells(const Started& luma, CellColours (&cells)[kChromaParts<kShared>]) {
  // Gray counts as if its channels lay 1 apart: at v = 0 there would be no quotient.
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

/// The bytes above kFineBits of lanes, b[k] to the bytes k, 4 + k, 8 + k ...
HWY_INLINE V8 join_fine(const V32 (&x)[4]) {
#if EQUALUX_FIXED_GAINS
  const D16 d;
  const auto words = [](V32 lower, V32 upper) HWY_ATTR {
    return hn::OddEven(hn::BitCast(D16(), hn::ShiftLeft<16 - kFineBits>(upper)),
                       hn::BitCast(D16(), hn::ShiftRight<kFineBits>(lower)));
  };
  const V16 even = hn::And(words(x[0], x[2]), hn::Set(d, std::uint16_t{255}));
  return hn::BitCast(D8(), hn::Or(even, hn::ShiftLeft<8>(words(x[1], x[3]))));
#else
  const auto byte = [](V32 lanes) HWY_ATTR {
    return hn::And(hn::ShiftRight<kFineBits>(lanes), hn::Set(D32(), 255u));
  };
  return join_bytes(byte(x[0]), byte(x[1]), byte(x[2]), byte(x[3]));
#endif
}

/// A vector of luma where S may come to 1, as `fine` has what it becomes; adds what it tells its
/// chroma to `total`. With kBeyond S may be above 1, and stays so.
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

/// saturate_freely() where S may come to 1.
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
  // The parts behind the point in the upper bits: small ones are doubtful.
  V32 least = with.doubt;
  for (std::size_t r = 0; r < kRows; ++r) {
    const LimitedLuma<kBeyond> limited(with, lookup.finish(ready.v[r], ready.gains[r]), ready.v[r],
                                       cells, total);
    for (const V32& bits : limited.bits)
      least = hn::Min(least, hn::ShiftLeft<32 - kFineBits>(bits));
    luma[r] = join_fine(limited.bits);
  }
  const ScaledChroma<kShared> chroma(ready.chroma, total);
  const bool luma_sure = hn::AllTrue(D32(), hn::Eq(least, with.doubt));
  if (HWY_UNLIKELY(!luma_sure || !all_sure(chroma.distance(), kSureDistance))) return false;
  write_planes<kStores>(chroma.cb.codes(), chroma.cr.codes(), out);
  for (std::size_t r = 0; r < kRows; ++r)
    store<kStores>(luma[r], D8(), out.luma[r]);
  return true;
}

/// The same as a function of its own, which leaves the loop around it shorter and more registers.
/// On targets whose vectors wait in registers they would have to be stored for it.
template <bool kBeyond, Stores kStores, std::size_t kRows, bool kShared, bool kUniform>
HWY_NOINLINE bool saturate_limited_apart(const LumaSaturation<kRows, kShared, kUniform>& with,
                                         const StartedLuma<kRows, kShared, kUniform, true>& ready,
                                         const YuvRowOut& out) {
  return saturate_limited<kBeyond, kStores>(with, with.lookup, ready, out);
}

/// Scales a vector with V that was clamped, or luma below black, if k serves all pixels.
template <Stores kStores, std::size_t kRows, bool kShared, bool kUniform, bool kLimits>
HWY_NOINLINE bool saturate_clamped(const LumaSaturation<kRows, kShared, kUniform>& with,
                                   const StartedLuma<kRows, kShared, kUniform, kLimits>& ready,
                                   const YuvRowIn in, const YuvRowOut out) {
  // Luma over white lies over v.
  V8 over = hn::SaturatedSub(hn::LoadU(D8(), in.luma[0]), with.white);
  if constexpr (kRows == 2)
    over = hn::Or(over, hn::SaturatedSub(hn::LoadU(D8(), in.luma[1]), with.white));
  return all_zero(over) && saturate_freely<false, kStores>(with, with.lookup, ready, in, out);
}

/// Not 0 where luma lies below black: colours may lift its v above that of black.
template <std::size_t kRows, bool kShared, bool kUniform>
HWY_INLINE V8 below_black(const LumaSaturation<kRows, kShared, kUniform>& with,
                          const YuvRowIn& in) {
  V8 darkest = hn::LoadU(D8(), in.luma[0]);
  if constexpr (kRows == 2) darkest = hn::Min(darkest, hn::LoadU(D8(), in.luma[1]));
  return hn::SaturatedSub(with.k.offset, darkest);
}

/// Not 0 where v was clamped, or luma lies below black.
template <std::size_t kRows, bool kShared, bool kUniform, bool kLimits>
HWY_INLINE V8 unlike_luma(const LumaSaturation<kRows, kShared, kUniform>& with,
                          const StartedLuma<kRows, kShared, kUniform, kLimits>& ready,
                          const YuvRowIn& in) {
  const D8 d8;
  // Where v was not clamped it is y and what the largest channel lies over that; past 255 such a
  // sum never comes to white's v.
  const V8 raise = hn::Sub(ready.above, with.k.offset);
  V8 unlike = below_black(with, in);
  for (std::size_t r = 0; r < kRows; ++r) {
    const V8 code = hn::LoadU(d8, in.luma[r]);
    unlike = hn::Or(unlike, hn::Xor(hn::Add(code, raise), ready.v[r]));
  }
  return unlike;
}

/// Scales a vector by one of the three, if that is possible.
template <Stores kStores, std::size_t kRows, bool kShared, bool kUniform, bool kLimits>
HWY_INLINE bool saturate_surely(const LumaSaturation<kRows, kShared, kUniform>& with,
                                const LevelLookup<kUniform>& lookup,
                                const StartedLuma<kRows, kShared, kUniform, kLimits>& ready,
                                const YuvRowIn& in, const YuvRowOut& out) {
  const D8 d8;
  const V8 unlike = with.ends ? unlike_luma(with, ready, in) : below_black(with, in);
  V8 reached = hn::Zero(d8);
  if constexpr (kLimits) reached = with.limit.reached(ready);
  if (all_zero(hn::Or(unlike, reached)))
    return saturate_freely<true, kStores>(with, lookup, ready, in, out);
  if constexpr (kLimits) {
    if (all_zero(unlike)) {
      const bool beyond = !all_zero(with.limit.beyond(ready));
      if constexpr (EQUALUX_FIXED_GAINS != 0) {
        if (!beyond) return saturate_limited_apart<false, kStores>(with, ready, out);
        return saturate_limited_apart<true, kStores>(with, ready, out);
      } else {
        if (!beyond) return saturate_limited<false, kStores>(with, lookup, ready, out);
        return saturate_limited<true, kStores>(with, lookup, ready, out);
      }
    }
  }
  if (!all_zero(reached)) return false;
  auto kept = ready;  // in memory, while the other may stay in registers
  kept.blacken(with.k, with.lookup, in);
  return saturate_clamped<kStores>(with, kept, in, out);
}

/// The same of any vector.
template <Stores kStores, std::size_t kRows, bool kShared, bool kUniform, bool kLimits>
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
    write_planes<kStores>(cb.codes(), cr.codes(), out);
    for (std::size_t r = 0; r < kRows; ++r)
      store<kStores>(luma[r], d, out.luma[r]);
    return;
  }
  // That is so where no limit serves, and all luma has inexact of 0. The others are redone.
  scaled.put_halves_up();
  // As with curves that leave values where they are: halves are many, and none is in doubt.
  if (gains.exact && !(kLimits && (any_of(bad) || any_of(limited)))) {
    write_planes<kStores>(cb.codes(), cr.codes(), out);
    for (std::size_t r = 0; r < kRows; ++r)
      store<kStores>(luma[r], d, out.luma[r]);
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

template <std::size_t kRows, bool kShared, bool kUniform, bool kLimits>
void saturate_yuv_rows(const YuvWeights& weights, const SaturatedGains& gains,
                       const std::uint64_t* gain48, Stores stores, const YuvRowIn in, std::size_t n,
                       const YuvRowOut out) {
  using Luma = StartedLuma<kRows, kShared, kUniform, kLimits>;
  const LumaSaturation<kRows, kShared, kUniform> with(weights, gains);
  const auto& k = with.k;
  // Copies of their own, which stay in registers, as no function sees them.
  const LevelLookup<kUniform> lookup(gains);
  const std::size_t vectors = n / kBytes;
  const bool undone = gains.undone;
  const auto all = [&](auto kind) HWY_ATTR {
#if EQUALUX_FIXED_GAINS
    Luma ring[4];
    const auto start = [&](std::size_t i) HWY_ATTR {
      if (i < vectors) ring[i % 4].start(k, advance_rows<kRows>(in, i * kBytes, kShared));
    };
    const auto look_up = [&](std::size_t i) HWY_ATTR {
      if (i < vectors) ring[i % 4].look_up(lookup);
    };
    start(0);
    start(1);
    look_up(0);
    for (std::size_t i = 0; i < vectors; ++i) {
      const YuvRowIn from = advance_rows<kRows>(in, i * kBytes, kShared);
      start(i + 2);
      look_up(i + 1);
      const YuvRowOut to = advance_rows<kRows>(out, i * kBytes, kShared);
      if (HWY_UNLIKELY(undone) || !saturate_surely<kind()>(with, lookup, ring[i % 4], from, to)) {
        saturate_vector<kind(), kRows, kShared, kUniform, kLimits>(with, weights, gains, gain48,
                                                                   ring[i % 4], from, to);
      }
    }
#else
    // V of the next beside the scaling of this one, in registers.
    if (vectors == 0) return;
    Luma ready;
    ready.start(k, in);
    for (std::size_t i = 0; i < vectors; ++i) {
      const YuvRowIn from = advance_rows<kRows>(in, i * kBytes, kShared);
      Luma after;
      after.start(k, advance(in, (i + 1 < vectors ? i + 1 : i) * kBytes, kShared));
      const YuvRowOut to = advance_rows<kRows>(out, i * kBytes, kShared);
      if (HWY_UNLIKELY(undone) || !saturate_surely<kind()>(with, lookup, ready, from, to)) {
        Luma kept = ready;  // in memory
        saturate_vector<kind(), kRows, kShared, kUniform, kLimits>(with, weights, gains, gain48,
                                                                   kept, from, to);
      }
      ready = after;
    }
#endif
  };
  if (may_stream<kRows, kShared>(stores, out)) {
    all(std::integral_constant<Stores, Stores::streaming>());
  } else {
    all(std::integral_constant<Stores, Stores::cached>());
  }
  const std::size_t done = vectors * kBytes;
  if (done == n) return;
  Tail<kRows, kShared> tail(advance(in, done, kShared), n - done);
  Luma last;
  last.start(k, tail.in());
  last.look_up(lookup);
  saturate_vector<Stores::cached, kRows, kShared, kUniform, kLimits>(with, weights, gains, gain48,
                                                                     last, tail.in(), tail.out());
  tail.copy_to(advance(out, done, kShared));
}

void saturate_yuv_row(const SaturatedGains& gains, const std::uint64_t* gain48, Sampling sampling,
                      const YuvWeights& k, Stores stores, const YuvRowIn& in, std::size_t n,
                      const YuvRowOut& out) {
  with_kinds(gains, [&](auto uniform, auto limits) {
    constexpr bool kUniform = uniform();
    constexpr bool kLimits = limits();
    switch (sampling) {
      case Sampling::s420:
        return saturate_yuv_rows<2, true, kUniform, kLimits>(k, gains, gain48, stores, in, n, out);
      case Sampling::s422:
        return saturate_yuv_rows<1, true, kUniform, kLimits>(k, gains, gain48, stores, in, n, out);
      default:
        return saturate_yuv_rows<1, false, kUniform, kLimits>(k, gains, gain48, stores, in, n, out);
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace equalux
HWY_AFTER_NAMESPACE();

#endif  // include guard
