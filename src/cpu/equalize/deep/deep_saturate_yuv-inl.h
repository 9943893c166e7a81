// Pass 2 of deep_rows.h for YCbCr with changed saturation; included by deep_rows-inl.h, once for
// each target.
//
// With lines, slopes also scale chroma. The sums of the definition, whose terms are rounded down,
// lie between two bounds near the sums of slopes. A vector with a result on which the bounds differ
// is scaled again by a body that tells which lanes cannot be wrong: with gains that are simple
// fractions, as that of white often is, halves are frequent.
//
// With a common k, v - k d of luma is a whole multiple of 1/256, one multiply-add of pairs of
// words. Beside the gain there is a share, a whole number of units, so that sums and products of
// chroma are exact, as without saturation, where S stays below 1. A test in words finds vectors in
// which it surely does; for others f = v / (v - m) is computed by one division for all luma of a
// chroma sample, and their chroma may be doubtful.
#if defined(EQUALUX_DEEP_SATURATE_YUV_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUALUX_DEEP_SATURATE_YUV_INL_H
#undef EQUALUX_DEEP_SATURATE_YUV_INL_H
#else
#define EQUALUX_DEEP_SATURATE_YUV_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace equalux::deep_loops {
namespace HWY_NAMESPACE {

/// look_up_entries() with v doubled, which makes it an index of numbers: addresses have no factor
/// of 16.
HWY_INLINE void look_up_doubled(const double* table, const std::uint16_t* twice, VF& first,
                                VF& second) {
  look_up_entries([&](std::size_t i) HWY_ATTR { return table + twice[4 * i]; }, first, second);
}
/// Test of whether results with both bounds round to the same whole numbers.
class Differences {
 public:
  HWY_INLINE Differences() : all_(hn::Zero(D64())) {}
  HWY_INLINE void add(VF more, VF less) {
    const D64 d;
    all_ = hn::Or(all_, hn::Xor(hn::BitCast(d, more), hn::BitCast(d, less)));
  }
  HWY_INLINE bool any() const { return any_set(hn::BitCast(D16(), all_)); }

 private:
  V64 all_;
};

/// Bounds of the exact sum.
struct TwoSums {
  Doubles low, high;
};

/// k as a number.
inline double factor_of(std::uint32_t factor) {
  return static_cast<double>(factor) / saturation::kOne;
}

/// Bounds of a sum that scales chroma, over kCovered luma samples.
///
/// The definition rounds a gain down to units of 2^-deep_share_bits(), and then its product with k,
/// or with an f below k: it is less than k + 1 units below the product, or k / 256 above it, for
/// the largest k; 1/8 unit more covers all roundings of a sample. Where chroma times both bounds
/// rounds to the same whole number, that is the result, as the exact one lies between.
template <int kCovered>
class ChromaEnds {
 protected:
  ChromaEnds(const DeepSamples& form, std::uint32_t most)
      : centre_(form.chroma_middle, kLog2),
        below_(units(form, factor_of(most) + 1.125)),
        above_(units(form, factor_of(most) / 256 + 0.125)),
        base_(hn::Set(DF(), 1.5 * kTwo52 + form.chroma_middle)),
        most_(hn::Set(DI32(), form.most)) {}

  static constexpr int kLog2 = kCovered == 4 ? 2 : kCovered - 1;

  Centre centre_;
  VF below_, above_, base_;
  VI32 most_;

 private:
  static VF units(const DeepSamples& form, double n) {
    return hn::Set(DF(), std::ldexp(kCovered * n, -deep_share_bits(form.depth)));
  }
};

/// Chroma times the mean slope of kCovered luma samples. Bounds are 2^-48 of the sum wider, for
/// roundings of slopes.
///
/// Where slopes are whole multiples of 1 / 256 and equal the contributions of luma, sums and
/// products are exact and may be on a half. Where a mask tells those lanes, one unit times chroma
/// of at most 2^(depth - 1) is added, which rounds halves up; other lanes may be wrong within k + 2
/// and 1/4 such units of a half.
///
/// Numbers before saturation fit in 32 bits: slopes are below 16 M / v, chroma below 13 v.
template <int kCovered>
class SaturatedChroma : ChromaEnds<kCovered> {
 public:
  SaturatedChroma(const DeepSamples& form, std::uint32_t most)
      : ChromaEnds<kCovered>(form, most),
        more_(hn::Set(DF(), std::ldexp(1.0, -form.depth - 8))),
        sure_(hn::Set(DF(), 0.5 - std::ldexp(factor_of(most) + 2.25, -form.depth - 8))) {}

