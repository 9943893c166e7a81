// Pass 2 of deep_rows.h where saturation is changed by one factor k at all levels, in YCbCr of at
// most 12 bits, and in packed RGB where k is a whole multiple of 1/8; included by deep_rows-inl.h,
// once for each target.
//
// A look-up gives a gain g, as deep_rgb_gain() and DeepScaling say. With one k a channel v - d, or
// luma, becomes g (v - k d), of which v - k d is a whole number of 1 / 256: of YCbCr vectors of
// words make it by multiplying pairs. Beside such a gain stands a share, a whole number of units,
// so that sums and products of chroma are exact, as they are without saturation.
//
// That is where S stays below 1. Words tell vectors in which it does for sure from others, of
// which f = v / (v - m) is made, for all luma that shares a chroma sample by one division. Chroma
// of such pixels may be in doubt; what is, the plain loops redo.
#if defined(EQUALUX_DEEP_SATURATE_ALIKE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUALUX_DEEP_SATURATE_ALIKE_INL_H
#undef EQUALUX_DEEP_SATURATE_ALIKE_INL_H
#else
#define EQUALUX_DEEP_SATURATE_ALIKE_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace equalux::deep_loops {
namespace HWY_NAMESPACE {

/// Packed pixels of 16 bits: a channel c of one with value v becomes gain (v - k (v - c)).
class GainedColours {
 public:
  static constexpr bool kSure = true;

  explicit GainedColours(const DeepSaturation& saturation)
      : gains_(saturation.gains.data()),
        limits_(saturation.limits),
        may_reach_one_(saturation),
        codes_(0, 0),
        whole_(hn::Set(DF(), kWhole)),
        factor_(hn::Set(DF(), static_cast<double>(saturation.most) / saturation::kOne)) {}

 protected:
  /// f of pixels that lie `below` over their least channels: k, unless S comes to 1 by it.
  HWY_INLINE VF limited_factor(VF v, VF below) const {
    const VF one = hn::Set(DF(), 1.0);
    const VF inverse = hn::Div(hn::Set(DF(), 2 - kAboveValue), hn::Max(below, one));
    return hn::Min(hn::Max(hn::Mul(v, inverse), one), factor_);
  }
  /// A channel where f is k and `rest` (1 - k) v, and where f is less.
  HWY_INLINE VF scaled(VF gain, VF rest, VF c) const {
    return hn::MulAdd(gain, hn::MulAdd(factor_, c, rest), whole_);
  }
  HWY_INLINE VF limited(VF gain, VF f, VF v, VF c) const {
    return hn::MulAdd(gain, hn::MulAdd(f, hn::Sub(c, v), v), whole_);
  }
  HWY_INLINE VF rest_of(VF v) const { return hn::NegMulAdd(factor_, v, v); }

  const double* gains_;
  bool limits_;
  MayReachOne may_reach_one_;
  Centre codes_;
  VF whole_, factor_;
};

/// Pixels of three words, a vector of each colour at a time.
class GainedTriples : GainedColours {
 public:
  using GainedColours::kSure;
  static constexpr std::size_t kStep = 3;
  static constexpr std::size_t kPixels = kWords;

  GainedTriples(const DeepSaturation& saturation, const RgbLayout&) : GainedColours(saturation) {}

  /// To `out`, an aligned vector a colour.
  HWY_INLINE void scale(const std::uint16_t* v, const std::uint8_t* in, std::uint16_t* out) const {
    const D16 d;
    V16 c[3];
    hn::LoadInterleaved3(d, reinterpret_cast<const std::uint16_t*>(in), c[0], c[1], c[2]);
    const V16 most = hn::Max(hn::Max(c[0], c[1]), c[2]);
    const Doubles gain = look_up_words<3>(gains_, v);
    const Doubles value = codes_(most);
    if (limits_) {
      const V16 below = hn::Sub(most, hn::Min(hn::Min(c[0], c[1]), c[2]));
      if (may_reach_one_(most, below)) {
        limit(gain, value, below, c);
        hn::StoreInterleaved3(c[0], c[1], c[2], d, out);
        return;
      }
    }
    Doubles rest;
    for (std::size_t i = 0; i < 4; ++i)
      rest.f[i] = rest_of(value.f[i]);
    for (V16& x : c) {
      const Doubles code = codes_(x);
      Doubles sum;
      for (std::size_t i = 0; i < 4; ++i)
        sum.f[i] = scaled(gain.f[i], rest.f[i], code.f[i]);
      x = join_words(sum);
    }
    hn::StoreInterleaved3(c[0], c[1], c[2], d, out);
  }

 private:
  HWY_INLINE void limit(const Doubles& gain, const Doubles& value, V16 below_words,
                        V16 (&c)[3]) const {
    const Doubles below = codes_(below_words);
    Doubles f;
    for (std::size_t i = 0; i < 4; ++i)
      f.f[i] = limited_factor(value.f[i], below.f[i]);
    for (V16& x : c) {
      const Doubles code = codes_(x);
      Doubles sum;
      for (std::size_t i = 0; i < 4; ++i)
        sum.f[i] = limited(gain.f[i], f.f[i], value.f[i], code.f[i]);
      x = join_words(sum);
    }
  }
};

/// Pixels of four words, one in each 64-bit lane, of which one is no colour.
class GainedQuads : GainedColours {
 public:
  using GainedColours::kSure;
  static constexpr std::size_t kStep = 4;
  static constexpr std::size_t kPixels = kWords / 4;

