// v of rows, and pass 1 of deep_rows.h, which counts it; included by deep_rows-inl.h, once for each
// target.
#if defined(EQUALUX_DEEP_COUNT_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUALUX_DEEP_COUNT_INL_H
#undef EQUALUX_DEEP_COUNT_INL_H
#else
#define EQUALUX_DEEP_COUNT_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace equalux::deep_loops {
namespace HWY_NAMESPACE {

/// v of a block's columns, by row.
struct BlockValues {
  alignas(64) std::uint16_t v[2][kBlock];
};

/// Counts n values that lie kStep words apart.
template <std::size_t kStep = 1>
HWY_INLINE void count_values(const std::uint16_t* v, std::size_t n, const DeepCounters& counters) {
  std::uint32_t* even = counters.tables[0];
  std::uint32_t* odd = counters.tables[1];
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4, v += 4 * kStep) {
    ++even[v[0]];
    ++odd[v[kStep]];
    ++even[v[2 * kStep]];
    ++odd[v[3 * kStep]];
  }
  for (; i < n; ++i, v += kStep)
    ++even[*v];
}

/// Calls step(at, columns) for every vector of a row, those before the last of whole ones, and
/// block(begin, columns) after those of each block.
template <typename Step, typename Block>
HWY_INLINE void in_blocks(std::size_t n, const Step& step, const Block& block) {
  for (std::size_t begin = 0; begin < n; begin += kBlock) {
    const std::size_t end = std::min(n, begin + kBlock);
    for (std::size_t at = begin; at < end; at += kWords)
      step(at, std::min(kWords, end - at));
    block(begin, end - begin);
  }
}

/// One of three formulas of V above luma, a weight for Cb and one for Cr: a whole number, and the
/// rest in units of 2^-16, which is within a half and so fits 16 bits with its sign.
struct PairWeights {
  VI16 whole, rest;

  PairWeights(std::int32_t of_cb, std::int32_t of_cr)
      : whole(both(whole_of(of_cb), whole_of(of_cr))),
        rest(both(of_cb - 65536 * whole_of(of_cb), of_cr - 65536 * whole_of(of_cr))) {}

 private:
  static constexpr std::int32_t whole_of(std::int32_t weight) { return (weight + 32768) >> 16; }
  static VI16 both(std::int32_t of_cb, std::int32_t of_cr) {
    const auto lane =
        static_cast<std::uint32_t>(of_cr) << 16 | (static_cast<std::uint32_t>(of_cb) & 0xFFFFu);
    return hn::BitCast(DI16(), hn::Set(D32(), lane));
  }
};

/// Sums of the products of even and odd words.
HWY_INLINE VI32 sum_of_products(VI16 a, VI16 b) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  return VI32{_mm512_madd_epi16(a.raw, b.raw)};
#elif HWY_TARGET == HWY_AVX2
  return VI32{_mm256_madd_epi16(a.raw, b.raw)};
#elif HWY_ARCH_X86
  return VI32{_mm_madd_epi16(a.raw, b.raw)};
#else
  const DI32 d;
  const auto even = [&](VI16 x) HWY_ATTR {
    return hn::ShiftRight<16>(hn::ShiftLeft<16>(hn::BitCast(d, x)));
  };
  const auto odd = [&](VI16 x) HWY_ATTR { return hn::ShiftRight<16>(hn::BitCast(d, x)); };
  return hn::Add(hn::Mul(even(a), even(b)), hn::Mul(odd(a), odd(b)));
#endif
}