  HWY_INLINE TwoSums ends_of(const Doubles& sums) const {
    const DF d;
    TwoSums ends;
    for (std::size_t i = 0; i < 4; ++i) {
      ends.low.f[i] = hn::MulSub(sums.f[i], hn::Set(d, 1 - kRounding), below_);
      ends.high.f[i] = hn::MulAdd(sums.f[i], hn::Set(d, 1 + kRounding), above_);
    }
    return ends;
  }
  HWY_INLINE V16 scale(V16 codes, const TwoSums& sums, Differences& differences) const {
    const Doubles u = centre_(codes);
    Doubles scaled;
    for (std::size_t i = 0; i < 4; ++i) {
      scaled.f[i] = hn::MulAdd(u.f[i], sums.low.f[i], base_);
      differences.add(scaled.f[i], hn::MulAdd(u.f[i], sums.high.f[i], base_));
    }
    return join_clamped(scaled, most_);
  }
  /// scale() where only lanes in `asked` may be wrong.
  HWY_INLINE V16 scale_asked(V16 codes, const Doubles& sums, const Lanes& asked,
                             Distances& distances) const {
    const Doubles u = centre_(codes);
    Doubles scaled;
    for (std::size_t i = 0; i < 4; ++i) {
      const VF product = hn::MulAdd(u.f[i], sums.f[i], more_);
      scaled.f[i] = hn::Add(product, base_);
      distances.add(product, hn::Sub(scaled.f[i], base_), asked.f[i]);
    }
    return join_clamped(scaled, most_);
  }
  /// Distance from a whole number above which such lanes may be wrong.
  HWY_INLINE VF sure() const { return sure_; }

 private:
  static constexpr double kRounding = 1.0 / static_cast<double>(std::uint64_t{1} << 48);
  using ChromaEnds<kCovered>::centre_, ChromaEnds<kCovered>::below_, ChromaEnds<kCovered>::above_,
      ChromaEnds<kCovered>::base_, ChromaEnds<kCovered>::most_;

  VF more_, sure_;
};

/// Duplicates the sums of cells of two luma columns, at 0 and 2, for Cb and Cr of each.
template <typename Four>
HWY_INLINE Four of_cells(const Four& x) {
  return {{x.f[0], x.f[0], x.f[2], x.f[2]}};
}

/// A little less than 1 / w, with w at least 1.
HWY_INLINE Doubles inverses_of(const Centre& numbers, V16 w) {
  const Doubles x = numbers(hn::Max(w, hn::Set(D16(), std::uint16_t{1})));
  const VF below_one = hn::Set(DF(), 2 - kAboveValue);
  Doubles inverse;
  for (std::size_t i = 0; i < 4; ++i)
    inverse.f[i] = hn::Div(below_one, x.f[i]);
  return inverse;
}

HWY_INLINE void write(bool stream, V16 words, std::uint8_t* out) {
  stream ? store_words<Stores::streaming>(words, out) : store_words<Stores::cached>(words, out);
}
/// Stores chroma of a vector of columns.
template <DeepChroma kChroma>
HWY_INLINE void write_chroma(const Codes& codes, bool stream, const ChromaCodes<kChroma>& chroma,
                             const YuvRowOut& out) {
  if constexpr (kChroma == DeepChroma::pairs) {
    write(stream, codes.words(chroma.first), out.cb);
  } else if constexpr (kChroma == DeepChroma::shared) {
    store_pairs(codes.words(chroma.first), out.cb, out.cr);
  } else {
    write(stream, codes.words(chroma.first), out.cb);
    write(stream, codes.words(chroma.second), out.cr);
  }
}

/// Redoes a vector of columns by the plain loops, from a copy, as input and output may be the same
/// memory.
template <DeepChroma kChroma, std::size_t kRows>
HWY_NOINLINE void redo(const DeepSamples& form, const DeepGains& gains,
                       const DeepSaturation& saturation, YuvRowIn in, YuvRowOut out) {
  Tail<kChroma, kRows> copy(in, kWords);
  in = copy.in();
  if constexpr (kChroma == DeepChroma::pairs) {
    in.cr = in.cb + 2;
    out.cr = out.cb + 2;
  }
  constexpr DeepCells kCells{static_cast<int>(kRows), ChromaCodes<kChroma>::kShared ? 2 : 1,
                             kChroma == DeepChroma::pairs ? std::size_t{4} : std::size_t{2}};
  saturate_deep_yuv(plain_curve(gains, saturation), form, kCells, in, kWords, out);
}

/// Values of a block's columns, kept from counting to scaling.
struct SaturatedValues {
  alignas(64) std::uint16_t place[2][kBlock];  ///< index of v in the table
  alignas(64) std::uint16_t below[kBlock];     ///< luma less the least channel
  alignas(64) std::uint16_t spread[kBlock];    ///< largest less least channel
  bool over[kBlock / kWords];                  ///< S may come to 1 in a vector
};

/// Computes SaturatedValues. With kDoubled v is stored doubled, as the index in a table of pairs.
template <DeepChroma kChroma, std::size_t kRows, bool kDoubled>
class ValueKeeper {
 public:
  ValueKeeper(const DeepSamples& form, const DeepSaturation& saturation)
      : limits_(saturation.limits), values_(form), may_reach_one_(saturation) {}

