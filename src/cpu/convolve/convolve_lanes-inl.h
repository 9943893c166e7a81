// Vectors, division and stores shared by the bodies of convolve_rows-inl.h; included once for each
// target.
#if defined(EQUALUX_CONVOLVE_LANES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUALUX_CONVOLVE_LANES_INL_H
#undef EQUALUX_CONVOLVE_LANES_INL_H
#else
#define EQUALUX_CONVOLVE_LANES_INL_H
#endif

/// Defined where x86 multiplies pairs of bytes (maddubs), from SSE4 on; vectors have 16 <<
/// EQUALUX_PAIRS bytes.
#undef EQUALUX_PAIRS
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
#define EQUALUX_PAIRS 2
#elif HWY_ARCH_X86 && HWY_TARGET == HWY_AVX2
#define EQUALUX_PAIRS 1
#elif HWY_ARCH_X86 && HWY_TARGET <= HWY_SSE4
#define EQUALUX_PAIRS 0
#endif

HWY_BEFORE_NAMESPACE();
namespace equalux::convolution {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D8 = hn::CappedTag<std::uint8_t, kConvolveBytes>;
using D16 = hn::Repartition<std::uint16_t, D8>;
using DI16 = hn::Repartition<std::int16_t, D8>;
using D32 = hn::Repartition<std::uint32_t, D8>;
using DI32 = hn::Repartition<std::int32_t, D8>;
using DF = hn::Repartition<float, D8>;
using V8 = hn::Vec<D8>;
using V16 = hn::Vec<D16>;
using VI16 = hn::Vec<DI16>;
using V32 = hn::Vec<D32>;
using VI32 = hn::Vec<DI32>;
using VF = hn::Vec<DF>;

/// Bytes of a vector, the step of every loop.
constexpr std::size_t kBytes = hn::MaxLanes(D8());

/// Divides sums; negative ones become 0, results above 255 are not saturated.
HWY_INLINE V16 divide(VI16 sum, const ShortDivision& division) {
  const D16 d;
  V16 n = hn::BitCast(d, hn::Max(sum, hn::Zero(DI16())));
  if (division.multiplier != 0) n = hn::MulHigh(n, hn::Set(d, division.multiplier));
  return hn::ShiftRightSame(n, division.shift);
}

/// Divides sums, saturating to 0 .. 255.
HWY_INLINE VI32 divide(VI32 sum, const LongDivision& division) {
  const DI32 d;
  const D32 du;
  const DF df;
  VI32 n = hn::Max(sum, hn::Zero(d));
  if (division.shift >= 0) {
    return hn::Min(hn::ShiftRightSame(n, division.shift), hn::Set(d, 255));
  }
  n = hn::Min(n, hn::Set(d, division.most));
  const V32 divisor = hn::Set(du, division.divisor);
  const VI32 low = hn::ConvertTo(d, hn::Mul(hn::ConvertTo(df, n), hn::Set(df, division.inverse)));
  const V32 rest = hn::Sub(hn::BitCast(du, n), hn::Mul(hn::BitCast(du, low), divisor));
  const V32 more = hn::VecFromMask(du, hn::Eq(hn::Max(rest, divisor), rest));
  return hn::Sub(low, hn::BitCast(d, more));
}

HWY_INLINE bool may_stream(const RowOut& to) {
  return to.stores == Stores::streaming && reinterpret_cast<std::uintptr_t>(to.out) % kBytes == 0;
}

/// Stores results from x on; bytes that are copied come from `centre`.
HWY_INLINE void store(const RowOut& to, bool stream, std::size_t x, V8 levels) {
  const D8 d;
  if (to.copied != nullptr) {
    const V8 copied = hn::LoadU(d, to.copied + x % kConvolveBytes);
    levels = hn::IfVecThenElse(copied, hn::LoadU(d, to.centre + x), levels);
  }
  if (stream) {
    hn::Stream(levels, d, to.out + x);
  } else {
    hn::StoreU(levels, d, to.out + x);
  }
}

#ifdef EQUALUX_PAIRS
#if EQUALUX_PAIRS == 2
#define EQUALUX_X86(name) _mm512_##name
#elif EQUALUX_PAIRS == 1
#define EQUALUX_X86(name) _mm256_##name
#else
#define EQUALUX_X86(name) _mm_##name
#endif

/// Products of adjacent bytes and signed bytes, added in pairs.
HWY_INLINE VI16 byte_pairs(V8 bytes, V8 weights) {
  return VI16{EQUALUX_X86(maddubs_epi16)(bytes.raw, weights.raw)};
}
/// Products of adjacent words, added in pairs.
HWY_INLINE VI32 word_pairs(VI16 words, VI16 weights) {
  return VI32{EQUALUX_X86(madd_epi16)(words.raw, weights.raw)};
}
/// Inverse of InterleaveLower and InterleaveUpper, saturating.
HWY_INLINE V8 join(V16 low, V16 high) {
  return V8{EQUALUX_X86(packus_epi16)(low.raw, high.raw)};
}
HWY_INLINE V16 join(VI32 low, VI32 high) {
  return V16{EQUALUX_X86(packs_epi32)(low.raw, high.raw)};
}
#undef EQUALUX_X86

/// Loads a vector that two instructions use. GCC would make it a memory operand of both, and loads
/// across cache lines, which take two accesses each, are the bottleneck of row sums.
HWY_INLINE V8 load_once(const std::uint8_t* from) {
  V8 bytes = hn::LoadU(D8(), from);
#if HWY_COMPILER_GCC_ACTUAL
  asm("" : "+v"(bytes.raw));
#endif
  return bytes;
}

/// Restores the order after join() of vectors whose 16-byte blocks were in order.
HWY_INLINE V8 in_order(V8 joined) {
#if EQUALUX_PAIRS == 2
  const __m512i order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
  return V8{_mm512_permutexvar_epi64(order, joined.raw)};
#elif EQUALUX_PAIRS == 1
  return V8{_mm256_permute4x64_epi64(joined.raw, 0xD8)};
#else
  return joined;
#endif
}
#endif  // EQUALUX_PAIRS

}  // namespace HWY_NAMESPACE
}  // namespace equalux::convolution
HWY_AFTER_NAMESPACE();

#endif  // include guard
