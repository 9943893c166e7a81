// Common part of pass 2 of fused_rows.h with changed saturation, for RGB and YCbCr; included once
// for each target.
//
// A channel v - d becomes g (v - k d), with g the gain of v and k its factor or, where k takes S
// above 1, v / (v - m): the lesser of both. v - k d is exact in single precision, and g is chosen
// to round as the exact gain does. Where k depends on the level, W - s d with s = k g is the same;
// W and s are looked up together. Only with v / (v - m) a result may land on the wrong side of a
// half; the plain loops redo such pixels. Of a pixel's three channels only the middle one is at
// risk, as v becomes W and m becomes 0.
//
// A test in bytes first finds vectors in which no pixel can reach S = 1: they need no reciprocals
// and have nothing to redo.
#if defined(EQUALUX_FUSED_SATURATE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUALUX_FUSED_SATURATE_INL_H
#undef EQUALUX_FUSED_SATURATE_INL_H
#else
#define EQUALUX_FUSED_SATURATE_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace equalux {
namespace HWY_NAMESPACE {

/// Distance from the nearest whole number above which a result may be wrong. Relative errors:
/// factors v / (v - m) below 2^-21.5, gains and W 2^-21.1, three products and sums of single
/// precision 2^-24 each; together below 9.55e-7, which is 2.44e-4 of 255, where 2^-12 is allowed.
constexpr float kSureSaturated = 0.5f - 1.0f / 4096.0f;

/// Vector k of four: bytes k, 4 + k, 8 + k ... of a V8.
HWY_INLINE VF part_of(const Floats& f, std::size_t k) {
  return k == 0 ? f.f0 : k == 1 ? f.f1 : k == 2 ? f.f2 : f.f3;
}

/// Numbers of a vector's levels: gain and the common k, or W and the slope by which a channel falls
/// for each code below v.
struct LevelGains {
  Floats gain;
  VF factor;
};
struct LevelLines {
  Floats value;
  Floats slope;
};

/// Look-up of SaturatedGains by v, in the three steps of FixedLookup.
template <bool kUniform>
class LevelLookup;

#if EQUALUX_FIXED_GAINS
/// Eight bytes in a register, taken two at a time: bytes 0 and 1 take an instruction each, others
/// two.
class BytePairs {
 public:
  explicit HWY_INLINE BytePairs(const std::uint8_t* bytes) { std::memcpy(&rest_, bytes, 8); }
  HWY_INLINE std::size_t first() const { return rest_ & 255; }
  HWY_INLINE std::size_t second() const { return rest_ >> 8 & 255; }
  HWY_INLINE void next() {
    rest_ >>= 16;
#if HWY_ARCH_X86
    // Keeps the compiler from shifting copies. Q is a register whose byte 1 has a name.
    asm volatile("" : "+Q"(rest_));
#endif
  }

 private:
  std::uint64_t rest_;
};

// 1 where 32-bit numbers can be loaded into any lane of 16 bytes.
#undef EQUALUX_INSERTS
#define EQUALUX_INSERTS (HWY_ARCH_X86 && HWY_TARGET <= HWY_SSE4)

#if EQUALUX_INSERTS
/// Lines of eight bytes v: those of bytes k and k + 4 are pair k.
struct LinePairs {
  __m128d pair0, pair1, pair2, pair3;

  HWY_INLINE LinePairs(const std::uint64_t* table, const std::uint8_t* v) {
    const auto line = [table](std::size_t i)
                          HWY_ATTR { return reinterpret_cast<const double*>(table + i); };
    BytePairs bytes(v);
    pair0 = _mm_load_sd(line(bytes.first()));
    pair1 = _mm_load_sd(line(bytes.second()));
    bytes.next();
    pair2 = _mm_load_sd(line(bytes.first()));
    pair3 = _mm_load_sd(line(bytes.second()));
    bytes.next();
    pair0 = _mm_loadh_pd(pair0, line(bytes.first()));
    pair1 = _mm_loadh_pd(pair1, line(bytes.second()));
    bytes.next();
    pair2 = _mm_loadh_pd(pair2, line(bytes.first()));
    pair3 = _mm_loadh_pd(pair3, line(bytes.second()));
  }
};

/// Loads gains straight into vectors of 16 bytes: with half the stores of SteppedLookup.
template <>
class LevelLookup<true> {
 public:
  struct Numbers {
    alignas(64) float number[kBytes];  ///< for bytes k, 4 + k, 8 + k ... of each k
  };

