// Pass 2 of deep_rows.h for packed RGB with changed saturation; included by deep_rows-inl.h, once
// for each target.
#if defined(EQUALUX_DEEP_SATURATE_RGB_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUALUX_DEEP_SATURATE_RGB_INL_H
#undef EQUALUX_DEEP_SATURATE_RGB_INL_H
#else
#define EQUALUX_DEEP_SATURATE_RGB_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace equalux::deep_loops {
namespace HWY_NAMESPACE {

/// Lines of as many values as a vector has words.
struct Lines {
  Doubles value, slope;
};

/// Lines of v[0], v[4], v[8] ..., with values kStep words apart.
template <std::size_t kStep = 1>
HWY_INLINE void look_up_lines(const DeepLine* lines, const std::uint16_t* v, VF& value, VF& slope) {
  look_up_entries([&](std::size_t i) HWY_ATTR { return &lines[v[4 * kStep * i]].value; }, value,
                  slope);
}
/// Lines of as many values as a vector has words.
template <std::size_t kStep = 1>
HWY_INLINE Lines look_up_line_words(const DeepLine* lines, const std::uint16_t* v) {
  Lines l;
  for (std::size_t k = 0; k < 4; ++k)
    look_up_lines<kStep>(lines, v + kStep * k, l.value.f[k], l.slope.f[k]);
  return l;
}

/// Colours of packed 16-bit pixels by lines.
class SaturatedColours {
 public:
  /// False: results may be doubtful.
  static constexpr bool kSure = false;

  explicit SaturatedColours(const DeepSaturation& saturation)
      : lines_(saturation.lines.data()),
        limits_(saturation.limits),
        may_reach_one_(saturation),
        codes_(0, 0),
        whole_(hn::Set(DF(), kTwo52)),
        sure_(hn::Set(DF(), kSureLine)) {}

 protected:
  /// Rounds a vector of results. With kMasked only lanes in `asked` may be wrong.
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

/// Pixels of three words, one vector of each colour at a time.
class SaturatedTriples : SaturatedColours {
 public:
  using SaturatedColours::kSure;
  static constexpr std::size_t kStep = 3;
  static constexpr std::size_t kPixels = kWords;

  SaturatedTriples(const DeepSaturation& saturation, const RgbLayout&)
      : SaturatedColours(saturation) {}

  /// Scales to `out`, one aligned vector for each colour; returns false where a result may be
  /// wrong.
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

/// Pixels of four words, one in each 64-bit lane; one word is no colour.
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

/// Scales pixels in blocks, v of a block first. A vector with a doubtful result is scaled again
/// with a mask of the lanes that may be wrong and, if doubts remain, by the plain loop.
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

/// Colours of packed 16-bit pixels with a common k: channel c of a pixel with value v becomes gain
/// (v - k (v - c)).
class GainedColours {
 public:
  static constexpr bool kSure = true;

  explicit GainedColours(const DeepSaturation& saturation)
      : gains_(saturation.gains.data()),
        limits_(saturation.limits),
        may_reach_one_(saturation),
        codes_(0, 0),
        whole_(hn::Set(DF(), kTwo52)),
        factor_(hn::Set(DF(), static_cast<double>(saturation.most) / saturation::kOne)) {}

 protected:
  /// f of pixels whose least channel is `below` under v: k, or less where S comes to 1.
  HWY_INLINE VF limited_factor(VF v, VF below) const {
    const VF one = hn::Set(DF(), 1.0);
    const VF inverse = hn::Div(hn::Set(DF(), 2 - kAboveValue), hn::Max(below, one));
    return hn::Min(hn::Max(hn::Mul(v, inverse), one), factor_);
  }
  /// Channel where f is k, with `rest` = (1 - k) v, and channel where f is less.
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

/// Pixels of three words, one vector of each colour at a time.
class GainedTriples : GainedColours {
 public:
  using GainedColours::kSure;
  static constexpr std::size_t kStep = 3;
  static constexpr std::size_t kPixels = kWords;

  GainedTriples(const DeepSaturation& saturation, const RgbLayout&) : GainedColours(saturation) {}

  /// Scales to `out`, one aligned vector for each colour.
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

/// Pixels of four words, one in each 64-bit lane; one word is no colour.
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

}  // namespace HWY_NAMESPACE
}  // namespace equalux::deep_loops
HWY_AFTER_NAMESPACE();

#endif  // include guard
