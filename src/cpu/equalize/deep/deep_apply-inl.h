// Pass 2 of deep_rows.h, scaling; included by deep_rows-inl.h, once for each target.
//
// Scalar loads look the gains up, one pixel at a time, while vectors scale other pixels by products
// in double precision. deep_scaled_gain() proves that these round right.
#if defined(EQUALUX_DEEP_APPLY_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUALUX_DEEP_APPLY_INL_H
#undef EQUALUX_DEEP_APPLY_INL_H
#else
#define EQUALUX_DEEP_APPLY_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace equalux::deep_loops {
namespace HWY_NAMESPACE {

/// 2^52: a sum with it in double precision is rounded to the nearest whole number, which stands in
/// the low bits.
constexpr double kTwo52 = 4503599627370496.0;

/// Four vectors of doubles; f[k] belongs to words k, 4 + k, 8 + k ... of a vector.
struct Doubles {
  VF f[4];
};

/// Conversion of codes to (code - zero) / 2^bits: a code is placed in the mantissa of a number
/// whose last bit is worth 2^-bits, and that number is subtracted.
class Centre {
 public:
  Centre(std::int32_t zero, int bits) {
    const double first = std::ldexp(kTwo52, -bits);
    first_ = hn::BitCast(D64(), hn::Set(DF(), first));
    less_ = hn::Set(DF(), first + std::ldexp(static_cast<double>(zero), -bits));
  }
  HWY_INLINE Doubles operator()(V16 codes) const {
    const D64 d;
    const V64 lanes = hn::BitCast(d, codes);
    const V64 low = hn::Set(d, 0xFFFFu);
    const auto number = [&](V64 code) HWY_ATTR {
      return hn::Sub(hn::BitCast(DF(), hn::Or(code, first_)), less_);
    };
    return {number(hn::And(lanes, low)), number(hn::And(hn::ShiftRight<16>(lanes), low)),
            number(hn::And(hn::ShiftRight<32>(lanes), low)), number(hn::ShiftRight<48>(lanes))};
  }

 private:
  V64 first_;
  VF less_;
};

/// Low halves of the 64-bit lanes of two vectors, interleaved as 32-bit lanes.
HWY_INLINE V32 join_halves(VF even, VF odd) {
  return hn::OddEven(hn::BitCast(D32(), hn::ShiftLeft<32>(hn::BitCast(D64(), odd))),
                     hn::BitCast(D32(), even));
}
/// Inverse of Centre: low words of the 64-bit lanes of four vectors.
HWY_INLINE V16 join_words(const Doubles& x) {
  const V32 even = join_halves(x.f[0], x.f[2]);
  const V32 odd = join_halves(x.f[1], x.f[3]);
  return hn::OddEven(hn::BitCast(D16(), hn::ShiftLeft<16>(odd)), hn::BitCast(D16(), even));
}

/// join_words() of signed 32-bit numbers, clamped to 0 .. `most`.
HWY_INLINE V16 join_clamped(const Doubles& x, VI32 most) {
  const auto clamped = [most](V32 lanes) HWY_ATTR {
    const DI32 d;
    return hn::BitCast(D32(), hn::Min(hn::Max(hn::BitCast(d, lanes), hn::Zero(d)), most));
  };
  const V32 even = clamped(join_halves(x.f[0], x.f[2]));
  const V32 odd = clamped(join_halves(x.f[1], x.f[3]));
  return hn::BitCast(D16(), hn::Or(even, hn::ShiftLeft<16>(odd)));
}

/// Scaled gains of v[0], v[4], v[8] ..., with values kStep words apart.
template <std::size_t kStep = 1>
HWY_INLINE VF look_up(const double* gains, const std::uint16_t* v) {
  const auto at = [&](std::size_t i) HWY_ATTR { return gains[v[4 * kStep * i]]; };
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  return VF{_mm512_set_pd(at(7), at(6), at(5), at(4), at(3), at(2), at(1), at(0))};
#elif HWY_TARGET == HWY_AVX2
  return VF{_mm256_set_pd(at(3), at(2), at(1), at(0))};
#elif HWY_ARCH_X86
  return VF{_mm_set_pd(at(1), at(0))};
#else
  alignas(64) double lanes[hn::MaxLanes(DF())];
  for (std::size_t i = 0; i < hn::MaxLanes(DF()); ++i)
    lanes[i] = at(i);
  return hn::Load(DF(), lanes);
#endif
}
/// Scaled gains of as many values as a vector has words.
template <std::size_t kStep = 1>
HWY_INLINE Doubles look_up_words(const double* gains, const std::uint16_t* v) {
  return {look_up<kStep>(gains, v), look_up<kStep>(gains, v + kStep),
          look_up<kStep>(gains, v + 2 * kStep), look_up<kStep>(gains, v + 3 * kStep)};
}

/// deep_scaled() of codes above black.
class Scale {
 public:
  explicit Scale(const DeepSamples& form)
      : centre_(form.weights.luma_offset, deep_share_bits(form.depth)),
        base_(hn::Set(DF(), kTwo52 + form.weights.luma_offset)) {}

