// Vectors of words for rows of more than 8 bits; included once for each target.
#if defined(EQUALUX_DEEP_VECTORS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUALUX_DEEP_VECTORS_INL_H
#undef EQUALUX_DEEP_VECTORS_INL_H
#else
#define EQUALUX_DEEP_VECTORS_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace equalux::deep_loops {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D8 = hn::ScalableTag<std::uint8_t>;
using D16 = hn::Repartition<std::uint16_t, D8>;
using DI16 = hn::Repartition<std::int16_t, D8>;
using D32 = hn::Repartition<std::uint32_t, D8>;
using DI32 = hn::Repartition<std::int32_t, D8>;
using D64 = hn::Repartition<std::uint64_t, D8>;
using DF = hn::Repartition<double, D8>;
using DHalf8 = hn::Half<D8>;
using DHalf16 = hn::Half<D16>;
using V16 = hn::Vec<D16>;
using VI16 = hn::Vec<DI16>;
using V32 = hn::Vec<D32>;
using VI32 = hn::Vec<DI32>;
using V64 = hn::Vec<D64>;
using VF = hn::Vec<DF>;

/// Words of a vector, the step of every loop.
constexpr std::size_t kWords = hn::MaxLanes(D16());
constexpr std::size_t kBytes = 2 * kWords;
/// Columns whose v is computed before they are counted or scaled: enough that no load waits for a
/// recent store, and few enough for the L1 cache.
constexpr std::size_t kBlock = 512;
static_assert(kBlock % kWords == 0);

HWY_INLINE V16 load_words(const std::uint8_t* at) {
  return hn::BitCast(D16(), hn::LoadU(D8(), at));
}

/// Stores a vector. A streaming store needs an address aligned to the vector.
template <Stores kStores>
HWY_INLINE void store_words(V16 words, std::uint8_t* at) {
  const D8 d;
  if constexpr (kStores == Stores::streaming) {
    hn::Stream(hn::BitCast(d, words), d, at);
  } else {
    hn::StoreU(hn::BitCast(d, words), d, at);
  }
}

HWY_INLINE bool aligned(const std::uint8_t* address) {
  return reinterpret_cast<std::uintptr_t>(address) % kBytes == 0;
}

/// Prefetches what the next block reads, for pixels of kStep words, while this one is counted or
/// scaled. The address may be past the frame, where a prefetch is harmless.
template <std::size_t kStep = 1>
HWY_INLINE void prefetch_ahead(const std::uint8_t* now, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(now) + 2 * kStep * kBlock;
  for (std::size_t line = 0; line < bytes; line += 64)
    hwy::Prefetch(reinterpret_cast<const std::uint8_t*>(address + line));
}

/// deep_code() and deep_word() of vectors.
class Codes {
 public:
  explicit Codes(const DeepSamples& form)
      : shift_(form.shift), most_(hn::Set(D16(), static_cast<std::uint16_t>(form.most))) {}

  HWY_INLINE V16 of(V16 words) const { return hn::And(hn::ShiftRightSame(words, shift_), most_); }
  HWY_INLINE V16 load(const std::uint8_t* at) const { return of(load_words(at)); }
  HWY_INLINE V16 words(V16 codes) const { return hn::ShiftLeftSame(codes, shift_); }

 private:
  int shift_;
  V16 most_;
};

