// Direct sums over taps; included once for each target.
#if defined(EQUALUX_CONVOLVE_TAPS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUALUX_CONVOLVE_TAPS_INL_H
#undef EQUALUX_CONVOLVE_TAPS_INL_H
#else
#define EQUALUX_CONVOLVE_TAPS_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace equalux::convolution {
namespace HWY_NAMESPACE {

/// Most taps of a list: those of the largest kernel, and one to make the number even.
constexpr std::size_t kMaxTaps = std::size_t{15} * 15 + 1;

/// Addresses of the taps for the first byte.
struct TapPointers {
  std::array<const std::uint8_t*, kMaxTaps> at;

  TapPointers(const std::vector<Tap>& taps, const std::uint8_t* const* rows) {
    for (std::size_t k = 0; k < taps.size(); ++k)
      at[k] = rows[taps[k].row] + taps[k].offset;
  }
};

/// 16-bit sums for one vector of bytes, in the order of InterleaveLower and InterleaveUpper;
/// without byte pairs those of even and of odd bytes.
struct ShortSums {
  VI16 first;
  VI16 second;
};

#ifdef EQUALUX_PAIRS
/// Adds two taps by one product of byte pairs (maddubs) for each half of a vector. Weights of
/// ShortTaps keep these sums of two products within 16 bits.
HWY_INLINE void add_pair(ShortSums& sums, V8 a, V8 b, std::int32_t weight_a,
                         std::int32_t weight_b) {
  const D8 d;
  const auto pair =
      static_cast<std::uint16_t>((weight_a & 0xff) | static_cast<std::int32_t>(weight_b << 8));
  const V8 weights = hn::BitCast(d, hn::Set(D16(), pair));
  sums.first = hn::Add(sums.first, byte_pairs(hn::InterleaveLower(d, a, b), weights));
  sums.second = hn::Add(sums.second, byte_pairs(hn::InterleaveUpper(d, a, b), weights));
}
/// Quotients of the sums, saturated as they are packed.
HWY_INLINE V8 levels_of(const ShortSums& sums, const ShortDivision& division) {
  return join(divide(sums.first, division), divide(sums.second, division));
}
#else
/// Adds a tap in words: even bytes by a mask, odd bytes by a shift.
HWY_INLINE void add_tap(ShortSums& sums, V8 bytes, std::int32_t weight) {
  const D16 d;
  const DI16 di;
  const VI16 weights = hn::Set(di, static_cast<std::int16_t>(weight));
  const V16 pairs = hn::BitCast(d, bytes);
  const V16 even = hn::And(pairs, hn::Set(d, std::uint16_t{255}));
  sums.first = hn::Add(sums.first, hn::Mul(hn::BitCast(di, even), weights));
  sums.second = hn::Add(sums.second, hn::Mul(hn::BitCast(di, hn::ShiftRight<8>(pairs)), weights));
}
HWY_INLINE void add_pair(ShortSums& sums, V8 a, V8 b, std::int32_t weight_a,
                         std::int32_t weight_b) {
  add_tap(sums, a, weight_a);
  add_tap(sums, b, weight_b);
}
HWY_INLINE V8 levels_of(const ShortSums& sums, const ShortDivision& division) {
  const D16 d;
  const V16 most = hn::Set(d, std::uint16_t{255});
  const V16 even = hn::Min(divide(sums.first, division), most);
  const V16 odd = hn::Min(divide(sums.second, division), most);
  return hn::BitCast(D8(), hn::Or(even, hn::ShiftLeft<8>(odd)));
}
#endif

/// Sums over kPairs pairs of taps, unrolled; kPairs = 0: over any number.
template <std::size_t kPairs>
HWY_INLINE void short_loop(const ShortTaps& taps, const std::uint8_t* const* rows,
                           const RowOut& to) {
  const D8 d;
  const DI16 di16;
  const TapPointers pointers(taps.taps, rows);
  std::array<std::int32_t, kMaxTaps> weights;
  for (std::size_t k = 0; k < taps.taps.size(); ++k)
    weights[k] = taps.taps[k].weight;
  const std::size_t pairs = kPairs != 0 ? kPairs : taps.taps.size() / 2;
  const ShortDivision division = taps.division;
  const bool stream = may_stream(to);
  for (std::size_t x = 0; x < to.n; x += kBytes) {
    ShortSums sums{hn::Set(di16, taps.bias), hn::Set(di16, taps.bias)};
    for (std::size_t k = 0; k < 2 * pairs; k += 2) {
      add_pair(sums, hn::LoadU(d, pointers.at[k] + x), hn::LoadU(d, pointers.at[k + 1] + x),
               weights[k], weights[k + 1]);
    }
    store(to, stream, x, levels_of(sums, division));
  }
}

/// Calls the unrolled loop for up to ten taps, which covers kernels of 3 x 3.
void short_taps(const ShortTaps& taps, const std::uint8_t* const* rows, const RowOut& to) {
  switch (taps.taps.size() / 2) {
    case 1:
      return short_loop<1>(taps, rows, to);
    case 2:
      return short_loop<2>(taps, rows, to);
    case 3:
      return short_loop<3>(taps, rows, to);
    case 4:
      return short_loop<4>(taps, rows, to);
    case 5:
      return short_loop<5>(taps, rows, to);
    default:
      return short_loop<0>(taps, rows, to);
  }
}

/// 32-bit sums for one vector of bytes.
struct LongSums {
  VI32 s0, s1, s2, s3;
};

/// Pair of 16-bit weights in every 32-bit lane.
HWY_INLINE VI16 weight_pair(std::int32_t first, std::int32_t second) {
  const auto pair =
      (static_cast<std::uint32_t>(first) & 0xffffu) | (static_cast<std::uint32_t>(second) << 16);
  return hn::BitCast(DI16(), hn::Set(D32(), pair));
}

/// Byte k of every 32-bit lane.
template <int k>
HWY_INLINE VI32 lane_byte(V8 v) {
  const D32 d;
  const V32 lanes = hn::BitCast(d, v);
  return hn::BitCast(DI32(), hn::And(hn::ShiftRight<8 * k>(lanes), hn::Set(d, 255u)));
}
template <>
HWY_INLINE VI32 lane_byte<0>(V8 v) {
  const D32 d;
  return hn::BitCast(DI32(), hn::And(hn::BitCast(d, v), hn::Set(d, 255u)));
}

/// Sums with weights of any size; sum k belongs to byte k of each 32-bit lane.
struct LaneSums {
  static HWY_INLINE void add(LongSums& sums, V8 v, std::int32_t weight) {
    const VI32 weights = hn::Set(DI32(), weight);
    sums.s0 = hn::Add(sums.s0, hn::Mul(lane_byte<0>(v), weights));
    sums.s1 = hn::Add(sums.s1, hn::Mul(lane_byte<1>(v), weights));
    sums.s2 = hn::Add(sums.s2, hn::Mul(lane_byte<2>(v), weights));
    sums.s3 = hn::Add(sums.s3, hn::Mul(lane_byte<3>(v), weights));
  }
  static HWY_INLINE void add_pair(LongSums& sums, V8 a, V8 b, std::int32_t weight_a,
                                  std::int32_t weight_b) {
    add(sums, a, weight_a);
    add(sums, b, weight_b);
  }
  static HWY_INLINE V8 levels(const LongSums& sums, const LongDivision& division) {
    const VI32 low = hn::Or(divide(sums.s0, division), hn::ShiftLeft<8>(divide(sums.s1, division)));
    const VI32 high =
        hn::Or(divide(sums.s2, division), hn::ShiftLeft<8>(divide(sums.s3, division)));
    return hn::BitCast(D8(), hn::Or(low, hn::ShiftLeft<16>(high)));
  }
};

#ifdef EQUALUX_PAIRS
/// Sums with 16-bit weights; sum k belongs to bytes 4 k to 4 k + 3 of each 16.
struct PairSums {
  static HWY_INLINE void add_pair(LongSums& sums, V8 a, V8 b, std::int32_t weight_a,
                                  std::int32_t weight_b) {
    const D8 d;
    const V8 zero = hn::Zero(d);
    const VI16 weights = weight_pair(weight_a, weight_b);
    const V8 low = hn::InterleaveLower(d, a, b);
    const V8 high = hn::InterleaveUpper(d, a, b);
    sums.s0 = hn::Add(sums.s0,
                      word_pairs(hn::BitCast(DI16(), hn::InterleaveLower(d, low, zero)), weights));
    sums.s1 = hn::Add(sums.s1,
                      word_pairs(hn::BitCast(DI16(), hn::InterleaveUpper(d, low, zero)), weights));
    sums.s2 = hn::Add(sums.s2,
                      word_pairs(hn::BitCast(DI16(), hn::InterleaveLower(d, high, zero)), weights));
    sums.s3 = hn::Add(sums.s3,
                      word_pairs(hn::BitCast(DI16(), hn::InterleaveUpper(d, high, zero)), weights));
  }
  static HWY_INLINE V8 levels(const LongSums& sums, const LongDivision& division) {
    return join(join(divide(sums.s0, division), divide(sums.s1, division)),
                join(divide(sums.s2, division), divide(sums.s3, division)));
  }
};
#else
using PairSums = LaneSums;
#endif

/// Sums over any number of taps for one vector of bytes at a time, in four vectors of 32 bits.
template <typename Sums>
HWY_INLINE void long_loop(const LongTaps& taps, const std::uint8_t* const* rows, const RowOut& to) {
  const D8 d;
  const VI32 bias = hn::Set(DI32(), taps.bias);
  const TapPointers pointers(taps.taps, rows);
  const std::size_t count = taps.taps.size();
  const bool stream = may_stream(to);
  for (std::size_t x = 0; x < to.n; x += kBytes) {
    LongSums sums{bias, bias, bias, bias};
    for (std::size_t k = 0; k < count; k += 2) {
      Sums::add_pair(sums, hn::LoadU(d, pointers.at[k] + x), hn::LoadU(d, pointers.at[k + 1] + x),
                     taps.taps[k].weight, taps.taps[k + 1].weight);
    }
    store(to, stream, x, Sums::levels(sums, taps.division));
  }
}

void long_taps(const LongTaps& taps, const std::uint8_t* const* rows, const RowOut& to) {
  if (taps.short_weights) {
    long_loop<PairSums>(taps, rows, to);
  } else {
    long_loop<LaneSums>(taps, rows, to);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace equalux::convolution
HWY_AFTER_NAMESPACE();

#endif  // include guard