  HWY_INLINE V16 operator()(V16 codes, const Doubles& gains) const {
    const Doubles c = centre_(codes);
    return join_words({hn::MulAdd(c.f[0], gains.f[0], base_), hn::MulAdd(c.f[1], gains.f[1], base_),
                       hn::MulAdd(c.f[2], gains.f[2], base_),
                       hn::MulAdd(c.f[3], gains.f[3], base_)});
  }

 private:
  Centre centre_;
  VF base_;
};

/// Scales gray by a table of results, in blocks: codes first, then look-ups in place, then stores
/// of whole vectors.
void apply_gray(const DeepSamples& form, const DeepGains& gains, Stores stores,
                const std::uint8_t* in, std::size_t n, std::uint8_t* out) {
  const std::uint16_t* words = gains.words.data();
  const bool stream = stores == Stores::streaming && aligned(out);
  const Codes codes(form);
  alignas(64) std::uint16_t v[kBlock];
  in_blocks(
      n,
      [&](std::size_t at, std::size_t columns) HWY_ATTR {
        if (HWY_LIKELY(columns == kWords)) {
          prefetch_ahead(in + 2 * at, kBytes);
          hn::Store(codes.load(in + 2 * at), D16(), v + at % kBlock);
          return;
        }
        alignas(64) std::uint8_t rest[kBytes] = {};
        std::memcpy(rest, in + 2 * at, 2 * columns);
        hn::Store(codes.load(rest), D16(), v + at % kBlock);
      },
      [&](std::size_t begin, std::size_t columns) HWY_ATTR {
        for (std::size_t i = 0; i < columns; ++i)
          v[i] = words[v[i]];
        std::uint8_t* to = out + 2 * begin;
        if (!stream) {
          std::memcpy(to, v, 2 * columns);
          return;
        }
        std::size_t i = 0;
        for (; i + kWords <= columns; i += kWords)
          store_words<Stores::streaming>(hn::Load(D16(), v + i), to + 2 * i);
        std::memcpy(to + 2 * i, v + i, 2 * (columns - i));
      });
}

/// Pixels of three words, one vector of each colour at a time.
struct Triples {
  static constexpr std::size_t kStep = 3;
  static constexpr std::size_t kPixels = kWords;

  explicit Triples(const DeepSamples& form, const RgbLayout&) : scale_(form) {}

  template <Stores kStores>
  HWY_INLINE void operator()(const double* gains, const std::uint16_t* v, const std::uint8_t* in,
                             std::uint8_t* out) const {
    const D16 d;
    const Doubles gain = look_up_words<3>(gains, v);
    V16 a, b, c;
    hn::LoadInterleaved3(d, reinterpret_cast<const std::uint16_t*>(in), a, b, c);
    a = scale_(a, gain);
    b = scale_(b, gain);
    c = scale_(c, gain);
    if constexpr (kStores == Stores::cached) {
      hn::StoreInterleaved3(a, b, c, d, reinterpret_cast<std::uint16_t*>(out));
    } else {
      alignas(64) std::uint16_t words[3 * kWords];
      hn::StoreInterleaved3(a, b, c, d, words);
      for (std::size_t i = 0; i < 3; ++i)
        store_words<kStores>(hn::Load(d, words + kWords * i), out + kBytes * i);
    }
  }

 private:
  Scale scale_;
};

/// Pixels of four words, one in each 64-bit lane. The word that is no colour gets gain 1.
struct Quads {
  static constexpr std::size_t kStep = 4;
  static constexpr std::size_t kPixels = kWords / 4;

  Quads(const DeepSamples& form, const RgbLayout& pixel)
      : scale_(form),
        one_(hn::Set(DF(), deep_scaled_gain(0, 0, form.depth))),
        colour_first_(pixel.first() == 0) {}