  GainedQuads(const DeepSaturation& saturation, const RgbLayout& pixel)
      : GainedColours(saturation), colour_first_(pixel.first() == 0) {}

  HWY_INLINE void scale(const std::uint16_t* v, const std::uint8_t* in, std::uint16_t* out) const {
    const Doubles c = codes_(load_words(in));
    const VF gain = look_up(gains_, v);
    Doubles sum;
    if (colour_first_) {
      scale_colours(gain, c.f[0], c.f[1], c.f[2], sum.f[0], sum.f[1], sum.f[2]);
      sum.f[3] = hn::Add(c.f[3], whole_);
    } else {
      scale_colours(gain, c.f[1], c.f[2], c.f[3], sum.f[1], sum.f[2], sum.f[3]);
      sum.f[0] = hn::Add(c.f[0], whole_);
    }
    hn::Store(join_words(sum), D16(), out);
  }

 private:
  HWY_INLINE void scale_colours(VF gain, VF a, VF b, VF c, VF& to_a, VF& to_b, VF& to_c) const {
    const VF v = hn::Max(hn::Max(a, b), c);
    if (limits_) {
      const VF below = hn::Sub(v, hn::Min(hn::Min(a, b), c));
      if (HWY_UNLIKELY(!hn::AllFalse(DF(), hn::Gt(hn::Mul(factor_, below), v)))) {
        const VF f = limited_factor(v, below);
        to_a = limited(gain, f, v, a);
        to_b = limited(gain, f, v, b);
        to_c = limited(gain, f, v, c);
        return;
      }
    }
    const VF rest = rest_of(v);
    to_a = scaled(gain, rest, a);
    to_b = scaled(gain, rest, b);
    to_c = scaled(gain, rest, c);
  }

  bool colour_first_;
};

void saturate_rgb(const DeepSamples& form, const RgbLayout& pixel, const DeepGains& gains,
                  const DeepSaturation& saturation, Stores stores, const std::uint8_t* in,
                  std::size_t n, std::uint8_t* out) {
  const auto by = [&](auto loops_of) {
    using Pixels = typename decltype(loops_of)::type;
    saturate_pixels<Pixels>(form, pixel, gains, saturation, stores, in, n, out);
  };
  const bool triples = pixel.step == 6;
  if (saturation.alike) {
    triples ? by(std::type_identity<GainedTriples>()) : by(std::type_identity<GainedQuads>());
  } else {
    triples ? by(std::type_identity<SaturatedTriples>()) : by(std::type_identity<SaturatedQuads>());
  }
}

/// 256 v - p d of vectors of words, divided by 256, where v is of at most 12 bits and p at most
/// saturation::kMostFactor. Not below 0.
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
  /// Its last bit stands for 1 / 256.
  static constexpr double kFirst = kWhole / saturation::kOne;

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

/// Chroma times the mean of shares of kCovered luma samples each. Where S stays below 1 sums and
/// products are whole numbers of units, of 2^-deep_share_bits(), and half a unit more takes halves
/// up.
///
/// Where S comes to 1, what luma adds is the gain times f. The definition rounds a gain down to
/// units, then its product with f: it lies less than f + 1 units below that product, or f / 256
/// above it, and f is at most k; 1/8 is more than all roundings. Such chroma is scaled by both
/// ends.
template <int kCovered>
class SharedChroma {
 public:
  SharedChroma(const DeepSamples& form, std::uint32_t p)
      : centre_(form.chroma_middle, kLog2),
        below_(units(form, static_cast<double>(p) / saturation::kOne + 1.125)),
        above_(units(form, static_cast<double>(p) / saturation::kOne / 256 + 0.125)),
        more_(hn::Set(DF(), std::ldexp(0.5, -deep_share_bits(form.depth) - kLog2))),
        base_(hn::Set(DF(), 1.5 * kWhole + form.chroma_middle)),
        most_(hn::Set(DI32(), form.most)) {}

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
  /// The same where `limited` says which sums are not exact.
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
  static constexpr int kLog2 = kCovered == 4 ? 2 : kCovered - 1;
  static VF units(const DeepSamples& form, double n) {
    return hn::Set(DF(), std::ldexp(kCovered * n, -deep_share_bits(form.depth)));
  }

  Centre centre_;
  VF below_, above_, more_, base_;
  VI32 most_;
};

/// What is kept of a block's columns.
struct AlikeValues {
  alignas(64) std::uint16_t twice[2][kBlock];  ///< v times 2: places of doubles in the table
  alignas(64) std::uint16_t below[kBlock];     ///< how far the least channel lies below luma
  alignas(64) std::uint16_t spread[kBlock];    ///< and how far below the largest
  bool over[kBlock / kWords];                  ///< S may come to 1 in a vector
};

template <DeepChroma kChroma, std::size_t kRows>
class AlikeSaturator {
 public:
  using Kept = AlikeValues;