  HWY_INLINE void operator()(const YuvRowIn& in, std::size_t at, SaturatedValues& to) const {
    const D16 d;
    ChromaCodes<kChroma> chroma;
    chroma.load(values_.codes, in);
    V16 above, spread;
    if (limits_) {
      const YuvValues::Spread ends = values_.spread(chroma);
      above = ends.above;
      spread = hn::SaturatedAdd(ends.above, ends.below);
      hn::Store(ends.below, d, to.below + at % kBlock);
      hn::Store(spread, d, to.spread + at % kBlock);
    } else {
      above = values_.above(chroma);
    }
    // v = 0 counts as large, as its f is at most 1.
    V16 least = hn::Set(d, std::uint16_t{0xFFFF});
    for (std::size_t r = 0; r < kRows; ++r) {
      const V16 v = values_.of_kept(values_.codes.load(in.luma[r]), above);
      hn::Store(kDoubled ? hn::Add(v, v) : v, d, to.place[r] + at % kBlock);
      least = hn::Min(least, hn::Sub(v, hn::Set(d, std::uint16_t{1})));
    }
    if (limits_) to.over[at % kBlock / kWords] = may_reach_one_(least, spread);
  }
  /// v of a vector of indices.
  static HWY_INLINE V16 value_at(const std::uint16_t* place) {
    const V16 v = hn::Load(D16(), place);
    return kDoubled ? hn::ShiftRight<1>(v) : v;
  }

 private:
  bool limits_;
  YuvValues values_;
  MayReachOne may_reach_one_;
};

/// Effect of a k above 1 on a vector.
enum class Limit : std::uint8_t {
  none,   ///< S stays below 1
  cells,  ///< S may come to 1, and v - m is the same for all luma of a chroma sample
  lanes   ///< S may come to 1, in the general case
};

/// Saturator with a line for each level; kSixteen: 16 bits.
template <DeepChroma kChroma, std::size_t kRows, bool kSixteen>
class LineSaturator {
 public:
  const ValueKeeper<kChroma, kRows, !kSixteen> keep;

  LineSaturator(const DeepSamples& form, const DeepGains& gains, const DeepSaturation& saturation)
      : keep(form, saturation),
        form_(form),
        gains_(gains),
        saturation_(saturation),
        table_(&saturation.lines[0].value),
        limits_(saturation.limits),
        codes_(form),
        numbers_(0, 0),
        base_(hn::Set(DF(), kTwo52)),
        sure_(hn::Set(DF(), kSureLine)),
        chroma_(form, saturation.most),
        offset_(hn::Set(D16(), static_cast<std::uint16_t>(form.weights.luma_offset))),
        most_value_(hn::Set(D16(), static_cast<std::uint16_t>(form.weights.luma_max))),
        white_gain_(hn::Set(DF(), saturation.lines.back().value / form.weights.luma_max)) {}

  /// Scales a vector of columns that begins at `at` of the block.
  HWY_INLINE void operator()(const YuvRowIn& in, const SaturatedValues& kept, std::size_t at,
                             bool stream, const YuvRowOut& out) const {
    if (HWY_LIKELY(!saturation_.exact)) {
      const bool done = limits_ && kept.over[at / kWords]
                            ? limited(in, kept, at, stream, out)
                            : scale<Limit::none>(in, kept, at, stream, out);
      if (HWY_LIKELY(done)) return;
    }
    scale_in_doubt(in, kept, at, stream, out);
  }

 private:
  static constexpr bool kShared = ChromaCodes<kChroma>::kShared;