  template <Stores kStores>
  HWY_INLINE void operator()(const double* gains, const std::uint16_t* v, const std::uint8_t* in,
                             std::uint8_t* out) const {
    const VF gain = look_up(gains, v);
    const Doubles all{colour_first_ ? gain : one_, gain, gain, colour_first_ ? one_ : gain};
    store_words<kStores>(scale_(load_words(in), all), out);
  }

 private:
  Scale scale_;
  VF one_;
  bool colour_first_;
};

/// Scales packed pixels in blocks, v of a block first; the tail is a copy. Lanes behind it look up
/// whatever v hold: pixels have 16 bits, and tables an entry for every word.
template <Stores kStores, typename Pixels>
HWY_INLINE void scale_pixels(const DeepGains& gains, const Pixels& scale, int first,
                             const std::uint8_t* in, std::size_t n, std::uint8_t* out) {
  constexpr std::size_t kPixelBytes = 2 * Pixels::kStep;
  const double* table = gains.scaled.data();
  PixelValues<Pixels::kStep> values;
  for (std::size_t begin = 0; begin < n; begin += kBlock) {
    const std::size_t columns = std::min(kBlock, n - begin);
    const std::uint8_t* from = in + kPixelBytes * begin;
    std::uint8_t* to = out + kPixelBytes * begin;
    keep_pixel_values(from + first, columns, begin + columns == n, values);
    std::size_t i = 0;
    for (; i + Pixels::kPixels <= columns; i += Pixels::kPixels) {
      scale.template operator()<kStores>(table, values.v + Pixels::kStep * i,
                                         from + kPixelBytes * i, to + kPixelBytes * i);
    }
    if (i == columns) continue;
    alignas(64) std::uint8_t rest[kPixelBytes * Pixels::kPixels] = {};
    std::memcpy(rest, from + kPixelBytes * i, kPixelBytes * (columns - i));
    scale.template operator()<Stores::cached>(table, values.v + Pixels::kStep * i, rest, rest);
    std::memcpy(to + kPixelBytes * i, rest, kPixelBytes * (columns - i));
  }
}

template <typename Pixels>
void apply_rgb_pixels(const DeepSamples& form, const RgbLayout& pixel, const DeepGains& gains,
                      Stores stores, const std::uint8_t* in, std::size_t n, std::uint8_t* out) {
  const Pixels scale(form, pixel);
  if (stores == Stores::streaming && aligned(out)) {
    scale_pixels<Stores::streaming>(gains, scale, pixel.first(), in, n, out);
  } else {
    scale_pixels<Stores::cached>(gains, scale, pixel.first(), in, n, out);
  }
}

void apply_rgb(const DeepSamples& form, const RgbLayout& pixel, const DeepGains& gains,
               Stores stores, const std::uint8_t* in, std::size_t n, std::uint8_t* out) {
  if (pixel.step == 6) return apply_rgb_pixels<Triples>(form, pixel, gains, stores, in, n, out);
  apply_rgb_pixels<Quads>(form, pixel, gains, stores, in, n, out);
}

/// Distance from the nearest whole number above which 16-bit chroma may be rounded to the wrong
/// side. A gain exceeds its share by less than one unit, 2^-39, which times chroma of at most 2^15
/// is 2^-24, and by 2^-49 of itself, which is 2^-33 of a result that does not saturate.
constexpr double kSureDistance = 0.5 - 1.0 / 4194304.0;

/// deep_scaled_chroma() of vectors, with sums of gains of kCovered luma samples each.
///
/// Up to 12 bits gains are rounded down to shares. Sums and products are then whole numbers of
/// units, exact unless they saturate, and half a unit more keeps them off the halves. With 16 bits
/// single results may be wrong, which unsure() reports.
///
/// Numbers before saturation fit in 32 bits: chroma of at most 2^(depth - 1), times gains below
/// 2^depth.
template <bool kSixteen, int kCovered>
class ScaleChroma {
 public:
  explicit ScaleChroma(const DeepSamples& form)
      : centre_(form.chroma_middle, bits(form)),
        more_(hn::Set(DF(), std::ldexp(0.5, -bits(form)))),
        base_(hn::Set(DF(), 1.5 * kTwo52 + form.chroma_middle)),
        most_(hn::Set(DI32(), form.most)) {}