  AlikeSaturator(const DeepSamples& form, const DeepGains& gains, const DeepSaturation& saturation)
      : form_(form),
        gains_(gains),
        saturation_(saturation),
        table_(&saturation.scalings[0].gain),
        limits_(saturation.limits),
        values_(form),
        may_reach_one_(saturation),
        lessened_(saturation.most),
        numbers_(0, 0),
        base_(hn::Set(DF(), kWhole)),
        chroma_(form, saturation.most),
        offset_(hn::Set(D16(), static_cast<std::uint16_t>(form.weights.luma_offset))),
        most_value_(hn::Set(D16(), static_cast<std::uint16_t>(form.weights.luma_max))),
        factor_(hn::Set(DF(), static_cast<double>(saturation.most) / saturation::kOne)) {}

  HWY_INLINE void keep(const YuvRowIn& in, std::size_t at, AlikeValues& to) const {
    const D16 d;
    ChromaCodes<kChroma> chroma;
    chroma.load(values_.codes, in);
    V16 above, spread;
    if (limits_) {
      const YuvValues::Spread ends = values_.spread(chroma);
      above = ends.above;
      spread = hn::Add(ends.above, ends.below);
      hn::Store(ends.below, d, to.below + at % kBlock);
      hn::Store(spread, d, to.spread + at % kBlock);
    } else {
      above = values_.above(chroma);
    }
    // 0 is taken for a large v: its share has f = 1.
    V16 least = hn::Set(d, std::uint16_t{0xFFFF});
    for (std::size_t r = 0; r < kRows; ++r) {
      const V16 v = values_.of_kept(values_.codes.load(in.luma[r]), above);
      hn::Store(hn::Add(v, v), d, to.twice[r] + at % kBlock);
      least = hn::Min(least, hn::Sub(v, hn::Set(d, std::uint16_t{1})));
    }
    if (limits_) to.over[at % kBlock / kWords] = may_reach_one_(least, spread);
  }

  HWY_INLINE void operator()(const YuvRowIn& in, const AlikeValues& kept, std::size_t at,
                             bool stream, const YuvRowOut& out) const {
    if (limits_ && HWY_UNLIKELY(kept.over[at / kWords])) {
      limited(in, kept, at, stream, out);
      return;
    }
    scale<Limit::none>(in, kept, at, stream, out);
  }

 private:
  static constexpr bool kShared = ChromaCodes<kChroma>::kShared;
  HWY_NOINLINE void limited(const YuvRowIn& in, const AlikeValues& kept, std::size_t at,
                            bool stream, const YuvRowOut& out) const {
    const D16 d;
    const V16 most = hn::Add(most_value_, most_value_);
    V16 clamped = hn::Zero(d);
    for (std::size_t r = 0; r < kRows; ++r) {
      clamped = hn::Or(clamped, hn::VecFromMask(d, hn::Eq(hn::Load(d, kept.twice[r] + at), most)));
    }
    const bool sure = !any_set(clamped) ? scale<Limit::cells>(in, kept, at, stream, out)
                                        : scale<Limit::lanes>(in, kept, at, stream, out);
    if (!sure) redo<kChroma, kRows>(form_, gains_, saturation_, in, out);
  }

  /// False where a result may be wrong, and nothing is written.
  template <Limit kLimit>
  HWY_INLINE bool scale(const YuvRowIn& in, const AlikeValues& kept, std::size_t at, bool stream,
                        const YuvRowOut& out) const {
    const D16 d;
    ChromaCodes<kChroma> chroma;
    chroma.load(values_.codes, in);
    // Of cells, or of a row's lanes: 1 / (v - m), and v less luma.
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
      write(stream, values_.codes.words(luma[r]), out.luma[r]);
    write_chroma<kChroma>(values_.codes, stream, scaled, out);
    return true;
  }

  /// Luma of a row, and what it adds to sums of chroma and to lanes where S may come to 1.
  template <Limit kLimit, std::size_t kRow>
  HWY_INLINE V16 scale_row(const YuvRowIn& in, const AlikeValues& kept, std::size_t at,
                           const Doubles& cell_inverse, const Doubles& cell_above, Doubles& sums,
                           Lanes& limited) const {
    const D16 d;
    const std::uint16_t* twice = kept.twice[kRow] + at;
    const V16 v = hn::ShiftRight<1>(hn::Load(d, twice));
    const V16 code = values_.codes.load(in.luma[kRow]);
    const V16 y = hn::SaturatedSub(code, offset_);
    const V16 less = hn::SaturatedSub(v, y);
    // Luma over v, which was clamped there, is scaled as it is without saturation.
    const V16 high = hn::Max(v, y);
    Doubles lessened, value, inverse, above;
    if constexpr (kLimit == Limit::none) {
      lessened = lessened_(high, less);
    } else {
      value = numbers_(v);
      lessened = value;
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
      look_up_doubled(table_, twice + i, gain, share);
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
  YuvValues values_;
  MayReachOne may_reach_one_;
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
  typename Saturator::Kept kept;
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