/// Whether the sums of deep_value_above_luma() fit 32 bits without the whole parts of the weights,
/// at 16 bits: chroma less the middle is at most 2^15.
constexpr bool fits_32_bits(const YuvWeights& k) {
  const auto rest = [](std::int32_t weight) {
    const std::int32_t part = (weight & 65535) < 32768 ? weight & 65535 : 65536 - (weight & 65535);
    return static_cast<std::int64_t>(part);
  };
  const std::int64_t most =
      std::max({rest(k.red_w), rest(k.green_u) + rest(k.green_w), rest(k.blue_u)});
  return 32768 * most + 32768 < (std::int64_t{1} << 31);
}
static_assert(fits_32_bits(yuv_weights(ColorMatrix::bt601, ColorRange::full)) &&
              fits_32_bits(yuv_weights(ColorMatrix::bt709, ColorRange::full)) &&
              fits_32_bits(yuv_weights(ColorMatrix::bt2020, ColorRange::full)) &&
              fits_32_bits(yuv_weights(ColorMatrix::bt601, ColorRange::limited)) &&
              fits_32_bits(yuv_weights(ColorMatrix::bt709, ColorRange::limited)) &&
              fits_32_bits(yuv_weights(ColorMatrix::bt2020, ColorRange::limited)));

/// v of vectors of YCbCr.
class YuvValues {
 public:
  explicit YuvValues(const DeepSamples& form)
      : codes(form),
        red_(0, form.weights.red_w),
        green_(-form.weights.green_u, -form.weights.green_w),
        blue_(form.weights.blue_u, 0),
        middle_(hn::Set(D16(), static_cast<std::uint16_t>(form.chroma_middle))),
        offset_(hn::Set(D16(), static_cast<std::uint16_t>(form.weights.luma_offset))),
        most_(hn::Set(D16(), static_cast<std::uint16_t>(form.weights.luma_max))) {}

  /// How far v lies above luma, column by column.
  template <DeepChroma kChroma>
  HWY_INLINE V16 above(const ChromaCodes<kChroma>& chroma) const {
    const auto pairs = pairs_of(chroma);
    if constexpr (ChromaCodes<kChroma>::kShared) {
      const V32 lanes = differences(pairs.first).most();
      return joined(lanes, lanes);
    } else {
      return joined(differences(pairs.first).most(), differences(pairs.second).most());
    }
  }

  /// The same, and how far the least channel lies below luma.
  struct Spread {
    V16 above, below;
  };
  template <DeepChroma kChroma>
  HWY_INLINE Spread spread(const ChromaCodes<kChroma>& chroma) const {
    const auto pairs = pairs_of(chroma);
    const Differences even = differences(pairs.first);
    if constexpr (ChromaCodes<kChroma>::kShared) {
      const V32 most = even.most();
      const V32 least = even.least();
      return {joined(most, most), joined(least, least)};
    } else {
      const Differences odd = differences(pairs.second);
      return {joined(even.most(), odd.most()), joined(even.least(), odd.least())};
    }
  }

  /// yuv_value(). Saturation at 65,535 is harmless: such a sum is past M.
  HWY_INLINE V16 of(V16 luma, V16 above) const {
    return hn::Min(hn::SaturatedSub(hn::SaturatedAdd(luma, above), offset_), most_);
  }
  /// 0 below black, where a sample is left alone and counts with gain 1, which is what v = 0 has.
  HWY_INLINE V16 of_kept(V16 luma, V16 above) const {
    return hn::IfThenElseZero(hn::Eq(hn::Max(luma, offset_), luma), of(luma, above));
  }

  Codes codes;

 private:
  /// Pairs of Cb and Cr less the middle, for all columns or for the even and the odd ones.
  template <DeepChroma kChroma>
  HWY_INLINE ChromaCodes<kChroma> pairs_of(const ChromaCodes<kChroma>& chroma) const {
    const V16 first = hn::Sub(chroma.first, middle_);
    if constexpr (ChromaCodes<kChroma>::kShared) {
      return {first, first};
    } else {
      const V16 second = hn::Sub(chroma.second, middle_);
      const auto up = hn::BitCast(D16(), hn::ShiftLeft<16>(hn::BitCast(D32(), second)));
      const auto down = hn::BitCast(D16(), hn::ShiftRight<16>(hn::BitCast(D32(), first)));
      return {hn::OddEven(up, first), hn::OddEven(second, down)};
    }
  }
  static HWY_INLINE V16 joined(V32 even, V32 odd) {
    return hn::BitCast(D16(), hn::Or(even, hn::ShiftLeft<16>(odd)));
  }