  /// Contribution of a luma sample to a sum.
  static HWY_INLINE VF share(VF gain) {
    if constexpr (kSixteen) {
      return gain;
    } else {
      return hn::Floor(gain);
    }
  }

  HWY_INLINE V16 operator()(V16 codes, const Doubles& sums) {
    const Doubles u = centre_(codes);
    Doubles scaled;
    for (std::size_t i = 0; i < 4; ++i) {
      if constexpr (kSixteen) {
        const VF product = hn::Mul(u.f[i], sums.f[i]);
        scaled.f[i] = hn::Add(product, base_);
        const VF distance = hn::Abs(hn::Sub(product, hn::Sub(scaled.f[i], base_)));
        farthest_ = hn::Max(farthest_, distance);
      } else {
        scaled.f[i] = hn::Add(hn::MulAdd(u.f[i], sums.f[i], more_), base_);
      }
    }
    return join_clamped(scaled, most_);
  }

  /// Returns true where a result since the last call may be wrong.
  HWY_INLINE bool unsure() {
    if constexpr (kSixteen) {
      const bool any = !hn::AllFalse(DF(), hn::Gt(farthest_, hn::Set(DF(), kSureDistance)));
      farthest_ = hn::Zero(DF());
      return any;
    } else {
      return false;
    }
  }

 private:
  static int bits(const DeepSamples& form) {
    return deep_share_bits(form.depth) + (kCovered == 4 ? 2 : kCovered - 1);
  }

  Centre centre_;
  VF more_, base_;
  VI32 most_;
  VF farthest_ = hn::Zero(DF());
};

/// Scales chroma codes of a vector of luma with values v in integers.
template <DeepChroma kChroma, std::size_t kRows>
HWY_NOINLINE void scale_chroma_exactly(const DeepSamples& form, const DeepGains& gains,
                                       const std::uint16_t (&v)[2][kWords],
                                       std::uint16_t (&codes)[2][kWords]) {
  constexpr std::size_t kColumns = kChroma == DeepChroma::each ? 1 : 2;
  constexpr int kLog2 = (kRows == 2 ? 1 : 0) + (kColumns == 2 ? 1 : 0);
  for (std::size_t c = 0; c < kWords / kColumns; ++c) {
    std::int64_t sum = 0;
    for (std::size_t r = 0; r < kRows; ++r) {
      for (std::size_t i = kColumns * c; i < kColumns * (c + 1); ++i)
        sum += deep_gain_share(deep_gain(gains.curve[v[r][i]], v[r][i], form.depth));
    }
    // Pairs share one vector; otherwise Cb and Cr have one each.
    std::uint16_t* cb = kColumns == 2 ? codes[0] + 2 * c : codes[0] + c;
    std::uint16_t* cr = kColumns == 2 ? codes[0] + 2 * c + 1 : codes[1] + c;
    for (std::uint16_t* code : {cb, cr}) {
      *code = static_cast<std::uint16_t>(
          deep_scaled_chroma(form, *code - form.chroma_middle, sum, kLog2));
    }
  }
}

template <DeepChroma kChroma, std::size_t kRows, bool kSixteen>
class YuvScaler {
 public:
  YuvScaler(const DeepSamples& form, const DeepGains& gains)
      : form_(form), gains_(gains), codes_(form), luma_(form), chroma_(form) {}

  /// Scales a vector of columns; their v are in rows of kBlock.
  template <Stores kStores>
  HWY_INLINE void operator()(const YuvRowIn& in, const std::uint16_t* v, const YuvRowOut& out) {
    ChromaCodes<kChroma> chroma;
    chroma.load(codes_, in);
    V16 luma[kRows];
    Doubles sums;
    for (std::size_t r = 0; r < kRows; ++r) {
      const Doubles gain = look_up_words(gains_.scaled.data(), v + r * kBlock);
      luma[r] = luma_(codes_.load(in.luma[r]), gain);
      for (std::size_t i = 0; i < 4; ++i) {
        const VF share = Chroma::share(gain.f[i]);
        sums.f[i] = r == 0 ? share : hn::Add(sums.f[i], share);
      }
    }
    ChromaCodes<kChroma> scaled = chroma;
    if constexpr (ChromaCodes<kChroma>::kShared) {
      const VF even = hn::Add(sums.f[0], sums.f[1]);
      const VF odd = hn::Add(sums.f[2], sums.f[3]);
      scaled.first = chroma_(chroma.first, {even, even, odd, odd});
    } else {
      scaled.first = chroma_(chroma.first, sums);
      scaled.second = chroma_(chroma.second, sums);
    }
    if (HWY_UNLIKELY(chroma_.unsure())) correct(chroma, v, scaled);
    for (std::size_t r = 0; r < kRows; ++r)
      store_words<kStores>(codes_.words(luma[r]), out.luma[r]);
    if constexpr (kChroma == DeepChroma::pairs) {
      store_words<kStores>(codes_.words(scaled.first), out.cb);
    } else if constexpr (kChroma == DeepChroma::shared) {
      // Cached stores, as half vectors would be streamed as half cache lines.
      store_pairs(codes_.words(scaled.first), out.cb, out.cr);
    } else {
      store_words<kStores>(codes_.words(scaled.first), out.cb);
      store_words<kStores>(codes_.words(scaled.second), out.cr);
    }
  }

