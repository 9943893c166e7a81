// The SIMD bodies of fused_rows.h; included once for each target.
//
// Bytes become floats by shifting and masking 32-bit lanes, not by unpacking: float vector k holds
// bytes k, 4 + k, 8 + k ... of a vector. No step needs the lanes in another order, and pixels that
// share a chroma sample meet in the same lane of neighbouring vectors.
#if defined(EQUALUX_FUSED_ROWS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUALUX_FUSED_ROWS_INL_H
#undef EQUALUX_FUSED_ROWS_INL_H
#else
#define EQUALUX_FUSED_ROWS_INL_H
#endif

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

HWY_BEFORE_NAMESPACE();
namespace equalux {
namespace HWY_NAMESPACE {

/// A target without vectors is served by the plain C++ loops.
RowKernels target_row_kernels() { return scalar_row_kernels(); }

}  // namespace HWY_NAMESPACE
}  // namespace equalux
HWY_AFTER_NAMESPACE();

#else

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

/// Bytes of one vector: the step of every loop.
constexpr std::size_t kBytes = hn::MaxLanes(D8());

/// Stores a vector; streaming takes an address that is aligned to the vector.
template <Stores kStores, class D>
HWY_INLINE void store(hn::Vec<D> v, D d, std::uint8_t* out) {
  // Less than 16 bytes cannot be streamed.
  if constexpr (kStores == Stores::cached || hn::MaxLanes(D()) < 16) {
    hn::StoreU(v, d, out);
  } else {
    hn::Stream(v, d, out);
  }
}
template <int kVectors>
HWY_INLINE void stream_bytes(const std::uint8_t* bytes, std::uint8_t* out) {
  const D8 d;
  for (int i = 0; i < kVectors; ++i) {
    hn::Stream(hn::Load(d, bytes + kBytes * static_cast<std::size_t>(i)), d,
               out + kBytes * static_cast<std::size_t>(i));
  }
}
HWY_INLINE bool aligned(const std::uint8_t* address, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(address) % bytes == 0;
}

/// Adding this makes single precision round to whole numbers, which then stand in the low bits.
constexpr float kWhole = 8388608.0f;

/// Four vectors of floats, f[k] for the bytes k, 4 + k, 8 + k ... of a V8.
struct Floats {
  VF f0, f1, f2, f3;
};

