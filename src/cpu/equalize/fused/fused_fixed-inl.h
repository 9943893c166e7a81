// Pass 2 of fused_rows.h with fixed-point gains, for targets without permutes over large tables;
// included once for each target.
//
// Scalar loads look the gains up, one pixel at a time, while vector units scale other pixels with
// 16-bit products.
#if defined(EQUALUX_FUSED_FIXED_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUALUX_FUSED_FIXED_INL_H
#undef EQUALUX_FUSED_FIXED_INL_H
#else
#define EQUALUX_FUSED_FIXED_INL_H
#endif

#if EQUALUX_FIXED_GAINS

HWY_BEFORE_NAMESPACE();
namespace equalux {
namespace HWY_NAMESPACE {

/// Stores the 32-bit numbers of two pixels next to each other. Tables hold them in the upper half
/// of 64 bits, which saves a shift for the second.
HWY_INLINE void store_pair(std::uint64_t first, std::uint64_t second, std::uint32_t* out) {
  std::uint64_t pair = first >> 32 | second;
  // Keeps the compiler from collecting pairs in vectors, which is slower.
  asm volatile("" : "+r"(pair) : : "memory");
  std::memcpy(out, &pair, sizeof pair);
}
/// store_pair() for tables of 32 bits.
HWY_INLINE void store_pair(std::uint32_t first, std::uint32_t second, std::uint32_t* out) {
  store_pair(std::uint64_t{first} << 32, std::uint64_t{second} << 32, out);
}

/// round(c gain) of words. `upper` and `lower` are the 16-bit halves of a gain with kGainBits
/// fractional bits. The sum is floor(c gain 2^(kGainBits - 16)); the last product adds a half and
/// shifts the rest off.
template <int kGainBits = kFixedGainBits>
HWY_INLINE V16 scale_words(V16 c, V16 upper, V16 lower) {
  const V16 sum = hn::Add(hn::Mul(c, upper), hn::MulHigh(c, lower));
  constexpr std::int16_t kOne = 1 << (15 - (kGainBits - 16));
  return hn::BitCast(D16(), hn::MulFixedPoint15(hn::BitCast(DI16(), sum), hn::Set(DI16(), kOne)));
}

/// Four vectors of fixed_gain(); g[k] belongs to bytes k, 4 + k, 8 + k ... of a V8.
struct FixedGains {
  V32 g0, g1, g2, g3;
};

/// round(c gain) of a vector of bytes.
HWY_INLINE V8 scale_bytes(V8 c, const FixedGains& gain) {
  const D16 d;
  const auto lower = [&](V32 a, V32 b) HWY_ATTR {
    return hn::OddEven(hn::BitCast(d, hn::ShiftLeft<16>(b)), hn::BitCast(d, a));
  };
  const auto upper = [&](V32 a, V32 b) HWY_ATTR {
    return hn::OddEven(hn::BitCast(d, b), hn::BitCast(d, hn::ShiftRight<16>(a)));
  };
  const V16 words = hn::BitCast(d, c);
  const V16 even = scale_words(hn::And(words, hn::Set(d, 255)), upper(gain.g0, gain.g2),
                               lower(gain.g0, gain.g2));
  const V16 odd =
      scale_words(hn::ShiftRight<8>(words), upper(gain.g1, gain.g3), lower(gain.g1, gain.g3));
  return hn::BitCast(D8(), hn::Or(even, hn::ShiftLeft<8>(odd)));
}

/// Look-up of 32-bit numbers by bytes v, in three steps. Each step loads in other sizes what the
/// one before has stored, which stalls until the store has reached the cache (no store forwarding):
/// other work belongs between the steps.
template <typename Entry>
class SteppedLookup {
 public:
  /// Numbers of a vector of bytes, between look_up() and finish().
  struct Numbers {
    alignas(64) std::uint32_t number[kBytes];
  };

  explicit HWY_INLINE SteppedLookup(const Entry* table) : table_(table) {}

  /// Looks up the bytes of a vector that is in memory.
  HWY_INLINE void look_up(const V8& v, Numbers& numbers) const {
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(&v);
    constexpr std::size_t kLanes = kBytes / 4;
    // Copied, as the compiler must assume that stores of numbers change the member.
    const Entry* const table = table_;
    for (std::size_t i = 0; i < kLanes; i += 2) {
      // Loads are the bottleneck: eight bytes of v come in two loads and are taken apart by shifts.
      std::uint32_t four[2];
      std::memcpy(four, bytes + 4 * i, sizeof four);
      for (std::size_t k = 0; k < 4; ++k) {
        store_pair(table[four[0] >> (8 * k) & 255], table[four[1] >> (8 * k) & 255],
                   numbers.number + k * kLanes + i);
      }
    }
  }
  HWY_INLINE FixedGains finish(const V8&, const Numbers& numbers) const {
    constexpr std::size_t kLanes = kBytes / 4;
    const D32 d;
    const std::uint32_t* number = numbers.number;
    return {hn::Load(d, number), hn::Load(d, number + kLanes), hn::Load(d, number + 2 * kLanes),
            hn::Load(d, number + 3 * kLanes)};
  }