  /// R, G and B less luma of pairs, of which deep_value_above_luma() and least_above_luma() are the
  /// ends. Rounding to nearest does not change which of three numbers is the largest or the least,
  /// so that each is rounded for itself.
  struct Differences {
    VI32 red, green, blue;
    HWY_INLINE V32 most() const { return hn::BitCast(D32(), hn::Max(hn::Max(red, green), blue)); }
    /// Its distance from 0, which it is not above.
    HWY_INLINE V32 least() const {
      return hn::BitCast(D32(), hn::Neg(hn::Min(hn::Min(red, green), blue)));
    }
  };
  HWY_INLINE Differences differences(V16 pairs) const {
    const VI16 chroma = hn::BitCast(DI16(), pairs);
    const auto channel = [&](const PairWeights& k) HWY_ATTR {
      const VI32 rest = hn::Add(sum_of_products(chroma, k.rest), hn::Set(DI32(), 32768));
      return hn::Add(sum_of_products(chroma, k.whole), hn::ShiftRight<16>(rest));
    };
    return {channel(red_), channel(green_), channel(blue_)};
  }

  PairWeights red_, green_, blue_;
  V16 middle_, offset_, most_;
};

void count_gray(const DeepSamples& form, const std::uint8_t* in, std::size_t n,
                const DeepCounters& counters) {
  const Codes codes(form);
  BlockValues block;
  in_blocks(
      n,
      [&](std::size_t at, std::size_t columns) HWY_ATTR {
        std::uint16_t* v = block.v[0] + at % kBlock;
        if (HWY_LIKELY(columns == kWords)) {
          prefetch_ahead(in + 2 * at, kBytes);
          hn::Store(codes.load(in + 2 * at), D16(), v);
          return;
        }
        alignas(64) std::uint8_t rest[kBytes] = {};
        std::memcpy(rest, in + 2 * at, 2 * columns);
        hn::Store(codes.load(rest), D16(), v);
      },
      [&](std::size_t, std::size_t columns)
          HWY_ATTR { count_values(block.v[0], columns, counters); });
}

/// Packed pixels have no unused bits: words are codes.
constexpr bool packed_words_are_codes() {
  for (const FormatTraits& format : kFormatTraits) {
    if (format.model == ColorModel::rgb && format.depth != 8 && format.depth != 16) return false;
  }
  return true;
}
static_assert(packed_words_are_codes());

/// v of a block of pixels of kStep words, at the first word of each one's colours; what stands at
/// the other words is nothing.
template <std::size_t kStep>
struct PixelValues {
  alignas(64) std::uint16_t v[kStep * kBlock];
};

/// Fills that from row `in` on, which begins with a colour. A vector has the largest of three words
/// in a row at each of its words; the last pixels of the row, past which nothing is read, go
/// through a copy.
template <std::size_t kStep>
HWY_INLINE void keep_pixel_values(const std::uint8_t* in, std::size_t columns, bool to_the_end,
                                  PixelValues<kStep>& values) {
  const auto keep = [&](const std::uint8_t* from, std::size_t word) HWY_ATTR {
    const V16 most = hn::Max(hn::Max(load_words(from), load_words(from + 2)), load_words(from + 4));
    hn::Store(most, D16(), values.v + word);
  };
  const std::size_t words = kStep * columns;
  const std::size_t safe = to_the_end ? words - std::min(words, std::size_t{4}) : words;
  std::size_t word = 0;
  for (; word + kWords <= safe; word += kWords) {
    prefetch_ahead<kStep>(in + 2 * word, kBytes);
    keep(in + 2 * word, word);
  }
  if (word >= words) return;
  // A pixel that begins with a word that is no colour ends where its last colour does.
  alignas(64) std::uint8_t rest[3 * kBytes] = {};
  const std::size_t last = kStep * (columns - 1) + 3;
  std::memcpy(rest, in + 2 * word, 2 * (last - word));
  for (std::size_t i = 0; word < words; word += kWords, i += kWords)
    keep(rest + 2 * i, word);
}