/// Byte k of every 32-bit lane.
template <int k>
HWY_INLINE VI32 lane_byte(V8 v) {
  const D32 d;
  const V32 lanes = hn::BitCast(d, v);
  const V32 low = k == 3 ? hn::ShiftRight<24>(lanes)
                         : hn::And(hn::ShiftRight<8 * k>(lanes), hn::Set(d, 255u));
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

/// The whole numbers 0 .. 255 of four vectors that hold kWhole + x, as bytes: undoes to_floats.
HWY_INLINE V8 to_bytes(const Floats& f) {
  const D32 d;
  const auto bits = [&](VF x) { return hn::BitCast(d, x); };
  const V32 upper = hn::Or(hn::Or(hn::ShiftLeft<8>(bits(f.f1)), hn::ShiftLeft<16>(bits(f.f2))),
                           hn::ShiftLeft<24>(bits(f.f3)));
  return hn::BitCast(D8(), hn::Or(hn::And(bits(f.f0), hn::Set(d, 255u)), upper));
}

/// round(c gain) of bytes. gain is float_gain(), so that no product is half-way between two whole
/// numbers, or nearer to it than single precision tells apart.
HWY_INLINE V8 scale_bytes(V8 c, const Floats& gain) {
  const VF whole = hn::Set(DF(), kWhole);
  const Floats f = to_floats(c);
  return to_bytes({hn::MulAdd(f.f0, gain.f0, whole), hn::MulAdd(f.f1, gain.f1, whole),
                   hn::MulAdd(f.f2, gain.f2, whole), hn::MulAdd(f.f3, gain.f3, whole)});
}

#if HWY_TARGET == HWY_AVX3_DL
/// gain[v] for bytes v: the floats' four bytes lie in sixteen registers, four look-ups a byte.
class GainLookup {
 public:
  explicit GainLookup(const GainTables& tables) {
    for (int i = 0; i < 16; ++i) table_[i] = _mm512_load_si512(tables.gain_bytes.data() + 64 * i);
  }
  HWY_INLINE Floats operator()(V8 v) const {
    // Unpacking the bytes of the gains is a transposition within 16 of them; this undoes it first.
    const __m512i order = _mm512_broadcast_i32x4(
        _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
    const __m512i index = _mm512_shuffle_epi8(v.raw, order);
    const __mmask64 upper = _mm512_movepi8_mask(index);
    const auto byte = [&](int b) {
      const __m512i* t = table_ + 4 * b;
      const __m512i low = _mm512_permutex2var_epi8(t[0], index, t[1]);
      const __m512i high = _mm512_permutex2var_epi8(t[2], index, t[3]);
      return _mm512_mask_blend_epi8(upper, low, high);
    };
    const __m512i b0 = byte(0);
    const __m512i b1 = byte(1);
    const __m512i b2 = byte(2);
    const __m512i b3 = byte(3);
    const __m512i low01 = _mm512_unpacklo_epi8(b0, b1);
    const __m512i high01 = _mm512_unpackhi_epi8(b0, b1);
    const __m512i low23 = _mm512_unpacklo_epi8(b2, b3);
    const __m512i high23 = _mm512_unpackhi_epi8(b2, b3);
    const auto floats = [](__m512i x) { return VF{_mm512_castsi512_ps(x)}; };
    return {floats(_mm512_unpacklo_epi16(low01, low23)), floats(_mm512_unpackhi_epi16(low01, low23)),
            floats(_mm512_unpacklo_epi16(high01, high23)),
            floats(_mm512_unpackhi_epi16(high01, high23))};
  }

 private:
  __m512i table_[16];
};

/// Indices that pick byte 3 i + channel of three vectors, first from the lower two, then from the
/// third; and those that put them back.
struct TripleOrder {
  alignas(64) std::uint8_t load[3][2][64];
  alignas(64) std::uint8_t store[3][2][64];
};
constexpr TripleOrder triple_order() {
  TripleOrder o{};
  for (int c = 0; c < 3; ++c) {
    for (int i = 0; i < 64; ++i) {
      // Plane byte i is memory byte 3 i + c. Indices 0 .. 127: the two vectors of a look-up.
      const int from = 3 * i + c;
      o.load[c][0][i] = static_cast<std::uint8_t>(from < 128 ? from : 0);
      o.load[c][1][i] = static_cast<std::uint8_t>(from < 128 ? i : 64 + from - 128);
      // Memory byte 64 c + i is byte `pixel` of plane `plane`.
      const int pixel = (64 * c + i) / 3;
      const int plane = (64 * c + i) % 3;
      o.store[c][0][i] = static_cast<std::uint8_t>(plane == 2 ? 0 : 64 * plane + pixel);
      o.store[c][1][i] = static_cast<std::uint8_t>(plane == 2 ? 64 + pixel : i);
    }
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
template <Stores kStores>
HWY_INLINE void store_triples(V8 a, V8 b, V8 c, std::uint8_t* out) {
  store<kStores>(pick(a, b, c, kTripleOrder.store[0]), D8(), out);
  store<kStores>(pick(a, b, c, kTripleOrder.store[1]), D8(), out + 64);
  store<kStores>(pick(a, b, c, kTripleOrder.store[2]), D8(), out + 128);
}
#else
/// gain[v] for bytes v, by gathering.
class GainLookup {
 public:
  explicit GainLookup(const GainTables& tables) : table_(tables.gain.data()) {}
  HWY_INLINE Floats operator()(V8 v) const {
    const DF d;
    return {hn::GatherIndex(d, table_, lane_byte<0>(v)), hn::GatherIndex(d, table_, lane_byte<1>(v)),
            hn::GatherIndex(d, table_, lane_byte<2>(v)), hn::GatherIndex(d, table_, lane_byte<3>(v))};
  }

 private:
  const float* table_;
};

HWY_INLINE void load_triples(const std::uint8_t* in, V8& a, V8& b, V8& c) {
  hn::LoadInterleaved3(D8(), in, a, b, c);
}
template <Stores kStores>
HWY_INLINE void store_triples(V8 a, V8 b, V8 c, std::uint8_t* out) {
  if constexpr (kStores == Stores::cached) {
    hn::StoreInterleaved3(a, b, c, D8(), out);
  } else {
    alignas(64) std::uint8_t bytes[3 * kBytes];
    hn::StoreInterleaved3(a, b, c, D8(), bytes);
    stream_bytes<3>(bytes, out);
  }
}
#endif

HWY_INLINE V8 max3(V8 a, V8 b, V8 c) { return hn::Max(hn::Max(a, b), c); }

/// Runs body(in, out) on whole vectors of pixels, then once more on a copy of the rest, so that
/// nothing past a row's end is touched. `step` is bytes a pixel, of in and of out.
template <std::size_t kStepIn, std::size_t kStepOut, typename Body>
HWY_INLINE void for_vectors(const std::uint8_t* in, std::size_t n, std::uint8_t* out,
                            const Body& body) {
  std::size_t i = 0;
  for (; i + kBytes <= n; i += kBytes) body(in + kStepIn * i, out + kStepOut * i);
  if (i == n) return;
  alignas(64) std::uint8_t rest_in[kStepIn * kBytes] = {};
  alignas(64) std::uint8_t rest_out[kStepOut * kBytes];
  std::memcpy(rest_in, in + kStepIn * i, kStepIn * (n - i));
  body(rest_in, rest_out);
  std::memcpy(out + kStepOut * i, rest_out, kStepOut * (n - i));
}

/// The same for bodies that are built for both kinds of stores.
template <std::size_t kStep, typename Body>
HWY_INLINE void for_vectors_stored(Stores stores, const std::uint8_t* in, std::size_t n,
                                   std::uint8_t* out, const Body& body) {
  using Cached = std::integral_constant<Stores, Stores::cached>;
  using Streaming = std::integral_constant<Stores, Stores::streaming>;
  const bool stream = stores == Stores::streaming && aligned(out, kBytes);
  const auto call = [&](auto kind) {
    for_vectors<kStep, kStep>(in, n, out, [&](const std::uint8_t* from, std::uint8_t* to) {
      body(kind, from, to);
    });
  };
  if (stream) {
    call(Streaming());
  } else {
    call(Cached());
  }
}

void value_rgb3(const std::uint8_t* in, std::size_t n, std::uint8_t* v) {
  const D8 d;
  for_vectors<3, 1>(in, n, v, [&](const std::uint8_t* from, std::uint8_t* to) {
    V8 a;
    V8 b;
    V8 c;
    load_triples(from, a, b, c);
    hn::StoreU(max3(a, b, c), d, to);
  });
}

void value_rgb4(const std::uint8_t* in, std::size_t n, int color, std::uint8_t* v) {
  const D8 d;
  for_vectors<4, 1>(in, n, v, [&](const std::uint8_t* from, std::uint8_t* to) {
    V8 p0;
    V8 p1;
    V8 p2;
    V8 p3;
    hn::LoadInterleaved4(d, from, p0, p1, p2, p3);
    hn::StoreU(max3(color == 0 ? p0 : p3, p1, p2), d, to);
  });
}

void apply_gray(const GainTables& gains, Stores stores, const std::uint8_t* in, std::size_t n,
                std::uint8_t* out) {
  const D8 d;
  const GainLookup lookup(gains);
  for_vectors_stored<1>(stores, in, n, out,
                        [&](auto kind, const std::uint8_t* from, std::uint8_t* to) HWY_ATTR {
                          const V8 c = hn::LoadU(d, from);
                          store<kind()>(scale_bytes(c, lookup(c)), d, to);
                        });
}

void apply_rgb3(const GainTables& gains, Stores stores, const std::uint8_t* in, std::size_t n,
                std::uint8_t* out) {
  const GainLookup lookup(gains);
  for_vectors_stored<3>(
      stores, in, n, out, [&](auto kind, const std::uint8_t* from, std::uint8_t* to) HWY_ATTR {
        V8 a;
        V8 b;
        V8 c;
        load_triples(from, a, b, c);
        const Floats gain = lookup(max3(a, b, c));
        store_triples<kind()>(scale_bytes(a, gain), scale_bytes(b, gain), scale_bytes(c, gain),
                              to);
      });
}

void apply_rgb4(const GainTables& gains, Stores stores, const std::uint8_t* in, std::size_t n,
                int color, std::uint8_t* out) {
  const D8 d;
  const GainLookup lookup(gains);
  for_vectors_stored<4>(
      stores, in, n, out, [&](auto kind, const std::uint8_t* from, std::uint8_t* to) HWY_ATTR {
        V8 p0;
        V8 p1;
        V8 p2;
        V8 p3;
        hn::LoadInterleaved4(d, from, p0, p1, p2, p3);
        const Floats gain = lookup(max3(color == 0 ? p0 : p3, p1, p2));
        const V8 first = color == 0 ? scale_bytes(p0, gain) : p0;
        const V8 last = color == 0 ? p3 : scale_bytes(p3, gain);
        const V8 second = scale_bytes(p1, gain);
        const V8 third = scale_bytes(p2, gain);
        if constexpr (kind() == Stores::cached) {
          hn::StoreInterleaved4(first, second, third, last, d, to);
        } else {
          alignas(64) std::uint8_t bytes[4 * kBytes];
          hn::StoreInterleaved4(first, second, third, last, d, bytes);
          stream_bytes<4>(bytes, to);
        }
      });
}

void flush_stores() { hwy::FlushStream(); }

void split(const std::uint8_t* in, std::size_t n, std::uint8_t* a, std::uint8_t* b) {
  const D8 d;
  std::size_t i = 0;
  for (; i + kBytes <= n; i += kBytes) {
    V8 first;
    V8 second;
    hn::LoadInterleaved2(d, in + 2 * i, first, second);
    hn::StoreU(first, d, a + i);
    hn::StoreU(second, d, b + i);
  }
  scalar_row_kernels().split(in + 2 * i, n - i, a + i, b + i);
}

void merge(const std::uint8_t* a, const std::uint8_t* b, std::size_t n, std::uint8_t* out) {
  const D8 d;
  std::size_t i = 0;
  for (; i + kBytes <= n; i += kBytes) {
    hn::StoreInterleaved2(hn::LoadU(d, a + i), hn::LoadU(d, b + i), d, out + 2 * i);
  }
  scalar_row_kernels().merge(a + i, b + i, n - i, out + 2 * i);
}

}  // namespace HWY_NAMESPACE
}  // namespace equalux
HWY_AFTER_NAMESPACE();

#include "cpu/fused_yuv-inl.h"

#endif  // vectors
#endif  // include guard
