// Pass 2 of fused_rows.h where saturation is changed too; included by fused_rows-inl.h, once for
// each target.
//
// With g the gain of v, a channel v - d becomes g (v - k d), where k is its level's factor or,
// where that takes S above 1, v / (v - m): the smaller of both. v - k d is exact in single
// precision, and g is one that rounds as the exact gain does. Only where v / (v - m) serves may the
// result be on the wrong side of a half: such pixels are redone by the plain loops. Of the three
// channels of a pixel, it can be the middle one alone, as v becomes g v, and m becomes 0.
//
// A vector is asked first, in bytes, whether any of its pixels may come to S = 1: where none does,
// it takes no reciprocals and has none to redo.
//
// In YCbCr d and v - m are those of a chroma sample, for all of the luma that it covers, unless v
// was clamped: so k d, the reciprocal and the question are made once for two or four samples of
// luma.
#if defined(EQUALUX_FUSED_SATURATE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUALUX_FUSED_SATURATE_INL_H
#undef EQUALUX_FUSED_SATURATE_INL_H
#else
#define EQUALUX_FUSED_SATURATE_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace equalux {
namespace HWY_NAMESPACE {

/// Distance from a whole number beyond which a result may be on the wrong side. Factors v / (v - m)
/// are less than 2^-22 of themselves off, gains 2^-21.5, and products and sums of single precision
/// 2^-24 each: together below 2^-20.2, and so 2.1e-4 of 255.
constexpr float kSureSaturated = 0.5f - 1.0f / 4096.0f;

/// Vector k of four, for the bytes k, 4 + k, 8 + k ... of a V8.
HWY_INLINE VF part_of(const Floats& f, std::size_t k) {
  return k == 0 ? f.f0 : k == 1 ? f.f1 : k == 2 ? f.f2 : f.f3;
}

/// What every level of a vector has.
struct LevelGains {
  Floats gain;
  Floats factor;
};

/// SaturatedGains by v, in three steps as FixedLookup has them. With kUniform all factors are one.
#if EQUALUX_FIXED_GAINS
template <bool kUniform>
class LevelLookup;

template <>
class LevelLookup<true> : SteppedLookup<std::uint64_t> {
 public:
  using SteppedLookup::look_up;
  using SteppedLookup::Numbers;

  explicit HWY_INLINE LevelLookup(const SaturatedGains& tables)
      : SteppedLookup(tables.gain_bits.data()), factor_(hn::Set(DF(), tables.vector_factor[0])) {}
  HWY_INLINE LevelGains finish(const V8& v, const Numbers& numbers) const {
    const FixedGains bits = SteppedLookup::finish(v, numbers);
    const auto gain = [](V32 x) HWY_ATTR { return hn::BitCast(DF(), x); };
    return {{gain(bits.g0), gain(bits.g1), gain(bits.g2), gain(bits.g3)},
            {factor_, factor_, factor_, factor_}};
  }

 private:
  VF factor_;
};

template <>
class LevelLookup<false> {
 public:
  struct Numbers {
    alignas(64) std::uint64_t pair[kBytes];
  };

  explicit HWY_INLINE LevelLookup(const SaturatedGains& tables) : table_(tables.pairs.data()) {}
  /// Of each four vectors' lanes the even ones first, then the odd ones.
  HWY_INLINE void look_up(const V8& v, Numbers& numbers) const {
    constexpr std::size_t kLanes = kBytes / 4;
    const std::uint64_t* const table = table_;  // as above
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(&v);
    for (std::size_t i = 0; i < kLanes; ++i) {
      std::uint32_t four;
      std::memcpy(&four, bytes + 4 * i, sizeof four);
      for (std::size_t k = 0; k < 4; ++k) {
        std::uint64_t pair = table[four >> (8 * k) & 255];
        // Keeps the compiler from collecting pairs in vectors first, which takes longer.
        asm volatile("" : "+r"(pair) : : "memory");
        numbers.pair[k * kLanes + i / 2 + i % 2 * (kLanes / 2)] = pair;
      }
    }
  }
  HWY_INLINE LevelGains finish(const V8&, const Numbers& numbers) const {
    LevelGains g;
    load<0>(numbers, g.gain.f0, g.factor.f0);
    load<1>(numbers, g.gain.f1, g.factor.f1);
    load<2>(numbers, g.gain.f2, g.factor.f2);
    load<3>(numbers, g.gain.f3, g.factor.f3);
    return g;
  }

 private:
  template <std::size_t k>
  static HWY_INLINE void load(const Numbers& numbers, VF& gain, VF& factor) {
    constexpr std::size_t kLanes = kBytes / 4;
    const hn::Repartition<std::uint64_t, D8> d;
    const auto even = hn::Load(d, numbers.pair + k * kLanes);
    const auto odd = hn::Load(d, numbers.pair + k * kLanes + kLanes / 2);
    const auto lanes = [](auto x) HWY_ATTR { return hn::BitCast(DF(), x); };
    gain = hn::OddEven(lanes(hn::ShiftLeft<32>(odd)), lanes(even));
    factor = hn::OddEven(lanes(odd), lanes(hn::ShiftRight<32>(even)));
  }

  const std::uint64_t* table_;
};
#else
/// Floats by v.
class FloatLookup {
 public:
#if EQUALUX_VBMI
  HWY_INLINE FloatLookup(const std::array<float, 256>&, const std::array<std::uint8_t, 1024>& bytes)
      : table_(bytes.data(), bytes.data() + 512) {}
  HWY_INLINE Floats operator()(V8 v) const {
    return table_(v);
  }

 private:
  GainLookup table_;
#else
  HWY_INLINE FloatLookup(const std::array<float, 256>& table, const std::array<std::uint8_t, 1024>&)
      : table_(table.data()) {}
  HWY_INLINE Floats operator()(V8 v) const {
    const DF d;
    return {
        hn::GatherIndex(d, table_, lane_byte<0>(v)), hn::GatherIndex(d, table_, lane_byte<1>(v)),
        hn::GatherIndex(d, table_, lane_byte<2>(v)), hn::GatherIndex(d, table_, lane_byte<3>(v))};
  }

 private:
  const float* table_;
#endif
};

template <bool kUniform>
class LevelLookup {
 public:
  struct Numbers {};

  explicit HWY_INLINE LevelLookup(const SaturatedGains& tables)
      : gain_(tables.vector_gain, tables.gain_bytes),
        factor_(tables.vector_factor, tables.factor_bytes),
        uniform_(hn::Set(DF(), tables.vector_factor[0])) {}
  HWY_INLINE void look_up(const V8&, Numbers&) const {}
  HWY_INLINE LevelGains finish(const V8& v, const Numbers&) const {
    if constexpr (kUniform) {
      return {gain_(v), {uniform_, uniform_, uniform_, uniform_}};
    } else {
      return {gain_(v), factor_(v)};
    }
  }

 private:
  FloatLookup gain_;
  FloatLookup factor_;
  VF uniform_;
};
#endif

/// Where S may come to 1.
class MayReachOne {
 public:
  explicit HWY_INLINE MayReachOne(const SaturatedGains& gains)
      : share_(hn::Set(D16(), gains.limit_share))
#if EQUALUX_VBMI
        ,
        lookup_(gains.free_below.data())
#endif
  {
  }
  /// Not 0 where a pixel may, whose least channel lies `below` under v. With kUniform all k are
  /// one, else it is the largest that tells where bytes cannot be looked up.
  template <bool kUniform>
  HWY_INLINE V8 operator()(V8 v, V8 below) const {
#if EQUALUX_VBMI
    if constexpr (!kUniform) return hn::SaturatedSub(below, lookup_(v));
#endif
    const D16 d;
    const V16 words = hn::BitCast(d, v);
    const V16 high_bytes = hn::Set(d, std::uint16_t{0xFF00});
    const V16 even = hn::ShiftRight<8>(hn::MulHigh(hn::ShiftLeft<8>(words), share_));
    const V16 odd = hn::MulHigh(hn::And(words, high_bytes), share_);
    return hn::SaturatedSub(below, hn::BitCast(D8(), hn::OrAnd(even, odd, high_bytes)));
  }

