// Pass 2 of deep_rows.h where saturation is changed by one factor k at all levels, in YCbCr of at
// most 12 bits; included by deep_rows-inl.h, once for each target.
//
// A look-up gives a gain g and a share h, as DeepScaling says. With one k luma of a pixel, v - d,
// becomes g (v - k d), of which v - k d is a whole number of 1 / 256: vectors of words make it by
// multiplying pairs. Shares are whole numbers of units, so that sums and products of chroma are
// exact, as they are without saturation: nothing is ever in doubt.
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

/// Whether the largest of R, G and B lies less than 8,192 above the least with 12 bits, of which
/// chroma is at most 2,048: eight times as much is a word.
constexpr bool spread_fits(const YuvWeights& k) {
  const std::int32_t green = k.green_u + k.green_w;
  return std::max({k.red_w + k.blue_u, k.red_w + green, k.blue_u + green}) < 4 * 65536 - 32;
}
static_assert(spread_fits(yuv_weights(ColorMatrix::bt601, ColorRange::full)) &&
              spread_fits(yuv_weights(ColorMatrix::bt709, ColorRange::full)) &&
              spread_fits(yuv_weights(ColorMatrix::bt2020, ColorRange::full)) &&
              spread_fits(yuv_weights(ColorMatrix::bt601, ColorRange::limited)) &&
              spread_fits(yuv_weights(ColorMatrix::bt709, ColorRange::limited)) &&
              spread_fits(yuv_weights(ColorMatrix::bt2020, ColorRange::limited)));

/// Chroma times the mean of shares of kCovered luma samples each. Where S stays below 1 sums and
/// products are whole numbers of units, of 2^-deep_share_bits(), and half a unit more takes halves
/// up.
///
/// Where S comes to 1, what luma adds is the gain times f, less (k + 1) / 2 units. The definition
/// rounds a gain down to units, then its product with f: it lies within f + 1 units below that
/// product, or f / 256 above it, and f is at most k. So the mean is less than (k + 1) / 2 + 1/4
/// units off, and times chroma of at most 2^(depth - 1) a unit is 2^-(depth + 8): a result that
/// lies nearer to a half may be on the wrong side of it.
template <int kCovered>
class SharedChroma {
 public:
  SharedChroma(const DeepSamples& form, std::uint32_t p)
      : centre_(form.chroma_middle, kLog2),
        more_(hn::Set(DF(), std::ldexp(0.5, -deep_share_bits(form.depth) - kLog2))),
        base_(hn::Set(DF(), 1.5 * kWhole + form.chroma_middle)),
        sure_(hn::Set(DF(), 0.5 - std::ldexp(halfway_units(p) + 0.25, -form.depth - 8))),
        most_(hn::Set(DI32(), form.most)) {}

  HWY_INLINE V16 operator()(V16 codes, const Doubles& sums) const {
    const Doubles u = centre_(codes);
    Doubles scaled;
    for (std::size_t i = 0; i < 4; ++i)
      scaled.f[i] = hn::Add(hn::MulAdd(u.f[i], sums.f[i], more_), base_);
    return join_clamped(scaled, most_);
  }
  /// The same where `limited` says which sums are not exact.
  HWY_INLINE V16 operator()(V16 codes, const Doubles& sums, const Lanes& limited,
                            Distances& distances) const {
    const Doubles u = centre_(codes);
    Doubles scaled;
    for (std::size_t i = 0; i < 4; ++i) {
      const VF product = hn::MulAdd(u.f[i], sums.f[i], hn::IfThenZeroElse(limited.f[i], more_));
      scaled.f[i] = hn::Add(product, base_);
      distances.add(product, hn::Sub(scaled.f[i], base_), limited.f[i]);
    }
    return join_clamped(scaled, most_);
  }
  HWY_INLINE VF sure() const { return sure_; }

  /// (k + 1) / 2.
  static double halfway_units(std::uint32_t p) {
    return 0.5 * (static_cast<double>(p) / saturation::kOne + 1);
  }

 private:
  static constexpr int kLog2 = kCovered == 4 ? 2 : kCovered - 1;
  Centre centre_;
  VF more_, base_, sure_;
  VI32 most_;
};