/// Interleaves Cb and Cr from planes, half a vector of each, and back.
HWY_INLINE V16 load_pairs(const std::uint8_t* cb, const std::uint8_t* cr) {
  const auto wide = [](const std::uint8_t* at) HWY_ATTR {
    return hn::PromoteTo(D32(), hn::BitCast(DHalf16(), hn::LoadU(DHalf8(), at)));
  };
  return hn::BitCast(D16(), hn::Or(wide(cb), hn::ShiftLeft<16>(wide(cr))));
}
HWY_INLINE void store_pairs(V16 pairs, std::uint8_t* cb, std::uint8_t* cr) {
  const V32 lanes = hn::BitCast(D32(), pairs);
  const auto narrow = [](V32 x, std::uint8_t* at) HWY_ATTR {
    const auto words = hn::DemoteTo(DHalf16(), hn::BitCast(DI32(), x));
    hn::StoreU(hn::BitCast(DHalf8(), words), DHalf8(), at);
  };
  narrow(hn::And(lanes, hn::Set(D32(), 0xFFFFu)), cb);
  narrow(hn::ShiftRight<16>(lanes), cr);
}

/// Chroma codes of a vector of luma: pairs of Cb and Cr in `first`, or a vector of each.
template <DeepChroma kChroma>
struct ChromaCodes {
  static constexpr bool kShared = kChroma != DeepChroma::each;
  V16 first, second;

  HWY_INLINE void load(const Codes& codes, const YuvRowIn& in) {
    if constexpr (kChroma == DeepChroma::pairs) {
      second = first = codes.load(in.cb);
    } else if constexpr (kChroma == DeepChroma::shared) {
      second = first = codes.of(load_pairs(in.cb, in.cr));
    } else {
      first = codes.load(in.cb);
      second = codes.load(in.cr);
    }
  }
};

/// Row from column `at` on.
template <DeepChroma kChroma, typename Row>
HWY_INLINE Row advance(const Row& row, std::size_t at) {
  const std::size_t c = kChroma == DeepChroma::shared ? at : 2 * at;
  return {{row.luma[0] + 2 * at, row.luma[1] == nullptr ? nullptr : row.luma[1] + 2 * at},
          row.cb + c,
          row.cr + c};
}

/// Tail of a row, less than a vector, copied to whole vectors. The last luma sample is repeated,
/// which keeps the mean gain of the last chroma sample.
template <DeepChroma kChroma, std::size_t kRows>
class Tail {
 public:
  Tail(const YuvRowIn& in, std::size_t n)
      : luma_bytes_(2 * n), chroma_bytes_(kChroma == DeepChroma::each ? 2 * n : (n + 1) / 2 * 2) {
    for (std::size_t r = 0; r < kRows; ++r) {
      std::memcpy(luma_[r], in.luma[r], luma_bytes_);
      for (std::size_t i = luma_bytes_; i < kBytes; ++i)
        luma_[r][i] = luma_[r][i - 2];
    }
    if constexpr (kChroma == DeepChroma::pairs) {
      std::memcpy(cb_, in.cb, 2 * chroma_bytes_);
    } else {
      std::memcpy(cb_, in.cb, chroma_bytes_);
      std::memcpy(cr_, in.cr, chroma_bytes_);
    }
  }
  YuvRowIn in() const { return {{luma_[0], luma_[1]}, cb_, cr_}; }
  YuvRowOut out() { return {{luma_[0], luma_[1]}, cb_, cr_}; }
  void copy_to(const YuvRowOut& out) const {
    for (std::size_t r = 0; r < kRows; ++r)
      std::memcpy(out.luma[r], luma_[r], luma_bytes_);
    if constexpr (kChroma == DeepChroma::pairs) {
      std::memcpy(out.cb, cb_, 2 * chroma_bytes_);
    } else {
      std::memcpy(out.cb, cb_, chroma_bytes_);
      std::memcpy(out.cr, cr_, chroma_bytes_);
    }
  }

 private:
  alignas(64) std::uint8_t luma_[2][kBytes];
  alignas(64) std::uint8_t cb_[kBytes] = {};
  alignas(64) std::uint8_t cr_[kBytes] = {};
  std::size_t luma_bytes_;
  std::size_t chroma_bytes_;  // of Cb or Cr
};

}  // namespace HWY_NAMESPACE
}  // namespace equalux::deep_loops
HWY_AFTER_NAMESPACE();

#endif  // include guard
