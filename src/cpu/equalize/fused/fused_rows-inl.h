// Common part of the SIMD bodies of fused_rows.h; included once for each target, before those of
// each pass.
//
// Lane layout: float vector k holds bytes k, 4 + k, 8 + k ... of a byte vector. Bytes become floats
// by shifts and masks in 32-bit lanes instead of unpacking, so that no step permutes lanes, and
// pixels that share a chroma sample are in the same lane of neighbouring vectors.
#if defined(EQUALUX_FUSED_ROWS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUALUX_FUSED_ROWS_INL_H
#undef EQUALUX_FUSED_ROWS_INL_H
#else
#define EQUALUX_FUSED_ROWS_INL_H
#endif

/// True for targets with vectors; the others use the plain C++ loops.
#undef EQUALUX_HAS_VECTORS
#define EQUALUX_HAS_VECTORS (HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128)

#if EQUALUX_HAS_VECTORS

HWY_BEFORE_NAMESPACE();
namespace equalux {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D8 = hn::ScalableTag<std::uint8_t>;
using D16 = hn::Repartition<std::uint16_t, D8>;
using DI16 = hn::Repartition<std::int16_t, D8>;
using D32 = hn::Repartition<std::uint32_t, D8>;
using DI32 = hn::Repartition<std::int32_t, D8>;
using DF = hn::Repartition<float, D8>;
using DHalf8 = hn::Half<D8>;
using V8 = hn::Vec<D8>;
using V16 = hn::Vec<D16>;
using VI16 = hn::Vec<DI16>;
using V32 = hn::Vec<D32>;
using VI32 = hn::Vec<DI32>;
using VF = hn::Vec<DF>;

/// True where gains are whole numbers: on targets without permutes over large tables. Scalar loads
/// look the gains up there, as gathers are slower than those on most processors.
#undef EQUALUX_FIXED_GAINS
#define EQUALUX_FIXED_GAINS (HWY_TARGET == HWY_AVX2 || HWY_MAX_BYTES == 16)

/// Bytes of a vector, the step of every loop.
constexpr std::size_t kBytes = hn::MaxLanes(D8());

/// 2^23: a sum with it is rounded to a whole number, which stands in the low bits of the float.
constexpr float kTwo23 = 8388608.0f;

/// Four float vectors; f[k] belongs to bytes k, 4 + k, 8 + k ... of a V8.
struct Floats {
  VF f0, f1, f2, f3;
};

/// Byte k of every 32-bit lane, zero-extended.
template <int k>
HWY_INLINE VI32 lane_byte(V8 v) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  if constexpr (k == 1 || k == 2) {
    // One shuffle instead of a shift and a mask.
    const __m512i order = _mm512_broadcast_i32x4(
        _mm_setr_epi8(k, -1, -1, -1, 4 + k, -1, -1, -1, 8 + k, -1, -1, -1, 12 + k, -1, -1, -1));
    return VI32{_mm512_shuffle_epi8(v.raw, order)};
  }
#endif
  const D32 d;
  const V32 lanes = hn::BitCast(d, v);
  const V32 low =
      k == 3 ? hn::ShiftRight<24>(lanes) : hn::And(hn::ShiftRight<8 * k>(lanes), hn::Set(d, 255u));
  return hn::BitCast(DI32(), low);
}
template <>
HWY_INLINE VI32 lane_byte<0>(V8 v) {
  const D32 d;
  return hn::BitCast(DI32(), hn::And(hn::BitCast(d, v), hn::Set(d, 255u)));
}

HWY_INLINE Floats to_floats(V8 v) {
  const DF d;
  return {hn::ConvertTo(d, lane_byte<0>(v)), hn::ConvertTo(d, lane_byte<1>(v)),
          hn::ConvertTo(d, lane_byte<2>(v)), hn::ConvertTo(d, lane_byte<3>(v))};
}