/// What is kept of a block's columns.
struct AlikeValues {
  alignas(64) std::uint16_t twice[2][kBlock];  ///< v times 2: places of doubles in the table
  alignas(64) std::uint16_t below[kBlock];     ///< how far the least channel lies below luma
  alignas(64) std::uint16_t spread[kBlock];    ///< and how far below the largest
  /// Twice the whole part of k times the spread: where v is above half of that S stays below 1.
  alignas(64) std::uint16_t limit[kBlock];
};

/// Whether k, which then is above 1, brings S to 1.
enum class Limit : std::uint8_t {
  none,   ///< nowhere in a vector
  cells,  ///< maybe, and v - m is the same for all luma of a chroma sample
  lanes   ///< maybe, and it is not, as v was clamped
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
        limit_factor_(hn::Set(D16(), static_cast<std::uint16_t>(saturation.most << 5))),
        lessened_(saturation.most),
        numbers_(0, 0),
        base_(hn::Set(DF(), kWhole)),
        chroma_(form, saturation.most),
        offset_(hn::Set(D16(), static_cast<std::uint16_t>(form.weights.luma_offset))),
        most_value_(hn::Set(D16(), static_cast<std::uint16_t>(form.weights.luma_max))),
        factor_(hn::Set(DF(), static_cast<double>(saturation.most) / saturation::kOne)),
        halfway_(hn::Set(DF(), std::ldexp(Chroma::halfway_units(saturation.most),
                                          -deep_share_bits(form.depth)))) {}

  HWY_INLINE void keep(const YuvRowIn& in, std::size_t at, AlikeValues& to) const {
    const D16 d;
    ChromaCodes<kChroma> chroma;
    chroma.load(values_.codes, in);
    V16 above;
    if (limits_) {
      const YuvValues::Spread ends = values_.spread(chroma);
      above = ends.above;
      const V16 spread = hn::Add(ends.above, ends.below);
      const V16 limit = hn::MulHigh(hn::ShiftLeft<3>(spread), limit_factor_);
      hn::Store(ends.below, d, to.below + at % kBlock);
      hn::Store(spread, d, to.spread + at % kBlock);
      hn::Store(hn::Add(limit, limit), d, to.limit + at % kBlock);
    } else {
      above = values_.above(chroma);
    }
    for (std::size_t r = 0; r < kRows; ++r) {
      const V16 v = values_.of_kept(values_.codes.load(in.luma[r]), above);
      hn::Store(hn::Add(v, v), d, to.twice[r] + at % kBlock);
    }
  }

  HWY_INLINE void operator()(const YuvRowIn& in, const AlikeValues& kept, std::size_t at,
                             bool stream, const YuvRowOut& out) const {
    if (limits_ && HWY_UNLIKELY(may_reach_one(kept, at))) {
      limited(in, kept, at, stream, out);
      return;
    }
    scale<Limit::none>(in, kept, at, stream, out);
  }

 private:
  static constexpr bool kShared = ChromaCodes<kChroma>::kShared;
  using Chroma = SharedChroma<static_cast<int>(kRows) * (kShared ? 2 : 1)>;

  /// 0 is taken for a large v: its share has f = 1.
  HWY_INLINE bool may_reach_one(const AlikeValues& kept, std::size_t at) const {
    const D16 d;
    const V16 limit = hn::Load(d, kept.limit + at);
    V16 over = hn::Zero(d);
    for (std::size_t r = 0; r < kRows; ++r) {
      const V16 less = hn::Sub(hn::Load(d, kept.twice[r] + at), hn::Set(d, std::uint16_t{2}));
      over = hn::Or(over, hn::SaturatedSub(limit, less));
    }
    return !hn::AllTrue(d, hn::Eq(over, hn::Zero(d)));
  }

