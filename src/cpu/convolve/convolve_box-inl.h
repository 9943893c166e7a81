// Running sums of a box along rows and down columns; included once for each target.
#if defined(EQUALUX_CONVOLVE_BOX_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUALUX_CONVOLVE_BOX_INL_H
#undef EQUALUX_CONVOLVE_BOX_INL_H
#else
#define EQUALUX_CONVOLVE_BOX_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace equalux::convolution {
namespace HWY_NAMESPACE {

/// Vectors whose 16-byte blocks run along different pieces of the row at the same time: a running
/// sum depends on itself, but not on those of other blocks.
#ifdef EQUALUX_PAIRS
using DRun = D8;
#else
using DRun = hn::CappedTag<std::uint8_t, 16>;
#endif
using DRunWords = hn::Repartition<std::uint16_t, DRun>;
using VRun = hn::Vec<DRun>;
using VRunWords = hn::Vec<DRunWords>;
constexpr std::size_t kBlock = 16;
constexpr std::size_t kBlocks = hn::MaxLanes(DRun()) / kBlock;

/// Loads blocks whose beginnings are `stride` bytes apart.
template <class D>
HWY_INLINE hn::Vec<D> load_blocks(D d, const std::uint8_t* from, std::size_t stride) {
  if constexpr (hn::MaxLanes(D()) <= kBlock) {
    return hn::LoadU(d, from);
  } else {
    const hn::Half<D> half;
    constexpr std::size_t kHalf = hn::MaxLanes(D()) / kBlock / 2;
    return hn::Combine(d, load_blocks(half, from + kHalf * stride, stride),
                       load_blocks(half, from, stride));
  }
}
/// Stores blocks of eight words, beginnings `stride` words apart.
template <class D>
HWY_INLINE void store_blocks(D d, hn::Vec<D> words, std::uint16_t* to, std::size_t stride) {
  if constexpr (hn::MaxLanes(D()) <= kBlock / 2) {
    hn::StoreU(words, d, to);
  } else {
    const hn::Half<D> half;
    constexpr std::size_t kHalf = hn::MaxLanes(D()) / (kBlock / 2) / 2;
    store_blocks(half, hn::LowerHalf(half, words), to, stride);
    store_blocks(half, hn::UpperHalf(half, words), to + kHalf * stride, stride);
  }
}

/// a - b of the lower and upper eight bytes of blocks, as words.
struct Differences {
  VRunWords lower, upper;
};
/// Differences of bytes, by one product of byte pairs with weights 1 and -1 where the target has
/// it.
HWY_INLINE Differences differences(VRun a, VRun b) {
  const DRun d;
  const DRunWords dw;
#ifdef EQUALUX_PAIRS
  const V8 plus_minus = hn::BitCast(d, hn::Set(dw, std::uint16_t{0xff01}));
  return {hn::BitCast(dw, byte_pairs(hn::InterleaveLower(d, a, b), plus_minus)),
          hn::BitCast(dw, byte_pairs(hn::InterleaveUpper(d, a, b), plus_minus))};
#else
  const VRun zero = hn::Zero(d);
  return {hn::Sub(hn::BitCast(dw, hn::InterleaveLower(d, a, zero)),
                  hn::BitCast(dw, hn::InterleaveLower(d, b, zero))),
          hn::Sub(hn::BitCast(dw, hn::InterleaveUpper(d, a, zero)),
                  hn::BitCast(dw, hn::InterleaveUpper(d, b, zero)))};
#endif
}

/// Inclusive prefix sums over every kStep-th lane, within blocks.
template <int kStep>
HWY_INLINE VRunWords scan(VRunWords v) {
  const DRunWords d;
  v = hn::Add(v, hn::ShiftLeftLanes<kStep>(d, v));
  if constexpr (kStep < 4) v = hn::Add(v, hn::ShiftLeftLanes<2 * kStep>(d, v));
  if constexpr (kStep < 2) v = hn::Add(v, hn::ShiftLeftLanes<4 * kStep>(d, v));
  return v;
}

/// Byte indices that copy to each lane of a block its predecessor in the block before: the last
/// kStep lanes, repeated.
template <int kStep>
HWY_INLINE VRun last_lanes() {
  const DRun d;
  alignas(kConvolveBytes) std::array<std::uint8_t, kConvolveBytes> at;
  for (std::size_t i = 0; i < at.size(); ++i) {
    const std::size_t lane = kBlock / 2 - kStep + i % kBlock / 2 % kStep;
    at[i] = static_cast<std::uint8_t>(2 * lane + i % 2);
  }
  return hn::Load(d, at.data());
}

/// Running sums along a row: for eight sums a prefix sum of entering less leaving samples, one to
/// three steps of shift and add, plus the last sums before. They fit in 16 bits, as a box has at
/// most 31 samples.
template <int kStep>
HWY_INLINE void box_row_loop(int size, const std::uint8_t* samples, std::size_t n,
                             std::uint16_t* sums) {
  const DRun d;
  const DRunWords dw;
  const std::size_t piece = n / kBlocks;
  const std::ptrdiff_t radius = size / 2 * kStep;
  const VRun last = last_lanes<kStep>();
  // Initial sums: those of the eight bytes before each piece.
  VRunWords sum = hn::Zero(dw);
  for (std::ptrdiff_t at = -radius; at <= radius; at += kStep) {
    const VRun bytes = load_blocks(d, samples + at - kBoxReach, piece);
    sum = hn::Add(sum, hn::BitCast(dw, hn::InterleaveUpper(d, bytes, hn::Zero(d))));
  }
  const auto follow = [&](VRunWords difference) HWY_ATTR {
    sum = hn::Add(scan<kStep>(difference),
                  hn::BitCast(dw, hn::TableLookupBytes(hn::BitCast(d, sum), last)));
    return sum;
  };
  for (std::size_t x = 0; x < piece; x += kBlock) {
    const VRun entering = load_blocks(d, samples + x + radius, piece);
    const VRun leaving = load_blocks(d, samples + x - radius - kStep, piece);
    const Differences change = differences(entering, leaving);
    store_blocks(dw, follow(change.lower), sums + x, piece);
    store_blocks(dw, follow(change.upper), sums + x + kBlock / 2, piece);
  }
}

void box_row(int size, std::ptrdiff_t step, const std::uint8_t* samples, std::size_t n,
             std::uint16_t* sums) {
  switch (step) {
    case 1:
      return box_row_loop<1>(size, samples, n, sums);
    case 3:
      return box_row_loop<3>(size, samples, n, sums);
    default:
      return box_row_loop<4>(size, samples, n, sums);
  }
}

/// Sums of the even and odd lanes of a vector of 16 bits, in the order in which memory holds them.
struct EvenOdd {
  VI32 even, odd;
};

/// Adds the entering row and subtracts the leaving one for kWords columns from x on; stores and
/// returns the sums.
HWY_INLINE EvenOdd slide(const std::uint16_t* entering, const std::uint16_t* leaving,
                         std::uint32_t* sums, std::size_t x) {
  const D16 d;
  const DI32 di;
  const VI32 change = hn::BitCast(di, hn::Sub(hn::Load(d, entering + x), hn::Load(d, leaving + x)));
  auto* at = reinterpret_cast<std::int32_t*>(sums) + x;
  const VI32 even = hn::Add(hn::Load(di, at), hn::ShiftRight<16>(hn::ShiftLeft<16>(change)));
  const VI32 odd = hn::Add(hn::Load(di, at + kLongs), hn::ShiftRight<16>(change));
  hn::Store(even, di, at);
  hn::Store(odd, di, at + kLongs);
  return {even, odd};
}

/// Means: sums divided by size * size and rounded, as 16 bits. Adding 2^23 leaves the nearest whole
/// number in a float's low bits. No quotient is on a half, as the divisor is odd: it is at least
/// half of 1 / divisor from one, more than 2^-11, and float errors are below 2^-14.
HWY_INLINE V16 means_of(const EvenOdd& sums, VF inverse) {
  const DF df;
  const D16 d;
  const D32 d32;
  const auto mean = [&](VI32 sum) HWY_ATTR {
    return hn::BitCast(d32, hn::MulAdd(hn::ConvertTo(df, sum), inverse, hn::Set(df, 0x1p23f)));
  };
  return hn::OddEven(hn::BitCast(d, hn::ShiftLeft<16>(mean(sums.odd))),
                     hn::BitCast(d, mean(sums.even)));
}

/// Two vectors of 16 bits as bytes.
HWY_INLINE V8 bytes_of(V16 low, V16 high) {
#ifdef EQUALUX_PAIRS
  return in_order(join(low, high));
#else
  const hn::Rebind<std::uint8_t, D16> d8;
  return hn::Combine(D8(), hn::TruncateTo(d8, high), hn::TruncateTo(d8, low));
#endif
}

/// Running sums down columns, in place; with `to.out` also the means, rounded. The cost does not
/// depend on the size of the box.
void box_columns(int size, const std::uint16_t* entering, const std::uint16_t* leaving,
                 std::uint32_t* sums, const RowOut& to) {
  if (to.out == nullptr) {
    for (std::size_t x = 0; x < to.n; x += kWords)
      slide(entering, leaving, sums, x);
    return;
  }
  const VF inverse = hn::Set(DF(), 1.0f / static_cast<float>(size * size));
  const bool stream = may_stream(to);
  for (std::size_t x = 0; x < to.n; x += kBytes) {
    const V16 low = means_of(slide(entering, leaving, sums, x), inverse);
    const V16 high = means_of(slide(entering, leaving, sums, x + kWords), inverse);
    store(to, stream, x, bytes_of(low, high));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace equalux::convolution
HWY_AFTER_NAMESPACE();

#endif  // include guard