/// Inverse of lane_byte: the low byte of each lane of b[k] becomes byte k, 4 + k, 8 + k ... The
/// middle two bytes of all lanes must be 0.
HWY_INLINE V8 join_bytes(V32 b0, V32 b1, V32 b2, V32 b3) {
#if EQUALUX_VBMI
  // Each funnel shift moves the bytes down by one and inserts the next one at the top.
  const __m512i one = _mm512_shrdi_epi32(_mm512_slli_epi32(b0.raw, 24), b1.raw, 8);
  return V8{_mm512_shrdi_epi32(_mm512_shrdi_epi32(one, b2.raw, 8), b3.raw, 8)};
#elif EQUALUX_FIXED_GAINS
  const auto words = [](V32 lower, V32 upper) HWY_ATTR {
    const D16 d;
    return hn::OddEven(hn::BitCast(d, hn::ShiftLeft<16>(upper)), hn::BitCast(d, lower));
  };
  return hn::BitCast(D8(), hn::Or(words(b0, b2), hn::ShiftLeft<8>(words(b1, b3))));
#else
  const V32 upper =
      hn::Or(hn::Or(hn::ShiftLeft<8>(b1), hn::ShiftLeft<16>(b2)), hn::ShiftLeft<24>(b3));
  return hn::BitCast(D8(), hn::Or(hn::And(b0, hn::Set(D32(), 255u)), upper));
#endif
}

#if EQUALUX_VBMI
/// Permutations for 64 pixels of three bytes: 192 bytes in three vectors.
struct TripleOrder {
  /// Plane c from three vectors: first from two of them, then the third is merged in.
  alignas(64) std::uint8_t load[3][2][64];
  /// Vector i from three planes: first from two of them, then the third is merged in.
  alignas(64) std::uint8_t store[3][2][64];
  /// Channel c of 16 pixels, zero-extended to 32-bit lanes, from 64 bytes.
  alignas(64) std::uint8_t widen[3][64];
  /// 48 bytes of 16 pixels from the low bytes of three vectors of lanes: two, then the third is
  /// merged in.
  alignas(64) std::uint8_t narrow[2][64];
  /// Vector i of the packed result from the 48-byte groups i and i + 1.
  alignas(64) std::uint8_t join[3][64];
  /// Order of pixels for which GainLookup::unpacked returns those of 16 k .. 16 k + 15 in f[k].
  alignas(64) std::uint8_t pixels[64];
};
constexpr TripleOrder triple_order() {
  TripleOrder o{};
  for (int c = 0; c < 3; ++c) {
    for (int i = 0; i < 64; ++i) {
      // Plane byte i is memory byte 3 i + c. Indices 0 .. 127 address two vectors.
      const int from = 3 * i + c;
      o.load[c][0][i] = static_cast<std::uint8_t>(from < 128 ? from : 0);
      o.load[c][1][i] = static_cast<std::uint8_t>(from < 128 ? i : 64 + from - 128);
      // Memory byte 64 c + i is channel (64 c + i) % 3 of pixel (64 c + i) / 3.
      const int pixel = (64 * c + i) / 3;
      const int channel = (64 * c + i) % 3;
      o.store[c][0][i] = static_cast<std::uint8_t>(channel == 2 ? 0 : 64 * channel + pixel);
      o.store[c][1][i] = static_cast<std::uint8_t>(channel == 2 ? 64 + pixel : i);
      o.widen[c][i] = static_cast<std::uint8_t>(3 * (i / 4) + c);
      // Group g begins at byte 48 g, vector c at byte 64 c = 48 c + 16 c.
      const int within = i + 16 * c;
      o.join[c][i] = static_cast<std::uint8_t>(within < 48 ? within : 64 + within - 48);
    }
  }
  for (int i = 0; i < 64; ++i) {
    const int pixel = i / 3;
    const int channel = i % 3;
    o.narrow[0][i] =
        static_cast<std::uint8_t>(channel == 2 || i >= 48 ? 0 : 64 * channel + 4 * pixel);
    o.narrow[1][i] = static_cast<std::uint8_t>(channel == 2 && i < 48 ? 64 + 4 * pixel : i);
    // Byte 16 b + 4 k + j of the index becomes lane 4 b + j of f[k].
    o.pixels[i] = static_cast<std::uint8_t>(16 * (i / 4 % 4) + 4 * (i / 16) + i % 4);
  }
  return o;
}
constexpr TripleOrder kTripleOrder = triple_order();

