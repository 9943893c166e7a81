// Pass 2 of deep_rows.h where saturation is changed too; included by deep_rows-inl.h, once for each
// target.
//
// A channel v - d becomes value - slope d by the DeepLine of its v, which says why that comes out
// right. Slopes are what chroma is scaled by, too: their sums are a little more than those of the
// definition, whose terms are rounded down, so that a result near a half may be on its wrong side.
// A vector with such a result is scaled once more, by a body that knows for which lanes it cannot
// be so: where gains are simple fractions, as that of white often is, halves are many. What is
// still in doubt then is redone by the plain loops.
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

/// Where S may come to 1, by the largest k of all levels.
class MayReachOne {
 public:
  explicit MayReachOne(const DeepSaturation& saturation)
      : inverse_(hn::Set(
            D16(), static_cast<std::uint16_t>(
                       saturation.limits ? 65536 * saturation::kOne / saturation.most : 65535))) {}
  /// Whether a pixel of a vector does, whose least channel lies `below` under v: 256 v / k or a
  /// little less is what that may be.
  HWY_INLINE bool operator()(V16 v, V16 below) const {
    const V16 excess = hn::SaturatedSub(below, hn::MulHigh(v, inverse_));
    return !hn::AllTrue(D16(), hn::Eq(excess, hn::Zero(D16())));
  }

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

/// What the row is redone by.
HWY_INLINE SaturatedCurve plain_curve(const DeepGains& gains, const DeepSaturation& saturation) {
  return {saturation.factors.data(), gains.curve.data()};
}

/// Channels of packed pixels, which have 16 bits.
class SaturatedColours {
 public:
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
    if (!saturation.exact && HWY_LIKELY(scale.template scale<false>(v, from, words))) return;
    if (scale.template scale<true>(v, from, words)) return;
    saturate_deep_rgb(plain_curve(gains, saturation), form, pixel, from, Pixels::kPixels,
                      reinterpret_cast<std::uint8_t*>(words));
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

void saturate_rgb(const DeepSamples& form, const RgbLayout& pixel, const DeepGains& gains,
                  const DeepSaturation& saturation, Stores stores, const std::uint8_t* in,
                  std::size_t n, std::uint8_t* out) {
  if (pixel.step == 6)
    return saturate_pixels<SaturatedTriples>(form, pixel, gains, saturation, stores, in, n, out);
  saturate_pixels<SaturatedQuads>(form, pixel, gains, saturation, stores, in, n, out);
}

/// Chroma times the mean of the slopes of kCovered luma samples each.
///
/// What luma adds to a sum of the definition is less than five units of 2^-deep_share_bits() below
/// its slope, and a hundredth of one above it at most; chroma is up to 2^(depth - 1). With half of
/// 2^-(depth + 7) added, a result is below three times as much off, and on the wrong side only
/// where it lies that near a half. Where slopes are whole multiples of 1 / 256 and luma adds just
/// them, sums and products are exact, and what was added takes halves up.
///
/// What is clamped fits 32 bits: slopes are below 16 M / v, and chroma below 13 v.
template <int kCovered>
class SaturatedChroma {
 public:
  explicit SaturatedChroma(const DeepSamples& form)
      : centre_(form.chroma_middle, kCovered == 4 ? 2 : kCovered - 1),
        more_(hn::Set(DF(), std::ldexp(1.0, -form.depth - 8))),
        base_(hn::Set(DF(), 1.5 * kWhole + form.chroma_middle)),
        sure_(hn::Set(DF(), 0.5 - std::ldexp(1.0, -form.depth - 5))),
        most_(hn::Set(DI32(), form.most)) {}

  /// With kMasked, `asked` has the lanes that may be wrong.
  template <bool kMasked>
  HWY_INLINE V16 scale(V16 codes, const Doubles& sums, const Lanes& asked,
                       Distances& distances) const {
    const Doubles u = centre_(codes);
    Doubles scaled;
    for (std::size_t i = 0; i < 4; ++i) {
      const VF product = hn::MulAdd(u.f[i], sums.f[i], more_);
      scaled.f[i] = hn::Add(product, base_);
      if constexpr (kMasked) {
        distances.add(product, hn::Sub(scaled.f[i], base_), asked.f[i]);
      } else {
        distances.add(product, hn::Sub(scaled.f[i], base_));
      }
    }
    return join_clamped(scaled, most_);
  }
  HWY_INLINE VF sure() const { return sure_; }