  static HWY_INLINE void look_up_at(const double* table, const std::uint16_t* place, VF& value,
                                    VF& slope) {
    if constexpr (kSixteen) {
      look_up_entries([&](std::size_t i) HWY_ATTR { return table + 2 * std::size_t{place[4 * i]}; },
                      value, slope);
    } else {
      look_up_doubled(table, place, value, slope);
    }
  }

  /// Tries Limit::cells, which needs that no v was clamped, or is below v - m, where f is 1.
  HWY_NOINLINE bool limited(const YuvRowIn& in, const SaturatedValues& kept, std::size_t at,
                            bool stream, const YuvRowOut& out) const {
    const D16 d;
    const V16 one = hn::Set(d, std::uint16_t{1});
    const V16 spread = hn::SaturatedSub(hn::Load(d, kept.spread + at), one);
    V16 other = hn::Zero(d);
    for (std::size_t r = 0; r < kRows; ++r) {
      const V16 v = keep.value_at(kept.place[r] + at);
      other = hn::Or(other, hn::SaturatedSub(spread, hn::Sub(v, one)));
      other = hn::Or(other, hn::VecFromMask(d, hn::Eq(v, most_value_)));
    }
    return !any_set(other) && scale<Limit::cells>(in, kept, at, stream, out);
  }

  HWY_NOINLINE void scale_in_doubt(const YuvRowIn& in, const SaturatedValues& kept, std::size_t at,
                                   bool stream, const YuvRowOut& out) const {
    if (!scale<Limit::lanes>(in, kept, at, stream, out))
      redo<kChroma, kRows>(form_, gains_, saturation_, in, out);
  }

  /// Scales a vector; returns false, with nothing written, where a result may be wrong. With
  /// Limit::lanes only lanes that are not exact count as doubtful.
  template <Limit kLimit>
  HWY_INLINE bool scale(const YuvRowIn& in, const SaturatedValues& kept, std::size_t at,
                        bool stream, const YuvRowOut& out) const {
    constexpr bool kLanes = kLimit == Limit::lanes;
    const D16 d;
    ChromaCodes<kChroma> chroma;
    chroma.load(codes_, in);
    Doubles inverse;
    if constexpr (kLimit == Limit::cells)
      inverse = inverses_of(numbers_, hn::Load(d, kept.spread + at));
    V16 luma[kRows];
    V16 excess = hn::Zero(d);
    Doubles sums;
    Lanes asked;
    Distances luma_distances;
    luma[0] = scale_row<kLimit, 0>(in, kept, at, inverse, excess, sums, asked, luma_distances);
    if constexpr (kRows == 2)
      luma[1] = scale_row<kLimit, 1>(in, kept, at, inverse, excess, sums, asked, luma_distances);
    if constexpr (kShared) {
      sums = of_cells(sums);
      if constexpr (kLanes) asked = of_cells(asked);
    }
    Differences differences;
    Distances distances;
    ChromaCodes<kChroma> scaled = chroma;
    if constexpr (kLanes) {
      scaled.first = chroma_.scale_asked(chroma.first, sums, asked, distances);
      if constexpr (!kShared)
        scaled.second = chroma_.scale_asked(chroma.second, sums, asked, distances);
      if (distances.any_beyond(chroma_.sure())) return false;
    } else {
      const TwoSums ends = chroma_.ends_of(sums);
      scaled.first = chroma_.scale(chroma.first, ends, differences);
      if constexpr (!kShared) scaled.second = chroma_.scale(chroma.second, ends, differences);
      if (HWY_UNLIKELY(differences.any())) return false;
    }
    if constexpr (kSixteen) {
      if (HWY_UNLIKELY(luma_distances.any_beyond(sure_))) return false;
    }
    if (HWY_UNLIKELY(any_set(excess))) keep_excess(in, kept, at, luma);
    for (std::size_t r = 0; r < kRows; ++r)
      write(stream, codes_.words(luma[r]), out.luma[r]);
    write_chroma<kChroma>(codes_, stream, scaled, out);
    return true;
  }