 private:
  V16 share_;
#if EQUALUX_VBMI
  ByteLookup lookup_;
#endif
};

/// 1 / x of whole numbers from 1 on, less than 2^-22.5 of itself off.
HWY_INLINE VF reciprocal_of(VF x) {
#if HWY_ARCH_X86
  const VF about = hn::ApproximateReciprocal(x);
  return hn::Mul(about, hn::NegMulAdd(x, about, hn::Set(DF(), 2.0f)));
#else
  return hn::Div(hn::Set(DF(), 1.0f), x);
#endif
}

/// A result over the bits of kWhole, and how far it lay from that.
struct Scaled {
  VF shifted;
  VF distance;
};
HWY_INLINE Scaled scaled_part(VF part, VF gain) {
  const VF whole = hn::Set(DF(), kWhole);
  const VF shifted = hn::MulAdd(part, gain, whole);
  return {shifted, hn::MulSub(part, gain, hn::Sub(shifted, whole))};
}

using FloatMask = hn::Mask<DF>;

/// Of lanes whose limit serves those that may be on the wrong side. A gain that is not a number is
/// one.
HWY_INLINE FloatMask doubtful(FloatMask limited, VF distance) {
  return hn::AndNot(hn::Le(hn::Abs(distance), hn::Set(DF(), kSureSaturated)), limited);
}
/// Results of lanes that are not to be redone. A gain that is not a number has bits in bytes that
/// are other pixels' when lanes are joined.
HWY_INLINE V32 sure_bits(FloatMask bad, VF shifted) {
  return hn::IfThenZeroElse(hn::RebindMask(D32(), bad), hn::BitCast(D32(), shifted));
}
HWY_INLINE bool any_of(const FloatMask (&m)[4]) {
  return !hn::AllFalse(DF(), hn::Or(hn::Or(m[0], m[1]), hn::Or(m[2], m[3])));
}
/// 1 in the bytes of the lanes that are set.
HWY_INLINE V8 flags_of(const FloatMask (&m)[4]) {
  const auto ones = [](FloatMask x) HWY_ATTR {
    return hn::IfThenElseZero(hn::RebindMask(D32(), x), hn::Set(D32(), 1u));
  };
  return join_bytes(ones(m[0]), ones(m[1]), ones(m[2]), ones(m[3]));
}
HWY_INLINE void clear(FloatMask (&m)[4]) {
  for (FloatMask& x : m)
    x = hn::Lt(hn::Zero(DF()), hn::Zero(DF()));
}

/// Runs `redo(i)` for every byte i that is not 0.
template <typename Redo>
HWY_INLINE void for_flagged(const std::uint8_t (&flags)[kBytes], const Redo& redo) {
  constexpr std::size_t kStep = std::min<std::size_t>(8, kBytes);
  for (std::size_t first = 0; first < kBytes; first += kStep) {
    std::uint64_t any = 0;
    std::memcpy(&any, flags + first, kStep);
    if (any == 0) continue;
    for (std::size_t i = first; i < first + kStep; ++i) {
      if (flags[i] != 0) redo(i);
    }
  }
}

/// A vector of pixels of kStep bytes in planes; the fourth one is alpha's.
template <std::size_t kStep>
struct ColorPlanes {
  V8 plane[4];