 private:
  Centre centre_;
  VF more_, base_, sure_;
  VI32 most_;
};

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

/// v of a block's columns, and how far the least channel lies below luma.
struct SpreadValues {
  BlockValues block;
  alignas(64) std::uint16_t below[kBlock];
};

template <DeepChroma kChroma, std::size_t kRows, bool kSixteen>
class LineSaturator {
 public:
  using Kept = SpreadValues;

  LineSaturator(const DeepSamples& form, const DeepGains& gains, const DeepSaturation& saturation)
      : form_(form),
        gains_(gains),
        saturation_(saturation),
        values_(form),
        may_reach_one_(saturation),
        numbers_(0, 0),
        base_(hn::Set(DF(), kWhole + form.weights.luma_offset)),
        sure_(hn::Set(DF(), kSureSaturated)),
        chroma_(form),
        offset_(hn::Set(D16(), static_cast<std::uint16_t>(form.weights.luma_offset))),
        inverse_most_(hn::Set(DF(), 1.0 / form.weights.luma_max)) {}

  /// v of a vector of columns to memory.
  HWY_INLINE void keep(const YuvRowIn& in, std::size_t at, SpreadValues& to) const {
    ChromaCodes<kChroma> chroma;
    chroma.load(values_.codes, in);
    V16 above;
    if (saturation_.limits) {
      const YuvValues::Spread spread = values_.spread(chroma);
      above = spread.above;
      hn::Store(spread.below, D16(), to.below + at % kBlock);
    } else {
      above = values_.above(chroma);
    }
    for (std::size_t r = 0; r < kRows; ++r) {
      hn::Store(values_.of_kept(values_.codes.load(in.luma[r]), above), D16(),
                to.block.v[r] + at % kBlock);
    }
  }

  /// Scales a vector of columns, from `at` of the block on. Of 16 bits luma may be in doubt, too.
  HWY_INLINE void operator()(const YuvRowIn& in, const SpreadValues& kept, std::size_t at,
                             bool stream, const YuvRowOut& out) const {
    if (!saturation_.exact && HWY_LIKELY(scale<false>(in, kept, at, stream, out))) return;
    scale_in_doubt(in, kept, at, stream, out);
  }

 private:
  HWY_NOINLINE void scale_in_doubt(const YuvRowIn& in, const SpreadValues& kept, std::size_t at,
                                   bool stream, const YuvRowOut& out) const {
    if (!scale<true>(in, kept, at, stream, out))
      redo<kChroma, kRows>(form_, gains_, saturation_, in, out);
  }