 private:
  using Chroma =
      ScaleChroma<kSixteen, static_cast<int>(kRows) * (kChroma == DeepChroma::each ? 1 : 2)>;

  HWY_INLINE void correct(const ChromaCodes<kChroma>& chroma, const std::uint16_t* v,
                          ChromaCodes<kChroma>& scaled) const {
    const D16 d;
    alignas(64) std::uint16_t codes[2][kWords];
    alignas(64) std::uint16_t values[2][kWords];
    hn::Store(chroma.first, d, codes[0]);
    hn::Store(chroma.second, d, codes[1]);
    for (std::size_t r = 0; r < kRows; ++r)
      std::memcpy(values[r], v + r * kBlock, kBytes);
    scale_chroma_exactly<kChroma, kRows>(form_, gains_, values, codes);
    scaled.first = hn::Load(d, codes[0]);
    scaled.second = hn::Load(d, codes[1]);
  }

  const DeepSamples& form_;
  const DeepGains& gains_;
  Codes codes_;
  Scale luma_;
  Chroma chroma_;
};

/// Scales columns in blocks, v of a block first.
template <DeepChroma kChroma, std::size_t kRows, bool kSixteen, Stores kStores>
void apply_yuv_rows(const DeepSamples& form, const DeepGains& gains, const YuvRowIn& in,
                    std::size_t n, const YuvRowOut& out) {
  const YuvValues values(form);
  YuvScaler<kChroma, kRows, kSixteen> scale(form, gains);
  BlockValues block;
  const std::size_t whole = n / kWords * kWords;
  in_blocks(
      whole,
      [&](std::size_t at, std::size_t) HWY_ATTR {
        const YuvRowIn from = advance<kChroma>(in, at);
        prefetch_row<kChroma, kRows>(from);
        keep_values<kChroma, kRows, true>(values, from, at, block);
      },
      [&](std::size_t begin, std::size_t columns) HWY_ATTR {
        for (std::size_t i = 0; i < columns; i += kWords) {
          scale.template operator()<kStores>(advance<kChroma>(in, begin + i), block.v[0] + i,
                                             advance<kChroma>(out, begin + i));
        }
      });
  if (whole == n) return;
  // Recursive call: one body serves the tails of all variants, where an inlined copy would double
  // the code.
  Tail<kChroma, kRows> tail(advance<kChroma>(in, whole), n - whole);
  apply_yuv_rows<kChroma, kRows, kSixteen, Stores::cached>(form, gains, tail.in(), kWords,
                                                           tail.out());
  tail.copy_to(advance<kChroma>(out, whole));
}

void apply_yuv(const DeepYuvForm& form, const DeepGains& gains, Stores stores, const YuvRowIn& in,
               std::size_t n, const YuvRowOut& out) {
  const bool stream = stores == Stores::streaming && aligned(out.luma[0]) && aligned(out.luma[1]) &&
                      aligned(out.cb) && (form.chroma == DeepChroma::pairs || aligned(out.cr));
  with_form(form, [&](auto chroma, auto rows) {
    with_constant<false, true>(form.samples.depth > 12, [&](auto sixteen) {
      with_constant<Stores::cached, Stores::streaming>(
          stream ? Stores::streaming : Stores::cached, [&](auto kind) {
            apply_yuv_rows<chroma(), rows(), sixteen(), kind()>(form.samples, gains, in, n, out);
          });
    });
  });
}

void flush_stores() {
  hwy::FlushStream();
}

}  // namespace HWY_NAMESPACE
}  // namespace equalux::deep_loops
HWY_AFTER_NAMESPACE();

#endif  // include guard
