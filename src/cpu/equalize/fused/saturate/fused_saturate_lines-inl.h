// Saturation of packed RGB by lines in 16-bit words, on targets without permutes over large tables,
// and with AVX3_DL where levels have a k each; included once for each target.
//
// The results of a level lie on a line, whose slope has 24 fractional bits for two 16-bit products.
// One load brings the four words of a level's line into a vector. Blends then place the same word
// of neighbouring pixels side by side; for this each pixel uses the table in the order that suits
// its place.
//
// Where S would pass 1 the line is not valid: such pixels and those around them are left to other
// loops.
#if defined(EQUALUX_FUSED_SATURATE_LINES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUALUX_FUSED_SATURATE_LINES_INL_H
#undef EQUALUX_FUSED_SATURATE_LINES_INL_H
#else
#define EQUALUX_FUSED_SATURATE_LINES_INL_H
#endif

/// True for targets that have these loops.
#undef EQUALUX_SATURATED_LINES
#define EQUALUX_SATURATED_LINES (HWY_ARCH_X86 && (EQUALUX_FIXED_GAINS || EQUALUX_VBMI))
/// True where they use vectors of 32 bytes.
#undef EQUALUX_LINES_OF_32
#define EQUALUX_LINES_OF_32 (HWY_TARGET == HWY_AVX2 || EQUALUX_VBMI)

#if EQUALUX_SATURATED_LINES

HWY_BEFORE_NAMESPACE();
namespace equalux {
namespace HWY_NAMESPACE {

/// Runs some(kind, in, first, steps, out) over a row in steps of kPixels pixels; `kind` says how it
/// stores. It returns the first step that it leaves alone, where S reaches 1. For that and a span
/// behind it, other(in, n, out) is run; the span grows while `some` makes no progress.
template <Stores kStores, std::size_t kStep, std::size_t kPixels, typename Some, typename Other>
HWY_INLINE void saturate_steps_of(const std::uint8_t* in, std::size_t n, std::uint8_t* out,
                                  const Some& some, const Other& other) {
  constexpr std::size_t kSpan = 256 / kPixels * kPixels;
  const std::size_t steps = n / kPixels;
  std::size_t span = kSpan;
  std::size_t done = 0;
  while (done < steps * kPixels) {
    const std::size_t from = done;
    done =
        kPixels * some(std::integral_constant<Stores, kStores>(), in, from / kPixels, steps, out);
    if (done == steps * kPixels) break;
    span = done == from && from != 0 ? 4 * span : kSpan;
    const std::size_t left = std::min(span, n - done);
    other(in + kStep * done, left, out + kStep * done);
    done += left;
  }
  if (done == n) return;
  const std::size_t rest = n - done;
  alignas(64) std::uint8_t rest_in[kStep * kPixels] = {};
  alignas(64) std::uint8_t rest_out[kStep * kPixels];
  std::memcpy(rest_in, in + kStep * done, kStep * rest);
  constexpr std::integral_constant<Stores, Stores::cached> kCached;
  if (some(kCached, rest_in, 0, 1, rest_out) != 1)
    return other(in + kStep * done, rest, out + kStep * done);
  std::memcpy(out + kStep * done, rest_out, kStep * rest);
}

// Vectors of 64 bytes use half of one: most of the work are the look-ups of single levels.
using DLine8 = hn::CappedTag<std::uint8_t, EQUALUX_LINES_OF_32 ? 32 : 16>;
using DLine16 = hn::Repartition<std::uint16_t, DLine8>;
using DLine32 = hn::Repartition<std::uint32_t, DLine8>;
using VLine8 = hn::Vec<DLine8>;
using VLine16 = hn::Vec<DLine16>;
using VLine32 = hn::Vec<DLine32>;
constexpr std::size_t kLineBytes = hn::MaxLanes(DLine8());

HWY_INLINE VLine8 most_of(VLine8 a, VLine8 b, VLine8 c) {
  return hn::Max(hn::Max(a, b), c);
}

/// Words of a where bit i % 8 of kMask is 0, else of b.
template <int kMask>
HWY_INLINE VLine16 blend_words(VLine16 a, VLine16 b) {
#if EQUALUX_LINES_OF_32
  return VLine16{_mm256_blend_epi16(a.raw, b.raw, kMask)};
#else
  return VLine16{_mm_blend_epi16(a.raw, b.raw, kMask)};
#endif
}

/// Entries of two pixels for each 16 bytes from `v` on: those whose v are bytes kFirst and kSecond.
template <std::size_t kFirst, std::size_t kSecond>
HWY_INLINE VLine16 line_entries(const LineTable& table, const std::uint8_t* v) {
  const auto two = [&table](const std::uint8_t* of)
                       HWY_ATTR { return load_two(&table[of[kFirst]], &table[of[kSecond]]); };
#if EQUALUX_LINES_OF_32
  return hn::BitCast(DLine16(),
                     hn::Combine(hn::Repartition<std::uint64_t, DLine8>(), two(v + 16), two(v)));
#else
  return hn::BitCast(DLine16(), two(v));
#endif
}

/// Words whose bit 8 is 0 where S would pass 1. In `mixed` some words belong to no channel.
struct InsideWords {
  VLine16 all, mixed;
};
HWY_INLINE void note(VLine16& inside, VLine16 words) {
  inside = hn::And(inside, words);
  // Keeps the compiler from rearranging the terms to a tree, for which it would spill them all.
  asm("" : "+x"(inside.raw));
}

/// Returns true where S would pass 1 in any word.
HWY_INLINE bool any_past(VLine16 inside) {
  const VLine16 bit = hn::Set(DLine16(), std::uint16_t{256});
#if EQUALUX_LINES_OF_32
  return _mm256_testc_si256(inside.raw, bit.raw) == 0;
#else
  return _mm_testc_si128(inside.raw, bit.raw) == 0;
#endif
}

/// Lines of a vector of words: b, A, and both halves of the slopes.
struct LineParts {
  VLine16 start, at_start, upper, lower;

