// Pass 2 of deep_rows.h where saturation is changed too; included by deep_rows-inl.h, once for each
// target.
//
// A channel v - d becomes value - slope d by the DeepLine of its v, which says why that comes out
// right. Slopes are what chroma is scaled by, too: sums of the definition, whose terms are rounded
// down, lie between two ends near theirs. A vector with a result that both do not make is scaled
// once more, by a body that knows which lanes cannot be wrong: where gains are simple fractions, as
// that of white often is, halves are many. What is still in doubt then is redone by the plain
// loops.
#if defined(EQUALUX_DEEP_SATURATE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUALUX_DEEP_SATURATE_INL_H
#undef EQUALUX_DEEP_SATURATE_INL_H
#else
#define EQUALUX_DEEP_SATURATE_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace equalux::deep_loops {
namespace HWY_NAMESPACE {

using FloatMask = hn::Mask<DF>;

/// Four masks, of the lanes of Doubles.
struct Lanes {
  FloatMask f[4];
};

/// Distance from a whole number beyond which luma and colours of 16 bits may be on the wrong side.
constexpr double kSureSaturated = 0.5 - 1.0 / 2147483648.0;

/// Lines of as many values as a vector has words.
struct Lines {
  Doubles value, slope;
};

/// Both numbers of each entry at(i) that two vectors have lanes for.
template <typename At>
HWY_INLINE void look_up_entries(const At& entry, VF& first, VF& second) {
#if HWY_ARCH_X86
  const auto at = [&](std::size_t i) HWY_ATTR { return _mm_load_pd(entry(i)); };
#if HWY_TARGET <= HWY_AVX3
  const auto four = [&](std::size_t i) HWY_ATTR {
    const __m256d low = _mm256_insertf128_pd(_mm256_castpd128_pd256(at(i)), at(i + 2), 1);
    const __m256d high = _mm256_insertf128_pd(_mm256_castpd128_pd256(at(i + 4)), at(i + 6), 1);
    return _mm512_insertf64x4(_mm512_castpd256_pd512(low), high, 1);
  };
  const __m512d even = four(0);
  const __m512d odd = four(1);
  first = VF{_mm512_unpacklo_pd(even, odd)};
  second = VF{_mm512_unpackhi_pd(even, odd)};
#elif HWY_TARGET == HWY_AVX2
  const __m256d even = _mm256_insertf128_pd(_mm256_castpd128_pd256(at(0)), at(2), 1);
  const __m256d odd = _mm256_insertf128_pd(_mm256_castpd128_pd256(at(1)), at(3), 1);
  first = VF{_mm256_unpacklo_pd(even, odd)};
  second = VF{_mm256_unpackhi_pd(even, odd)};
#else
  first = VF{_mm_unpacklo_pd(at(0), at(1))};
  second = VF{_mm_unpackhi_pd(at(0), at(1))};
#endif
#else
  alignas(64) double lanes[2][hn::MaxLanes(DF())];
  for (std::size_t i = 0; i < hn::MaxLanes(DF()); ++i) {
    lanes[0][i] = entry(i)[0];
    lanes[1][i] = entry(i)[1];
  }
  first = hn::Load(DF(), lanes[0]);
  second = hn::Load(DF(), lanes[1]);
#endif
}

/// Those of v[0], v[4], v[8] ..., where values lie kStep words apart.
template <std::size_t kStep = 1>
HWY_INLINE void look_up_lines(const DeepLine* lines, const std::uint16_t* v, VF& value, VF& slope) {
  look_up_entries([&](std::size_t i) HWY_ATTR { return &lines[v[4 * kStep * i]].value; }, value,
                  slope);
}
/// The same where v is doubled, which makes it a place in the table's numbers: addresses have no
/// factor of 16.
HWY_INLINE void look_up_doubled(const double* table, const std::uint16_t* twice, VF& first,
                                VF& second) {
  look_up_entries([&](std::size_t i) HWY_ATTR { return table + twice[4 * i]; }, first, second);
}
template <std::size_t kStep = 1>
HWY_INLINE Lines look_up_line_words(const DeepLine* lines, const std::uint16_t* v) {
  Lines l;
  for (std::size_t k = 0; k < 4; ++k)
    look_up_lines<kStep>(lines, v + kStep * k, l.value.f[k], l.slope.f[k]);
  return l;
}

/// Lanes of lines that are not exact.
HWY_INLINE FloatMask is_inexact(VF value) {
  const D64 d;
  const V64 bit = hn::And(hn::BitCast(d, value), hn::Set(d, std::uint64_t{1}));
  return hn::RebindMask(DF(), hn::Eq(bit, hn::Zero(d)));
}

HWY_INLINE bool any_set(V16 words) {
  return !hn::AllTrue(D16(), hn::Eq(words, hn::Zero(D16())));
}

/// Where S may come to 1, by the largest k of all levels.
class MayReachOne {
 public:
  explicit MayReachOne(const DeepSaturation& saturation)
      : inverse_(hn::Set(
            D16(), static_cast<std::uint16_t>(
                       saturation.limits ? 65536 * saturation::kOne / saturation.most : 65535))) {}
  /// More than 0 where a pixel does, whose least channel lies `below` under v, or a little less:
  /// 256 v / k or a little less is what that may be.
  HWY_INLINE V16 excess(V16 v, V16 below) const {
    return hn::SaturatedSub(below, hn::MulHigh(v, inverse_));
  }
  /// Whether a pixel of a vector does.
  HWY_INLINE bool operator()(V16 v, V16 below) const { return any_set(excess(v, below)); }

