// Luma of packed RGB for both passes of fused_rows.h; included once for each target.
//
// Channels go straight to pairs of 16-bit words, whose weighted sums take one multiply-add each:
// fewer steps than through planes.
#if defined(EQUALUX_FUSED_LUMA_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUALUX_FUSED_LUMA_INL_H
#undef EQUALUX_FUSED_LUMA_INL_H
#else
#define EQUALUX_FUSED_LUMA_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace equalux {
namespace HWY_NAMESPACE {

/// rgb_luma() of vectors of pixels of kStep bytes.
template <std::size_t kStep>
class LumaOf {
 public:
  explicit HWY_INLINE LumaOf(const RgbLayout& at) {
    const auto pair = [](std::uint32_t first, std::uint32_t second) {
      return hn::BitCast(Words(),
                         hn::Set(Pixels(), static_cast<std::int32_t>(second << 16 | first)));
    };
    const std::uint32_t first = at.r < at.b ? kLumaWeights.red : kLumaWeights.blue;
    outer_weights_ = pair(first, kLumaWeights.red + kLumaWeights.blue - first);
    // Split in two: the weight of green exceeds a signed word.
    middle_weights_ = pair(kLumaWeights.green / 2, kLumaWeights.green - kLumaWeights.green / 2);
    const auto order = [&](const std::uint8_t* bytes) {
      return hn::Add(hn::Load(Bytes(), bytes),
                     hn::Set(Bytes(), static_cast<std::uint8_t>(at.first())));
    };
    outer_ = order(kOrder.outer);
    middle_ = order(kOrder.middle);
    last_outer_ = order(kOrder.last_outer);
    last_middle_ = order(kOrder.last_middle);
  }

  /// Luma of kBytes pixels; no byte past them is read.
  HWY_INLINE V8 operator()(const std::uint8_t* in) const {
#if HWY_MAX_BYTES <= 32
    return levels(in);
#else
    return hn::Combine(D8(), levels(in + kStep * kLumas), levels(in));
#endif
  }

 private:
  using Bytes = hn::CappedTag<std::uint8_t, 32>;
  using Words = hn::Repartition<std::int16_t, Bytes>;
  using Pixels = hn::Repartition<std::int32_t, Bytes>;
  using VBytes = hn::Vec<Bytes>;

  /// Pixels in a vector of results, and in a block of at most 16 bytes.
  static constexpr std::size_t kLumas = hn::MaxLanes(Bytes());
  static constexpr std::size_t kBlockPixels = 4;
  /// Bytes that the last block is read early, so that it ends with the pixels.
  static constexpr std::size_t kEarly = 16 - kBlockPixels * kStep;

  /// Shuffles of four pixels to pairs of words: first and third colour, and the second colour
  /// twice.
  struct Order {
    alignas(32) std::uint8_t outer[32], middle[32], last_outer[32], last_middle[32];
    constexpr Order() : outer{}, middle{}, last_outer{}, last_middle{} {
      for (std::size_t i = 0; i < kLumas; ++i) {
        const std::size_t pixel = i % 16 / 4;
        const std::size_t early = i / 16 + 1 == kLumas / 16 ? kEarly : 0;
        const auto byte = [&](std::size_t of_outer, std::size_t from) {
          const bool colour = i % 2 == 0;
          return static_cast<std::uint8_t>(colour ? kStep * pixel + of_outer + from : 128);
        };
        outer[i] = byte(i % 4, 0);
        middle[i] = byte(1, 0);
        last_outer[i] = byte(i % 4, early);
        last_middle[i] = byte(1, early);
      }
    }
  };
  static constexpr Order kOrder{};

  /// Luma times 2^16 of pixels 4 i .. 4 i + 3 of each 16.
  HWY_INLINE hn::Vec<Pixels> sums(const std::uint8_t* in, std::size_t i) const {
    const hn::CappedTag<std::uint8_t, 16> block;
    const bool last = i == 3;
    const std::size_t early = last ? kEarly : 0;
    const std::uint8_t* from = in + kStep * kBlockPixels * i;
#if HWY_MAX_BYTES == 16
    const VBytes x = hn::LoadU(block, from - early);
#else
    const VBytes x =
        hn::Combine(Bytes(), hn::LoadU(block, from + kStep * 16 - early), hn::LoadU(block, from));
#endif
    const auto words = [&](VBytes order) HWY_ATTR {
      return hn::BitCast(Words(), hn::TableLookupBytesOr0(x, order));
    };
    const Pixels d;
    auto rest = hn::Zero(d);
    auto sum = hn::ReorderWidenMulAccumulate(d, words(last ? last_outer_ : outer_), outer_weights_,
                                             hn::Zero(d), rest);
    sum = hn::ReorderWidenMulAccumulate(d, words(last ? last_middle_ : middle_), middle_weights_,
                                        sum, rest);
    return hn::Add(hn::RearrangeToOddPlusEven(sum, rest), hn::Set(d, 32768));
  }

