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
class LevelLookup<true> {
 public:
  using Pending = SteppedLookup<std::uint32_t>::Pending;

  explicit HWY_INLINE LevelLookup(const SaturatedGains& tables)
      : table_(tables.pairs.data()), factor_(hn::Set(DF(), tables.vector_factor[0])) {}
  HWY_INLINE void keep(V8 v, Pending& pending) const { hn::Store(v, D8(), pending.v); }
  HWY_INLINE void look_up(Pending& pending) const {
    constexpr std::size_t kLanes = kBytes / 4;
    const auto gain = [&](std::uint8_t v) {
      return std::uint64_t{static_cast<std::uint32_t>(table_[v])};
    };
    for (std::size_t i = 0; i < kLanes; i += 2) {
      for (std::size_t k = 0; k < 4; ++k) {
        const std::uint8_t* v = pending.v + 4 * i + k;
        store_pair(gain(v[0]), gain(v[4]), pending.number + k * kLanes + i);
      }
    }
  }
  HWY_INLINE LevelGains finish(const Pending& pending) const {
    constexpr std::size_t kLanes = kBytes / 4;
    const auto load = [&](std::size_t k) HWY_ATTR {
      return hn::BitCast(DF(), hn::Load(D32(), pending.number + k * kLanes));
    };
    return {{load(0), load(1), load(2), load(3)}, {factor_, factor_, factor_, factor_}};
  }

 private:
  const std::uint64_t* table_;
  VF factor_;
};

template <>
class LevelLookup<false> {
 public:
  struct Pending {
    alignas(64) std::uint8_t v[kBytes];
    alignas(64) std::uint64_t pair[kBytes];
  };

  explicit HWY_INLINE LevelLookup(const SaturatedGains& tables) : table_(tables.pairs.data()) {}
  HWY_INLINE void keep(V8 v, Pending& pending) const { hn::Store(v, D8(), pending.v); }
  /// Of each four vectors' lanes the even ones first, then the odd ones.
  HWY_INLINE void look_up(Pending& pending) const {
    constexpr std::size_t kLanes = kBytes / 4;
    for (std::size_t k = 0; k < 4; ++k) {
      for (std::size_t i = 0; i < kLanes; ++i) {
        std::uint64_t pair = table_[pending.v[4 * i + k]];
        // Keeps the compiler from collecting pairs in vectors first, which takes longer.
        asm volatile("" : "+r"(pair) : : "memory");
        pending.pair[k * kLanes + i / 2 + i % 2 * (kLanes / 2)] = pair;
      }
    }
  }
  HWY_INLINE LevelGains finish(const Pending& pending) const {
    LevelGains g;
    load<0>(pending, g.gain.f0, g.factor.f0);
    load<1>(pending, g.gain.f1, g.factor.f1);
    load<2>(pending, g.gain.f2, g.factor.f2);
    load<3>(pending, g.gain.f3, g.factor.f3);
    return g;
  }