 private:
  V16 inverse_;
};

/// Lanes where S comes to 1. `below` is at least 1 where the line's value is not 0.
HWY_INLINE FloatMask reaches_one(VF value, VF slope, VF below) {
  return hn::Gt(hn::Mul(slope, below), value);
}
/// Takes the slope of such lanes to where S is 1.
HWY_INLINE VF limited_slope(FloatMask reaches, VF value, VF slope, VF below) {
  const VF exact = hn::Mul(value, hn::Set(DF(), 2.0 - kAboveValue));
  return hn::IfThenElse(reaches, hn::Div(exact, below), slope);
}

/// How far results lie from what they are rounded to.
class Distances {
 public:
  HWY_INLINE Distances() : farthest_(hn::Zero(DF())) {}
  HWY_INLINE void add(VF result, VF rounded) {
    farthest_ = hn::Max(farthest_, hn::Abs(hn::Sub(result, rounded)));
  }
  HWY_INLINE void add(VF result, VF rounded, FloatMask where) {
    farthest_ = hn::Max(farthest_, hn::IfThenElseZero(where, hn::Abs(hn::Sub(result, rounded))));
  }
  HWY_INLINE bool any_beyond(VF distance) const {
    return !hn::AllFalse(DF(), hn::Gt(farthest_, distance));
  }

 private:
  VF farthest_;
};

/// Whether results are rounded to the same whole numbers with a little more and a little less.
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

/// What the row is redone by.
HWY_INLINE SaturatedCurve plain_curve(const DeepGains& gains, const DeepSaturation& saturation) {
  return {saturation.factors.data(), gains.curve.data()};
}

/// Channels of packed pixels, which have 16 bits.
class SaturatedColours {
 public:
  /// No result is ever in doubt.
  static constexpr bool kSure = false;

  explicit SaturatedColours(const DeepSaturation& saturation)
      : lines_(saturation.lines.data()),
        limits_(saturation.limits),
        may_reach_one_(saturation),
        codes_(0, 0),
        whole_(hn::Set(DF(), kWhole)),
        sure_(hn::Set(DF(), kSureSaturated)) {}

 protected:
  /// A vector of numbers to whole ones. With kMasked, `asked` has the lanes that may be wrong.
  template <bool kMasked>
  HWY_INLINE VF rounded(VF value, VF slope, VF less, FloatMask asked, Distances& distances) const {
    const VF result = hn::NegMulAdd(slope, less, value);
    const VF sum = hn::Add(result, whole_);
    if constexpr (kMasked) {
      distances.add(result, hn::Sub(sum, whole_), asked);
    } else {
      distances.add(result, hn::Sub(sum, whole_));
    }
    return sum;
  }