template <std::size_t kStep>
void count_rgb_pixels(const std::uint8_t* in, std::size_t n, const DeepCounters& counters) {
  PixelValues<kStep> values;
  for (std::size_t begin = 0; begin < n; begin += kBlock) {
    const std::size_t columns = std::min(kBlock, n - begin);
    keep_pixel_values(in + 2 * kStep * begin, columns, begin + columns == n, values);
    count_values<kStep>(values.v, columns, counters);
  }
}

void count_rgb(const DeepSamples&, const RgbLayout& pixel, const std::uint8_t* in, std::size_t n,
               const DeepCounters& counters) {
  if (pixel.step == 6) return count_rgb_pixels<3>(in, n, counters);
  count_rgb_pixels<4>(in + pixel.first(), n, counters);
}

/// v of a vector of columns to memory; kKeep says whether it is 0 below black.
template <DeepChroma kChroma, std::size_t kRows, bool kKeep>
HWY_INLINE void keep_values(const YuvValues& values, const YuvRowIn& in, std::size_t at,
                            BlockValues& block) {
  ChromaCodes<kChroma> chroma;
  chroma.load(values.codes, in);
  const V16 above = values.above(chroma);
  for (std::size_t r = 0; r < kRows; ++r) {
    const V16 luma = values.codes.load(in.luma[r]);
    hn::Store(kKeep ? values.of_kept(luma, above) : values.of(luma, above), D16(),
              block.v[r] + at % kBlock);
  }
}

template <DeepChroma kChroma, std::size_t kRows>
HWY_INLINE void prefetch_row(const YuvRowIn& in) {
  for (std::size_t r = 0; r < kRows; ++r)
    prefetch_ahead(in.luma[r], kBytes);
  prefetch_ahead(in.cb, kBytes);
  if constexpr (kChroma != DeepChroma::pairs) prefetch_ahead(in.cr, kBytes);
}

template <DeepChroma kChroma, std::size_t kRows>
void count_yuv_rows(const DeepSamples& form, const YuvRowIn& in, std::size_t n,
                    const DeepCounters& counters) {
  const YuvValues values(form);
  BlockValues block;
  in_blocks(
      n,
      [&](std::size_t at, std::size_t columns) HWY_ATTR {
        const YuvRowIn from = advance<kChroma>(in, at);
        if (HWY_LIKELY(columns == kWords)) {
          prefetch_row<kChroma, kRows>(from);
          keep_values<kChroma, kRows, false>(values, from, at, block);
        } else {
          const Tail<kChroma, kRows> tail(from, columns);
          keep_values<kChroma, kRows, false>(values, tail.in(), at, block);
        }
      },
      [&](std::size_t, std::size_t columns) HWY_ATTR {
        for (std::size_t r = 0; r < kRows; ++r)
          count_values(block.v[r], columns, counters);
      });
}

/// Calls use(layout of chroma, rows of luma), both as constants. Only shared chroma has two rows.
template <typename Use>
HWY_INLINE void with_form(const DeepYuvForm& form, const Use& use) {
  with_constant<DeepChroma::pairs, DeepChroma::shared, DeepChroma::each>(
      form.chroma, [&](auto chroma) {
        if constexpr (chroma() == DeepChroma::each) {
          use(chroma, std::integral_constant<int, 1>());
        } else {
          with_constant<1, 2>(form.rows, [&](auto rows) { use(chroma, rows); });
        }
      });
}

void count_yuv(const DeepYuvForm& form, const YuvRowIn& in, std::size_t n,
               const DeepCounters& counters) {
  with_form(form, [&](auto chroma, auto rows) {
    count_yuv_rows<chroma(), rows()>(form.samples, in, n, counters);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace equalux::deep_loops
HWY_AFTER_NAMESPACE();

#endif  // include guard