  HWY_INLINE void load(int color, const std::uint8_t* in) {
    if constexpr (kStep == 3) {
      load_triples(in, plane[0], plane[1], plane[2]);
      plane[3] = plane[0];
    } else if (color == 0) {
      hn::LoadInterleaved4(D8(), in, plane[0], plane[1], plane[2], plane[3]);
    } else {
      hn::LoadInterleaved4(D8(), in, plane[3], plane[0], plane[1], plane[2]);
    }
  }
  HWY_INLINE void save(int color, std::uint8_t* out) const {
    if constexpr (kStep == 3) {
      store_triples(plane[0], plane[1], plane[2], out);
    } else if (color == 0) {
      hn::StoreInterleaved4(plane[0], plane[1], plane[2], plane[3], D8(), out);
    } else {
      hn::StoreInterleaved4(plane[3], plane[0], plane[1], plane[2], D8(), out);
    }
  }
  template <Stores kStores>
  HWY_INLINE void write(int color, std::uint8_t* out) const {
    if constexpr (kStores == Stores::cached) {
      save(color, out);
    } else {
      alignas(64) std::uint8_t bytes[kStep * kBytes];
      save(color, bytes);
      stream_bytes<static_cast<int>(kStep)>(bytes, out);
    }
  }
  HWY_INLINE V8 most() const { return max3(plane[0], plane[1], plane[2]); }
};

/// A vector of pixels on its way: their planes are read again where look-ups take time.
template <std::size_t kStep, bool kUniform>
struct StartedPixels {
  ColorPlanes<kStep> planes;
  V8 v;
  typename LevelLookup<kUniform>::Numbers gains;
};

/// Whether S may come to 1 in a vector, or a level is to be redone.
template <std::size_t kStep, bool kUniform>
HWY_INLINE bool may_reach_one(const MayReachOne& may,
                              const StartedPixels<kStep, kUniform>& pixels) {
  const V8* plane = pixels.planes.plane;
  const V8 below = hn::Sub(pixels.v, hn::Min(hn::Min(plane[0], plane[1]), plane[2]));
  return !hn::AllTrue(D8(),
                      hn::Eq(may.template operator()<kUniform>(pixels.v, below), hn::Zero(D8())));
}

/// One vector's results; `kLimits` where S may come to 1.
template <bool kLimits, std::size_t kStep, bool kUniform>
HWY_INLINE ColorPlanes<kStep> saturated_planes(const LevelGains& g,
                                               const StartedPixels<kStep, kUniform>& pixels,
                                               FloatMask (&bad)[4]) {
  const V8* plane = pixels.planes.plane;
  const V8 v = pixels.v;
  const V8 low = hn::Min(plane[0], plane[1]);
  const V8 high = hn::Max(plane[0], plane[1]);
  const Floats value = to_floats(v);
  VF factor[4];
  for (std::size_t i = 0; i < 4; ++i)
    factor[i] = part_of(g.factor, i);
  if constexpr (kLimits) {
    const V8 one = hn::Set(D8(), std::uint8_t{1});
    const V8 below = hn::Sub(v, hn::Min(low, plane[2]));
    const Floats spread = to_floats(hn::Max(below, one));
    const Floats middle = to_floats(hn::Sub(v, hn::Max(low, hn::Min(high, plane[2]))));
    for (std::size_t i = 0; i < 4; ++i) {
      const VF limit = hn::Mul(part_of(value, i), reciprocal_of(part_of(spread, i)));
      const VF least = hn::Min(factor[i], limit);
      const VF part = hn::NegMulAdd(least, part_of(middle, i), part_of(value, i));
      bad[i] = doubtful(hn::Lt(limit, factor[i]), scaled_part(part, part_of(g.gain, i)).distance);
      factor[i] = least;
    }
  } else {
    (void)low;
    (void)high;
    (void)bad;
  }
  ColorPlanes<kStep> result;
  const VF whole = hn::Set(DF(), kWhole);
  for (std::size_t c = 0; c < 3; ++c) {
    const Floats d = to_floats(hn::Sub(v, plane[c]));
    V32 lanes[4];
    for (std::size_t i = 0; i < 4; ++i) {
      const VF part = hn::NegMulAdd(factor[i], part_of(d, i), part_of(value, i));
      const VF shifted = hn::MulAdd(part, part_of(g.gain, i), whole);
      lanes[i] = kLimits ? sure_bits(bad[i], shifted) : hn::BitCast(D32(), shifted);
    }
    result.plane[c] = join_bytes(lanes[0], lanes[1], lanes[2], lanes[3]);
  }
  result.plane[3] = plane[3];
  return result;
}

/// Redoes flagged pixels of a vector, of which `in` is a copy.
template <std::size_t kStep>
HWY_NOINLINE void redo_pixels(const SaturatedGains& gains, const RgbLayout& at,
                              const std::uint8_t (&flags)[kBytes], const std::uint8_t* in,
                              std::uint8_t* out) {
  for_flagged(flags,
              [&](std::size_t i) { saturate_rgb(gains, at, in + kStep * i, 1, out + kStep * i); });
}

template <std::size_t kStep, bool kUniform, bool kLimits>
void saturate_pixels(const SaturatedGains& gains, Stores stores, const RgbLayout& at,
                     const std::uint8_t* in, std::size_t n, std::uint8_t* out) {
  using Pixels = StartedPixels<kStep, kUniform>;
  const LevelLookup<kUniform> lookup(gains);
  const MayReachOne may(gains);
  const int color = at.first();
  const auto start = [&](Pixels& pixels, const std::uint8_t* from) HWY_ATTR {
    pixels.planes.load(color, from);
    pixels.v = pixels.planes.most();
  };
  const auto finish = [&](auto kind, const Pixels& pixels, const std::uint8_t* from,
                          std::uint8_t* to) HWY_ATTR {
    FloatMask bad[4];
    if constexpr (kLimits) {
      if (!gains.undone && !may_reach_one(may, pixels)) {
        saturated_planes<false>(lookup.finish(pixels.v, pixels.gains), pixels, bad)
            .template write<kind()>(color, to);
        return;
      }
    }
    const ColorPlanes<kStep> result =
        saturated_planes<kLimits>(lookup.finish(pixels.v, pixels.gains), pixels, bad);
    if constexpr (kLimits) {
      if (HWY_UNLIKELY(any_of(bad))) {
        alignas(64) std::uint8_t before[kStep * kBytes];
        alignas(64) std::uint8_t flags[kBytes];
        std::memcpy(before, from, sizeof before);
        hn::Store(flags_of(bad), D8(), flags);
        result.template write<Stores::cached>(color, to);
        redo_pixels<kStep>(gains, at, flags, before, to);
        return;
      }
    }
    result.template write<kind()>(color, to);
  };
  const std::size_t vectors = n / kBytes;
  const auto all = [&](auto kind) HWY_ATTR {
    // The next but one is loaded, and the next one looked up, while this one is scaled.
    Pixels ring[4];
    const auto start_at = [&](std::size_t i) HWY_ATTR {
      if (i < vectors) start(ring[i % 4], in + kStep * kBytes * i);
    };
    const auto look_up = [&](std::size_t i) HWY_ATTR {
      if (i < vectors) lookup.look_up(ring[i % 4].v, ring[i % 4].gains);
    };
    start_at(0);
    start_at(1);
    look_up(0);
    for (std::size_t i = 0; i < vectors; ++i) {
      const std::uint8_t* from = in + kStep * kBytes * i;
      prefetch_ahead(from, kStep * kBytes);
      start_at(i + 2);
      look_up(i + 1);
      finish(kind, ring[i % 4], from, out + kStep * kBytes * i);
    }
  };
  if (stores == Stores::streaming && aligned(out, kBytes)) {
    all(std::integral_constant<Stores, Stores::streaming>());
  } else {
    all(std::integral_constant<Stores, Stores::cached>());
  }
  const std::size_t done = vectors * kBytes;
  if (done == n) return;
  alignas(64) std::uint8_t rest_in[kStep * kBytes] = {};
  alignas(64) std::uint8_t rest_out[kStep * kBytes];
  std::memcpy(rest_in, in + kStep * done, kStep * (n - done));
  Pixels last;
  start(last, rest_in);
  lookup.look_up(last.v, last.gains);
  finish(std::integral_constant<Stores, Stores::cached>(), last, rest_in, rest_out);
  std::memcpy(out + kStep * done, rest_out, kStep * (n - done));
}

/// Calls body(uniform, limits) with what a frame's gains are, as constants.
template <typename Body>
HWY_INLINE void with_kinds(const SaturatedGains& gains, const Body& body) {
  using Yes = std::true_type;
  using No = std::false_type;
  if (gains.uniform) {
    if (gains.limits) return body(Yes(), Yes());
    return body(Yes(), No());
  }
  if (gains.limits) return body(No(), Yes());
  body(No(), No());
}

void saturate_floats(const SaturatedGains& gains, Stores stores, const RgbLayout& at,
                     const std::uint8_t* in, std::size_t n, std::uint8_t* out) {
  with_kinds(gains, [&](auto uniform, auto limits) {
    if (at.step == 3) {
      saturate_pixels<3, uniform(), limits()>(gains, stores, at, in, n, out);
    } else {
      saturate_pixels<4, uniform(), limits()>(gains, stores, at, in, n, out);
    }
  });
}

#if EQUALUX_VBMI
/// Pixels of four bytes, kColor their first colour byte, where one k serves all levels and none is
/// to be redone, in the lanes in which they lie, as scale_quads() has them. With kLimits it stops
/// before the first vector in which S would pass 1. Returns how many pixels are done.
template <int kColor, Stores kStores, bool kLimits>
HWY_NOINLINE std::size_t saturate_quads(const SaturatedGains& tables, const std::uint8_t* in,
                                        std::size_t n, std::uint8_t* out) {
  const D8 d8;
  const D32 d;
  const GainLookup lookup(tables.gain_bytes.data(), tables.gain_bytes.data() + 512);
  const VF factor = hn::Set(DF(), tables.vector_factor[0]);
  const VF rest = hn::Set(DF(), 1 - tables.vector_factor[0]);
  const auto to_float = [](V32 lanes)
                            HWY_ATTR { return hn::ConvertTo(DF(), hn::BitCast(DI32(), lanes)); };
  std::size_t x = 0;
  for (; x + kBytes <= n; x += kBytes) {
    const std::uint8_t* from = in + 4 * x;
    std::uint8_t* to = out + 4 * x;
    prefetch_ahead(from, 4 * kBytes);
    V32 pixels[4];
    V32 v[4];
    for (std::size_t i = 0; i < 4; ++i) {
      pixels[i] = hn::BitCast(d, hn::LoadU(d8, from + kBytes * i));
      v[i] = quad_values<kColor>(pixels[i]);
    }
    const Floats gain = lookup(join_bytes(v[0], v[1], v[2], v[3]));
    V8 result[4];
    V32 least = hn::Zero(d);  // negative where a channel is
    for (std::size_t i = 0; i < 4; ++i) {
      // v - k (v - c) is (1 - k) v + k c, whose products and sum are exact.
      const VF of_value = hn::Mul(to_float(v[i]), rest);
      const auto channel = [&](V32 lanes) HWY_ATTR {
        const VF part = hn::MulAdd(to_float(hn::And(lanes, hn::Set(d, 0xFFU))), factor, of_value);
        if constexpr (kLimits) least = hn::Or(least, hn::BitCast(d, part));
        return scale_lanes<Clip::nowhere>(part, part_of(gain, i));
      };
      const V32 first = channel(hn::ShiftRight<8 * kColor>(pixels[i]));
      const V32 second = channel(hn::ShiftRight<8 * kColor + 8>(pixels[i]));
      const V32 third = channel(hn::ShiftRight<8 * kColor + 16>(pixels[i]));
      result[i] = kColor == 0 ? join_bytes(first, second, third, hn::ShiftRight<24>(pixels[i]))
                              : join_bytes(pixels[i], first, second, third);
    }
    if (kLimits && HWY_UNLIKELY(_mm512_movepi32_mask(least.raw) != 0)) return x;
    for (std::size_t i = 0; i < 4; ++i)
      store<kStores>(result[i], d8, to + kBytes * i);
  }
  return x;
}

/// The same of pixels of three bytes, by planes.
template <Stores kStores, bool kLimits>
HWY_NOINLINE std::size_t saturate_triples(const SaturatedGains& tables, const std::uint8_t* in,
                                          std::size_t n, std::uint8_t* out) {
  const D32 d;
  const GainLookup lookup(tables.gain_bytes.data(), tables.gain_bytes.data() + 512);
  const VF factor = hn::Set(DF(), tables.vector_factor[0]);
  const VF rest = hn::Set(DF(), 1 - tables.vector_factor[0]);
  // Planes and V of the next but one, while this one is scaled.
  struct Started {
    ColorPlanes<3> planes;
    V8 v;
  } ring[4];
  const std::size_t vectors = n / kBytes;
  const auto start = [&](std::size_t i) HWY_ATTR {
    if (i >= vectors) return;
    ring[i % 4].planes.load(0, in + 3 * kBytes * i);
    ring[i % 4].v = ring[i % 4].planes.most();
  };
  start(0);
  start(1);
  for (std::size_t vector = 0; vector < vectors; ++vector) {
    prefetch_ahead(in + 3 * kBytes * vector, 3 * kBytes);
    start(vector + 2);
    const ColorPlanes<3>& planes = ring[vector % 4].planes;
    const V8 v = ring[vector % 4].v;
    const Floats gain = lookup(v);
    const Floats values = to_floats(v);
    ColorPlanes<3> result;
    VF of_value[4];
    for (std::size_t i = 0; i < 4; ++i)
      of_value[i] = hn::Mul(part_of(values, i), rest);
    V32 least = hn::Zero(d);
    for (std::size_t c = 0; c < 3; ++c) {
      const Floats codes = to_floats(planes.plane[c]);
      V32 lanes[4];
      VF part[4];
      for (std::size_t i = 0; i < 4; ++i) {
        part[i] = hn::MulAdd(part_of(codes, i), factor, of_value[i]);
        lanes[i] = scale_lanes<Clip::nowhere>(part[i], part_of(gain, i));
      }
      if constexpr (kLimits) {
        // One operation for three, which GCC does not put off until all channels are there.
        const auto any = [](V32 so_far, VF a, VF b) HWY_ATTR {
          return V32{_mm512_ternarylogic_epi32(so_far.raw, _mm512_castps_si512(a.raw),
                                               _mm512_castps_si512(b.raw), 0xFE)};
        };
        least = any(any(least, part[0], part[1]), part[2], part[3]);
      }
      result.plane[c] = join_bytes(lanes[0], lanes[1], lanes[2], lanes[3]);
    }
    if (kLimits && HWY_UNLIKELY(_mm512_movepi32_mask(least.raw) != 0)) return kBytes * vector;
    result.template write<kStores>(0, out + 3 * kBytes * vector);
  }
  return kBytes * vectors;
}

using SaturateSome = std::size_t (*)(const SaturatedGains& tables, const std::uint8_t* in,
                                     std::size_t n, std::uint8_t* out);

/// A whole row by one of these: what that leaves alone, and many pixels behind it, are left to
/// saturate_floats().
HWY_INLINE void saturate_row_by(SaturateSome some, const SaturatedGains& gains, Stores stores,
                                const RgbLayout& at, const std::uint8_t* in, std::size_t n,
                                std::uint8_t* out) {
  const auto step = static_cast<std::size_t>(at.step);
  for (std::size_t done = 0; done < n;) {
    done += some(gains, in + step * done, n - done, out + step * done);
    const std::size_t span = std::min(4 * kBytes, n - done);
    if (span != 0) saturate_floats(gains, stores, at, in + step * done, span, out + step * done);
    done += span;
  }
}
#endif

void saturate_rgb_row(const SaturatedGains& gains, Stores stores, const RgbLayout& at,
                      const std::uint8_t* in, std::size_t n, std::uint8_t* out) {
#if EQUALUX_SATURATED_WORDS
  if (gains.has_words) {
    const auto step = static_cast<std::size_t>(at.step);
    const auto other = [&](const std::uint8_t* from, std::size_t count, std::uint8_t* to) {
      saturate_floats(gains, stores, at, from, count, to);
    };
    const auto stored = [&](auto kind) HWY_ATTR {
      const auto limited = [&](auto limits) HWY_ATTR {
        if (step == 3) {
          saturate_words<kind(), limits(), SaturatedWords<Triples<kSaturatedWordBits>>>(
              gains, in, n, out, other);
        } else if (at.first() == 0) {
          saturate_words<kind(), limits(), SaturatedWords<Quads<0, kSaturatedWordBits>>>(
              gains, in, n, out, other);
        } else {
          saturate_words<kind(), limits(), SaturatedWords<Quads<1, kSaturatedWordBits>>>(
              gains, in, n, out, other);
        }
      };
      if (gains.limits) return limited(std::true_type());
      limited(std::false_type());
    };
    if (stores == Stores::streaming && aligned(out, kBytes))
      return stored(std::integral_constant<Stores, Stores::streaming>());
    return stored(std::integral_constant<Stores, Stores::cached>());
  }
#elif EQUALUX_VBMI
  if (gains.uniform && !gains.undone) {
    const auto stored = [&](auto kind) {
      const auto limited = [&](auto limits) {
        const SaturateSome some = at.step == 3      ? saturate_triples<kind(), limits()>
                                  : at.first() == 0 ? saturate_quads<0, kind(), limits()>
                                                    : saturate_quads<1, kind(), limits()>;
        saturate_row_by(some, gains, stores, at, in, n, out);
      };
      if (gains.limits) return limited(std::true_type());
      limited(std::false_type());
    };
    if (stores == Stores::streaming && aligned(out, kBytes))
      return stored(std::integral_constant<Stores, Stores::streaming>());
    return stored(std::integral_constant<Stores, Stores::cached>());
  }
#endif
  saturate_floats(gains, stores, at, in, n, out);
}

/// A vector of luma on its way.
template <std::size_t kRows, bool kShared, bool kUniform, bool kLimits>
struct StartedLuma : Ready<kRows, kShared, kCovered<kRows, kShared>> {
  V8 above;  ///< how far the largest channel lies over luma
  /// Where chroma is shared, how far the least channel lies under the largest, in words by chroma
  /// sample; else how far it lies under luma.
  V8 range;
  typename LevelLookup<kUniform>::Numbers gains[kRows];