  /// Looks up kPixels bytes that lie kStep apart and stores the numbers in a row. Bytes four apart
  /// must have zeros between them.
  template <std::size_t kStep, std::size_t kPixels>
  HWY_INLINE void look_up_row(const std::uint8_t* v, std::uint32_t* numbers) const {
    // Unrolled by 16: of a short loop's instructions, a third would be loop overhead.
    constexpr std::size_t kAtOnce = 16;
    static_assert(kPixels % kAtOnce == 0);
    for (std::size_t i = 0; i < kPixels; i += kAtOnce) {
      for (std::size_t k = i; k < i + kAtOnce; k += 2) {
        // Loads are the bottleneck: two bytes in one load where their distance allows it.
        if constexpr (kStep == 3) {
          std::uint32_t both;
          std::memcpy(&both, v + kStep * k, sizeof both);
          store_pair(table_[both & 255], table_[both >> 24], numbers + k);
        } else if constexpr (kStep == 4) {
          std::uint64_t both;
          std::memcpy(&both, v + kStep * k, sizeof both);
          store_pair(table_[both & 0xFFFFFFFF], table_[both >> 32], numbers + k);
        } else {
          store_pair(table_[v[kStep * k]], table_[v[kStep * (k + 1)]], numbers + k);
        }
      }
    }
  }

 private:
  const Entry* table_;
};

/// Look-up of GainTables::fixed by v.
struct FixedLookup : SteppedLookup<std::uint64_t> {
  explicit HWY_INLINE FixedLookup(const GainTables& tables) : SteppedLookup(tables.fixed.data()) {}
};

/// Gains behind a block's that Triples loads and does not use.
constexpr std::size_t kSpreadBeyond = 16;

/// Pixels of packed RGB in a step.
constexpr std::size_t kBlockVectors = 2;
constexpr std::size_t kBlock = kBlockVectors * kBytes;

/// Scales a row in blocks, software-pipelined: in each step form.values(in, v) computes v of block
/// b + 2, kValueStep bytes apart, block b + 1 is looked up, and form.scale(gains, in, out) scales
/// block b. The tail runs on a copy.
template <Stores kStores, typename Form>
HWY_INLINE void scale_blocks(const GainTables& tables, const Form& form, const std::uint8_t* in,
                             std::size_t n, std::uint8_t* out) {
  constexpr std::size_t kStep = Form::kStep;
  constexpr std::size_t kBlockBytes = kStep * kBlock;
  const FixedLookup lookup(tables);
  alignas(64) std::uint8_t v[2][kBlockBytes];
  alignas(64) std::uint32_t gains[2][kBlock + kSpreadBeyond];
  const std::size_t blocks = n / kBlock;
  const auto values = [&](std::size_t b) HWY_ATTR {
    if (b < blocks) form.values(in + kBlockBytes * b, v[b % 2]);
  };
  const auto look_up = [&](std::size_t b) HWY_ATTR {
    if (b < blocks) lookup.look_up_row<Form::kValueStep, kBlock>(v[b % 2], gains[b % 2]);
  };
  values(0);
  values(1);
  look_up(0);
  for (std::size_t b = 0; b < blocks; ++b) {
    const std::uint8_t* from = in + kBlockBytes * b;
    prefetch_ahead(from, kBlockBytes);
    look_up(b + 1);
    values(b + 2);
    form.template scale<kStores>(gains[b % 2], from, out + kBlockBytes * b);
  }
  const std::size_t done = blocks * kBlock;
  if (done == n) return;
  alignas(64) std::uint8_t rest_in[kBlockBytes] = {};
  alignas(64) std::uint8_t rest_out[kBlockBytes];
  std::memcpy(rest_in, in + kStep * done, kStep * (n - done));
  form.values(rest_in, v[0]);
  lookup.look_up_row<Form::kValueStep, kBlock>(v[0], gains[0]);
  form.template scale<Stores::cached>(gains[0], rest_in, rest_out);
  std::memcpy(out + kStep * done, rest_out, kStep * (n - done));
}

/// scale_blocks(), with streaming stores where `out` is aligned.
template <typename Form>
HWY_INLINE void scale_stored(const GainTables& tables, Stores stores, const Form& form,
                             const std::uint8_t* in, std::size_t n, std::uint8_t* out) {
  if (stores == Stores::streaming && aligned(out, kBytes)) {
    scale_blocks<Stores::streaming>(tables, form, in, n, out);
  } else {
    scale_blocks<Stores::cached>(tables, form, in, n, out);
  }
}

/// Vector from two halves of 16 bytes.
HWY_INLINE V8 load_halves(const std::uint32_t* lower, const std::uint32_t* upper) {
  const hn::CappedTag<std::uint32_t, 4> d;
  const D32 full;
#if HWY_TARGET == HWY_AVX2
  return hn::BitCast(D8(), hn::Combine(full, hn::LoadU(d, upper), hn::LoadU(d, lower)));
#else
  (void)upper;
  (void)full;
  return hn::BitCast(D8(), hn::LoadU(d, lower));
#endif
}

/// Shuffles that spread gains of pixels over the words of their channels. Eight words of channels,
/// a group, belong to four pixels at most; three groups (24 bytes) repeat. `upper` and `lower` pick
/// the halves of gains for a vector of words by the group of its first half.
struct TripleSpread {
  /// Group g begins in pixel 8 g / 3.
  static constexpr std::size_t first(std::size_t group) { return 8 * group / 3; }