  HWY_NOINLINE void limited(const YuvRowIn& in, const AlikeValues& kept, std::size_t at,
                            bool stream, const YuvRowOut& out) const {
    const D16 d;
    const V16 most = hn::Add(most_value_, most_value_);
    V16 clamped = hn::Zero(d);
    for (std::size_t r = 0; r < kRows; ++r) {
      clamped = hn::Or(clamped, hn::VecFromMask(d, hn::Eq(hn::Load(d, kept.twice[r] + at), most)));
    }
    const bool sure = hn::AllTrue(d, hn::Eq(clamped, hn::Zero(d)))
                          ? scale<Limit::cells>(in, kept, at, stream, out)
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
      inverse = inverses(spread);
      above = numbers_(hn::Sub(spread, hn::Load(d, kept.below + at)));
    }
    V16 luma[kRows];
    Doubles sums;
    Lanes limited;
    for (std::size_t r = 0; r < kRows; ++r) {
      const std::uint16_t* twice = kept.twice[r] + at;
      const V16 v = hn::ShiftRight<1>(hn::Load(d, twice));
      const V16 code = values_.codes.load(in.luma[r]);
      const V16 y = hn::SaturatedSub(code, offset_);
      const V16 less = hn::SaturatedSub(v, y);
      // Luma over v, which was clamped there, is scaled as it is without saturation.
      const V16 high = hn::Max(v, y);
      Doubles lessened, value;
      if constexpr (kLimit == Limit::none) {
        lessened = lessened_(high, less);
      } else {
        value = numbers_(v);
        lessened = value;
      }
      if constexpr (kLimit == Limit::lanes) {
        const V16 below = hn::Load(d, kept.below + at);
        inverse = inverses(hn::SaturatedSub(hn::Add(less, below), hn::Sub(high, v)));
        above = numbers_(less);
        lessened = numbers_(high);
      }
      Doubles sum;
      for (std::size_t i = 0; i < 4; ++i) {
        VF gain, share;
        look_up_doubled(table_, twice + i, gain, share);
        if constexpr (kLimit != Limit::none) {
          const std::size_t cell = kShared && kLimit == Limit::cells ? i / 2 * 2 : i;
          const VF f =
              hn::Min(hn::Max(hn::Mul(value.f[i], inverse.f[cell]), hn::Set(DF(), 1.0)), factor_);
          lessened.f[i] = hn::Max(hn::NegMulAdd(f, above.f[cell], lessened.f[i]), hn::Zero(DF()));
          const FloatMask reaches = hn::Lt(f, factor_);
          share = hn::IfThenElse(reaches, hn::MulSub(gain, f, halfway_), share);
          limited.f[i] = r == 0 ? reaches : hn::Or(limited.f[i], reaches);
        }
        sum.f[i] = hn::MulAdd(gain, lessened.f[i], base_);
        sums.f[i] = r == 0 ? share : hn::Add(sums.f[i], share);
      }
      luma[r] = hn::Add(join_words(sum), hn::Min(code, offset_));
    }
    if constexpr (kShared) {
      const VF even = hn::Add(sums.f[0], sums.f[1]);
      const VF odd = hn::Add(sums.f[2], sums.f[3]);
      sums = {{even, even, odd, odd}};
    }
    ChromaCodes<kChroma> scaled = chroma;
    if constexpr (kLimit == Limit::none) {
      scaled.first = chroma_(chroma.first, sums);
      if constexpr (!kShared) scaled.second = chroma_(chroma.second, sums);
    } else {
      if constexpr (kShared) {
        const FloatMask even = hn::Or(limited.f[0], limited.f[1]);
        const FloatMask odd = hn::Or(limited.f[2], limited.f[3]);
        limited = {{even, even, odd, odd}};
      }
      Distances distances;
      scaled.first = chroma_(chroma.first, sums, limited, distances);
      if constexpr (!kShared) scaled.second = chroma_(chroma.second, sums, limited, distances);
      if (HWY_UNLIKELY(distances.any_beyond(chroma_.sure()))) return false;
    }
    for (std::size_t r = 0; r < kRows; ++r)
      write(stream, values_.codes.words(luma[r]), out.luma[r]);
    write_chroma<kChroma>(values_.codes, stream, scaled, out);
    return true;
  }

  /// A little less than 1 / w, of 1 at least.
  HWY_INLINE Doubles inverses(V16 w) const {
    const Doubles x = numbers_(hn::Max(w, hn::Set(D16(), std::uint16_t{1})));
    const VF below_one = hn::Set(DF(), 2 - kAboveValue);
    Doubles inverse;
    for (std::size_t i = 0; i < 4; ++i)
      inverse.f[i] = hn::Div(below_one, x.f[i]);
    return inverse;
  }

  const DeepSamples& form_;
  const DeepGains& gains_;
  const DeepSaturation& saturation_;
  const double* table_;
  bool limits_;
  YuvValues values_;
  V16 limit_factor_;
  Lessened lessened_;
  Centre numbers_;
  VF base_;
  Chroma chroma_;
  V16 offset_, most_value_;
  VF factor_, halfway_;
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