  /// Results of codes, times 256.
  template <bool kLimits>
  HWY_INLINE VLine16 at(VLine16 codes, VLine16& inside) const {
    const VLine16 along = hn::Add(codes, start);
    if constexpr (kLimits) note(inside, along);
    return hn::Add(hn::Add(hn::Mul(along, upper), hn::MulHigh(along, lower)), at_start);
  }
};

HWY_INLINE VLine16 shuffled(VLine16 words, const std::uint8_t (&order)[16]) {
  const DLine8 d;
  return hn::BitCast(DLine16(),
                     hn::TableLookupBytes(hn::BitCast(d, words), hn::LoadDup128(d, order)));
}
/// High bytes of words of `even` and `odd`, interleaved.
HWY_INLINE VLine8 upper_bytes(VLine16 even, VLine16 odd) {
  const DLine8 d;
  const VLine16 high = hn::Set(DLine16(), std::uint16_t{0xFF00});
  const VLine16 low = hn::ShiftRight<8>(even);
#if EQUALUX_LINES_OF_32
  return hn::IfThenElse(hn::MaskFromVec(hn::BitCast(d, high)), hn::BitCast(d, odd),
                        hn::BitCast(d, low));
#else
  return hn::BitCast(d, hn::OrAnd(low, odd, high));
#endif
}

/// kLineBytes pixels of three bytes, 16 for each 16 bytes of a vector. A plane consists of every
/// third byte of three vectors, each in the place where it was: blends alone make it. The first and
/// third channel are rotated by one byte to have the pixels in the order of the second.
struct TripleLines {
  static constexpr std::size_t kStep = 3;

  struct Started {
    VLine8 plane[3];
    VLine8 v;
  };

  VLine8 third[3];

  TripleLines() {
    const DLine8 d;
    alignas(16) std::uint8_t mask[16];
    for (std::size_t r = 0; r < 3; ++r) {
      for (std::size_t i = 0; i < 16; ++i)
        mask[i] = i % 3 == r ? 255 : 0;
      third[r] = hn::LoadDup128(d, mask);
    }
  }
  /// Every third byte of a, b and c, from byte 0, 1 and 2 of a on.
  struct Thirds {
    VLine8 from0, from1, from2;
  };
  HWY_INLINE Thirds thirds_of(VLine8 a, VLine8 b, VLine8 c) const {
    const auto put = [this](VLine8& into, VLine8 bytes, std::size_t r) HWY_ATTR {
      into = hn::IfThenElse(hn::MaskFromVec(third[r]), bytes, into);
    };
    // Ordered by mask, as SSE4 blends need it in one fixed register.
    Thirds t{a, a, a};
    put(t.from1, b, 0);
    put(t.from2, c, 0);
    put(t.from0, c, 1);
    put(t.from2, b, 1);
    put(t.from0, b, 2);
    put(t.from1, c, 2);
    return t;
  }
  HWY_INLINE void start(const std::uint8_t* in, Started& pixels) const {
    const DLine8 d;
    const auto load = [&](std::size_t i) HWY_ATTR {
#if EQUALUX_LINES_OF_32
      const hn::CappedTag<std::uint8_t, 16> half;
      return hn::Combine(d, hn::LoadU(half, in + 48 + 16 * i), hn::LoadU(half, in + 16 * i));
#else
      return hn::LoadU(d, in + 16 * i);
#endif
    };
    const Thirds thirds = thirds_of(load(0), load(1), load(2));
    pixels.plane[0] = hn::CombineShiftRightBytes<15>(d, thirds.from0, thirds.from0);
    pixels.plane[1] = thirds.from1;
    pixels.plane[2] = hn::CombineShiftRightBytes<1>(d, thirds.from2, thirds.from2);
    pixels.v = most_of(pixels.plane[0], pixels.plane[1], pixels.plane[2]);
  }