  /// New luma of a row, except where it is above v, and its contribution to sums of chroma. With
  /// Limit::lanes, also the lanes whose chroma may be wrong.
  template <Limit kLimit, std::size_t kRow>
  HWY_INLINE V16 scale_row(const YuvRowIn& in, const SaturatedValues& kept, std::size_t at,
                           const Doubles& inverse, V16& excess, Doubles& sums, Lanes& asked,
                           Distances& distances) const {
    constexpr bool kLanes = kLimit == Limit::lanes;
    const std::uint16_t* place = kept.place[kRow] + at;
    const V16 v = keep.value_at(place);
    const V16 code = codes_.load(in.luma[kRow]);
    const V16 y = hn::SaturatedSub(code, offset_);
    const V16 less = hn::SaturatedSub(v, y);
    const V16 over = hn::SaturatedSub(y, v);
    excess = hn::Or(excess, over);
    Doubles least;
    if constexpr (kLanes) {
      if (limits_) least = numbers_(least_below(v, less, over, kept, at));
    }
    const Doubles x = numbers_(less);
    Doubles sum;
    for (std::size_t i = 0; i < 4; ++i) {
      const bool first = kRow == 0 && (!kShared || i % 2 == 0);
      const std::size_t cell = kShared ? i / 2 * 2 : i;
      VF value, slope;
      look_up_at(table_, place + i, value, slope);
      if constexpr (kLimit == Limit::cells) slope = hn::Min(slope, hn::Mul(value, inverse.f[cell]));
      FloatMask luma_asked, chroma_asked;
      if constexpr (kLanes) {
        luma_asked = chroma_asked = is_inexact(value);
        if (limits_) {
          const FloatMask reaches = reaches_one(value, slope, least.f[i]);
          slope = limited_slope(reaches, value, slope, least.f[i]);
          chroma_asked = hn::Or(chroma_asked, reaches);
          luma_asked = hn::AndNot(reaches, luma_asked);
        }
        asked.f[cell] = first ? chroma_asked : hn::Or(asked.f[cell], chroma_asked);
      }
      const VF result = hn::NegMulAdd(slope, x.f[i], value);
      sum.f[i] = hn::Add(result, base_);
      if constexpr (kSixteen && kLanes) {
        distances.add(result, hn::Sub(sum.f[i], base_), luma_asked);
      } else if constexpr (kSixteen) {
        distances.add(result, hn::Sub(sum.f[i], base_));
      }
      sums.f[cell] = first ? slope : hn::Add(sums.f[cell], slope);
    }
    return hn::Add(join_words(sum), hn::Min(code, offset_));
  }

  /// Distance of the least channel below v: at most v, since f is 1 where channels are below black,
  /// and at least 1.
  HWY_INLINE V16 least_below(V16 v, V16 less, V16 excess, const SaturatedValues& kept,
                             std::size_t at) const {
    const D16 d;
    const V16 sum = hn::SaturatedAdd(less, hn::Load(d, kept.below + at));
    const V16 below = hn::SaturatedSub(sum, excess);
    return hn::Max(hn::Min(below, v), hn::Set(d, std::uint16_t{1}));
  }

  /// Scales luma above v, which was clamped to M, as without saturation.
  HWY_NOINLINE void keep_excess(const YuvRowIn& in, const SaturatedValues& kept, std::size_t at,
                                V16 (&luma)[kRows]) const {
    const D16 d;
    for (std::size_t r = 0; r < kRows; ++r) {
      const V16 y = hn::SaturatedSub(codes_.load(in.luma[r]), offset_);
      const V16 excess = hn::SaturatedSub(y, keep.value_at(kept.place[r] + at));
      const Doubles x = numbers_(y);
      Doubles sum;
      for (std::size_t i = 0; i < 4; ++i)
        sum.f[i] = hn::MulAdd(x.f[i], white_gain_, base_);
      luma[r] =
          hn::IfThenElse(hn::Eq(excess, hn::Zero(d)), luma[r], hn::Add(join_words(sum), offset_));
    }
  }

  const DeepSamples& form_;
  const DeepGains& gains_;
  const DeepSaturation& saturation_;
  const double* table_;
  bool limits_;
  Codes codes_;
  Centre numbers_;
  VF base_, sure_;
  SaturatedChroma<static_cast<int>(kRows) * (kShared ? 2 : 1)> chroma_;
  V16 offset_, most_value_;
  VF white_gain_;
};

/// (256 v - p d) / 256 of vectors of words, for v of at most 12 bits and p of at most
/// saturation::kMostFactor. Never negative.
class Lessened {
 public:
  explicit Lessened(std::uint32_t p)
      : weights_(hn::BitCast(DI16(), hn::Set(D32(), ((0x10000u - p) << 16) | saturation::kOne))),
        first_(hn::Set(DF(), kFirst)) {}