  explicit HWY_INLINE LevelLookup(const SaturatedGains& tables)
      : table_(tables.gain.number.data()), factor_(hn::Set(DF(), tables.factor)) {}
  HWY_INLINE void look_up(const V8& v, Numbers& numbers) const {
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(&v);
    constexpr std::size_t kLanes = kBytes / 4;
    const float* const table = table_;
    const auto bits = [table](std::size_t v) HWY_ATTR {
      std::int32_t x;
      std::memcpy(&x, table + v, sizeof x);
      return x;
    };
    for (std::size_t at = 0; at < kBytes; at += 16) {
      BytePairs lower(bytes + at);
      BytePairs upper(bytes + at + 8);
      // By byte modulo 4. No array: the compiler would keep it in memory.
      __m128i four0 = _mm_cvtsi32_si128(bits(lower.first()));
      __m128i four1 = _mm_cvtsi32_si128(bits(lower.second()));
      lower.next();
      __m128i four2 = _mm_cvtsi32_si128(bits(lower.first()));
      __m128i four3 = _mm_cvtsi32_si128(bits(lower.second()));
      lower.next();
      four0 = _mm_insert_epi32(four0, bits(lower.first()), 1);
      four1 = _mm_insert_epi32(four1, bits(lower.second()), 1);
      lower.next();
      four2 = _mm_insert_epi32(four2, bits(lower.first()), 1);
      four3 = _mm_insert_epi32(four3, bits(lower.second()), 1);
      four0 = _mm_insert_epi32(four0, bits(upper.first()), 2);
      four1 = _mm_insert_epi32(four1, bits(upper.second()), 2);
      upper.next();
      four2 = _mm_insert_epi32(four2, bits(upper.first()), 2);
      four3 = _mm_insert_epi32(four3, bits(upper.second()), 2);
      upper.next();
      four0 = _mm_insert_epi32(four0, bits(upper.first()), 3);
      four1 = _mm_insert_epi32(four1, bits(upper.second()), 3);
      upper.next();
      four2 = _mm_insert_epi32(four2, bits(upper.first()), 3);
      four3 = _mm_insert_epi32(four3, bits(upper.second()), 3);
      const auto store = [&](__m128i four, std::size_t k) HWY_ATTR {
        // Keeps the compiler from joining halves of vectors.
        asm volatile("" : "+x"(four) : : "memory");
        _mm_store_si128(reinterpret_cast<__m128i*>(numbers.number + k * kLanes + at / 4), four);
      };
      store(four0, 0);
      store(four1, 1);
      store(four2, 2);
      store(four3, 3);
    }
  }
  HWY_INLINE LevelGains finish(const V8&, const Numbers& numbers) const {
    constexpr std::size_t kLanes = kBytes / 4;
    const DF d;
    const float* number = numbers.number;
    return {{hn::Load(d, number), hn::Load(d, number + kLanes), hn::Load(d, number + 2 * kLanes),
             hn::Load(d, number + 3 * kLanes)},
            factor_};
  }

 private:
  const float* table_;
  VF factor_;
};
#else
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
#endif

/// Loads 64-bit lines straight into vectors, alternating between the halves of 16 bytes, so that
/// one shuffle within halves extracts all values or all slopes.
template <>
class LevelLookup<false> {
 public:
  struct Numbers {
    VF lines[8];  ///< two vectors for bytes k, 4 + k, 8 + k ...
  };