  /// Lines of the even or odd bytes of the planes. Blends leave words 1 to 3 with neighbours, or
  /// pairs of them, exchanged; a shuffle restores the order.
  template <std::size_t kOdd>
  static HWY_INLINE LineParts parts(const LineTables& tables, const std::uint8_t* v) {
    alignas(16) static constexpr std::uint8_t kSwapped[16] = {2,  3,  0, 1, 6,  7,  4,  5,
                                                              10, 11, 8, 9, 14, 15, 12, 13};
    alignas(16) static constexpr std::uint8_t kTurned[16] = {4,  5,  6,  7,  0, 1, 2,  3,
                                                             12, 13, 14, 15, 8, 9, 10, 11};
    alignas(16) static constexpr std::uint8_t kReversed[16] = {6,  7,  4,  5,  2,  3,  0, 1,
                                                               14, 15, 12, 13, 10, 11, 8, 9};
    const VLine16 e0 = line_entries<kOdd, kOdd + 8>(tables.order[0], v);
    const VLine16 e1 = line_entries<kOdd + 2, kOdd + 10>(tables.order[1], v);
    const VLine16 e2 = line_entries<kOdd + 4, kOdd + 12>(tables.order[2], v);
    const VLine16 e3 = line_entries<kOdd + 6, kOdd + 14>(tables.order[3], v);
    const VLine16 even01 = blend_words<0xAA>(e0, e1);
    const VLine16 odd01 = blend_words<0xAA>(e1, e0);
    const VLine16 even23 = blend_words<0xAA>(e2, e3);
    const VLine16 odd23 = blend_words<0xAA>(e3, e2);
    return {blend_words<0xCC>(even01, even23), shuffled(blend_words<0xCC>(odd01, odd23), kSwapped),
            shuffled(blend_words<0xCC>(even23, even01), kTurned),
            shuffled(blend_words<0xCC>(odd23, odd01), kReversed)};
  }

  template <Stores kStores, bool kLimits>
  HWY_INLINE void finish(const LineTables& tables, const Started& pixels, const std::uint8_t*,
                         std::uint8_t* out, InsideWords& inside) const {
    const DLine8 d;
    const DLine16 words;
    const auto* const v = reinterpret_cast<const std::uint8_t*>(&pixels.v);
    const LineParts even_lines = parts<0>(tables, v);
    const LineParts odd_lines = parts<1>(tables, v);
    VLine8 result[3];
    for (std::size_t c = 0; c < 3; ++c) {
      const VLine16 codes = hn::BitCast(words, pixels.plane[c]);
      const VLine16 even =
          even_lines.at<kLimits>(hn::And(codes, hn::Set(words, std::uint16_t{0xFF})), inside.all);
      result[c] = upper_bytes(even, odd_lines.at<kLimits>(hn::ShiftRight<8>(codes), inside.all));
    }
    const VLine8 first = hn::CombineShiftRightBytes<1>(d, result[0], result[0]);
    const VLine8 last = hn::CombineShiftRightBytes<15>(d, result[2], result[2]);
    const auto [a, c, b] = thirds_of(first, last, result[1]);
#if EQUALUX_LINES_OF_32
    store<kStores>(hn::ConcatLowerLower(d, b, a), d, out);
    store<kStores>(hn::ConcatUpperLower(d, a, c), d, out + kLineBytes);
    store<kStores>(hn::ConcatUpperUpper(d, c, b), d, out + 2 * kLineBytes);
#else
    store<kStores>(a, d, out);
    store<kStores>(b, d, out + kLineBytes);
    store<kStores>(c, d, out + 2 * kLineBytes);
#endif
  }
  static HWY_INLINE bool past(const InsideWords& inside) {
    return any_past(inside.all);
  }
};

/// kLineBytes pixels of four bytes, kColor the first colour; even and odd bytes are scaled in the
/// words in which they are.
template <int kColor>
struct QuadLines {
  static constexpr std::size_t kStep = 4;

  struct Started {
    VLine8 v[4];
  };