  HWY_INLINE Doubles operator()(V16 v, V16 d) const {
    const D32 d32;
    const auto pair = [](V16 words) HWY_ATTR { return hn::BitCast(DI16(), words); };
    const auto up = hn::BitCast(D16(), hn::ShiftLeft<16>(hn::BitCast(d32, d)));
    const auto down = hn::BitCast(D16(), hn::ShiftRight<16>(hn::BitCast(d32, v)));
    const VI32 even = sum_of_products(pair(hn::OddEven(up, v)), weights_);
    const VI32 odd = sum_of_products(pair(hn::OddEven(d, down)), weights_);
    return {low(even), low(odd), high(even), high(odd)};
  }

 private:
  /// Number whose last bit is worth 1 / 256.
  static constexpr double kFirst = kTwo52 / saturation::kOne;

  HWY_INLINE VF low(VI32 lanes) const {
    const D32 d;
    const V32 number = hn::OddEven(hn::BitCast(d, first_), hn::BitCast(d, lanes));
    return hn::Sub(hn::BitCast(DF(), number), first_);
  }
  HWY_INLINE VF high(VI32 lanes) const {
    const D64 d;
    const V64 number = hn::Or(hn::ShiftRight<32>(hn::BitCast(d, lanes)), hn::BitCast(d, first_));
    return hn::Sub(hn::BitCast(DF(), number), first_);
  }

  VI16 weights_;
  VF first_;
};

/// Chroma times the mean share of kCovered luma samples. Where S stays below 1, sums and products
/// are whole numbers of units of 2^-deep_share_bits(), and half a unit more rounds halves up. Where
/// S comes to 1, luma contributes gain times f, and chroma is scaled with both bounds.
template <int kCovered>
class SharedChroma : ChromaEnds<kCovered> {
 public:
  SharedChroma(const DeepSamples& form, std::uint32_t most)
      : ChromaEnds<kCovered>(form, most),
        more_(hn::Set(
            DF(), std::ldexp(0.5, -deep_share_bits(form.depth) - ChromaEnds<kCovered>::kLog2))) {}

  HWY_INLINE V16 operator()(V16 codes, const Doubles& sums) const {
    const Doubles u = centre_(codes);
    Doubles scaled;
    for (std::size_t i = 0; i < 4; ++i)
      scaled.f[i] = hn::Add(hn::MulAdd(u.f[i], sums.f[i], more_), base_);
    return join_clamped(scaled, most_);
  }
  HWY_INLINE TwoSums ends_of(const Doubles& sums, const Lanes& limited) const {
    TwoSums ends;
    for (std::size_t i = 0; i < 4; ++i) {
      ends.low.f[i] = hn::Sub(sums.f[i], hn::IfThenElseZero(limited.f[i], below_));
      ends.high.f[i] = hn::Add(sums.f[i], hn::IfThenElseZero(limited.f[i], above_));
    }
    return ends;
  }
  /// Scales with both bounds; `limited` tells which sums are not exact.
  HWY_INLINE V16 operator()(V16 codes, const TwoSums& sums, const Lanes& limited,
                            Differences& differences) const {
    const Doubles u = centre_(codes);
    Doubles scaled;
    for (std::size_t i = 0; i < 4; ++i) {
      const VF more = hn::IfThenZeroElse(limited.f[i], more_);
      scaled.f[i] = hn::Add(hn::MulAdd(u.f[i], sums.low.f[i], more), base_);
      differences.add(scaled.f[i], hn::Add(hn::MulAdd(u.f[i], sums.high.f[i], more), base_));
    }
    return join_clamped(scaled, most_);
  }

 private:
  using ChromaEnds<kCovered>::centre_, ChromaEnds<kCovered>::below_, ChromaEnds<kCovered>::above_,
      ChromaEnds<kCovered>::base_, ChromaEnds<kCovered>::most_;

  VF more_;
};

/// Saturator with one gain and one share for each level.
template <DeepChroma kChroma, std::size_t kRows>
class AlikeSaturator {
 public:
  const ValueKeeper<kChroma, kRows, true> keep;

  AlikeSaturator(const DeepSamples& form, const DeepGains& gains, const DeepSaturation& saturation)
      : keep(form, saturation),
        form_(form),
        gains_(gains),
        saturation_(saturation),
        table_(&saturation.scalings[0].gain),
        limits_(saturation.limits),
        codes_(form),
        lessened_(saturation.most),
        numbers_(0, 0),
        base_(hn::Set(DF(), kTwo52)),
        chroma_(form, saturation.most),
        offset_(hn::Set(D16(), static_cast<std::uint16_t>(form.weights.luma_offset))),
        most_value_(hn::Set(D16(), static_cast<std::uint16_t>(form.weights.luma_max))),
        factor_(hn::Set(DF(), factor_of(saturation.most))) {}

