// v of rows, and pass 1 of deep_rows.h, the histogram; included by deep_rows-inl.h, once for each
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

/// v of a block's columns, by row of luma.
struct BlockValues {
  alignas(64) std::uint16_t v[2][kBlock];
};

/// Counts n values that are kStep words apart, in two tables in turn.
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

/// Calls step(at, columns) for every vector of a row and block(begin, columns) after those of each
/// block. Only the last vector may have fewer columns.
template <typename Step, typename Block>
HWY_INLINE void in_blocks(std::size_t n, const Step& step, const Block& block) {
  for (std::size_t begin = 0; begin < n; begin += kBlock) {
    const std::size_t end = std::min(n, begin + kBlock);
    for (std::size_t at = begin; at < end; at += kWords)
      step(at, std::min(kWords, end - at));
    block(begin, end - begin);
  }
}

/// Counts gray in blocks: codes of a block are stored first, so that no load waits for a recent
/// store.
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

/// Packed pixels have no unused bits, so that words are codes.
constexpr bool packed_words_are_codes() {
  for (const FormatTraits& format : kFormatTraits) {
    if (format.model == ColorModel::rgb && format.depth != 8 && format.depth != 16) return false;
  }
  return true;
}
static_assert(packed_words_are_codes());

/// v of a block of pixels of kStep words, at the first colour word of each; the other words are
/// undefined.
template <std::size_t kStep>
struct PixelValues {
  alignas(64) std::uint16_t v[kStep * kBlock];
};

/// Makes the v of a block from `in` on, which begins with a colour. Each word gets the largest of
/// three words in a row, three unaligned loads. The last pixels of a row go through a copy, so that
/// nothing past it is read.
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
  // A pixel that begins with a word of no colour ends with its last colour.
  alignas(64) std::uint8_t rest[3 * kBytes] = {};
  const std::size_t last = kStep * (columns - 1) + 3;
  std::memcpy(rest, in + 2 * word, 2 * (last - word));
  for (std::size_t i = 0; word < words; word += kWords, i += kWords)
    keep(rest + 2 * i, word);
}

/// Counts packed pixels in blocks, the v of a block first.
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

/// Stores v of a vector of columns; with kKeep luma below black gets v = 0.
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

/// Prefetches a vector of each row that a later step reads.
template <DeepChroma kChroma, std::size_t kRows>
HWY_INLINE void prefetch_row(const YuvRowIn& in) {
  for (std::size_t r = 0; r < kRows; ++r)
    prefetch_ahead(in.luma[r], kBytes);
  prefetch_ahead(in.cb, kBytes);
  if constexpr (kChroma != DeepChroma::pairs) prefetch_ahead(in.cr, kBytes);
}

/// Counts rows of luma that share chroma, in blocks, the v of a block first.
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

/// Calls use(layout of chroma, rows of luma), both as compile-time constants. Only shared chroma
/// has two rows.
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