  HWY_INLINE VBytes levels(const std::uint8_t* in) const {
    const auto half = [&](std::size_t i) HWY_ATTR {
      const auto a = hn::ShiftRight<16>(sums(in, i));
      const auto b = hn::ShiftRight<16>(sums(in, i + 1));
#if HWY_ARCH_X86
      return hn::ReorderDemote2To(Words(), a, b);
#else
      return hn::ConcatEven(Words(), hn::BitCast(Words(), b), hn::BitCast(Words(), a));
#endif
    };
    return pack_words(half(0), half(2));
  }

  VBytes outer_, middle_, last_outer_, last_middle_;
  hn::Vec<Words> outer_weights_, middle_weights_;
};

void count_luma(const RgbLayout& at, const std::uint8_t* in, std::size_t n,
                const std::uint8_t* ahead, const Counters& counters) {
  if (at.step == 3) {
    count_pixels<3>(in, n, ahead, counters, LumaOf<3>(at));
  } else {
    count_pixels<4>(in, n, ahead, counters, LumaOf<4>(at));
  }
}

#if EQUALUX_FIXED_GAINS
/// Forms of scale_blocks() with luma for v.
template <typename Pixels>
struct ByLuma : Pixels {
  static constexpr std::size_t kValueStep = 1;

  explicit HWY_INLINE ByLuma(const RgbLayout& at) : luma(at) {}

  HWY_INLINE void values(const std::uint8_t* in, std::uint8_t* v) const {
    for (std::size_t i = 0; i < kBlock; i += kBytes)
      hn::Store(luma(in + Pixels::kStep * i), D8(), v + i);
  }

  LumaOf<Pixels::kStep> luma;
};

void apply_luma(const GainTables& gains, Stores stores, const RgbLayout& at, const std::uint8_t* in,
                std::size_t n, std::uint8_t* out) {
  if (at.step == 3) {
    scale_stored(gains, stores, ByLuma<Triples<kLumaGainBits>>(at), in, n, out);
  } else if (at.first() == 0) {
    scale_stored(gains, stores, ByLuma<Quads<0, kLumaGainBits>>(at), in, n, out);
  } else {
    scale_stored(gains, stores, ByLuma<Quads<1, kLumaGainBits>>(at), in, n, out);
  }
}
#else
/// rgb_luma() of pixels of four bytes in their own lanes; kColor is the first colour byte.
template <int kColor>
class LumaLanes {
 public:
  explicit HWY_INLINE LumaLanes(const RgbLayout& at)
      : outer_weights_(at.r < at.b ? pair(kLumaWeights.red, kLumaWeights.blue)
                                   : pair(kLumaWeights.blue, kLumaWeights.red)),
        middle_weights_(pair(kLumaWeights.green / 2, kLumaWeights.green - kLumaWeights.green / 2)) {
  }

  HWY_INLINE V32 operator()(V32 pixels) const {
    const D32 d;
    const V32 outer = hn::And(hn::ShiftRight<8 * kColor>(pixels), hn::Set(d, 0xFF00FFU));
    const V32 one = hn::And(hn::ShiftRight<8 * kColor + 8>(pixels), hn::Set(d, 0xFFU));
    const V32 middle = hn::Or(one, hn::ShiftLeft<16>(one));
    const DI32 di;
    VI32 rest = hn::Zero(di);
    VI32 sum = hn::ReorderWidenMulAccumulate(di, hn::BitCast(DI16(), outer), outer_weights_,
                                             hn::Set(di, 32768), rest);
    sum =
        hn::ReorderWidenMulAccumulate(di, hn::BitCast(DI16(), middle), middle_weights_, sum, rest);
    return hn::ShiftRight<16>(hn::BitCast(d, sum));
  }

 private:
  static HWY_INLINE VI16 pair(std::uint32_t first, std::uint32_t second) {
    return hn::BitCast(DI16(), hn::Set(D32(), second << 16 | first));
  }

  VI16 outer_weights_, middle_weights_;
};

void apply_luma(const GainTables& gains, Stores stores, const RgbLayout& at, const std::uint8_t* in,
                std::size_t n, std::uint8_t* out) {
  const GainLookup lookup(gains);
  const auto apply_quads = [&](auto color) HWY_ATTR {
    const LumaLanes<color()> luma(at);
    for_vectors_stored<4>(stores, in, n, out,
                          [&](auto kind, const std::uint8_t* from, std::uint8_t* to) HWY_ATTR {
                            scale_quads<color(), kind(), Clip::at_white>(lookup, luma, from, to);
                          });
  };
  if (at.step == 4 && at.first() == 0) return apply_quads(std::integral_constant<int, 0>());
  if (at.step == 4) return apply_quads(std::integral_constant<int, 1>());
  const LumaOf<3> luma(at);
  for_vectors_stored<3>(
      stores, in, n, out, [&](auto kind, const std::uint8_t* from, std::uint8_t* to) HWY_ATTR {
        scale_triples<kind(), Clip::at_white>(lookup.of_triples(luma(from)), from, to);
      });
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace equalux
HWY_AFTER_NAMESPACE();

#endif  // include guard