  HWY_INLINE void operator()(const YuvRowIn& in, const SaturatedValues& kept, std::size_t at,
                             bool stream, const YuvRowOut& out) const {
    if (limits_ && HWY_UNLIKELY(kept.over[at / kWords])) {
      limited(in, kept, at, stream, out);
      return;
    }
    scale<Limit::none>(in, kept, at, stream, out);
  }

 private:
  static constexpr bool kShared = ChromaCodes<kChroma>::kShared;
  HWY_NOINLINE void limited(const YuvRowIn& in, const SaturatedValues& kept, std::size_t at,
                            bool stream, const YuvRowOut& out) const {
    const D16 d;
    V16 clamped = hn::Zero(d);
    for (std::size_t r = 0; r < kRows; ++r) {
      clamped = hn::Or(clamped,
                       hn::VecFromMask(d, hn::Eq(keep.value_at(kept.place[r] + at), most_value_)));
    }
    const bool sure = !any_set(clamped) ? scale<Limit::cells>(in, kept, at, stream, out)
                                        : scale<Limit::lanes>(in, kept, at, stream, out);
    if (!sure) redo<kChroma, kRows>(form_, gains_, saturation_, in, out);
  }

  /// Scales a vector; returns false, with nothing written, where a result may be wrong.
  template <Limit kLimit>
  HWY_INLINE bool scale(const YuvRowIn& in, const SaturatedValues& kept, std::size_t at,
                        bool stream, const YuvRowOut& out) const {
    const D16 d;
    ChromaCodes<kChroma> chroma;
    chroma.load(codes_, in);
    // For cells, or for the lanes of a row: 1 / (v - m), and v less luma.
    Doubles inverse, above;
    if constexpr (kLimit == Limit::cells) {
      const V16 spread = hn::Load(d, kept.spread + at);
      inverse = inverses_of(numbers_, spread);
      above = numbers_(hn::Sub(spread, hn::Load(d, kept.below + at)));
    }
    V16 luma[kRows];
    Doubles sums;
    Lanes limited;
    luma[0] = scale_row<kLimit, 0>(in, kept, at, inverse, above, sums, limited);
    if constexpr (kRows == 2)
      luma[1] = scale_row<kLimit, 1>(in, kept, at, inverse, above, sums, limited);
    if constexpr (kShared) {
      sums = of_cells(sums);
      if constexpr (kLimit != Limit::none) limited = of_cells(limited);
    }
    ChromaCodes<kChroma> scaled = chroma;
    if constexpr (kLimit == Limit::none) {
      scaled.first = chroma_(chroma.first, sums);
      if constexpr (!kShared) scaled.second = chroma_(chroma.second, sums);
    } else {
      Differences differences;
      const TwoSums ends = chroma_.ends_of(sums, limited);
      scaled.first = chroma_(chroma.first, ends, limited, differences);
      if constexpr (!kShared) scaled.second = chroma_(chroma.second, ends, limited, differences);
      if (HWY_UNLIKELY(differences.any())) return false;
    }
    for (std::size_t r = 0; r < kRows; ++r)
      write(stream, codes_.words(luma[r]), out.luma[r]);
    write_chroma<kChroma>(codes_, stream, scaled, out);
    return true;
  }

