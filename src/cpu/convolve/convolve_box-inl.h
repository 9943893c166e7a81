// A box's running sums along rows and down columns; included once for each target.
#if defined(EQUALUX_CONVOLVE_BOX_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUALUX_CONVOLVE_BOX_INL_H
#undef EQUALUX_CONVOLVE_BOX_INL_H
#else
#define EQUALUX_CONVOLVE_BOX_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace equalux::convolution {
namespace HWY_NAMESPACE {

/// Vectors of bytes whose blocks of 16 walk along pieces of the row, one behind the other: a
/// running sum waits for itself, but not for those of other blocks.
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

/// Blocks that begin `stride` bytes from each other.
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

/// a - b of the lower and upper eight bytes of blocks.
struct Differences {
  VRunWords lower, upper;
};
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

/// Sums of every kStep-th lane up to each, within blocks.
template <int kStep>
HWY_INLINE VRunWords scan(VRunWords v) {
  const DRunWords d;
  v = hn::Add(v, hn::ShiftLeftLanes<kStep>(d, v));
  if constexpr (kStep < 4) v = hn::Add(v, hn::ShiftLeftLanes<2 * kStep>(d, v));
  if constexpr (kStep < 2) v = hn::Add(v, hn::ShiftLeftLanes<4 * kStep>(d, v));
  return v;
}

/// For each lane of a block the one of the block before that is its neighbour's neighbour: the last
/// kStep, again and again. As indices of bytes.
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

template <int kStep>
HWY_INLINE void box_row_loop(int size, const std::uint8_t* samples, std::size_t n,
                             std::uint16_t* sums) {
  const DRun d;
  const DRunWords dw;
  const std::size_t piece = n / kBlocks;
  const std::ptrdiff_t radius = size / 2 * kStep;
  const VRun last = last_lanes<kStep>();
  // The sums of the eight bytes before each piece.
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

/// Sums of the even and the odd lanes of a vector of 16 bits. They stand so in memory.
struct EvenOdd {
  VI32 even, odd;
};

/// The new sums of kWords columns from x on, which it also stores.
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

/// Sums divided by size * size, as 16 bits. 2^23 pushes the fraction out of a float, which rounds
/// to nearest; a half cannot be, as the divisor is odd: sums are half a divisor's part, 2^-11 at
/// least, from one, and float's errors below 2^-14.
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