  const DeepLine* lines_;
  bool limits_;
  MayReachOne may_reach_one_;
  Centre codes_;
  VF whole_, sure_;
};

/// Pixels of three words, a vector of each colour at a time.
class SaturatedTriples : SaturatedColours {
 public:
  using SaturatedColours::kSure;
  static constexpr std::size_t kStep = 3;
  static constexpr std::size_t kPixels = kWords;

  SaturatedTriples(const DeepSaturation& saturation, const RgbLayout&)
      : SaturatedColours(saturation) {}

  /// To `out`, an aligned vector a colour; false where a result may be wrong.
  template <bool kMasked>
  HWY_INLINE bool scale(const std::uint16_t* v, const std::uint8_t* in, std::uint16_t* out) const {
    const D16 d;
    Lines l = look_up_line_words<3>(lines_, v);
    Lanes asked;
    for (std::size_t i = 0; i < 4; ++i)
      asked.f[i] = is_inexact(l.value.f[i]);
    V16 c[3];
    hn::LoadInterleaved3(d, reinterpret_cast<const std::uint16_t*>(in), c[0], c[1], c[2]);
    const V16 most = hn::Max(hn::Max(c[0], c[1]), c[2]);
    const V16 below_words = hn::Sub(most, hn::Min(hn::Min(c[0], c[1]), c[2]));
    if (limits_ && may_reach_one_(most, below_words)) {
      const Doubles below = codes_(below_words);
      for (std::size_t i = 0; i < 4; ++i) {
        const FloatMask reaches = reaches_one(l.value.f[i], l.slope.f[i], below.f[i]);
        l.slope.f[i] = limited_slope(reaches, l.value.f[i], l.slope.f[i], below.f[i]);
        asked.f[i] = hn::AndNot(reaches, asked.f[i]);
      }
    }
    Distances distances;
    for (V16& x : c) {
      const Doubles less = codes_(hn::Sub(most, x));
      Doubles sum;
      for (std::size_t i = 0; i < 4; ++i) {
        sum.f[i] = rounded<kMasked>(l.value.f[i], l.slope.f[i], less.f[i], asked.f[i], distances);
      }
      x = join_words(sum);
    }
    hn::StoreInterleaved3(c[0], c[1], c[2], d, out);
    return !distances.any_beyond(sure_);
  }
};

/// Pixels of four words, one in each 64-bit lane, of which one is no colour.
class SaturatedQuads : SaturatedColours {
 public:
  using SaturatedColours::kSure;
  static constexpr std::size_t kStep = 4;
  static constexpr std::size_t kPixels = kWords / 4;

  SaturatedQuads(const DeepSaturation& saturation, const RgbLayout& pixel)
      : SaturatedColours(saturation), colour_first_(pixel.first() == 0) {}

  template <bool kMasked>
  HWY_INLINE bool scale(const std::uint16_t* v, const std::uint8_t* in, std::uint16_t* out) const {
    const Doubles c = codes_(load_words(in));
    Distances distances;
    Doubles sum;
    if (colour_first_) {
      scale_colours<kMasked>(v, c.f[0], c.f[1], c.f[2], sum.f[0], sum.f[1], sum.f[2], distances);
      sum.f[3] = hn::Add(c.f[3], whole_);
    } else {
      scale_colours<kMasked>(v, c.f[1], c.f[2], c.f[3], sum.f[1], sum.f[2], sum.f[3], distances);
      sum.f[0] = hn::Add(c.f[0], whole_);
    }
    hn::Store(join_words(sum), D16(), out);
    return !distances.any_beyond(sure_);
  }

 private:
  template <bool kMasked>
  HWY_INLINE void scale_colours(const std::uint16_t* v, VF a, VF b, VF c, VF& to_a, VF& to_b,
                                VF& to_c, Distances& distances) const {
    VF value, slope;
    look_up_lines(lines_, v, value, slope);
    FloatMask asked = is_inexact(value);
    const VF most = hn::Max(hn::Max(a, b), c);
    if (limits_) {
      const VF below = hn::Sub(most, hn::Min(hn::Min(a, b), c));
      const FloatMask reaches = reaches_one(value, slope, below);
      if (HWY_UNLIKELY(!hn::AllFalse(DF(), reaches))) {
        slope = limited_slope(reaches, value, slope, below);
        asked = hn::AndNot(reaches, asked);
      }
    }
    to_a = rounded<kMasked>(value, slope, hn::Sub(most, a), asked, distances);
    to_b = rounded<kMasked>(value, slope, hn::Sub(most, b), asked, distances);
    to_c = rounded<kMasked>(value, slope, hn::Sub(most, c), asked, distances);
  }

