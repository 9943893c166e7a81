// What both colour models share of pass 2 of fused_rows.h where saturation is changed too, and
// packed RGB; included once for each target.
//
// With g the gain of v, a channel v - d becomes g (v - k d), where k is its level's factor or,
// where that takes S above 1, v / (v - m): the smaller of both. v - k d is exact in single
// precision, and g is one that rounds as the exact gain does. Where levels have a k each, W - s d
// is the same with s = k g: W and s are looked up together, and nothing is to be made of v. Only
// where v / (v - m) serves may the result be on the wrong side of a half: such pixels are redone by
// the plain loops. Of the three channels of a pixel, it can be the middle one alone, as v becomes
// W, and m becomes 0.
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
/// are less than 2^-22 of themselves off, gains and W 2^-21.1, and products and sums of single
/// precision 2^-24 each: together below 2^-20.1, and so 2.3e-4 of 255.
constexpr float kSureSaturated = 0.5f - 1.0f / 4096.0f;

/// Vector k of four, for the bytes k, 4 + k, 8 + k ... of a V8.
HWY_INLINE VF part_of(const Floats& f, std::size_t k) {
  return k == 0 ? f.f0 : k == 1 ? f.f1 : k == 2 ? f.f2 : f.f3;
}

/// What the levels of a vector have where one k serves all of them, and else: W, and how much less
/// a channel becomes for each code that it lies under v.
struct LevelGains {
  Floats gain;
  VF factor;
};
struct LevelLines {
  Floats value;
  Floats slope;
};

/// SaturatedGains by v, in three steps as FixedLookup has them.
template <bool kUniform>
class LevelLookup;

#if EQUALUX_FIXED_GAINS
template <>
class LevelLookup<true> : SteppedLookup<std::uint64_t> {
 public:
  using SteppedLookup::look_up;
  using SteppedLookup::Numbers;

  explicit HWY_INLINE LevelLookup(const SaturatedGains& tables)
      : SteppedLookup(tables.gain_bits.data()), factor_(hn::Set(DF(), tables.factor)) {}
  HWY_INLINE LevelGains finish(const V8& v, const Numbers& numbers) const {
    const FixedGains bits = SteppedLookup::finish(v, numbers);
    const auto gain = [](V32 x) HWY_ATTR { return hn::BitCast(DF(), x); };
    return {{gain(bits.g0), gain(bits.g1), gain(bits.g2), gain(bits.g3)}, factor_};
  }

 private:
  VF factor_;
};

/// Lines come by loads straight into vectors, the two of each half of 16 bytes in turn, so that one
/// shuffle within halves takes all values, or slopes.
template <>
class LevelLookup<false> {
 public:
  struct Numbers {
    VF lines[8];  ///< two vectors for the bytes k, 4 + k, 8 + k ...
  };

  explicit HWY_INLINE LevelLookup(const SaturatedGains& tables) : table_(tables.lines.data()) {}
  HWY_INLINE void look_up(const V8& v, Numbers& numbers) const {
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(&v);
    for (std::size_t k = 0; k < 4; ++k) {
      numbers.lines[2 * k] = lines_of(bytes + k);
      numbers.lines[2 * k + 1] = lines_of(bytes + k + 8);
    }
  }
  HWY_INLINE LevelLines finish(const V8&, const Numbers& numbers) const {
    LevelLines lines;
    split<0>(numbers, lines.value.f0, lines.slope.f0);
    split<1>(numbers, lines.value.f1, lines.slope.f1);
    split<2>(numbers, lines.value.f2, lines.slope.f2);
    split<3>(numbers, lines.value.f3, lines.slope.f3);
    return lines;
  }

 private:
  HWY_INLINE VF lines_of(const std::uint8_t* v) const {
    const auto two = [&](std::size_t at)
                         HWY_ATTR { return load_two(table_ + v[at], table_ + v[at + 4]); };
#if HWY_TARGET == HWY_AVX2
    return hn::BitCast(DF(), hn::Combine(hn::Repartition<std::uint64_t, D8>(), two(16), two(0)));
#else
    return hn::BitCast(DF(), two(0));
#endif
  }
  template <std::size_t k>
  static HWY_INLINE void split(const Numbers& numbers, VF& value, VF& slope) {
    const VF first = numbers.lines[2 * k];
    const VF second = numbers.lines[2 * k + 1];
#if HWY_TARGET == HWY_AVX2
    value = VF{_mm256_shuffle_ps(first.raw, second.raw, 0x88)};
    slope = VF{_mm256_shuffle_ps(first.raw, second.raw, 0xDD)};
#else
    value = hn::ConcatEven(DF(), second, first);
    slope = hn::ConcatOdd(DF(), second, first);
#endif
  }