  HWY_INLINE void start(const YuvVectors<kCovered<kRows, kShared>>& k, const YuvRowIn& in) {
    this->chroma.load(in.cb, in.cr);
    if constexpr (kLimits) {
      above = this->chroma.above(k, range);
    } else {
      above = this->chroma.above(k);
    }
    this->make_values(k, in, above);
  }
  HWY_INLINE void look_up(const LevelLookup<kUniform>& lookup) {
    for (std::size_t r = 0; r < kRows; ++r)
      lookup.look_up(this->v[r], gains[r]);
  }
  /// How far the least channel lies under luma, by luma sample.
  HWY_INLINE V8 below() const {
    if constexpr (!kLimits) {
      return hn::Zero(D8());
    } else if constexpr (kShared) {
      return hn::Sub(doubled(hn::BitCast(D16(), range)), above);
    } else {
      return range;
    }
  }
  /// The low bytes of words, twice.
  static HWY_INLINE V8 doubled(V16 words) {
    const V16 low = hn::And(words, hn::Set(D16(), std::uint16_t{255}));
    return hn::BitCast(D8(), hn::Or(low, hn::ShiftLeft<8>(words)));
  }
};

/// Where S may come to 1 in a vector of luma, by its chroma: where v is less than k times what
/// lies between the least channel and the largest. V that was clamped is taken for what it was.
template <bool kShared, bool kUniform>
class LumaLimit {
 public:
  explicit HWY_INLINE LumaLimit(const SaturatedGains& gains)
      : may_(gains), factor_(hn::Set(DI16(), static_cast<std::int16_t>(4 * gains.most_factor))) {}

