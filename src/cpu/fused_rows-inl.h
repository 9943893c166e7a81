// The SIMD bodies of fused_rows.h; included once for each target.
//
// Within a vector of N bytes, wider lanes are made by Zip and undone by packing. On x86 both work
// inside 128-bit blocks, so a group of four float vectors holds the bytes in a block-wise order
// that every step here keeps; it never has to be put right.
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
using VI32 = hn::Vec<DI32>;
using VF = hn::Vec<DF>;

/// Bytes of one vector: the step of every loop.
constexpr std::size_t kBytes = hn::MaxLanes(D8());

/// Four vectors of floats, one for each byte of a V8, in block-wise order.
struct Floats {
  VF f0, f1, f2, f3;
};

HWY_INLINE Floats to_floats(V8 v) {
  const D8 d8;
  const D16 d16;
  const V8 zero = hn::Zero(d8);
  const V16 low = hn::ZipLower(d16, v, zero);
  const V16 high = hn::ZipUpper(d16, v, zero);
  const V16 zero16 = hn::Zero(d16);
  const DI32 di;
  const DF df;
  const auto widen = [&](auto zipped) { return hn::ConvertTo(df, hn::BitCast(di, zipped)); };
  const D32 d32;
  return {widen(hn::ZipLower(d32, low, zero16)), widen(hn::ZipUpper(d32, low, zero16)),
          widen(hn::ZipLower(d32, high, zero16)), widen(hn::ZipUpper(d32, high, zero16))};
}

/// Packs 16-bit lanes of 0 .. 255 to bytes, undoing ZipLower and ZipUpper with zero.
HWY_INLINE V8 pack_bytes(VI16 low, VI16 high) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  return V8{_mm512_packus_epi16(low.raw, high.raw)};
#elif HWY_TARGET == HWY_AVX2
  return V8{_mm256_packus_epi16(low.raw, high.raw)};
#else
  const D8 d8;
  return hn::ConcatEven(d8, hn::BitCast(d8, high), hn::BitCast(d8, low));
#endif
}

/// Truncates to integers, which must be 0 .. 255, and packs.
HWY_INLINE V8 to_bytes(const Floats& f) {
  const DI32 di;
  const DI16 di16;
  const auto whole = [&](VF x) { return hn::ConvertTo(di, x); };
  return pack_bytes(hn::ReorderDemote2To(di16, whole(f.f0), whole(f.f1)),
                    hn::ReorderDemote2To(di16, whole(f.f2), whole(f.f3)));
}

HWY_INLINE VF scale(VF c, VF gain) { return hn::MulAdd(c, gain, hn::Set(DF(), 0.5f)); }

/// round(c gain), halves up, of bytes.
HWY_INLINE V8 scale_bytes(V8 c, const Floats& gain) {
  const Floats f = to_floats(c);
  return to_bytes({scale(f.f0, gain.f0), scale(f.f1, gain.f1), scale(f.f2, gain.f2),
                   scale(f.f3, gain.f3)});
}

#if HWY_TARGET == HWY_AVX3_DL
/// gain[v] for bytes v: the table's four bytes lie in sixteen registers, four look-ups a byte.
class GainLookup {
 public:
  explicit GainLookup(const GainTables& tables) {
    for (int i = 0; i < 16; ++i) table_[i] = _mm512_load_si512(tables.gain_bytes.data() + 64 * i);
  }
  HWY_INLINE Floats operator()(V8 v) const {
    const __mmask64 upper = _mm512_movepi8_mask(v.raw);
    const auto byte = [&](int b) {
      const __m512i* t = table_ + 4 * b;
      const __m512i low = _mm512_permutex2var_epi8(t[0], v.raw, t[1]);
      const __m512i high = _mm512_permutex2var_epi8(t[2], v.raw, t[3]);
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
#else
/// gain[v] for bytes v, by gathering.
class GainLookup {
 public:
  explicit GainLookup(const GainTables& tables) : table_(tables.gain.data()) {}
  HWY_INLINE Floats operator()(V8 v) const {
    const D8 d8;
    const D16 d16;
    const D32 d32;
    const DI32 di;
    const DF df;
    const V16 low = hn::ZipLower(d16, v, hn::Zero(d8));
    const V16 high = hn::ZipUpper(d16, v, hn::Zero(d8));
    const V16 zero = hn::Zero(d16);
    const auto gather = [&](auto index) {
      return hn::GatherIndex(df, table_, hn::BitCast(di, index));
    };
    return {gather(hn::ZipLower(d32, low, zero)), gather(hn::ZipUpper(d32, low, zero)),
            gather(hn::ZipLower(d32, high, zero)), gather(hn::ZipUpper(d32, high, zero))};
  }

 private:
  const float* table_;
};
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

void value_rgb3(const std::uint8_t* in, std::size_t n, std::uint8_t* v) {
  const D8 d;
  for_vectors<3, 1>(in, n, v, [&](const std::uint8_t* from, std::uint8_t* to) {
    V8 a;
    V8 b;
    V8 c;
    hn::LoadInterleaved3(d, from, a, b, c);
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

void apply_gray(const GainTables& gains, const std::uint8_t* in, std::size_t n,
                std::uint8_t* out) {
  const D8 d;
  const GainLookup lookup(gains);
  for_vectors<1, 1>(in, n, out, [&](const std::uint8_t* from, std::uint8_t* to) {
    const V8 c = hn::LoadU(d, from);
    hn::StoreU(scale_bytes(c, lookup(c)), d, to);
  });
}

void apply_rgb3(const GainTables& gains, const std::uint8_t* in, std::size_t n,
                std::uint8_t* out) {
  const D8 d;
  const GainLookup lookup(gains);
  for_vectors<3, 3>(in, n, out, [&](const std::uint8_t* from, std::uint8_t* to) {
    V8 a;
    V8 b;
    V8 c;
    hn::LoadInterleaved3(d, from, a, b, c);
    const Floats gain = lookup(max3(a, b, c));
    hn::StoreInterleaved3(scale_bytes(a, gain), scale_bytes(b, gain), scale_bytes(c, gain), d, to);
  });
}

void apply_rgb4(const GainTables& gains, const std::uint8_t* in, std::size_t n, int color,
                std::uint8_t* out) {
  const D8 d;
  const GainLookup lookup(gains);
  for_vectors<4, 4>(in, n, out, [&](const std::uint8_t* from, std::uint8_t* to) {
    V8 p0;
    V8 p1;
    V8 p2;
    V8 p3;
    hn::LoadInterleaved4(d, from, p0, p1, p2, p3);
    const Floats gain = lookup(max3(color == 0 ? p0 : p3, p1, p2));
    const V8 first = color == 0 ? scale_bytes(p0, gain) : p0;
    const V8 last = color == 0 ? p3 : scale_bytes(p3, gain);
    hn::StoreInterleaved4(first, scale_bytes(p1, gain), scale_bytes(p2, gain), last, d, to);
  });
}

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