  HWY_INLINE void start(const std::uint8_t* in, Started& pixels) const {
    const DLine32 d;
    const auto byte = [](VLine32 lanes) HWY_ATTR { return hn::BitCast(DLine8(), lanes); };
    for (std::size_t i = 0; i < 4; ++i) {
      const VLine32 x = hn::BitCast(d, hn::LoadU(DLine8(), in + kLineBytes * i));
      pixels.v[i] = most_of(byte(x), byte(hn::ShiftRight<8>(x)), byte(hn::ShiftRight<16>(x)));
    }
  }

  template <Stores kStores, bool kLimits>
  HWY_INLINE void finish(const LineTables& tables, const Started& pixels, const std::uint8_t* in,
                         std::uint8_t* out, InsideWords& inside) const {
    alignas(16) static constexpr std::uint8_t kOrder[4][16] = {
        {0, 1, 0, 1, 4, 5, 4, 5, 8, 9, 8, 9, 12, 13, 12, 13},
        {2, 3, 2, 3, 6, 7, 6, 7, 10, 11, 10, 11, 14, 15, 14, 15},
        {4, 5, 4, 5, 0, 1, 0, 1, 12, 13, 12, 13, 8, 9, 8, 9},
        {6, 7, 6, 7, 2, 3, 2, 3, 14, 15, 14, 15, 10, 11, 10, 11}};
    const DLine8 d;
    const DLine16 words;
    const VLine8 other = hn::BitCast(d, hn::Set(DLine32(), kColor == 0 ? 0xFF000000U : 0xFFU));
    for (std::size_t i = 0; i < 4; ++i) {
      const auto* const v = reinterpret_cast<const std::uint8_t*>(&pixels.v[i]) + kColor;
      const VLine16 e0 = line_entries<0, 8>(tables.order[0], v);
      const VLine16 e1 = line_entries<4, 12>(tables.order[2], v);
      const VLine16 low = blend_words<0xCC>(e0, e1);
      const VLine16 high = blend_words<0xCC>(e1, e0);
      const LineParts lines{shuffled(low, kOrder[0]), shuffled(low, kOrder[1]),
                            shuffled(high, kOrder[2]), shuffled(high, kOrder[3])};
      const VLine8 x = hn::LoadU(d, in + kLineBytes * i);
      const VLine16 even =
          lines.at<kLimits>(hn::And(hn::BitCast(words, x), hn::Set(words, std::uint16_t{0xFF})),
                            kColor == 0 ? inside.all : inside.mixed);
      const VLine16 odd = lines.at<kLimits>(hn::ShiftRight<8>(hn::BitCast(words, x)),
                                            kColor == 0 ? inside.mixed : inside.all);
      store<kStores>(hn::IfThenElse(hn::MaskFromVec(other), x, upper_bytes(even, odd)), d,
                     out + kLineBytes * i);
    }
  }
  static HWY_INLINE bool past(const InsideWords& inside) {
    const VLine16 other =
        hn::BitCast(DLine16(), hn::Set(DLine32(), kColor == 0 ? 0xFFFF0000U : 0xFFFFU));
    return any_past(hn::And(inside.all, hn::Or(inside.mixed, other)));
  }
};

/// Scales steps of kLineBytes pixels of a row from `first` on. Returns the number of steps done: up
/// to the first in which S reaches 1, whose results are wrong.
template <Stores kStores, bool kLimits, typename Form>
HWY_NOINLINE std::size_t saturate_steps(const LineTables& tables, const std::uint8_t* in,
                                        std::size_t first, std::size_t steps, std::uint8_t* out) {
  constexpr std::size_t kStepBytes = Form::kStep * kLineBytes;
  const Form form;
  const bool in_place = in == out;
  typename Form::Started started[2];
  auto* now = &started[0];
  auto* next = &started[1];
  alignas(64) std::uint8_t before[kStepBytes];
  form.start(in + kStepBytes * first, *now);
  for (std::size_t i = first; i < steps; ++i) {
    const std::uint8_t* from = in + kStepBytes * i;
    std::uint8_t* to = out + kStepBytes * i;
    prefetch_ahead(from, kStepBytes);
    if (i + 1 < steps) form.start(from + kStepBytes, *next);
    if (kLimits && HWY_UNLIKELY(in_place)) std::memcpy(before, from, kStepBytes);
    const VLine16 every = hn::Set(DLine16(), std::uint16_t{0xFFFF});
    InsideWords inside{every, every};
    form.template finish<kStores, kLimits>(tables, *now, from, to, inside);
    if constexpr (kLimits) {
      if (HWY_UNLIKELY(Form::past(inside))) {
        if (in_place) std::memcpy(to, before, kStepBytes);
        return i;
      }
    }
    std::swap(now, next);
  }
  return steps;
}

}  // namespace HWY_NAMESPACE
}  // namespace equalux
HWY_AFTER_NAMESPACE();

#endif  // EQUALUX_SATURATED_LINES
#endif  // include guard