  /// What reached() is asked with. `other` becomes not 0 where that would have more than a byte.
  template <typename Started>
  HWY_INLINE V8 bar(const Started& luma, V8& other) const {
    if constexpr (!kShared) {
      (void)other;
      return hn::SaturatedAdd(luma.above, luma.range);
    } else if constexpr (kByLevel) {
      const V16 range = hn::BitCast(D16(), luma.range);
      other = hn::Or(other, hn::BitCast(D8(), hn::ShiftRight<8>(range)));
      return Started::doubled(range);
    } else {
      // Rounded up, as products less than 0 are rounded down.
      const VI16 range = hn::Mul(hn::BitCast(DI16(), luma.range), hn::Set(DI16(), -64));
      const V16 least = hn::BitCast(D16(), hn::Sub(hn::Zero(DI16()), hn::MulHigh(range, factor_)));
      other = hn::Or(other, hn::BitCast(D8(), hn::ShiftRight<8>(least)));
      return hn::BitCast(D8(), hn::Or(least, hn::ShiftLeft<8>(least)));
    }
  }
  /// Not 0 where S may come to 1.
  HWY_INLINE V8 reached(V8 v, V8 bar) const {
    if constexpr (kShared && !kByLevel) {
      return hn::SaturatedSub(bar, v);
    } else {
      return may_.template operator()<kUniform>(v, bar);
    }
  }

 private:
  static constexpr bool kByLevel = !kUniform && EQUALUX_VBMI;

  MayReachOne may_;
  VI16 factor_;
};

/// A vector of luma, and what it tells its chroma.
struct SaturatedLuma {
  V8 luma;
  Floats gain;
};

/// Adds the lanes whose limit serves to `limited`, and of these the doubtful ones to `bad`.
template <bool kLimits, int kUnits>
HWY_INLINE SaturatedLuma saturated_luma_of(const YuvVectors<kUnits>& k, const LevelGains& g,
                                           V8 code, V8 v, V8 spread, FloatMask (&limited)[4],
                                           FloatMask (&bad)[4]) {
  const D8 d8;
  const V8 y = hn::SaturatedSub(code, k.offset);
  const V8 d = hn::SaturatedSub(v, y);
  const V8 excess = hn::SaturatedSub(y, v);
  const V8 one = hn::Set(d8, std::uint8_t{1});
  // Black, luma below it too, has f = 1 where k is over 1, as 1 / 1 gives.
  const V8 value = hn::Max(v, one);
  const Floats values = to_floats(value);
  const Floats ds = to_floats(d);
  Floats belows = ds;
  if constexpr (kLimits) {
    const V8 below = hn::SaturatedSub(hn::SaturatedAdd(d, spread), excess);
    belows = to_floats(hn::Max(hn::Min(below, value), one));
  }
  V32 lanes[4];
  VF gains[4];
  for (std::size_t i = 0; i < 4; ++i) {
    VF factor = part_of(g.factor, i);
    const VF gain = part_of(g.gain, i);
    FloatMask reaches;
    if constexpr (kLimits) {
      const VF limit = hn::Mul(part_of(values, i), reciprocal_of(part_of(belows, i)));
      reaches = hn::Lt(limit, factor);
      limited[i] = hn::Or(limited[i], reaches);
      factor = hn::Min(factor, limit);
    }
    const VF part = hn::NegMulAdd(factor, part_of(ds, i), part_of(values, i));
    const Scaled scaled = scaled_part(part, gain);
    if constexpr (kLimits) {
      bad[i] = hn::Or(bad[i], doubtful(reaches, scaled.distance));
      lanes[i] = sure_bits(bad[i], scaled.shifted);
    } else {
      lanes[i] = hn::BitCast(D32(), scaled.shifted);
    }
    gains[i] = hn::Mul(gain, factor);
  }
  V8 result = join_bytes(lanes[0], lanes[1], lanes[2], lanes[3]);
  if (HWY_UNLIKELY(!hn::AllTrue(d8, hn::Eq(excess, hn::Zero(d8))))) {
    // v was clamped below luma, which becomes what it becomes without saturation.
    result = hn::IfThenElse(hn::Eq(excess, hn::Zero(d8)), result, scale_bytes(y, g.gain));
  }
  result = hn::SaturatedAdd(result, k.offset);
  return {hn::IfThenElse(hn::Eq(v, hn::Zero(d8)), code, result),
          {gains[0], gains[1], gains[2], gains[3]}};
}

/// Redoes the flagged chroma samples of a vector of luma, of which `in` is a copy, and their luma.
template <std::size_t kRows, bool kShared>
HWY_NOINLINE void redo_cells(const SaturatedGains& gains, const std::uint64_t* gain48,
                             const YuvWeights& weights, const std::uint8_t (&flags)[kBytes],
                             const YuvRowIn& in, const YuvRowOut& out) {
  constexpr Sampling kSampling =
      kRows == 2 ? Sampling::s420 : (kShared ? Sampling::s422 : Sampling::s444);
  constexpr std::size_t kColumns = kShared ? 2 : 1;
  for_flagged(flags, [&](std::size_t c) {
    const std::size_t x = kColumns * c;
    saturate_yuv(gains, gain48, kSampling, weights, advance(in, x, kShared), kColumns,
                 advance(out, x, kShared));
  });
}

/// 256 k d in words, for the even and the odd bytes of a vector.
struct WordPair {
  V16 even, odd;
};
HWY_INLINE WordPair scaled_words(V8 d, V16 uniform) {
  const D16 words;
  const V16 ds = hn::BitCast(words, d);
  return {hn::Mul(hn::And(ds, hn::Set(words, std::uint16_t{255})), uniform),
          hn::Mul(hn::ShiftRight<8>(ds), uniform)};
}

/// g (v - k d) of luma that lies d under v, where that is not negative, for one k of all levels:
/// 256 (v - k d) is a whole number of 16 bits, and `less` is 256 k d.
HWY_INLINE V8 freely_saturated(V8 v, const WordPair& less, const Floats& gain) {
  const D16 words;
  const V16 values = hn::BitCast(words, v);
  const V16 even = hn::Sub(hn::ShiftLeft<8>(values), less.even);
  const V16 odd = hn::Sub(hn::And(values, hn::Set(words, std::uint16_t{0xFF00})), less.odd);
  const auto scaled = [](V32 part, VF g) HWY_ATTR {
    // Makes single precision round to whole multiples of 256.
    const VF whole = hn::Set(DF(), saturation::kOne * kWhole);
    return hn::BitCast(D32(), hn::MulAdd(hn::ConvertTo(DF(), hn::BitCast(DI32(), part)), g, whole));
  };
  const auto lower = [](V16 x) HWY_ATTR {
    return hn::And(hn::BitCast(D32(), x), hn::Set(D32(), 0xFFFFu));
  };
  const auto upper = [](V16 x) HWY_ATTR { return hn::ShiftRight<16>(hn::BitCast(D32(), x)); };
  return join_bytes(scaled(lower(even), gain.f0), scaled(lower(odd), gain.f1),
                    scaled(upper(even), gain.f2), scaled(upper(odd), gain.f3));
}

/// The same for a k of each level.
HWY_INLINE V8 freely_saturated(V8 v, V8 d, const LevelGains& g) {
  const Floats values = to_floats(v);
  const Floats ds = to_floats(d);
  const VF whole = hn::Set(DF(), kWhole);
  V32 lanes[4];
  for (std::size_t i = 0; i < 4; ++i) {
    const VF part = hn::NegMulAdd(part_of(g.factor, i), part_of(ds, i), part_of(values, i));
    lanes[i] = hn::BitCast(D32(), hn::MulAdd(part, part_of(g.gain, i), whole));
  }
  return join_bytes(lanes[0], lanes[1], lanes[2], lanes[3]);
}

/// What a row's vectors are scaled with.
template <std::size_t kRows, bool kShared, bool kUniform>
struct LumaSaturation {
  YuvVectors<kCovered<kRows, kShared>> k;
  LevelLookup<kUniform> lookup;
  LumaLimit<kShared, kUniform> limit;
  V8 white;          ///< code of white
  V16 uniform;       ///< k in 1 / saturation::kOne
  VF uniform_float;  ///< k
  bool exact;