  explicit HWY_INLINE LevelLookup(const SaturatedGains& tables) : table_(tables.lines.data()) {}
  HWY_INLINE void look_up(const V8& v, Numbers& numbers) const {
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(&v);
#if EQUALUX_INSERTS
    for (std::size_t half = 0; half < 2; ++half) {
      const LinePairs lower(table_, bytes + 8 * half);
#if HWY_TARGET == HWY_AVX2
      const LinePairs upper(table_, bytes + 16 + 8 * half);
      const auto join = [](__m128d low, __m128d high) HWY_ATTR {
        return VF{_mm256_castpd_ps(_mm256_insertf128_pd(_mm256_castpd128_pd256(low), high, 1))};
      };
      numbers.lines[half] = join(lower.pair0, upper.pair0);
      numbers.lines[2 + half] = join(lower.pair1, upper.pair1);
      numbers.lines[4 + half] = join(lower.pair2, upper.pair2);
      numbers.lines[6 + half] = join(lower.pair3, upper.pair3);
#else
      numbers.lines[half] = VF{_mm_castpd_ps(lower.pair0)};
      numbers.lines[2 + half] = VF{_mm_castpd_ps(lower.pair1)};
      numbers.lines[4 + half] = VF{_mm_castpd_ps(lower.pair2)};
      numbers.lines[6 + half] = VF{_mm_castpd_ps(lower.pair3)};
#endif
    }
#else
    const auto lines = [&](std::size_t at) HWY_ATTR {
      return hn::BitCast(DF(), load_two(table_ + bytes[at], table_ + bytes[at + 4]));
    };
    for (std::size_t k = 0; k < 4; ++k) {
      numbers.lines[2 * k] = lines(k);
      numbers.lines[2 * k + 1] = lines(k + 8);
    }
#endif
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
/// Look-up of floats by v.
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

/// Test for S = 1.
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
  /// Returns not 0 for pixels that may reach S = 1; their least channel is `below` under v.
  /// Conservative: with kUniform it is by the common k, else by free_below of v where bytes can be
  /// looked up, and otherwise by the largest k and most_held together.
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

/// 1 / x of 1 to 255, within 2^-21.8 of it, as approximations of x86 are within 1.5 2^-12.
HWY_INLINE VF reciprocal_of(VF x) {
#if HWY_ARCH_X86
  const VF about = hn::ApproximateReciprocal(x);
  return hn::Mul(about, hn::NegMulAdd(x, about, hn::Set(DF(), 2.0f)));
#else
  return hn::Div(hn::Set(DF(), 1.0f), x);
#endif
}

/// Result in the low bits of kTwo23's float, and its distance from the exact product.
struct Scaled {
  VF shifted;
  VF distance;
};
HWY_INLINE Scaled scaled_part(VF part, VF gain) {
  const VF whole = hn::Set(DF(), kTwo23);
  const VF shifted = hn::MulAdd(part, gain, whole);
  return {shifted, hn::MulSub(part, gain, hn::Sub(shifted, whole))};
}
HWY_INLINE Scaled rounded(VF x) {
  const VF whole = hn::Set(DF(), kTwo23);
  const VF shifted = hn::Add(x, whole);
  return {shifted, hn::Sub(x, hn::Sub(shifted, whole))};
}

using FloatMask = hn::Mask<DF>;

/// Lanes of `limited` whose result may be wrong, also where a gain is NaN.
HWY_INLINE FloatMask doubtful(FloatMask limited, VF distance) {
  return hn::AndNot(hn::Le(hn::Abs(distance), hn::Set(DF(), kSureSaturated)), limited);
}
/// Results of lanes that are not redone, 0 for others: bits of a NaN would spill into bytes of
/// other pixels when lanes are joined.
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

/// Calls redo(i) for every byte i that is not 0.
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

/// Calls body(uniform, limits) with these properties of a frame's gains as compile-time constants.
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

}  // namespace HWY_NAMESPACE
}  // namespace equalux
HWY_AFTER_NAMESPACE();

#endif  // include guard