  bool colour_first_;
};

template <typename Pixels>
void saturate_pixels(const DeepSamples& form, const RgbLayout& pixel, const DeepGains& gains,
                     const DeepSaturation& saturation, Stores stores, const std::uint8_t* in,
                     std::size_t n, std::uint8_t* out) {
  constexpr std::size_t kPixelBytes = 2 * Pixels::kStep;
  constexpr std::size_t kVectors = Pixels::kPixels * Pixels::kStep / kWords;
  const bool stream = stores == Stores::streaming && aligned(out);
  const Pixels scale(saturation, pixel);
  PixelValues<Pixels::kStep> values;
  alignas(64) std::uint16_t words[kVectors * kWords];
  const auto vector = [&](const std::uint16_t* v, const std::uint8_t* from) HWY_ATTR {
    if constexpr (Pixels::kSure) {
      scale.scale(v, from, words);
      return;
    } else {
      if (!saturation.exact && HWY_LIKELY(scale.template scale<false>(v, from, words))) return;
      if (scale.template scale<true>(v, from, words)) return;
      saturate_deep_rgb(plain_curve(gains, saturation), form, pixel, from, Pixels::kPixels,
                        reinterpret_cast<std::uint8_t*>(words));
    }
  };
  for (std::size_t begin = 0; begin < n; begin += kBlock) {
    const std::size_t columns = std::min(kBlock, n - begin);
    const std::uint8_t* from = in + kPixelBytes * begin;
    std::uint8_t* to = out + kPixelBytes * begin;
    keep_pixel_values(from + pixel.first(), columns, begin + columns == n, values);
    std::size_t i = 0;
    for (; i + Pixels::kPixels <= columns; i += Pixels::kPixels) {
      vector(values.v + Pixels::kStep * i, from + kPixelBytes * i);
      for (std::size_t k = 0; k < kVectors; ++k) {
        const V16 each = hn::Load(D16(), words + kWords * k);
        std::uint8_t* at = to + kPixelBytes * i + kBytes * k;
        stream ? store_words<Stores::streaming>(each, at) : store_words<Stores::cached>(each, at);
      }
    }
    if (i == columns) continue;
    alignas(64) std::uint8_t rest[kPixelBytes * Pixels::kPixels] = {};
    std::memcpy(rest, from + kPixelBytes * i, kPixelBytes * (columns - i));
    vector(values.v + Pixels::kStep * i, rest);
    std::memcpy(to + kPixelBytes * i, words, kPixelBytes * (columns - i));
  }
}

/// Sums that the exact one lies between.
struct TwoSums {
  Doubles low, high;
};

/// Chroma times the mean of the slopes of kCovered luma samples each.
///
/// What luma adds to a sum of the definition is less than k + 1 units of 2^-deep_share_bits() below
/// its slope, or k / 256 above it, of the largest k; 1/8 more, and 2^-48 of a sum, is more than all
/// roundings. Where chroma times both ends is rounded to the same whole number, that is right: what
/// the exact sum makes lies between them.
///
/// Where slopes are whole multiples of 1 / 256 and luma adds just them, sums and products are
/// exact, and may lie on a half. Where lanes tell those, a unit times chroma of at most
/// 2^(depth - 1) is added, which takes halves up: others may be wrong within k + 2 and 1/4 of it of
/// a half.
///
/// What is clamped fits 32 bits: slopes are below 16 M / v, and chroma below 13 v.
template <int kCovered>
class SaturatedChroma {
 public:
  SaturatedChroma(const DeepSamples& form, std::uint32_t most)
      : centre_(form.chroma_middle, kCovered == 4 ? 2 : kCovered - 1),
        below_(units(form, factor_of(most) + 1.125)),
        above_(units(form, factor_of(most) / 256 + 0.125)),
        more_(hn::Set(DF(), std::ldexp(1.0, -form.depth - 8))),
        base_(hn::Set(DF(), 1.5 * kWhole + form.chroma_middle)),
        sure_(hn::Set(DF(), 0.5 - std::ldexp(factor_of(most) + 2.25, -form.depth - 8))),
        most_(hn::Set(DI32(), form.most)) {}

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
  /// The same where only lanes that `asked` has may be wrong.
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
  /// The distance beyond which a result of lanes may be wrong.
  HWY_INLINE VF sure() const { return sure_; }