  alignas(64) std::uint8_t upper[3][kBytes];
  alignas(64) std::uint8_t lower[3][kBytes];
  constexpr TripleSpread() : upper{}, lower{} {
    for (std::size_t kind = 0; kind < 3; ++kind) {
      for (std::size_t i = 0; i < kBytes; ++i) {
        const std::size_t group = kind + i / 16 * 2;
        const std::size_t pixel = (8 * group + i % 16 / 2) / 3 - first(group);
        lower[kind][i] = static_cast<std::uint8_t>(4 * pixel + i % 2);
        upper[kind][i] = static_cast<std::uint8_t>(4 * pixel + 2 + i % 2);
      }
    }
  }
  /// Words 2 i and 2 i + 1 are the bytes of vector i, unpacked in halves of 16 bytes.
  static constexpr std::size_t group_of(std::size_t word, std::size_t half) {
    return kBytes / 8 * (word / 2) + 2 * half + word % 2;
  }
  static constexpr std::size_t kind_of(std::size_t word) { return group_of(word, 0) % 3; }
};
constexpr TripleSpread kTripleSpread;

/// Pixels of three bytes. Channels stay in place: v is the largest of three neighbours, valid at
/// every third byte, and gains are spread over the words of the channels.
template <int kGainBits = kFixedGainBits>
struct Triples {
  static constexpr std::size_t kStep = 3;
  static constexpr std::size_t kValueStep = kStep;

  HWY_INLINE void values(const std::uint8_t* in, std::uint8_t* v) const {
    const D8 d;
    const auto largest = [&](std::size_t at) HWY_ATTR {
      hn::StoreU(max3(hn::LoadU(d, in + at), hn::LoadU(d, in + at + 1), hn::LoadU(d, in + at + 2)),
                 d, v + at);
    };
    constexpr std::size_t kLast = 3 * kBlock - kBytes;
    for (std::size_t at = 0; at < kLast; at += kBytes)
      largest(at);
    // Reads two bytes earlier, so that nothing past the pixels is read.
    largest(kLast - 2);
  }