 private:
  template <std::size_t k>
  static HWY_INLINE void load(const Pending& pending, VF& gain, VF& factor) {
    constexpr std::size_t kLanes = kBytes / 4;
    const hn::Repartition<std::uint64_t, D8> d;
    const auto even = hn::Load(d, pending.pair + k * kLanes);
    const auto odd = hn::Load(d, pending.pair + k * kLanes + kLanes / 2);
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
  struct Pending {
    V8 v;
  };

  explicit HWY_INLINE LevelLookup(const SaturatedGains& tables)
      : gain_(tables.vector_gain, tables.gain_bytes),
        factor_(tables.vector_factor, tables.factor_bytes),
        uniform_(hn::Set(DF(), tables.vector_factor[0])) {}
  HWY_INLINE void keep(V8 v, Pending& pending) const { pending.v = v; }
  HWY_INLINE void look_up(Pending&) const {}
  HWY_INLINE LevelGains finish(const Pending& pending) const {
    if constexpr (kUniform) {
      return {gain_(pending.v), {uniform_, uniform_, uniform_, uniform_}};
    } else {
      return {gain_(pending.v), factor_(pending.v)};
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
      hn::StoreInterleaved3(plane[0], plane[1], plane[2], D8(), out);
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
  typename LevelLookup<kUniform>::Pending gains;
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
      lanes[i] = hn::BitCast(D32(), hn::MulAdd(part, part_of(g.gain, i), whole));
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
    lookup.keep(pixels.v, pixels.gains);
  };
  const auto finish = [&](auto kind, const Pixels& pixels, const std::uint8_t* from,
                          std::uint8_t* to) HWY_ATTR {
    FloatMask bad[4];
    if constexpr (kLimits) {
      if (!gains.undone && !may_reach_one(may, pixels)) {
        saturated_planes<false>(lookup.finish(pixels.gains), pixels, bad)
            .template write<kind()>(color, to);
        return;
      }
    }
    const ColorPlanes<kStep> result =
        saturated_planes<kLimits>(lookup.finish(pixels.gains), pixels, bad);
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
      if (i < vectors) lookup.look_up(ring[i % 4].gains);
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
  lookup.look_up(last.gains);
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

void saturate_rgb_row(const SaturatedGains& gains, Stores stores, const RgbLayout& at,
                      const std::uint8_t* in, std::size_t n, std::uint8_t* out) {
  with_kinds(gains, [&](auto uniform, auto limits) {
    if (at.step == 3) {
      saturate_pixels<3, uniform(), limits()>(gains, stores, at, in, n, out);
    } else {
      saturate_pixels<4, uniform(), limits()>(gains, stores, at, in, n, out);
    }
  });
}

/// A vector of luma on its way.
template <std::size_t kRows, bool kShared, bool kUniform, bool kLimits>
struct StartedLuma : Ready<kRows, kShared, kCovered<kRows, kShared>> {
  V8 spread;  ///< how far the least channel lies below luma
  typename LevelLookup<kUniform>::Pending gains[kRows];

  HWY_INLINE void start(const YuvVectors<kCovered<kRows, kShared>>& k,
                        const LevelLookup<kUniform>& lookup, const YuvRowIn& in) {
    this->make(k, in);
    if constexpr (kLimits) spread = this->chroma.below(k);
    for (std::size_t r = 0; r < kRows; ++r)
      lookup.keep(this->v[r], gains[r]);
  }
  HWY_INLINE void look_up(const LevelLookup<kUniform>& lookup) {
    for (std::size_t r = 0; r < kRows; ++r)
      lookup.look_up(gains[r]);
  }
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
    }
    lanes[i] = hn::BitCast(D32(), scaled.shifted);
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

/// g (v - k d) of luma that lies d under v, where that is not negative. With kUniform, 256 (v - k
/// d) is a whole number of 16 bits.
template <bool kUniform>
HWY_INLINE V8 freely_saturated(V8 v, V8 d, V16 uniform, const LevelGains& g) {
  if constexpr (kUniform) {
    const D16 words;
    const V16 values = hn::BitCast(words, v);
    const V16 ds = hn::BitCast(words, d);
    const V16 even = hn::Sub(hn::ShiftLeft<8>(values),
                             hn::Mul(hn::And(ds, hn::Set(words, std::uint16_t{255})), uniform));
    const V16 odd = hn::Sub(hn::And(values, hn::Set(words, std::uint16_t{0xFF00})),
                            hn::Mul(hn::ShiftRight<8>(ds), uniform));
    const auto scaled = [](V32 part, VF gain) HWY_ATTR {
      // Makes single precision round to whole multiples of 256.
      const VF whole = hn::Set(DF(), saturation::kOne * kWhole);
      return hn::BitCast(D32(),
                         hn::MulAdd(hn::ConvertTo(DF(), hn::BitCast(DI32(), part)), gain, whole));
    };
    const auto lower = [](V16 x) HWY_ATTR {
      return hn::And(hn::BitCast(D32(), x), hn::Set(D32(), 0xFFFFu));
    };
    const auto upper = [](V16 x) HWY_ATTR { return hn::ShiftRight<16>(hn::BitCast(D32(), x)); };
    return join_bytes(scaled(lower(even), g.gain.f0), scaled(lower(odd), g.gain.f1),
                      scaled(upper(even), g.gain.f2), scaled(upper(odd), g.gain.f3));
  } else {
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
}

/// What a row's vectors are scaled with.
template <std::size_t kRows, bool kShared, bool kUniform>
struct LumaSaturation {
  YuvVectors<kCovered<kRows, kShared>> k;
  LevelLookup<kUniform> lookup;
  MayReachOne may;
  V16 uniform;       ///< k in 1 / saturation::kOne
  VF uniform_float;  ///< k

  LumaSaturation(const YuvWeights& weights, const SaturatedGains& gains)
      : k(weights),
        lookup(gains),
        may(gains),
        uniform(hn::Set(D16(), gains.factors[0])),
        uniform_float(hn::Set(DF(), gains.vector_factor[0])) {}
};

/// Scales a vector where k serves all pixels, no luma lies over v and no result is in doubt.
/// Otherwise nothing is written, and the answer is false.
template <Stores kStores, std::size_t kRows, bool kShared, bool kUniform, bool kLimits>
HWY_INLINE bool saturate_plainly(const LumaSaturation<kRows, kShared, kUniform>& with,
                                 const StartedLuma<kRows, kShared, kUniform, kLimits>& ready,
                                 const YuvRowIn& in, const YuvRowOut& out) {
  const D8 d8;
  V8 codes[kRows];
  V8 other = hn::Zero(d8);
  for (std::size_t r = 0; r < kRows; ++r) {
    codes[r] = hn::LoadU(d8, in.luma[r]);
    const V8 most = hn::Add(ready.v[r], with.k.offset);
    other = hn::Or(other, hn::SaturatedSub(codes[r], most));
    if constexpr (kLimits) {
      // Of luma below black too, which has f = 1 there.
      const V8 below = hn::SaturatedAdd(hn::SaturatedSub(most, codes[r]), ready.spread);
      other = hn::Or(other, with.may.template operator()<kUniform>(ready.v[r], below));
    }
  }
  if (!hn::AllTrue(d8, hn::Eq(other, hn::Zero(d8)))) return false;
  V8 luma[kRows];
  Floats g[kRows];
  for (std::size_t r = 0; r < kRows; ++r) {
    const LevelGains gains = with.lookup.finish(ready.gains[r]);
    const V8 v = ready.v[r];
    const V8 d = hn::SaturatedSub(v, hn::SaturatedSub(codes[r], with.k.offset));
    luma[r] = hn::SaturatedAdd(freely_saturated<kUniform>(v, d, with.uniform, gains),
                               hn::Min(codes[r], with.k.offset));
    g[r] = gains.gain;
    if constexpr (!kUniform) {
      g[r] = {hn::Mul(gains.gain.f0, gains.factor.f0), hn::Mul(gains.gain.f1, gains.factor.f1),
              hn::Mul(gains.gain.f2, gains.factor.f2), hn::Mul(gains.gain.f3, gains.factor.f3)};
    }
  }
  constexpr std::size_t kParts = kChromaParts<kShared>;
  VF total[kParts];
  sum_gains<kRows, kShared>(g, total);
  ScaledPlane<kShared> cb;
  ScaledPlane<kShared> cr;
  for (std::size_t i = 0; i < kParts; ++i) {
    if constexpr (kUniform) total[i] = hn::Mul(total[i], with.uniform_float);
    cb.part[i] = scale_chroma(ready.chroma.part[i].u, total[i]);
    cr.part[i] = scale_chroma(ready.chroma.part[i].w, total[i]);
  }
  const VF distance = max_magnitude(cb.distance(), cr.distance());
  if (!hn::AllFalse(DF(), hn::Gt(distance, hn::Set(DF(), kSureSaturated)))) return false;
  write_planes<kStores>(cb.codes(), cr.codes(), out);
  for (std::size_t r = 0; r < kRows; ++r)
    store<kStores>(luma[r], d8, out.luma[r]);
  return true;
}

template <Stores kStores, std::size_t kRows, bool kShared, bool kUniform, bool kLimits>
HWY_INLINE void saturate_vector(const YuvVectors<kCovered<kRows, kShared>>& k,
                                const YuvWeights& weights, const SaturatedGains& gains,
                                const std::uint64_t* gain48, const LevelLookup<kUniform>& lookup,
                                const StartedLuma<kRows, kShared, kUniform, kLimits>& ready,
                                const YuvRowIn& in, const YuvRowOut& out) {
  constexpr std::size_t kParts = kChromaParts<kShared>;
  const D8 d;
  V8 codes[kRows];
  V8 luma[kRows];
  Floats g[kRows];
  FloatMask bad[4];
  FloatMask limited[4];
  clear(bad);
  clear(limited);
  for (std::size_t r = 0; r < kRows; ++r) {
    codes[r] = hn::LoadU(d, in.luma[r]);
    const SaturatedLuma result = saturated_luma_of<kLimits>(
        k, lookup.finish(ready.gains[r]), codes[r], ready.v[r], ready.spread, limited, bad);
    luma[r] = result.luma;
    g[r] = result.gain;
  }
  VF total[kParts];
  sum_gains<kRows, kShared>(g, total);
  ScaledPlane<kShared> cb;
  ScaledPlane<kShared> cr;
  for (std::size_t i = 0; i < kParts; ++i) {
    cb.part[i] = scale_chroma(ready.chroma.part[i].u, total[i]);
    cr.part[i] = scale_chroma(ready.chroma.part[i].w, total[i]);
  }
  const VF distance = max_magnitude(cb.distance(), cr.distance());
  const bool chroma_doubtful = !hn::AllFalse(DF(), hn::Gt(distance, hn::Set(DF(), kSureSaturated)));
  if (HWY_LIKELY(!chroma_doubtful && !(kLimits && any_of(bad)))) {
    write_planes<kStores>(cb.codes(), cr.codes(), out);
    for (std::size_t r = 0; r < kRows; ++r)
      store<kStores>(luma[r], d, out.luma[r]);
    return;
  }
  // What is beyond that distance of a half is on it, and goes up, where sums have no rounding:
  // where no limit serves, and all luma has inexact of 0. The others are redone.
  for (std::size_t i = 0; i < kParts; ++i) {
    for (Rounded* each : {&cb.part[i], &cr.part[i]}) {
      const auto below = hn::Gt(each->distance, hn::Set(DF(), kSureSaturated));
      each->code = hn::Add(each->code,
                           hn::IfThenElseZero(hn::RebindMask(DI32(), below), hn::Set(DI32(), 1)));
    }
  }
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
  const auto& lookup = with.lookup;
  const std::size_t chroma_bytes = kChromaSamples<kShared>;
  const bool stream = stores == Stores::streaming && aligned(out.luma[0], kBytes) &&
                      (kRows == 1 || aligned(out.luma[1], kBytes)) &&
                      aligned(out.cb, chroma_bytes) && aligned(out.cr, chroma_bytes);
  const std::size_t vectors = n / kBytes;
  const auto all = [&](auto kind) HWY_ATTR {
    Luma ring[4];
    const auto start = [&](std::size_t i) HWY_ATTR {
      if (i < vectors) ring[i % 4].start(k, lookup, advance(in, i * kBytes, kShared));
    };
    const auto look_up = [&](std::size_t i) HWY_ATTR {
      if (i < vectors) ring[i % 4].look_up(lookup);
    };
    start(0);
    start(1);
    look_up(0);
    for (std::size_t i = 0; i < vectors; ++i) {
      const YuvRowIn from = advance(in, i * kBytes, kShared);
      for (std::size_t r = 0; r < kRows; ++r)
        prefetch_ahead(from.luma[r], kBytes);
      prefetch_ahead(from.cb, chroma_bytes);
      prefetch_ahead(from.cr, chroma_bytes);
      start(i + 2);
      look_up(i + 1);
      const YuvRowOut to = advance(out, i * kBytes, kShared);
      if (HWY_LIKELY(!gains.undone) && saturate_plainly<kind()>(with, ring[i % 4], from, to))
        continue;
      saturate_vector<kind(), kRows, kShared, kUniform, kLimits>(k, weights, gains, gain48, lookup,
                                                                 ring[i % 4], from, to);
    }
  };
  if (stream) {
    all(std::integral_constant<Stores, Stores::streaming>());
  } else {
    all(std::integral_constant<Stores, Stores::cached>());
  }
  const std::size_t done = vectors * kBytes;
  if (done == n) return;
  Tail<kRows, kShared> tail(advance(in, done, kShared), n - done);
  Luma last;
  last.start(k, lookup, tail.in());
  last.look_up(lookup);
  saturate_vector<Stores::cached, kRows, kShared, kUniform, kLimits>(
      k, weights, gains, gain48, lookup, last, tail.in(), tail.out());
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