 private:
  static constexpr double kRounding = 1.0 / static_cast<double>(std::uint64_t{1} << 48);

  static double factor_of(std::uint32_t most) {
    return static_cast<double>(most) / saturation::kOne;
  }
  static VF units(const DeepSamples& form, double n) {
    return hn::Set(DF(), std::ldexp(kCovered * n, -deep_share_bits(form.depth)));
  }

  Centre centre_;
  VF below_, above_, more_, base_, sure_;
  VI32 most_;
};

/// Of cells of two luma columns, those of the first at 0 and 2, for Cb and Cr of each.
template <typename Four>
HWY_INLINE Four of_cells(const Four& x) {
  return {{x.f[0], x.f[0], x.f[2], x.f[2]}};
}

/// A little less than 1 / w, of 1 at least.
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
/// Chroma of a vector of columns.
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

/// A vector of columns by the plain loops. Through memory of its own: a row may be scaled where it
/// lies.
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

/// What is kept of a block's columns.
struct LineValues {
  alignas(64) std::uint16_t place[2][kBlock];  ///< of v in the table
  alignas(64) std::uint16_t below[kBlock];     ///< how far the least channel lies below luma
  alignas(64) std::uint16_t spread[kBlock];    ///< and how far below the largest
  bool over[kBlock / kWords];                  ///< S may come to 1 in a vector
};

/// Whether a k above 1 brings S to 1.
enum class Limit : std::uint8_t {
  none,   ///< nowhere in a vector
  cells,  ///< maybe, and v - m is the same for all luma of a chroma sample
  lanes   ///< maybe, and anything else may be so
};

template <DeepChroma kChroma, std::size_t kRows, bool kSixteen>
class LineSaturator {
 public:
  using Kept = LineValues;

  LineSaturator(const DeepSamples& form, const DeepGains& gains, const DeepSaturation& saturation)
      : form_(form),
        gains_(gains),
        saturation_(saturation),
        table_(&saturation.lines[0].value),
        limits_(saturation.limits),
        values_(form),
        may_reach_one_(saturation),
        numbers_(0, 0),
        base_(hn::Set(DF(), kWhole)),
        sure_(hn::Set(DF(), kSureSaturated)),
        chroma_(form, saturation.most),
        offset_(hn::Set(D16(), static_cast<std::uint16_t>(form.weights.luma_offset))),
        most_value_(hn::Set(D16(), static_cast<std::uint16_t>(form.weights.luma_max))),
        white_gain_(hn::Set(DF(), saturation.lines.back().value / form.weights.luma_max)) {}

  HWY_INLINE void keep(const YuvRowIn& in, std::size_t at, LineValues& to) const {
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
    // 0 is taken for a large v, as black's slope has f = 1 at most.
    V16 least = hn::Set(d, std::uint16_t{0xFFFF});
    for (std::size_t r = 0; r < kRows; ++r) {
      const V16 v = values_.of_kept(values_.codes.load(in.luma[r]), above);
      hn::Store(kSixteen ? v : hn::Add(v, v), d, to.place[r] + at % kBlock);
      least = hn::Min(least, hn::Sub(v, hn::Set(d, std::uint16_t{1})));
    }
    if (limits_) to.over[at % kBlock / kWords] = may_reach_one_(least, spread);
  }