  const std::uint64_t* table_;
};
#else
/// Floats by v.
class FloatLookup {
 public:
#if EQUALUX_VBMI
  explicit HWY_INLINE FloatLookup(const SaturatedGains::Numbers& numbers)
      : table_(numbers.bytes.data(), numbers.bytes.data() + 512) {}
  HWY_INLINE Floats operator()(V8 v) const {
    return table_(v);
  }

 private:
  GainLookup table_;
#else
  explicit HWY_INLINE FloatLookup(const SaturatedGains::Numbers& numbers)
      : table_(numbers.number.data()) {}
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

template <>
class LevelLookup<true> {
 public:
  struct Numbers {};

  explicit HWY_INLINE LevelLookup(const SaturatedGains& tables)
      : gain_(tables.gain), factor_(hn::Set(DF(), tables.factor)) {}
  HWY_INLINE void look_up(const V8&, Numbers&) const {}
  HWY_INLINE LevelGains finish(const V8& v, const Numbers&) const { return {gain_(v), factor_}; }

 private:
  FloatLookup gain_;
  VF factor_;
};

template <>
class LevelLookup<false> {
 public:
  struct Numbers {};

  explicit HWY_INLINE LevelLookup(const SaturatedGains& tables)
      : value_(tables.value), slope_(tables.slope) {}
  HWY_INLINE void look_up(const V8&, Numbers&) const {}
  HWY_INLINE LevelLines finish(const V8& v, const Numbers&) const { return {value_(v), slope_(v)}; }

 private:
  FloatLookup value_;
  FloatLookup slope_;
};
#endif

/// Where S may come to 1.
class MayReachOne {
 public:
  explicit HWY_INLINE MayReachOne(const SaturatedGains& gains)
      : share_(hn::Set(D16(), gains.limit_share)),
        most_held_(hn::Set(D8(), gains.most_held))
#if EQUALUX_VBMI
        ,
        lookup_(gains.free_below.data())
#endif
  {
  }
  /// Not 0 where a pixel may, whose least channel lies `below` under v. With kUniform all k are
  /// one, else it is the largest that tells where bytes cannot be looked up, or the most by which a
  /// level's share is less than v.
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
    V8 share = hn::BitCast(D8(), hn::OrAnd(even, odd, high_bytes));
    if constexpr (!kUniform) share = hn::Max(share, hn::SaturatedSub(v, most_held_));
    return hn::SaturatedSub(below, share);
  }