  /// New luma of a row, its contribution to sums of chroma, and lanes where S comes to 1.
  template <Limit kLimit, std::size_t kRow>
  HWY_INLINE V16 scale_row(const YuvRowIn& in, const SaturatedValues& kept, std::size_t at,
                           const Doubles& cell_inverse, const Doubles& cell_above, Doubles& sums,
                           Lanes& limited) const {
    const D16 d;
    const std::uint16_t* place = kept.place[kRow] + at;
    const V16 v = keep.value_at(place);
    const V16 code = codes_.load(in.luma[kRow]);
    const V16 y = hn::SaturatedSub(code, offset_);
    const V16 less = hn::SaturatedSub(v, y);
    // Luma above v, which was clamped, is scaled as without saturation.
    const V16 high = hn::Max(v, y);
    Doubles lessened, value, inverse, above;
    if constexpr (kLimit == Limit::none) {
      lessened = lessened_(high, less);
    } else {
      value = numbers_(v);
      lessened = value;
    }
    if constexpr (kLimit == Limit::cells) {
      inverse = cell_inverse;
      above = cell_above;
    }
    if constexpr (kLimit == Limit::lanes) {
      const V16 below = hn::Load(d, kept.below + at);
      inverse = inverses_of(numbers_, hn::SaturatedSub(hn::Add(less, below), hn::Sub(high, v)));
      above = numbers_(less);
      lessened = numbers_(high);
    }
    Doubles sum;
    for (std::size_t i = 0; i < 4; ++i) {
      VF gain, share;
      look_up_doubled(table_, place + i, gain, share);
      const bool first = kRow == 0 && (!kShared || i % 2 == 0);
      const std::size_t cell = kShared ? i / 2 * 2 : i;
      if constexpr (kLimit != Limit::none) {
        const std::size_t c = kLimit == Limit::cells ? cell : i;
        const VF f =
            hn::Min(hn::Max(hn::Mul(value.f[i], inverse.f[c]), hn::Set(DF(), 1.0)), factor_);
        lessened.f[i] = hn::Max(hn::NegMulAdd(f, above.f[c], lessened.f[i]), hn::Zero(DF()));
        const FloatMask reaches = hn::Lt(f, factor_);
        share = hn::IfThenElse(reaches, hn::Mul(gain, f), share);
        limited.f[cell] = first ? reaches : hn::Or(limited.f[cell], reaches);
      }
      sum.f[i] = hn::MulAdd(gain, lessened.f[i], base_);
      sums.f[cell] = first ? share : hn::Add(sums.f[cell], share);
    }
    return hn::Add(join_words(sum), hn::Min(code, offset_));
  }

  const DeepSamples& form_;
  const DeepGains& gains_;
  const DeepSaturation& saturation_;
  const double* table_;
  bool limits_;
  Codes codes_;
  Lessened lessened_;
  Centre numbers_;
  VF base_;
  SharedChroma<static_cast<int>(kRows) * (kShared ? 2 : 1)> chroma_;
  V16 offset_, most_value_;
  VF factor_;
};

template <DeepChroma kChroma, std::size_t kRows, typename Saturator>
void saturate_yuv_rows(const DeepSamples& form, const DeepGains& gains,
                       const DeepSaturation& saturation, bool stream, const YuvRowIn& in,
                       std::size_t n, const YuvRowOut& out) {
  const Saturator saturate(form, gains, saturation);
  SaturatedValues kept;
  const std::size_t whole = n / kWords * kWords;
  in_blocks(
      whole,
      [&](std::size_t at, std::size_t) HWY_ATTR {
        const YuvRowIn from = advance<kChroma>(in, at);
        prefetch_row<kChroma, kRows>(from);
        saturate.keep(from, at, kept);
      },
      [&](std::size_t begin, std::size_t columns) HWY_ATTR {
        for (std::size_t i = 0; i < columns; i += kWords) {
          saturate(advance<kChroma>(in, begin + i), kept, i, stream,
                   advance<kChroma>(out, begin + i));
        }
      });
  if (whole == n) return;
  Tail<kChroma, kRows> tail(advance<kChroma>(in, whole), n - whole);
  saturate_yuv_rows<kChroma, kRows, Saturator>(form, gains, saturation, false, tail.in(), kWords,
                                               tail.out());
  tail.copy_to(advance<kChroma>(out, whole));
}

void saturate_yuv(const DeepYuvForm& form, const DeepGains& gains, const DeepSaturation& saturation,
                  Stores stores, const YuvRowIn& in, std::size_t n, const YuvRowOut& out) {
  const bool stream = stores == Stores::streaming && aligned(out.luma[0]) && aligned(out.luma[1]) &&
                      aligned(out.cb) && (form.chroma == DeepChroma::pairs || aligned(out.cr));
  with_form(form, [&](auto chroma, auto rows) {
    const auto by = [&](auto loops_of) {
      using Saturator = typename decltype(loops_of)::type;
      saturate_yuv_rows<chroma(), rows(), Saturator>(form.samples, gains, saturation, stream, in, n,
                                                     out);
    };
    if (saturation.alike) {
      by(std::type_identity<AlikeSaturator<chroma(), rows()>>());
    } else if (form.samples.depth > 12) {
      by(std::type_identity<LineSaturator<chroma(), rows(), true>>());
    } else {
      by(std::type_identity<LineSaturator<chroma(), rows(), false>>());
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace equalux::deep_loops
HWY_AFTER_NAMESPACE();

#endif  // include guard