  /// Scales a vector of columns, from `at` of the block on.
  HWY_INLINE void operator()(const YuvRowIn& in, const LineValues& kept, std::size_t at,
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

  static HWY_INLINE V16 value_at(const std::uint16_t* place) {
    const V16 v = hn::Load(D16(), place);
    return kSixteen ? v : hn::ShiftRight<1>(v);
  }
  static HWY_INLINE void look_up_at(const double* table, const std::uint16_t* place, VF& value,
                                    VF& slope) {
    if constexpr (kSixteen) {
      look_up_entries([&](std::size_t i) HWY_ATTR { return table + 2 * std::size_t{place[4 * i]}; },
                      value, slope);
    } else {
      look_up_doubled(table, place, value, slope);
    }
  }

  /// Cells, unless a v was clamped or lies below v - m, where f is 1.
  HWY_NOINLINE bool limited(const YuvRowIn& in, const LineValues& kept, std::size_t at, bool stream,
                            const YuvRowOut& out) const {
    const D16 d;
    const V16 one = hn::Set(d, std::uint16_t{1});
    const V16 spread = hn::SaturatedSub(hn::Load(d, kept.spread + at), one);
    V16 other = hn::Zero(d);
    for (std::size_t r = 0; r < kRows; ++r) {
      const V16 v = value_at(kept.place[r] + at);
      other = hn::Or(other, hn::SaturatedSub(spread, hn::Sub(v, one)));
      other = hn::Or(other, hn::VecFromMask(d, hn::Eq(v, most_value_)));
    }
    return !any_set(other) && scale<Limit::cells>(in, kept, at, stream, out);
  }

  HWY_NOINLINE void scale_in_doubt(const YuvRowIn& in, const LineValues& kept, std::size_t at,
                                   bool stream, const YuvRowOut& out) const {
    if (!scale<Limit::lanes>(in, kept, at, stream, out))
      redo<kChroma, kRows>(form_, gains_, saturation_, in, out);
  }

  /// False where a result may be wrong, and nothing is written. By lanes, those that may be are
  /// told from those that are right.
  template <Limit kLimit>
  HWY_INLINE bool scale(const YuvRowIn& in, const LineValues& kept, std::size_t at, bool stream,
                        const YuvRowOut& out) const {
    constexpr bool kLanes = kLimit == Limit::lanes;
    const D16 d;
    ChromaCodes<kChroma> chroma;
    chroma.load(values_.codes, in);
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
      write(stream, values_.codes.words(luma[r]), out.luma[r]);
    write_chroma<kChroma>(values_.codes, stream, scaled, out);
    return true;
  }

  /// Luma of a row, unless it is over v, and what it adds to sums of chroma. Of lanes, those whose
  /// chroma may be wrong.
  template <Limit kLimit, std::size_t kRow>
  HWY_INLINE V16 scale_row(const YuvRowIn& in, const LineValues& kept, std::size_t at,
                           const Doubles& inverse, V16& excess, Doubles& sums, Lanes& asked,
                           Distances& distances) const {
    constexpr bool kLanes = kLimit == Limit::lanes;
    const std::uint16_t* place = kept.place[kRow] + at;
    const V16 v = value_at(place);
    const V16 code = values_.codes.load(in.luma[kRow]);
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

  /// By how much the least channel lies below v, but v at most, as what is darker in it than black
  /// has f = 1. 1 at least.
  HWY_INLINE V16 least_below(V16 v, V16 less, V16 excess, const LineValues& kept,
                             std::size_t at) const {
    const D16 d;
    const V16 sum = hn::SaturatedAdd(less, hn::Load(d, kept.below + at));
    const V16 below = hn::SaturatedSub(sum, excess);
    return hn::Max(hn::Min(below, v), hn::Set(d, std::uint16_t{1}));
  }

  /// Luma over v, which was clamped to M there: scaled as it is without saturation.
  HWY_NOINLINE void keep_excess(const YuvRowIn& in, const LineValues& kept, std::size_t at,
                                V16 (&luma)[kRows]) const {
    const D16 d;
    for (std::size_t r = 0; r < kRows; ++r) {
      const V16 y = hn::SaturatedSub(values_.codes.load(in.luma[r]), offset_);
      const V16 excess = hn::SaturatedSub(y, value_at(kept.place[r] + at));
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
  YuvValues values_;
  MayReachOne may_reach_one_;
  Centre numbers_;
  VF base_, sure_;
  SaturatedChroma<static_cast<int>(kRows) * (kShared ? 2 : 1)> chroma_;
  V16 offset_, most_value_;
  VF white_gain_;
};

}  // namespace HWY_NAMESPACE
}  // namespace equalux::deep_loops
HWY_AFTER_NAMESPACE();

#endif  // include guard