  template <Stores kStores>
  HWY_INLINE void scale(const std::uint32_t* gains, const std::uint8_t* in,
                        std::uint8_t* out) const {
    const D8 d;
    const V8 zero = hn::Zero(d);
    const auto word = [&](std::size_t i, const std::uint32_t* from, auto c) HWY_ATTR {
      const V8 gain = load_halves(from + TripleSpread::first(TripleSpread::group_of(i, 0)),
                                  from + TripleSpread::first(TripleSpread::group_of(i, 1)));
      const auto spread = [&](const std::uint8_t* order) HWY_ATTR {
        return hn::BitCast(D16(), hn::TableLookupBytes(gain, hn::Load(d, order)));
      };
      return hn::BitCast(
          DI16(), scale_words<kGainBits>(hn::BitCast(D16(), c),
                                         spread(kTripleSpread.upper[TripleSpread::kind_of(i)]),
                                         spread(kTripleSpread.lower[TripleSpread::kind_of(i)])));
    };
    for (std::size_t b = 0; b < kBlockVectors; ++b) {
      for (std::size_t i = 0; i < 3; ++i) {
        const std::size_t at = kBytes * (3 * b + i);
        const V8 x = hn::LoadU(d, in + at);
        const std::uint32_t* from = gains + kBytes * b;
        const VI16 low = word(2 * i, from, hn::InterleaveLower(d, x, zero));
        const VI16 high = word(2 * i + 1, from, hn::InterleaveUpper(d, x, zero));
        store<kStores>(pack_words(low, high), d, out + at);
      }
    }
  }
};

/// Shuffles that spread the gains of four pixels over words: first or last two pixels, lower or
/// upper halves of gains. The fourth byte of a pixel gets gain 0.
template <int kColor>
struct QuadSpread {
  alignas(64) std::uint8_t order[2][2][kBytes];
  constexpr QuadSpread() : order{} {
    for (std::size_t half = 0; half < 2; ++half) {
      for (std::size_t part = 0; part < 2; ++part) {
        for (std::size_t i = 0; i < kBytes; ++i) {
          const std::size_t word = i % 16 / 2;
          const bool color = word % 4 != (kColor == 0 ? 3 : 0);
          order[half][part][i] =
              static_cast<std::uint8_t>(color ? 4 * (2 * half + word / 4) + 2 * part + i % 2 : 128);
        }
      }
    }
  }
};
template <int kColor>
constexpr QuadSpread<kColor> kQuadSpread;

/// Pixels of four bytes; kColor is the first colour byte.
template <int kColor, int kGainBits = kFixedGainBits>
struct Quads {
  static constexpr std::size_t kStep = 4;
  static constexpr std::size_t kValueStep = kStep;

  HWY_INLINE void values(const std::uint8_t* in, std::uint8_t* v) const {
    const D32 d;
    const D8 d8;
    for (std::size_t at = 0; at < 4 * kBlock; at += kBytes) {
      const V32 x = hn::BitCast(d, hn::LoadU(d8, in + at));
      const auto byte = [&](V32 lanes) HWY_ATTR { return hn::BitCast(d8, lanes); };
      const V8 most =
          max3(byte(hn::ShiftRight<8 * kColor>(x)), byte(hn::ShiftRight<8 * kColor + 8>(x)),
               byte(hn::ShiftRight<8 * kColor + 16>(x)));
      hn::Store(hn::And(most, byte(hn::Set(d, 255u))), d8, v + at);
    }
  }

  template <Stores kStores>
  HWY_INLINE void scale(const std::uint32_t* gains, const std::uint8_t* in,
                        std::uint8_t* out) const {
    const D8 d;
    const V8 zero = hn::Zero(d);
    for (std::size_t i = 0; i < 4 * kBlockVectors; ++i) {
      const V8 x = hn::LoadU(d, in + kBytes * i);
      const V8 gain = hn::BitCast(d, hn::Load(D32(), gains + kBytes / 4 * i));
      const auto spread = [&](const std::uint8_t* order) HWY_ATTR {
        return hn::BitCast(D16(), hn::TableLookupBytes(gain, hn::Load(d, order)));
      };
      const auto word = [&](int half, auto c) HWY_ATTR {
        return hn::BitCast(DI16(),
                           scale_words<kGainBits>(hn::BitCast(D16(), c),
                                                  spread(kQuadSpread<kColor>.order[half][1]),
                                                  spread(kQuadSpread<kColor>.order[half][0])));
      };
      const V8 scaled = pack_words(word(0, hn::InterleaveLower(d, x, zero)),
                                   word(1, hn::InterleaveUpper(d, x, zero)));
      const V8 other = hn::BitCast(d, hn::Set(D32(), kColor == 0 ? 0xFF000000U : 0xFFU));
      store<kStores>(hn::OrAnd(scaled, x, other), d, out + kBytes * i);
    }
  }
};

inline void apply_rgb3(const GainTables& gains, Stores stores, const std::uint8_t* in,
                       std::size_t n, std::uint8_t* out) {
  scale_stored(gains, stores, Triples<>(), in, n, out);
}

inline void apply_rgb4(const GainTables& gains, Stores stores, const std::uint8_t* in,
                       std::size_t n, int color, std::uint8_t* out) {
  if (color == 0) {
    scale_stored(gains, stores, Quads<0>(), in, n, out);
  } else {
    scale_stored(gains, stores, Quads<1>(), in, n, out);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace equalux
HWY_AFTER_NAMESPACE();

#endif  // EQUALUX_FIXED_GAINS
#endif  // include guard
