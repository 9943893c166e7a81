// Saturation of pixels of three bytes for a common k that is a multiple of 1/4; included once for
// each target. Only for vectors of 16 bytes: with larger ones, and for pixels of four bytes, the
// loops of fused_saturate_lines-inl.h are faster.
//
// With so few fractional bits, v - k (v - c) is one sum of two byte products (maddubs), which the
// 16-bit products of fused_fixed-inl.h scale. A negative sum means that S would pass 1: such pixels
// and those around them are left to other loops.
#if defined(EQUALUX_FUSED_SATURATE_WORDS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUALUX_FUSED_SATURATE_WORDS_INL_H
#undef EQUALUX_FUSED_SATURATE_WORDS_INL_H
#else
#define EQUALUX_FUSED_SATURATE_WORDS_INL_H
#endif

/// True for targets that have these loops.
#undef EQUALUX_SATURATED_WORDS
#define EQUALUX_SATURATED_WORDS (HWY_MAX_BYTES == 16 && HWY_ARCH_X86)

#if EQUALUX_SATURATED_WORDS

HWY_BEFORE_NAMESPACE();
namespace equalux {
namespace HWY_NAMESPACE {

/// Products of pairs of bytes and pairs of signed bytes, added in words.
HWY_INLINE VI16 pair_sums(V8 pairs, VI16 weights) {
  return VI16{_mm_maddubs_epi16(pairs.raw, weights.raw)};
}

/// Shuffles that spread v to all channels of 16 packed bytes: positions of v in bytes from a
/// pixel's first on, by the byte of that pixel at which the 16 begin.
struct TripleValues {
  alignas(64) std::uint8_t order[3][kBytes];
  constexpr TripleValues() : order{} {
    for (std::size_t into = 0; into < 3; ++into) {
      for (std::size_t i = 0; i < kBytes; ++i)
        order[into][i] = static_cast<std::uint8_t>(((into + i / 16 * 16) % 3 + i % 16) / 3 * 3);
    }
  }
};
constexpr TripleValues kTripleValues;

/// Triples with changed saturation.
struct SaturatedWords : Triples<kSaturatedWordBits> {
  /// v for every byte of vector i of a group; Triples::values() stores it at the first byte of each
  /// pixel.
  template <std::size_t i>
  static HWY_INLINE V8 values_of(const std::uint8_t* v) {
    constexpr std::size_t kAt = kBytes * i;
    const auto from = [v](std::size_t at) { return v + at / 3 * 3; };
    return hn::TableLookupBytes(hn::LoadU(D8(), from(kAt)),
                                hn::Load(D8(), kTripleValues.order[kAt % 3]));
  }
  /// Gains for a vector of words.
  template <std::size_t word>
  static HWY_INLINE V8 gains_of(const std::uint32_t* gains) {
    return load_halves(gains + TripleSpread::first(TripleSpread::group_of(word, 0)),
                       gains + TripleSpread::first(TripleSpread::group_of(word, 1)));
  }
  template <std::size_t word>
  static HWY_INLINE V16 upper(V8 gain) {
    return hn::BitCast(D16(),
                       hn::TableLookupBytes(
                           gain, hn::Load(D8(), kTripleSpread.upper[TripleSpread::kind_of(word)])));
  }
  template <std::size_t word>
  static HWY_INLINE V16 lower(V8 gain) {
    return hn::BitCast(D16(),
                       hn::TableLookupBytes(
                           gain, hn::Load(D8(), kTripleSpread.lower[TripleSpread::kind_of(word)])));
  }
};

/// Scales vector i of a group of kBytes pixels. `least` becomes negative where S would pass 1.
template <std::size_t i>
HWY_INLINE V8 saturated_vector(const std::uint8_t* v, const std::uint32_t* gains,
                               const std::uint8_t* in, VI16 weights, VI16& least) {
  const D8 d;
  const V8 x = hn::LoadU(d, in + kBytes * i);
  const V8 values = SaturatedWords::values_of<i>(v);
  const auto word = [&](auto half, V8 pairs) HWY_ATTR {
    constexpr std::size_t kWord = 2 * i + half();
    const VI16 part = pair_sums(pairs, weights);
    // A minimum, not an OR of the bits, which GCC rearranges to a tree and spills all terms of.
    least = hn::Min(least, part);
    const V8 gain = SaturatedWords::gains_of<kWord>(gains);
    return hn::BitCast(DI16(), scale_words<kSaturatedWordBits>(hn::BitCast(D16(), part),
                                                               SaturatedWords::upper<kWord>(gain),
                                                               SaturatedWords::lower<kWord>(gain)));
  };
  const VI16 low =
      word(std::integral_constant<std::size_t, 0>(), hn::InterleaveLower(d, values, x));
  const VI16 high =
      word(std::integral_constant<std::size_t, 1>(), hn::InterleaveUpper(d, values, x));
  return pack_words(low, high);
}

/// Scales blocks of a row from `first` on. Returns the number of blocks done: up to the first in
/// which S reaches 1, whose results are wrong.
template <Stores kStores, bool kLimits>
HWY_NOINLINE std::size_t saturate_blocks(const SaturatedGains& tables, const std::uint8_t* in,
                                         std::size_t first, std::size_t blocks, std::uint8_t* out) {
  constexpr std::size_t kStep = SaturatedWords::kStep;
  constexpr std::size_t kBlockBytes = kStep * kBlock;
  const SteppedLookup<std::uint64_t> lookup(tables.word_gains.data());
  const SaturatedWords form;
  const VI16 weights = hn::Set(DI16(), tables.word_weights);
  const bool in_place = in == out;
  alignas(64) std::uint8_t v[4][kBlockBytes];
  alignas(64) std::uint32_t gains[2][kBlock + kSpreadBeyond];
  alignas(64) std::uint8_t before[kBlockBytes];
  const auto values = [&](std::size_t b) HWY_ATTR {
    if (b < blocks) form.values(in + kBlockBytes * b, v[b % 4]);
  };
  const auto look_up = [&](std::size_t b) HWY_ATTR {
    if (b < blocks) lookup.look_up_row<kStep, kBlock>(v[b % 4], gains[b % 2]);
  };
  values(first);
  values(first + 1);
  look_up(first);
  for (std::size_t b = first; b < blocks; ++b) {
    const std::uint8_t* from = in + kBlockBytes * b;
    std::uint8_t* to = out + kBlockBytes * b;
    prefetch_ahead(from, kBlockBytes);
    look_up(b + 1);
    values(b + 2);
    if (kLimits && HWY_UNLIKELY(in_place)) std::memcpy(before, from, kBlockBytes);
    VI16 least = hn::Zero(DI16());
    for (std::size_t g = 0; g < kBlockVectors; ++g) {
      const std::size_t at = kStep * kBytes * g;
      const auto scale = [&](auto i) HWY_ATTR {
        const V8 result = saturated_vector<i()>(v[b % 4] + at, gains[b % 2] + kBytes * g, from + at,
                                                weights, least);
        store<kStores>(result, D8(), to + at + kBytes * i());
      };
      scale(std::integral_constant<std::size_t, 0>());
      scale(std::integral_constant<std::size_t, 1>());
      scale(std::integral_constant<std::size_t, 2>());
    }
    if constexpr (kLimits) {
      if (HWY_UNLIKELY(!hn::AllFalse(DI16(), hn::Lt(least, hn::Zero(DI16()))))) {
        if (in_place) std::memcpy(to, before, kBlockBytes);
        return b;
      }
    }
  }
  return blocks;
}

}  // namespace HWY_NAMESPACE
}  // namespace equalux
HWY_AFTER_NAMESPACE();

#endif  // EQUALUX_SATURATED_WORDS
#endif  // include guard