 private:
  V16 share_;
  V8 most_held_;
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
HWY_INLINE Scaled rounded(VF x) {
  const VF whole = hn::Set(DF(), kWhole);
  const VF shifted = hn::Add(x, whole);
  return {shifted, hn::Sub(x, hn::Sub(shifted, whole))};
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

/// What is taken off v, or off W, for each code that a channel lies under v.
struct ChannelSlopes {
  Floats start;  ///< v or W
  VF step[4];

  HWY_INLINE ChannelSlopes(const LevelGains& g, V8 v)
      : start(to_floats(v)), step{g.factor, g.factor, g.factor, g.factor} {}
  HWY_INLINE ChannelSlopes(const LevelLines& lines, V8)
      : start(lines.value), step{lines.slope.f0, lines.slope.f1, lines.slope.f2, lines.slope.f3} {}
  HWY_INLINE VF at(std::size_t i, VF under) const {
    return hn::NegMulAdd(step[i], under, part_of(start, i));
  }
};
HWY_INLINE Scaled finished(const LevelGains& g, std::size_t i, VF part) {
  return scaled_part(part, part_of(g.gain, i));
}
HWY_INLINE Scaled finished(const LevelLines&, std::size_t, VF result) {
  return rounded(result);
}

/// One vector's results; `kLimits` where S may come to 1.
template <bool kLimits, std::size_t kStep, bool kUniform, typename Levels>
HWY_INLINE ColorPlanes<kStep> saturated_planes(const Levels& g,
                                               const StartedPixels<kStep, kUniform>& pixels,
                                               FloatMask (&bad)[4]) {
  const V8* plane = pixels.planes.plane;
  const V8 v = pixels.v;
  ChannelSlopes slopes(g, v);
  if constexpr (kLimits) {
    const V8 low = hn::Min(plane[0], plane[1]);
    const V8 high = hn::Max(plane[0], plane[1]);
    const V8 one = hn::Set(D8(), std::uint8_t{1});
    const V8 below = hn::Sub(v, hn::Min(low, plane[2]));
    const Floats spread = to_floats(hn::Max(below, one));
    const Floats middle = to_floats(hn::Sub(v, hn::Max(low, hn::Min(high, plane[2]))));
    for (std::size_t i = 0; i < 4; ++i) {
      const VF limit = hn::Mul(part_of(slopes.start, i), reciprocal_of(part_of(spread, i)));
      // Of what is not a number, too.
      const FloatMask reaches = hn::Not(hn::Ge(limit, slopes.step[i]));
      slopes.step[i] = hn::Min(slopes.step[i], limit);
      bad[i] = doubtful(reaches, finished(g, i, slopes.at(i, part_of(middle, i))).distance);
    }
  } else {
    (void)bad;
  }
  ColorPlanes<kStep> result;
  for (std::size_t c = 0; c < 3; ++c) {
    const Floats d = to_floats(hn::Sub(v, plane[c]));
    V32 lanes[4];
    for (std::size_t i = 0; i < 4; ++i) {
      const VF shifted = finished(g, i, slopes.at(i, part_of(d, i))).shifted;
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
/// Pixels of four bytes, kColor their first colour byte, where one k serves all levels, in the
/// lanes in which they lie, as scale_quads() has them. With kLimits it stops before the first
/// vector in which S would pass 1, as a negative channel tells. Returns how many pixels are done.
template <int kColor, Stores kStores, bool kLimits>
HWY_NOINLINE std::size_t saturate_quads(const SaturatedGains& tables, const std::uint8_t* in,
                                        std::size_t n, std::uint8_t* out) {
  const D8 d8;
  const D32 d;
  const LevelLookup<true> lookup(tables);
  const VF factor = hn::Set(DF(), tables.factor);
  const VF rest = hn::Set(DF(), 1 - tables.factor);
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
    const auto levels = lookup.finish(join_bytes(v[0], v[1], v[2], v[3]), {});
    V8 result[4];
    V32 least = hn::Zero(d);  // negative where a channel is
    for (std::size_t i = 0; i < 4; ++i) {
      // v - k (v - c) is (1 - k) v + k c, whose products and sum are exact.
      const VF of_value = hn::Mul(to_float(v[i]), rest);
      const auto channel = [&](V32 lanes) HWY_ATTR {
        const VF code = to_float(hn::And(lanes, hn::Set(d, 0xFFU)));
        const VF part = hn::MulAdd(code, factor, of_value);
        if constexpr (kLimits) least = hn::Or(least, hn::BitCast(d, part));
        return scale_lanes<Clip::nowhere>(part, part_of(levels.gain, i));
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
  const LevelLookup<true> lookup(tables);
  const VF factor = hn::Set(DF(), tables.factor);
  const VF rest = hn::Set(DF(), 1 - tables.factor);
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
    const auto levels = lookup.finish(v, {});
    ColorPlanes<3> result;
    VF of_value[4];
    const Floats values = to_floats(v);
    for (std::size_t i = 0; i < 4; ++i)
      of_value[i] = hn::Mul(part_of(values, i), rest);
    V32 least = hn::Zero(d);
    for (std::size_t c = 0; c < 3; ++c) {
      const Floats codes = to_floats(planes.plane[c]);
      V32 lanes[4];
      VF part[4];
      for (std::size_t i = 0; i < 4; ++i) {
        part[i] = hn::MulAdd(part_of(codes, i), factor, of_value[i]);
        lanes[i] = scale_lanes<Clip::nowhere>(part[i], part_of(levels.gain, i));
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
#if EQUALUX_SATURATED_LINES
  if (gains.has_words || gains.has_word_lines) {
    const auto other = [&](const std::uint8_t* from, std::size_t count, std::uint8_t* to) {
      saturate_floats(gains, stores, at, from, count, to);
    };
    const auto stored = [&](auto kind) HWY_ATTR {
      const auto limited = [&](auto limits) HWY_ATTR {
#if EQUALUX_SATURATED_WORDS
        if (gains.has_words) {
          return saturate_steps_of<kind(), 3, kBlock>(
              in, n, out,
              [&](auto stores_of, auto... arguments) {
                return saturate_blocks<stores_of(), limits()>(gains, arguments...);
              },
              other);
        }
#endif
        const auto by_lines = [&](auto form) HWY_ATTR {
          using Form = decltype(form);
          saturate_steps_of<kind(), Form::kStep, kLineBytes>(
              in, n, out,
              [&](auto stores_of, auto... arguments) {
                return saturate_steps<stores_of(), limits(), Form>(gains.word_lines, arguments...);
              },
              other);
        };
        if (at.step == 3) return by_lines(TripleLines());
        if (at.first() == 0) return by_lines(QuadLines<0>());
        by_lines(QuadLines<1>());
      };
      if (gains.limits) return limited(std::true_type());
      limited(std::false_type());
    };
    if (stores == Stores::streaming && aligned(out, kBytes))
      return stored(std::integral_constant<Stores, Stores::streaming>());
    return stored(std::integral_constant<Stores, Stores::cached>());
  }
#endif
#if EQUALUX_VBMI
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

bool saturates_exactly(const SaturatedLevel& level) {
#if HWY_HAVE_FLOAT64
  const hn::ScalableTag<double> d;
  const auto scale = hn::Set(d, level.scale);
  const auto half = hn::Set(d, 0.5);
  const auto half_or_more = hn::Set(d, kHalfOrMore);
  constexpr auto kLanes = static_cast<std::int32_t>(hn::MaxLanes(hn::ScalableTag<double>()));
  // Below 0 the limit serves, and past v it does not matter.
  const auto on_line = [&](const ChannelLine& line, hn::Vec<decltype(d)> under) HWY_ATTR {
    return hn::Max(hn::NegMulAdd(under, hn::Set(d, line.step), hn::Set(d, line.at_value)),
                   hn::Zero(d));
  };
  const ChannelLine parts{256.0 * level.v, static_cast<double>(level.factor)};
  auto under = hn::Iota(d, 0.0);
  for (std::int32_t i = 0; i <= level.v; i += kLanes) {
    const auto exact = hn::Floor(hn::MulAdd(on_line(parts, under), scale, half_or_more));
    const auto below = hn::Floor(hn::Add(on_line(level.low, under), half));
    const auto above = hn::Floor(hn::Add(on_line(level.high, under), half));
    if (!hn::AllTrue(d, hn::And(hn::Eq(below, exact), hn::Eq(above, exact)))) return false;
    under = hn::Add(under, hn::Set(d, static_cast<double>(kLanes)));
  }
  return true;
#else
  return scalar_fused_rows().saturates_exactly(level);
#endif
}

WordRange word_range(std::uint32_t at, std::uint32_t step, std::int32_t n) {
  const D32 d;
  constexpr auto kLanes = static_cast<std::int32_t>(kBytes / 4);
  if (n < kLanes) return scalar_fused_rows().word_range(at, step, n);
  const V32 first = hn::Sub(hn::Set(d, at), hn::Mul(hn::Iota(d, 0), hn::Set(d, step)));
  const V32 steps = hn::Set(d, kLanes * step);
  V32 words = first;
  V32 least = first;
  V32 most = first;
  std::int32_t i = kLanes;
  for (; i + kLanes <= n; i += kLanes) {
    words = hn::Sub(words, steps);
    least = hn::Min(least, words);
    most = hn::Max(most, words);
  }
  // The last ones, of which some were there before.
  words = hn::Sub(first, hn::Set(d, static_cast<std::uint32_t>(n - kLanes) * step));
  return {hn::GetLane(hn::MinOfLanes(d, hn::Min(least, words))),
          hn::GetLane(hn::MaxOfLanes(d, hn::Max(most, words)))};
}

}  // namespace HWY_NAMESPACE
}  // namespace equalux
HWY_AFTER_NAMESPACE();

#endif  // include guard