  /// False where a result may be wrong, and nothing is written. With kMasked, it tells such lanes
  /// from those that are right.
  template <bool kMasked>
  HWY_INLINE bool scale(const YuvRowIn& in, const SpreadValues& kept, std::size_t at, bool stream,
                        const YuvRowOut& out) const {
    const D16 d;
    const V16 zero = hn::Zero(d);
    ChromaCodes<kChroma> chroma;
    chroma.load(values_.codes, in);
    V16 luma[kRows];
    Doubles sums;
    Lanes asked;
    Distances luma_distances;
    for (std::size_t r = 0; r < kRows; ++r) {
      const V16 v = hn::Load(d, kept.block.v[r] + at);
      Lines l = look_up_line_words(saturation_.lines.data(), kept.block.v[r] + at);
      const V16 code = values_.codes.load(in.luma[r]);
      const V16 y = hn::SaturatedSub(code, offset_);
      const V16 less = hn::SaturatedSub(v, y);
      const V16 excess = hn::SaturatedSub(y, v);
      Lanes inexact;
      for (std::size_t i = 0; i < 4; ++i) {
        inexact.f[i] = is_inexact(l.value.f[i]);
        asked.f[i] = r == 0 ? inexact.f[i] : hn::Or(asked.f[i], inexact.f[i]);
      }
      if (saturation_.limits) {
        const V16 spread = hn::Load(d, kept.below + at);
        const V16 below = hn::SaturatedSub(hn::SaturatedAdd(less, spread), excess);
        if (may_reach_one_(v, below)) limit(v, below, l, asked, inexact);
      }
      const Doubles x = numbers_(less);
      Doubles sum;
      for (std::size_t i = 0; i < 4; ++i) {
        const VF result = hn::NegMulAdd(l.slope.f[i], x.f[i], l.value.f[i]);
        sum.f[i] = hn::Add(result, base_);
        if constexpr (kMasked) {
          luma_distances.add(result, hn::Sub(sum.f[i], base_), inexact.f[i]);
        } else if constexpr (kSixteen) {
          luma_distances.add(result, hn::Sub(sum.f[i], base_));
        }
        sums.f[i] = r == 0 ? l.slope.f[i] : hn::Add(sums.f[i], l.slope.f[i]);
      }
      luma[r] = join_words(sum);
      if (HWY_UNLIKELY(!hn::AllTrue(d, hn::Eq(excess, zero))))
        luma[r] = hn::IfThenElse(hn::Eq(excess, zero), luma[r], unsaturated(l, y));
      luma[r] = hn::IfThenElse(hn::Eq(v, zero), code, luma[r]);
    }
    if constexpr (ChromaCodes<kChroma>::kShared) {
      const VF even = hn::Add(sums.f[0], sums.f[1]);
      const VF odd = hn::Add(sums.f[2], sums.f[3]);
      sums = {{even, even, odd, odd}};
      const FloatMask even_asked = hn::Or(asked.f[0], asked.f[1]);
      const FloatMask odd_asked = hn::Or(asked.f[2], asked.f[3]);
      asked = {{even_asked, even_asked, odd_asked, odd_asked}};
    }
    Distances distances;
    ChromaCodes<kChroma> scaled = chroma;
    scaled.first = chroma_.template scale<kMasked>(chroma.first, sums, asked, distances);
    if constexpr (!ChromaCodes<kChroma>::kShared)
      scaled.second = chroma_.template scale<kMasked>(chroma.second, sums, asked, distances);
    if (HWY_UNLIKELY(distances.any_beyond(chroma_.sure()))) return false;
    if constexpr (kSixteen) {
      if (HWY_UNLIKELY(luma_distances.any_beyond(sure_))) return false;
    }
    for (std::size_t r = 0; r < kRows; ++r)
      write(stream, values_.codes.words(luma[r]), out.luma[r]);
    write_chroma<kChroma>(values_.codes, stream, scaled, out);
    return true;
  }

  /// Slopes of lanes where S comes to 1, of which luma is right and chroma may be in doubt. Black
  /// has f = 1 where k is over 1, as its line's value over 1 gives; so has what is darker in its
  /// least channel than black.
  HWY_INLINE void limit(V16 v, V16 below, Lines& l, Lanes& chroma_asked, Lanes& luma_asked) const {
    const V16 one = hn::Set(D16(), std::uint16_t{1});
    const Doubles least = numbers_(hn::Max(hn::Min(below, v), one));
    for (std::size_t i = 0; i < 4; ++i) {
      const FloatMask reaches = reaches_one(l.value.f[i], l.slope.f[i], least.f[i]);
      l.slope.f[i] = limited_slope(reaches, l.value.f[i], l.slope.f[i], least.f[i]);
      chroma_asked.f[i] = hn::Or(chroma_asked.f[i], reaches);
      luma_asked.f[i] = hn::AndNot(reaches, luma_asked.f[i]);
    }
  }

  /// Luma over v, which was clamped to M there: scaled as it is without saturation.
  HWY_NOINLINE V16 unsaturated(const Lines& l, V16 y) const {
    const Doubles x = numbers_(y);
    Doubles sum;
    for (std::size_t i = 0; i < 4; ++i)
      sum.f[i] = hn::MulAdd(x.f[i], hn::Mul(l.value.f[i], inverse_most_), base_);
    return join_words(sum);
  }

  const DeepSamples& form_;
  const DeepGains& gains_;
  const DeepSaturation& saturation_;
  YuvValues values_;
  MayReachOne may_reach_one_;
  Centre numbers_;
  VF base_, sure_;
  SaturatedChroma<static_cast<int>(kRows) * (kChroma == DeepChroma::each ? 1 : 2)> chroma_;
  V16 offset_;
  VF inverse_most_;
};

}  // namespace HWY_NAMESPACE
}  // namespace equalux::deep_loops
HWY_AFTER_NAMESPACE();

#endif  // include guard