HWY_INLINE V8 pick(V8 a, V8 b, V8 c, const std::uint8_t (&order)[2][64]) {
  const __m512i two = _mm512_permutex2var_epi8(a.raw, _mm512_load_si512(order[0]), b.raw);
  return V8{_mm512_permutex2var_epi8(two, _mm512_load_si512(order[1]), c.raw)};
}
HWY_INLINE void load_triples(const std::uint8_t* in, V8& a, V8& b, V8& c) {
  const D8 d;
  const V8 x = hn::LoadU(d, in);
  const V8 y = hn::LoadU(d, in + 64);
  const V8 z = hn::LoadU(d, in + 128);
  a = pick(x, y, z, kTripleOrder.load[0]);
  b = pick(x, y, z, kTripleOrder.load[1]);
  c = pick(x, y, z, kTripleOrder.load[2]);
}
HWY_INLINE void store_triples(V8 a, V8 b, V8 c, std::uint8_t* out) {
  for (std::size_t i = 0; i < 3; ++i)
    hn::StoreU(pick(a, b, c, kTripleOrder.store[i]), D8(), out + 64 * i);
}
#else
HWY_INLINE void load_triples(const std::uint8_t* in, V8& a, V8& b, V8& c) {
  hn::LoadInterleaved3(D8(), in, a, b, c);
}
HWY_INLINE void store_triples(V8 a, V8 b, V8 c, std::uint8_t* out) {
  hn::StoreInterleaved3(a, b, c, D8(), out);
}
#endif

/// Packs words to bytes, saturating at 255. Vectors of 32 bytes are packed in halves, the inverse
/// of InterleaveLower() and InterleaveUpper().
template <typename V>
HWY_INLINE auto pack_words(V low, V high) {
  const hn::Repartition<std::uint8_t, hn::DFromV<V>> d;
#if HWY_ARCH_X86
  if constexpr (hn::MaxLanes(d) == 32) {
    return hn::Vec<decltype(d)>{_mm256_packus_epi16(low.raw, high.raw)};
  } else {
    return hn::Vec<decltype(d)>{_mm_packus_epi16(low.raw, high.raw)};
  }
#else
  const hn::RebindToUnsigned<hn::DFromV<V>> words;
  const auto white = hn::Set(words, std::uint16_t{255});
  const auto byte = [&](V x) { return hn::BitCast(d, hn::Min(hn::BitCast(words, x), white)); };
  return hn::ConcatEven(d, byte(high), byte(low));
#endif
}

/// Vector of two 64-bit words, with one load each.
HWY_INLINE auto load_two(const std::uint64_t* first, const std::uint64_t* second) {
#if HWY_ARCH_X86
  const __m128i lower = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(first));
  const __m128 both = _mm_loadh_pi(_mm_castsi128_ps(lower), reinterpret_cast<const __m64*>(second));
  return hn::Vec<hn::CappedTag<std::uint64_t, 2>>{_mm_castps_si128(both)};
#else
  const hn::CappedTag<std::uint64_t, 2> d;
  const hn::Half<decltype(d)> half;
  return hn::Combine(d, hn::LoadU(half, second), hn::LoadU(half, first));
#endif
}

HWY_INLINE V8 max3(V8 a, V8 b, V8 c) {
  return hn::Max(hn::Max(a, b), c);
}

inline void split(const std::uint8_t* in, std::size_t n, std::uint8_t* a, std::uint8_t* b) {
  const D8 d;
  std::size_t i = 0;
  for (; i + kBytes <= n; i += kBytes) {
    V8 first;
    V8 second;
    hn::LoadInterleaved2(d, in + 2 * i, first, second);
    hn::StoreU(first, d, a + i);
    hn::StoreU(second, d, b + i);
  }
  scalar_fused_rows().split(in + 2 * i, n - i, a + i, b + i);
}

inline void merge(const std::uint8_t* a, const std::uint8_t* b, std::size_t n, std::uint8_t* out) {
  const D8 d;
  std::size_t i = 0;
  for (; i + kBytes <= n; i += kBytes) {
    hn::StoreInterleaved2(hn::LoadU(d, a + i), hn::LoadU(d, b + i), d, out + 2 * i);
  }
  scalar_fused_rows().merge(a + i, b + i, n - i, out + 2 * i);
}

}  // namespace HWY_NAMESPACE
}  // namespace equalux
HWY_AFTER_NAMESPACE();

#endif  // vectors
#endif  // include guard
