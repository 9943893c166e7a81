// Pass 2 of fused_rows.h, scaling, for gray and RGB; included once for each target.
#if defined(EQUALUX_FUSED_APPLY_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUALUX_FUSED_APPLY_INL_H
#undef EQUALUX_FUSED_APPLY_INL_H
#else
#define EQUALUX_FUSED_APPLY_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace equalux {
namespace HWY_NAMESPACE {

/// Stores a vector. A streaming store needs an address aligned to the vector.
template <Stores kStores, class D>
HWY_INLINE void store(hn::Vec<D> v, D d, std::uint8_t* out) {
  // Vectors below 16 bytes have no streaming store.
  if constexpr (kStores == Stores::cached || hn::MaxLanes(D()) < 16) {
    hn::StoreU(v, d, out);
  } else {
    hn::Stream(v, d, out);
  }
}
/// Streams kVectors vectors; both addresses are aligned to vectors.
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

/// Prefetches what a pass reads 1 KiB later. The hardware prefetcher stops at the ends of 4 KiB
/// pages, which every row or two of video crosses. The address may be past the frame, where a
/// prefetch is harmless.
HWY_INLINE void prefetch_ahead(const std::uint8_t* now, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(now) + 1024;
  for (std::size_t line = 0; line < bytes; line += 64) {
    hwy::Prefetch(reinterpret_cast<const std::uint8_t*>(address + line));
  }
}

/// Saturation of products: those by luma may exceed 255, those by value cannot.
enum class Clip : std::uint8_t { nowhere, at_white };

/// round(c gain) in the low byte of each lane. With float_gain() no product is on a half, or closer
/// to one than single precision resolves.
template <Clip kClip>
HWY_INLINE V32 scale_lanes(VF c, VF gain) {
  const DF d;
  VF scaled = hn::MulAdd(c, gain, hn::Set(d, kTwo23));
  if constexpr (kClip == Clip::at_white) scaled = hn::Min(scaled, hn::Set(d, kTwo23 + 255));
  return hn::BitCast(D32(), scaled);
}

/// round(c gain) of a vector of bytes.
template <Clip kClip = Clip::nowhere>
HWY_INLINE V8 scale_bytes(V8 c, const Floats& gain) {
  const Floats f = to_floats(c);
  const auto scaled = [](VF x, VF g) HWY_ATTR { return scale_lanes<kClip>(x, g); };
  return join_bytes(scaled(f.f0, gain.f0), scaled(f.f1, gain.f1), scaled(f.f2, gain.f2),
                    scaled(f.f3, gain.f3));
}

#if EQUALUX_VBMI
/// Look-up of gain[v] for bytes v: the four bytes of 256 floats lie in sixteen registers, four
/// permutes a byte.
class GainLookup {
 public:
  explicit GainLookup(const GainTables& tables) {
    for (int i = 0; i < 16; ++i)
      table_[i] = _mm512_load_si512(tables.gain_bytes.data() + 64 * i);
  }
  /// Look-up of any four bytes by v, the first two from one table of 512 bytes, the others from
  /// another.
  GainLookup(const std::uint8_t* lower, const std::uint8_t* upper) {
    for (int i = 0; i < 8; ++i)
      table_[i] = _mm512_load_si512(lower + 64 * i);
    for (int i = 0; i < 8; ++i)
      table_[8 + i] = _mm512_load_si512(upper + 64 * i);
  }
  HWY_INLINE Floats operator()(V8 v) const {
    // Unpacking the bytes of gains transposes 4 x 4 within each 16 bytes; this permutation undoes
    // it first.
    const __m512i order =
        _mm512_broadcast_i32x4(_mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
    return unpacked(_mm512_shuffle_epi8(v.raw, order));
  }

  /// Interface of FixedLookup; nothing has to be waited for here.
  struct Numbers {};
  HWY_INLINE void look_up(const V8&, Numbers&) const {}
  HWY_INLINE Floats finish(const V8& v, const Numbers&) const { return (*this)(v); }

  /// Gains for scale_triples(): f[k] belongs to pixels 16 k to 16 k + 15.
  HWY_INLINE Floats of_triples(V8 v) const {
    return unpacked(_mm512_permutexvar_epi8(_mm512_load_si512(kTripleOrder.pixels), v.raw));
  }

  /// Gains of bytes 4 b + i of `index`: b = 0, 4, 8, 12 in f0, b = 1, 5 .. in f1 and so on.
  HWY_INLINE Floats unpacked(__m512i index) const {
    // Masked permutes of one table each: a permute of two tables at once takes three
    // micro-operations here, a masked one of one table takes one.
    const __mmask64 upper = _mm512_movepi8_mask(index);
    const __mmask64 odd = _mm512_movepi8_mask(_mm512_add_epi8(index, index));
    const __mmask64 last = upper & odd;
    const auto byte = [&](int b) {
      const __m512i* t = table_ + 4 * b;
      __m512i x = _mm512_permutexvar_epi8(index, t[0]);
      x = _mm512_mask_permutexvar_epi8(x, odd, index, t[1]);
      x = _mm512_mask_permutexvar_epi8(x, upper, index, t[2]);
      return _mm512_mask_permutexvar_epi8(x, last, index, t[3]);
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
    return {floats(_mm512_unpacklo_epi16(low01, low23)),
            floats(_mm512_unpackhi_epi16(low01, low23)),
            floats(_mm512_unpacklo_epi16(high01, high23)),
            floats(_mm512_unpackhi_epi16(high01, high23))};
  }

 private:
  __m512i table_[16];
};

/// Scales 64 pixels of three bytes by gains of of_triples(). One permute takes a channel from
/// packed bytes to 32-bit lanes, one takes it back; planes are never made.
template <Stores kStores, Clip kClip = Clip::nowhere>
HWY_INLINE void scale_triples(const Floats& gain, const std::uint8_t* in, std::uint8_t* out) {
  const auto group = [&](int g, VF gains) {
    // The last group is read 16 bytes early, so that nothing past the pixels is read.
    const int shift = g == 3 ? 16 : 0;
    const __m512i bytes = _mm512_loadu_si512(in + 48 * g - shift);
    const auto scaled = [&](int channel) {
      const __m512i order = _mm512_add_epi8(_mm512_load_si512(kTripleOrder.widen[channel]),
                                            _mm512_set1_epi8(static_cast<char>(shift)));
      const __m512i lanes = _mm512_maskz_permutexvar_epi8(0x1111111111111111u, order, bytes);
      return scale_lanes<kClip>(VF{_mm512_cvtepi32_ps(lanes)}, gains).raw;
    };
    const __m512i two =
        _mm512_permutex2var_epi8(scaled(0), _mm512_load_si512(kTripleOrder.narrow[0]), scaled(1));
    return _mm512_permutex2var_epi8(two, _mm512_load_si512(kTripleOrder.narrow[1]), scaled(2));
  };
  const __m512i g0 = group(0, gain.f0);
  const __m512i g1 = group(1, gain.f1);
  const __m512i g2 = group(2, gain.f2);
  const __m512i g3 = group(3, gain.f3);
  const auto write = [&](int i, __m512i low, __m512i high) {
    const __m512i order = _mm512_load_si512(kTripleOrder.join[i]);
    store<kStores>(V8{_mm512_permutex2var_epi8(low, order, high)}, D8(), out + 64 * i);
  };
  write(0, g0, g1);
  write(1, g1, g2);
  write(2, g2, g3);
}
#else
/// Look-up of gain[v] for bytes v, by gathers.
class GainLookup {
 public:
  explicit GainLookup(const GainTables& tables) : table_(tables.gain.data()) {}
  HWY_INLINE Floats operator()(V8 v) const {
    const DF d;
    return {
        hn::GatherIndex(d, table_, lane_byte<0>(v)), hn::GatherIndex(d, table_, lane_byte<1>(v)),
        hn::GatherIndex(d, table_, lane_byte<2>(v)), hn::GatherIndex(d, table_, lane_byte<3>(v))};
  }
  HWY_INLINE Floats of_triples(V8 v) const { return (*this)(v); }

  /// Interface of FixedLookup; nothing has to be waited for here.
  struct Numbers {};
  HWY_INLINE void look_up(const V8&, Numbers&) const {}
  HWY_INLINE Floats finish(const V8& v, const Numbers&) const { return (*this)(v); }

 private:
  const float* table_;
};

/// Scales a vector of pixels of three bytes by gains of of_triples().
template <Stores kStores, Clip kClip = Clip::nowhere>
HWY_INLINE void scale_triples(const Floats& gain, const std::uint8_t* in, std::uint8_t* out) {
  V8 a;
  V8 b;
  V8 c;
  load_triples(in, a, b, c);
  a = scale_bytes<kClip>(a, gain);
  b = scale_bytes<kClip>(b, gain);
  c = scale_bytes<kClip>(c, gain);
  if constexpr (kStores == Stores::cached) {
    hn::StoreInterleaved3(a, b, c, D8(), out);
  } else {
    alignas(64) std::uint8_t bytes[3 * kBytes];
    hn::StoreInterleaved3(a, b, c, D8(), bytes);
    stream_bytes<3>(bytes, out);
  }
}
#endif

/// v of a vector of pixels of three bytes.
HWY_INLINE V8 triple_values(const std::uint8_t* in) {
  V8 a;
  V8 b;
  V8 c;
  load_triples(in, a, b, c);
  return max3(a, b, c);
}

/// Runs body(in, out) on whole vectors of pixels, then on a copy of the tail, so that nothing past
/// the end of a row is read or written. `kStep` is bytes per pixel.
template <std::size_t kStep, typename Body>
HWY_INLINE void for_vectors(const std::uint8_t* in, std::size_t n, std::uint8_t* out,
                            const Body& body) {
  std::size_t i = 0;
  for (; i + kBytes <= n; i += kBytes)
    body(in + kStep * i, out + kStep * i);
  if (i == n) return;
  alignas(64) std::uint8_t rest_in[kStep * kBytes] = {};
  alignas(64) std::uint8_t rest_out[kStep * kBytes];
  std::memcpy(rest_in, in + kStep * i, kStep * (n - i));
  body(rest_in, rest_out);
  std::memcpy(out + kStep * i, rest_out, kStep * (n - i));
}

/// for_vectors() for bodies that are instantiated for cached and for streaming stores.
template <std::size_t kStep, typename Body>
HWY_INLINE void for_vectors_stored(Stores stores, const std::uint8_t* in, std::size_t n,
                                   std::uint8_t* out, const Body& body) {
  using Cached = std::integral_constant<Stores, Stores::cached>;
  using Streaming = std::integral_constant<Stores, Stores::streaming>;
  const bool stream = stores == Stores::streaming && aligned(out, kBytes);
  const auto call = [&](auto kind) {
    for_vectors<kStep>(in, n, out, [&](const std::uint8_t* from, std::uint8_t* to) {
      prefetch_ahead(from, kStep * kBytes);
      body(kind, from, to);
    });
  };
  if (stream) {
    call(Streaming());
  } else {
    call(Cached());
  }
}

#if EQUALUX_VBMI
/// Look-up of table[v] for bytes v, by four tables of 64 bytes in registers.
class ByteLookup {
 public:
  explicit ByteLookup(const GainTables& gains) : ByteLookup(gains.gray.data()) {}
  explicit ByteLookup(const std::uint8_t* table) {
    for (int i = 0; i < 4; ++i)
      table_[i] = _mm512_load_si512(table + 64 * i);
  }
  HWY_INLINE V8 operator()(V8 v) const {
    const __mmask64 upper = _mm512_movepi8_mask(v.raw);
    const __m512i low = _mm512_permutex2var_epi8(table_[0], v.raw, table_[1]);
    const __m512i high = _mm512_permutex2var_epi8(table_[2], v.raw, table_[3]);
    return V8{_mm512_mask_mov_epi8(low, upper, high)};
  }

 private:
  __m512i table_[4];
};
#elif HWY_ARCH_X86
/// Look-up of table[v] for bytes v, by sixteen shuffles of 16 entries.
class ByteLookup {
 public:
  explicit ByteLookup(const GainTables& gains) : steps_(gains.gray_steps.data()) {}
  HWY_INLINE V8 operator()(V8 v) const {
    const V8 half = hn::Set(D8(), std::uint8_t{128});
    return hn::Xor(of_half(v, steps_), of_half(hn::Xor(v, half), steps_ + 128));
  }

 private:
  /// Result for bytes below 128, 0 for others. Every table is looked up with v - 16 i, of which the
  /// shuffle uses the low four bits and gives 0 where it is negative: a byte so gets an entry of
  /// each table up to its own, and the XORs add up to its result.
  static HWY_INLINE V8 of_half(V8 v, const std::uint8_t* steps) {
    const D8 d;
    const hn::RebindToSigned<D8> di;
    auto at = hn::BitCast(di, v);
    V8 sum = hn::TableLookupBytesOr0(hn::LoadDup128(d, steps), v);
    for (std::size_t i = 16; i < 128; i += 16) {
      at = hn::SaturatedSub(at, hn::Set(di, std::int8_t{16}));
      sum = hn::Xor(sum, hn::TableLookupBytesOr0(hn::LoadDup128(d, steps + i), hn::BitCast(d, at)));
    }
    return sum;
  }

  const std::uint8_t* steps_;
};
#endif

inline void apply_gray(const GainTables& gains, Stores stores, const std::uint8_t* in,
                       std::size_t n, std::uint8_t* out) {
#if HWY_ARCH_X86
  const D8 d;
  const ByteLookup lookup(gains);
  for_vectors_stored<1>(stores, in, n, out,
                        [&](auto kind, const std::uint8_t* from, std::uint8_t* to)
                            HWY_ATTR { store<kind()>(lookup(hn::LoadU(d, from)), d, to); });
#else
  scalar_fused_rows().apply_gray(gains, stores, in, n, out);
#endif
}

#if !EQUALUX_FIXED_GAINS
inline void apply_rgb3(const GainTables& gains, Stores stores, const std::uint8_t* in,
                       std::size_t n, std::uint8_t* out) {
  const GainLookup lookup(gains);
  for_vectors_stored<3>(stores, in, n, out,
                        [&](auto kind, const std::uint8_t* from, std::uint8_t* to) HWY_ATTR {
                          const Floats gain = lookup.of_triples(triple_values(from));
                          scale_triples<kind()>(gain, from, to);
                        });
}

/// v of pixels of four bytes, in the lowest byte of each lane.
template <int kColor>
HWY_INLINE V32 quad_values(V32 pixels) {
  const auto at = [](V32 x) HWY_ATTR { return hn::BitCast(D8(), x); };
  const V8 most =
      max3(at(hn::ShiftRight<8 * kColor>(pixels)), at(hn::ShiftRight<8 * kColor + 8>(pixels)),
           at(hn::ShiftRight<8 * kColor + 16>(pixels)));
  return hn::And(hn::BitCast(D32(), most), hn::Set(D32(), 0xFFU));
}

/// Scales pixels of four bytes in their own lanes by the gain of value(pixels), which returns v in
/// the low byte of a lane. kColor is the first colour byte; the fourth byte is copied.
template <int kColor, Stores kStores, Clip kClip = Clip::nowhere, typename Value>
HWY_INLINE void scale_quads(const GainLookup& lookup, const Value& value, const std::uint8_t* in,
                            std::uint8_t* out) {
  const D32 d;
  const D8 d8;
  const V32 low = hn::Set(d, 0xFFU);
  const auto load = [&](std::size_t k) { return hn::BitCast(d, hn::LoadU(d8, in + kBytes * k)); };
  const V32 p0 = load(0);
  const V32 p1 = load(1);
  const V32 p2 = load(2);
  const V32 p3 = load(3);
  const Floats gain = lookup(join_bytes(value(p0), value(p1), value(p2), value(p3)));
  const auto scale = [&](std::size_t k, V32 pixels, VF gains) {
    const auto scaled = [&](V32 channel) {
      const VF code = hn::ConvertTo(DF(), hn::BitCast(DI32(), hn::And(channel, low)));
      return scale_lanes<kClip>(code, gains);
    };
    const V32 first = scaled(hn::ShiftRight<8 * kColor>(pixels));
    const V32 second = scaled(hn::ShiftRight<8 * kColor + 8>(pixels));
    const V32 third = scaled(hn::ShiftRight<8 * kColor + 16>(pixels));
    const V8 bytes = kColor == 0 ? join_bytes(first, second, third, hn::ShiftRight<24>(pixels))
                                 : join_bytes(pixels, first, second, third);
    store<kStores>(bytes, d8, out + kBytes * k);
  };
  scale(0, p0, gain.f0);
  scale(1, p1, gain.f1);
  scale(2, p2, gain.f2);
  scale(3, p3, gain.f3);
}

inline void apply_rgb4(const GainTables& gains, Stores stores, const std::uint8_t* in,
                       std::size_t n, int color, std::uint8_t* out) {
  const GainLookup lookup(gains);
  for_vectors_stored<4>(stores, in, n, out,
                        [&](auto kind, const std::uint8_t* from, std::uint8_t* to) HWY_ATTR {
                          if (color == 0) {
                            scale_quads<0, kind()>(lookup, quad_values<0>, from, to);
                          } else {
                            scale_quads<1, kind()>(lookup, quad_values<1>, from, to);
                          }
                        });
}
#endif  // !EQUALUX_FIXED_GAINS

inline void flush_stores() {
  hwy::FlushStream();
}

}  // namespace HWY_NAMESPACE
}  // namespace equalux
HWY_AFTER_NAMESPACE();

#endif  // include guard