  LumaSaturation(const YuvWeights& weights, const SaturatedGains& gains)
      : k(weights),
        lookup(gains),
        limit(gains),
        white(hn::Set(D8(), static_cast<std::uint8_t>(weights.luma_max + weights.luma_offset))),
        uniform(hn::Set(D16(), gains.factors[0])),
        uniform_float(hn::Set(DF(), gains.vector_factor[0])),
        exact(gains.exact) {}
};

/// Both chroma planes of a vector.
template <bool kShared>
struct ScaledChroma {
  ScaledPlane<kShared> cb, cr;

  /// `total` are sums of what luma tells its chroma.
  template <int kUnits>
  HWY_INLINE ScaledChroma(const Chroma<kShared, kUnits>& chroma,
                          const VF (&total)[kChromaParts<kShared>]) {
    for (std::size_t i = 0; i < kChromaParts<kShared>; ++i) {
      cb.part[i] = scale_chroma(chroma.part[i].u, total[i]);
      cr.part[i] = scale_chroma(chroma.part[i].w, total[i]);
    }
  }
  HWY_INLINE VF distance() const {
    VF most = max_magnitude(cb.part[0].distance, cr.part[0].distance);
    for (std::size_t i = 1; i < kChromaParts<kShared>; ++i)
      most = hn::Max(most, max_magnitude(cb.part[i].distance, cr.part[i].distance));
    return most;
  }
  /// Where sums have no rounding, what is beyond the sure distance of a half is on it, and goes up.
  HWY_INLINE void put_halves_up() {
    for (std::size_t i = 0; i < kChromaParts<kShared>; ++i) {
      for (Rounded* each : {&cb.part[i], &cr.part[i]}) {
        const auto below = hn::Gt(each->distance, hn::Set(DF(), kSureSaturated));
        each->code = hn::Add(each->code,
                             hn::IfThenElseZero(hn::RebindMask(DI32(), below), hn::Set(DI32(), 1)));
      }
    }
  }
};

HWY_INLINE bool all_sure(VF distance, float sure = kSureSaturated) {
  return hn::AllFalse(DF(), hn::Gt(distance, hn::Set(DF(), sure)));
}

/// Scales a vector where k serves all pixels and no luma lies over v. Where a result is in doubt
/// nothing is written, and the answer is false. With kAlike all luma that a chroma sample covers
/// lies as far under its v.
template <bool kAlike, Stores kStores, std::size_t kRows, bool kShared, bool kUniform, bool kLimits>
HWY_INLINE bool saturate_freely(const LumaSaturation<kRows, kShared, kUniform>& with,
                                const LevelLookup<kUniform>& lookup,
                                const StartedLuma<kRows, kShared, kUniform, kLimits>& ready,
                                const YuvRowIn& in, const YuvRowOut& out) {
  const D8 d8;
  V8 luma[kRows];
  Floats g[kRows];
  WordPair less;
  if constexpr (kUniform && kAlike) {
    if constexpr (kShared) {
      const V16 above = hn::BitCast(D16(), ready.above);
      less.even = hn::Mul(hn::And(above, hn::Set(D16(), std::uint16_t{255})), with.uniform);
      less.odd = less.even;
    } else {
      less = scaled_words(ready.above, with.uniform);
    }
  }
  for (std::size_t r = 0; r < kRows; ++r) {
    const V8 code = hn::LoadU(d8, in.luma[r]);
    const LevelGains gains = lookup.finish(ready.v[r], ready.gains[r]);
    const V8 v = ready.v[r];
    V8 d = ready.above;
    if constexpr (!kAlike) {
      d = hn::SaturatedSub(v, hn::SaturatedSub(code, with.k.offset));
      if constexpr (kUniform) less = scaled_words(d, with.uniform);
    }
    V8 result;
    if constexpr (kUniform) {
      result = freely_saturated(v, less, gains.gain);
      g[r] = gains.gain;
    } else {
      result = freely_saturated(v, d, gains);
      g[r] = {hn::Mul(gains.gain.f0, gains.factor.f0), hn::Mul(gains.gain.f1, gains.factor.f1),
              hn::Mul(gains.gain.f2, gains.factor.f2), hn::Mul(gains.gain.f3, gains.factor.f3)};
    }
    luma[r] = hn::Add(result, hn::Min(code, with.k.offset));
  }
  VF total[kChromaParts<kShared>];
  sum_gains<kRows, kShared>(g, total);
  if constexpr (kUniform) {
    for (VF& each : total)
      each = hn::Mul(each, with.uniform_float);
  }
  ScaledChroma<kShared> chroma(ready.chroma, total);
  // Gains are at most 2.5 of their last bit off, and k and three sums round once more each: that is
  // less than 2^-20.8 of 129.
  if (HWY_UNLIKELY(!all_sure(chroma.distance(), kSureDistance))) {
    if (!with.exact) return false;
    chroma.put_halves_up();
  }
  write_planes<kStores>(chroma.cb.codes(), chroma.cr.codes(), out);
  for (std::size_t r = 0; r < kRows; ++r)
    store<kStores>(luma[r], d8, out.luma[r]);
  return true;
}

/// Colours of a chroma sample, in the lanes of a part.
struct CellColours {
  VF above;    ///< of the largest channel over luma
  VF inverse;  ///< 1 / (v - m)
};
template <bool kShared, typename Started>
HWY_INLINE void make_cells(const Started& luma, CellColours (&cells)[kChromaParts<kShared>]) {
  // Gray counts as if its channels lay 1 apart: at v = 0 there would be no quotient.
  const VF one = hn::Set(DF(), 1.0f);
  const auto cell = [&](VI32 above, VI32 range) HWY_ATTR {
    return CellColours{hn::ConvertTo(DF(), above),
                       reciprocal_of(hn::Max(hn::ConvertTo(DF(), range), one))};
  };
  if constexpr (kShared) {
    const V32 range = hn::BitCast(D32(), luma.range);
    const auto lanes = [](V32 x) HWY_ATTR { return hn::BitCast(DI32(), x); };
    cells[0] = cell(lane_byte<0>(luma.above), lanes(hn::And(range, hn::Set(D32(), 0xFFFFu))));
    cells[1] = cell(lane_byte<2>(luma.above), lanes(hn::ShiftRight<16>(range)));
  } else {
    const auto part = [&](VI32 above, VI32 below)
                          HWY_ATTR { return cell(above, hn::Add(above, below)); };
    cells[0] = part(lane_byte<0>(luma.above), lane_byte<0>(luma.range));
    cells[1] = part(lane_byte<1>(luma.above), lane_byte<1>(luma.range));
    cells[2] = part(lane_byte<2>(luma.above), lane_byte<2>(luma.range));
    cells[3] = part(lane_byte<3>(luma.above), lane_byte<3>(luma.range));
  }
}

/// The same where S may come to 1.
template <Stores kStores, std::size_t kRows, bool kShared, bool kUniform>
HWY_INLINE bool saturate_limited(const LumaSaturation<kRows, kShared, kUniform>& with,
                                 const LevelLookup<kUniform>& lookup,
                                 const StartedLuma<kRows, kShared, kUniform, true>& ready,
                                 const YuvRowIn& in, const YuvRowOut& out) {
  constexpr std::size_t kParts = kChromaParts<kShared>;
  const D8 d8;
  CellColours cells[kParts];
  make_cells<kShared>(ready, cells);
  const VF one = hn::Set(DF(), 1.0f);
  V8 luma[kRows];
  VF total[kParts];
  VF distance = hn::Zero(DF());
  for (VF& each : total)
    each = hn::Zero(DF());
  for (std::size_t r = 0; r < kRows; ++r) {
    const LevelGains gains = lookup.finish(ready.v[r], ready.gains[r]);
    const Floats values = to_floats(ready.v[r]);
    V32 lanes[4];
    for (std::size_t i = 0; i < 4; ++i) {
      const std::size_t p = i * kParts / 4;
      const VF gain = part_of(gains.gain, i);
      const VF value = part_of(values, i);
      // S over 1 stays.
      const VF limit = hn::Max(hn::Mul(value, cells[p].inverse), one);
      const VF f = hn::Min(limit, kUniform ? with.uniform_float : part_of(gains.factor, i));
      const VF part = hn::NegMulAdd(f, cells[p].above, value);
      const Scaled scaled = scaled_part(part, gain);
      distance = hn::Max(distance, hn::Abs(scaled.distance));
      lanes[i] = hn::BitCast(D32(), scaled.shifted);
      total[p] = hn::MulAdd(gain, f, total[p]);
    }
    luma[r] = hn::Add(join_bytes(lanes[0], lanes[1], lanes[2], lanes[3]),
                      hn::Min(hn::LoadU(d8, in.luma[r]), with.k.offset));
  }
  const ScaledChroma<kShared> chroma(ready.chroma, total);
  if (HWY_UNLIKELY(!all_sure(hn::Max(distance, chroma.distance())))) return false;
  write_planes<kStores>(chroma.cb.codes(), chroma.cr.codes(), out);
  for (std::size_t r = 0; r < kRows; ++r)
    store<kStores>(luma[r], d8, out.luma[r]);
  return true;
}

HWY_INLINE bool all_zero(V8 x) {
  return hn::AllTrue(D8(), hn::Eq(x, hn::Zero(D8())));
}

/// Scales a vector with V that was clamped, or luma below black, if k serves all pixels.
template <Stores kStores, std::size_t kRows, bool kShared, bool kUniform, bool kLimits>
HWY_NOINLINE bool saturate_clamped(const LumaSaturation<kRows, kShared, kUniform>& with,
                                   const StartedLuma<kRows, kShared, kUniform, kLimits>& ready,
                                   const YuvRowIn in, const YuvRowOut out) {
  // Luma over white lies over v.
  V8 over = hn::SaturatedSub(hn::LoadU(D8(), in.luma[0]), with.white);
  if constexpr (kRows == 2)
    over = hn::Or(over, hn::SaturatedSub(hn::LoadU(D8(), in.luma[1]), with.white));
  return all_zero(over) && saturate_freely<false, kStores>(with, with.lookup, ready, in, out);
}

/// Scales a vector by one of the three, if that is possible.
template <Stores kStores, std::size_t kRows, bool kShared, bool kUniform, bool kLimits>
HWY_INLINE bool saturate_surely(const LumaSaturation<kRows, kShared, kUniform>& with,
                                const LevelLookup<kUniform>& lookup,
                                const StartedLuma<kRows, kShared, kUniform, kLimits>& ready,
                                const YuvRowIn& in, const YuvRowOut& out) {
  const D8 d8;
  V8 unlike = hn::Zero(d8);
  for (std::size_t r = 0; r < kRows; ++r) {
    const V8 y = hn::SaturatedSub(hn::LoadU(d8, in.luma[r]), with.k.offset);
    unlike = hn::Or(unlike, hn::Xor(hn::Sub(ready.v[r], y), ready.above));
  }
  V8 reached = hn::Zero(d8);
  if constexpr (kLimits) {
    const V8 bar = with.limit.bar(ready, reached);
    for (std::size_t r = 0; r < kRows; ++r)
      reached = hn::Or(reached, with.limit.reached(ready.v[r], bar));
  }
  if (all_zero(hn::Or(unlike, reached)))
    return saturate_freely<true, kStores>(with, lookup, ready, in, out);
  if constexpr (kLimits) {
    if (all_zero(unlike)) return saturate_limited<kStores>(with, lookup, ready, in, out);
  }
  if (!all_zero(reached)) return false;
  const auto kept = ready;  // in memory, while the other may stay in registers
  return saturate_clamped<kStores>(with, kept, in, out);
}

/// The same of any vector.
template <Stores kStores, std::size_t kRows, bool kShared, bool kUniform, bool kLimits>
HWY_NOINLINE void saturate_vector(const LumaSaturation<kRows, kShared, kUniform>& with,
                                  const YuvWeights& weights, const SaturatedGains& gains,
                                  const std::uint64_t* gain48,
                                  const StartedLuma<kRows, kShared, kUniform, kLimits>& ready,
                                  const YuvRowIn in, const YuvRowOut out) {
  constexpr std::size_t kParts = kChromaParts<kShared>;
  const D8 d;
  V8 codes[kRows];
  V8 luma[kRows];
  Floats g[kRows];
  FloatMask bad[4];
  FloatMask limited[4];
  clear(bad);
  clear(limited);
  const V8 below = ready.below();
  for (std::size_t r = 0; r < kRows; ++r) {
    codes[r] = hn::LoadU(d, in.luma[r]);
    const SaturatedLuma result =
        saturated_luma_of<kLimits>(with.k, with.lookup.finish(ready.v[r], ready.gains[r]), codes[r],
                                   ready.v[r], below, limited, bad);
    luma[r] = result.luma;
    g[r] = result.gain;
  }
  VF total[kParts];
  sum_gains<kRows, kShared>(g, total);
  ScaledChroma<kShared> scaled(ready.chroma, total);
  const auto& cb = scaled.cb;
  const auto& cr = scaled.cr;
  const bool chroma_doubtful = !all_sure(scaled.distance());
  if (HWY_LIKELY(!chroma_doubtful && !(kLimits && any_of(bad)))) {
    write_planes<kStores>(cb.codes(), cr.codes(), out);
    for (std::size_t r = 0; r < kRows; ++r)
      store<kStores>(luma[r], d, out.luma[r]);
    return;
  }
  // That is so where no limit serves, and all luma has inexact of 0. The others are redone.
  scaled.put_halves_up();
  // As with curves that leave values where they are: halves are many, and none is in doubt.
  if (gains.exact && !(kLimits && (any_of(bad) || any_of(limited)))) {
    write_planes<kStores>(cb.codes(), cr.codes(), out);
    for (std::size_t r = 0; r < kRows; ++r)
      store<kStores>(luma[r], d, out.luma[r]);
    return;
  }
  alignas(64) std::uint8_t asked[kBytes];
  hn::Store(flags_of(limited), d, asked);
  if (!gains.exact) {
    alignas(64) std::uint8_t v[kBytes];
    for (std::size_t r = 0; r < kRows; ++r) {
      hn::Store(ready.v[r], d, v);
      for (std::size_t x = 0; x < kBytes; ++x)
        asked[x] = static_cast<std::uint8_t>(asked[x] | gains.inexact[v[x]]);
    }
  }
  alignas(64) std::uint8_t before[2][kBytes];
  alignas(64) std::uint8_t chroma[2][kBytes];
  alignas(64) std::uint8_t flags[kBytes] = {};
  alignas(64) std::uint8_t luma_flags[kBytes];
  alignas(64) std::uint8_t cr_flags[kBytes];
  for (std::size_t r = 0; r < kRows; ++r)
    hn::Store(codes[r], d, before[r]);
  std::memcpy(chroma[0], in.cb, kChromaSamples<kShared>);
  std::memcpy(chroma[1], in.cr, kChromaSamples<kShared>);
  Parts<kShared> cb_flags;
  Parts<kShared> cr_flags_of;
  const auto flagged = [](const Rounded& x) HWY_ATTR {
    return hn::IfThenElseZero(
        hn::RebindMask(DI32(), hn::Gt(hn::Abs(x.distance), hn::Set(DF(), kSureSaturated))),
        hn::Set(DI32(), 1));
  };
  for (std::size_t i = 0; i < kParts; ++i) {
    cb_flags.part[i] = flagged(cb.part[i]);
    cr_flags_of.part[i] = flagged(cr.part[i]);
  }
  write_planes<Stores::cached>(cb_flags, cr_flags_of, {{nullptr, nullptr}, flags, cr_flags});
  write_planes<Stores::cached>(cb.codes(), cr.codes(), out);
  for (std::size_t r = 0; r < kRows; ++r)
    hn::StoreU(luma[r], d, out.luma[r]);
  hn::Store(flags_of(bad), d, luma_flags);
  for (std::size_t c = 0; c < kChromaSamples<kShared>; ++c) {
    const std::size_t x = kShared ? 2 * c : c;
    const int may_be_wrong = asked[x] | (kShared ? asked[x + 1] : 0);
    flags[c] = static_cast<std::uint8_t>(((flags[c] | cr_flags[c]) & may_be_wrong) | luma_flags[x] |
                                         (kShared ? luma_flags[x + 1] : 0));
  }
  redo_cells<kRows, kShared>(gains, gain48, weights, flags,
                             {{before[0], before[1]}, chroma[0], chroma[1]}, out);
}

template <std::size_t kRows, bool kShared, bool kUniform, bool kLimits>
void saturate_yuv_rows(const YuvWeights& weights, const SaturatedGains& gains,
                       const std::uint64_t* gain48, Stores stores, const YuvRowIn in, std::size_t n,
                       const YuvRowOut out) {
  using Luma = StartedLuma<kRows, kShared, kUniform, kLimits>;
  const LumaSaturation<kRows, kShared, kUniform> with(weights, gains);
  const auto& k = with.k;
  // Copies of their own, which stay in registers, as no function sees them.
  const LevelLookup<kUniform> lookup(gains);
  const std::size_t vectors = n / kBytes;
  const bool undone = gains.undone;
  const auto all = [&](auto kind) HWY_ATTR {
#if EQUALUX_FIXED_GAINS
    Luma ring[4];
    const auto start = [&](std::size_t i) HWY_ATTR {
      if (i < vectors) ring[i % 4].start(k, advance(in, i * kBytes, kShared));
    };
    const auto look_up = [&](std::size_t i) HWY_ATTR {
      if (i < vectors) ring[i % 4].look_up(lookup);
    };
    start(0);
    start(1);
    look_up(0);
    for (std::size_t i = 0; i < vectors; ++i) {
      const YuvRowIn from = advance(in, i * kBytes, kShared);
      start(i + 2);
      look_up(i + 1);
      const YuvRowOut to = advance(out, i * kBytes, kShared);
      if (HWY_UNLIKELY(undone) || !saturate_surely<kind()>(with, lookup, ring[i % 4], from, to)) {
        saturate_vector<kind(), kRows, kShared, kUniform, kLimits>(with, weights, gains, gain48,
                                                                   ring[i % 4], from, to);
      }
    }
#else
    // V of the next beside the scaling of this one, in registers.
    if (vectors == 0) return;
    Luma ready;
    ready.start(k, in);
    for (std::size_t i = 0; i < vectors; ++i) {
      const YuvRowIn from = advance(in, i * kBytes, kShared);
      Luma after;
      after.start(k, advance(in, (i + 1 < vectors ? i + 1 : i) * kBytes, kShared));
      const YuvRowOut to = advance(out, i * kBytes, kShared);
      if (HWY_UNLIKELY(undone) || !saturate_surely<kind()>(with, lookup, ready, from, to)) {
        const Luma kept = ready;  // in memory
        saturate_vector<kind(), kRows, kShared, kUniform, kLimits>(with, weights, gains, gain48,
                                                                   kept, from, to);
      }
      ready = after;
    }
#endif
  };
  if (may_stream<kRows, kShared>(stores, out)) {
    all(std::integral_constant<Stores, Stores::streaming>());
  } else {
    all(std::integral_constant<Stores, Stores::cached>());
  }
  const std::size_t done = vectors * kBytes;
  if (done == n) return;
  Tail<kRows, kShared> tail(advance(in, done, kShared), n - done);
  Luma last;
  last.start(k, tail.in());
  last.look_up(lookup);
  saturate_vector<Stores::cached, kRows, kShared, kUniform, kLimits>(with, weights, gains, gain48,
                                                                     last, tail.in(), tail.out());
  const YuvRowOut rest = advance(out, done, kShared);
  for (std::size_t r = 0; r < kRows; ++r)
    std::memcpy(rest.luma[r], tail.luma[r], tail.columns);
  std::memcpy(rest.cb, tail.cb, tail.samples);
  std::memcpy(rest.cr, tail.cr, tail.samples);
}

void saturate_yuv_row(const SaturatedGains& gains, const std::uint64_t* gain48, Sampling sampling,
                      const YuvWeights& k, Stores stores, const YuvRowIn& in, std::size_t n,
                      const YuvRowOut& out) {
  with_kinds(gains, [&](auto uniform, auto limits) {
    constexpr bool kUniform = uniform();
    constexpr bool kLimits = limits();
    switch (sampling) {
      case Sampling::s420:
        return saturate_yuv_rows<2, true, kUniform, kLimits>(k, gains, gain48, stores, in, n, out);
      case Sampling::s422:
        return saturate_yuv_rows<1, true, kUniform, kLimits>(k, gains, gain48, stores, in, n, out);
      default:
        return saturate_yuv_rows<1, false, kUniform, kLimits>(k, gains, gain48, stores, in, n, out);
    }
  });
}

bool saturates_exactly(const SaturatedLevel& level) {
#if HWY_HAVE_FLOAT64
  const hn::ScalableTag<double> d;
  const GainSpan span = gain_span(level);
  const auto scale = hn::Set(d, level.scale);
  const auto low = hn::Set(d, span.low);
  const auto high = hn::Set(d, span.high);
  const auto half = hn::Set(d, 0.5);
  const auto half_or_more = hn::Set(d, kHalfOrMore);
  constexpr auto kLanes = static_cast<std::int32_t>(hn::MaxLanes(hn::ScalableTag<double>()));
  const auto step = hn::Set(d, static_cast<double>(level.factor * kLanes));
  auto part = hn::Sub(hn::Set(d, 256.0 * level.v),
                      hn::Mul(hn::Iota(d, 0.0), hn::Set(d, static_cast<double>(level.factor))));
  for (std::int32_t i = 0; i <= level.v; i += kLanes) {
    // Below 0 the limit serves, and past v it does not matter.
    const auto x = hn::Max(part, hn::Zero(d));
    const auto exact = hn::Floor(hn::MulAdd(x, scale, half_or_more));
    const auto below = hn::Floor(hn::MulAdd(x, low, half));
    const auto above = hn::Floor(hn::MulAdd(x, high, half));
    if (!hn::AllTrue(d, hn::And(hn::Eq(below, exact), hn::Eq(above, exact)))) return false;
    part = hn::Sub(part, step);
  }
  return true;
#else
  return scalar_fused_rows().saturates_exactly(level);
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace equalux
HWY_AFTER_NAMESPACE();

#endif  // include guard
