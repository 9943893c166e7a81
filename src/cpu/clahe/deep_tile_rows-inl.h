// SIMD bodies of deep_tile_rows.h; included once for each target.
//
// Lane layout: a float vector of even columns and one of odd columns. Words become floats by shifts
// and masks in 32-bit lanes, so that no step permutes lanes and pixels that share a chroma sample
// are in the same lane.
#if defined(EQUALUX_DEEP_TILE_ROWS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUALUX_DEEP_TILE_ROWS_INL_H
#undef EQUALUX_DEEP_TILE_ROWS_INL_H
#else
#define EQUALUX_DEEP_TILE_ROWS_INL_H
#endif

#if !HWY_HAVE_FLOAT64 || HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

HWY_BEFORE_NAMESPACE();
namespace equalux::deep_tile_loops {
namespace HWY_NAMESPACE {

/// Plain C++ loops for targets whose quotients may not be rounded to nearest.
DeepTileRows target_deep_tile_rows() {
  return scalar_deep_tile_rows();
}

}  // namespace HWY_NAMESPACE
}  // namespace equalux::deep_tile_loops
HWY_AFTER_NAMESPACE();

#else

// Order matters: the second header uses the first.
// clang-format off
#include "src/cpu/equalize/deep/deep_vectors-inl.h"
#include "src/cpu/equalize/deep/deep_values-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace equalux::deep_tile_loops {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using namespace deep_loops::HWY_NAMESPACE;  // NOLINT(google-build-using-namespace): its vectors

using DS = hn::Repartition<float, D8>;
using VS = hn::Vec<DS>;

/// Vectors of a block, enough that no look-up waits for its recently stored index.
constexpr std::size_t kBlockVectors = kBlock / kWords;

/// 1.5 2^23: a sum with it in single precision is rounded to the nearest whole number, up to 2^22,
/// which stands in the low bits.
constexpr float kRounding = 12582912.0F;

/// Words less 2^15, signed.
HWY_INLINE VI16 centred(V16 words) {
  return hn::BitCast(DI16(), hn::Xor(words, hn::Set(D16(), std::uint16_t{0x8000})));
}
/// Low words of lanes of even and odd columns, in order.
HWY_INLINE V16 join_words(V32 even, V32 odd) {
  return hn::OddEven(hn::BitCast(D16(), hn::ShiftLeft<16>(odd)), hn::BitCast(D16(), even));
}

/// Float for each word of a vector.
struct Halves {
  VS even, odd;
};
/// Words as floats, which is exact.
HWY_INLINE Halves numbers_of(V16 words) {
  const V32 lanes = hn::BitCast(D32(), words);
  const auto number = [](V32 x) HWY_ATTR { return hn::ConvertTo(DS(), hn::BitCast(DI32(), x)); };
  return {number(hn::And(lanes, hn::Set(D32(), 0xFFFFu))), number(hn::ShiftRight<16>(lanes))};
}

/// Mixes levels of two rows of tiles by multiply-add of pairs of words, rounded half up. Words are
/// signed there, so that 2^15 is subtracted first and restored in the sum.
void mix(const DeepTileLevels& above, const DeepTileLevels& below, std::uint32_t of_below,
         DeepTileLevels& mixed) {
  const D16 d;
  const D32 d32;
  const auto weights =
      hn::BitCast(DI16(), hn::Set(d32, (deep_tiles::kFullWeight - of_below) | of_below << 16));
  // Restores what subtracting 2^15 from both levels took off the sum, and adds a half.
  const V32 more = hn::Set(d32, 32768 * deep_tiles::kFullWeight + deep_tiles::kFullWeight / 2);
  const auto sums = [&](V32 pairs) HWY_ATTR {
    const VI32 sum = sum_of_products(centred(hn::BitCast(d, pairs)), weights);
    return hn::ShiftRight<8>(hn::Add(hn::BitCast(d32, sum), more));
  };
  for (std::size_t i = 0; i < deep_tiles::kLevels; i += kWords) {
    const V32 a = hn::BitCast(d32, hn::Load(d, above.level + i));
    const V32 b = hn::BitCast(d32, hn::Load(d, below.level + i));
    const V32 even = sums(hn::Or(hn::And(a, hn::Set(d32, 0xFFFFu)), hn::ShiftLeft<16>(b)));
    const V32 odd = sums(hn::Or(hn::ShiftRight<16>(a), hn::And(b, hn::Set(d32, 0xFFFF0000u))));
    hn::Store(join_words(even, odd), d, mixed.level + i);
  }
}

/// Orders weights: for each vector those of even columns, then of odd ones; the left tile's is the
/// low word.
void order_weights(const std::uint16_t* of_right, std::size_t n, std::uint32_t* weights) {
  for (std::size_t i = 0; i < (n + kWords - 1) / kWords * kWords; ++i) {
    const std::size_t at = i % kWords;
    const std::size_t pixel = i - at + 2 * at % kWords + 2 * at / kWords;
    const std::uint32_t right = of_right[std::min(pixel, n - 1)];
    weights[i] = (deep_tiles::kFullWeight - right) | right << 16;
  }
}

/// Positions of the values of a block between coarse levels.
struct BlockPlaces {
  alignas(64) std::uint16_t v[2][kBlock];
  alignas(64) std::uint16_t level[2][kBlock];
  // For each vector those of even columns, then of odd ones.
  alignas(64) float beyond[2][kBlock];
};

/// Results for the values of a vector, and their gains.
struct Changes {
  Halves v, value, gain;
};

/// Results for values by the tiles left and right of a span.
class SpanValues {
 public:
  SpanValues(const deep_tiles::Form& form, const DeepTileSpan& span)
      : to_levels_(hn::Set(DS(), form.to_levels)), to_codes_(hn::Set(DS(), form.to_codes)) {
    const D16 d;
    for (std::size_t i = 0; i < deep_tiles::kLevels; i += kWords) {
      hn::StoreInterleaved2(hn::BitCast(d, centred(hn::Load(d, span.left.level + i))),
                            hn::BitCast(d, centred(hn::Load(d, span.right.level + i))), d,
                            reinterpret_cast<std::uint16_t*>(pairs_ + i));
    }
    pairs_[deep_tiles::kLevels] = pairs_[deep_tiles::kLevels - 1];
  }

  /// Stores the positions of a vector of values, for a row of the block.
  HWY_INLINE void keep(V16 v, std::size_t row, std::size_t at, BlockPlaces& block) const {
    const Halves values = numbers_of(v);
    const auto place = [&](VS value, float* beyond) HWY_ATTR {
      const VS number = hn::Mul(value, to_levels_);
      const VI32 level = hn::ConvertTo(DI32(), number);
      hn::Store(hn::Sub(number, hn::ConvertTo(DS(), level)), DS(), beyond);
      return hn::BitCast(D32(), level);
    };
    const V32 even = place(values.even, block.beyond[row] + at);
    const V32 odd = place(values.odd, block.beyond[row] + at + kWords / 2);
    hn::Store(v, D16(), block.v[row] + at);
    hn::Store(join_words(even, odd), D16(), block.level[row] + at);
  }

  HWY_INLINE Changes changes(const BlockPlaces& block, std::size_t row, std::size_t at,
                             const std::uint32_t* weights) const {
    constexpr std::size_t kHalf = kWords / 2;
    const Halves v = numbers_of(hn::Load(D16(), block.v[row] + at));
    const std::uint16_t* level = block.level[row] + at;
    const float* beyond = block.beyond[row] + at;
    const VS even = value(level, beyond, weights);
    const VS odd = value(level + 1, beyond + kHalf, weights + kHalf);
    return {v, {even, odd}, {gain(even, v.even), gain(odd, v.odd)}};
  }

 private:
  /// deep_tiles::value_of() of every second column, from the first one's level on.
  HWY_INLINE VS value(const std::uint16_t* level, const float* beyond,
                      const std::uint32_t* weights) const {
    const V32 weight = hn::LoadU(D32(), weights);
    const auto mixed = [&](const std::uint16_t* at, V32 w) HWY_ATTR {
      return hn::BitCast(D64(), sum_of_products(look_up(at), hn::BitCast(DI16(), w)));
    };
    // Mix at a level in the low half of each 64-bit lane, at the next level in the high half.
    const V64 first = mixed(level, hn::DupEven(weight));
    const V64 second = mixed(level + 2, hn::DupOdd(weight));
    const VI32 here =
        hn::OddEven(hn::BitCast(DI32(), hn::ShiftLeft<32>(second)), hn::BitCast(DI32(), first));
    const VI32 next =
        hn::OddEven(hn::BitCast(DI32(), second), hn::BitCast(DI32(), hn::ShiftRight<32>(first)));
    const DS d;
    // Levels are less 2^15 each.
    const VS centre = hn::Set(d, 32768.0F * deep_tiles::kFullWeight);
    const VS more = hn::ConvertTo(d, hn::Sub(next, here));
    return hn::Mul(
        hn::Add(hn::Add(hn::ConvertTo(d, here), centre), hn::Mul(hn::Load(d, beyond), more)),
        to_codes_);
  }

  /// Pairs at levels[0], levels[4], levels[8] ... and at the next levels, in one load each.
  HWY_INLINE VI16 look_up(const std::uint16_t* levels) const {
    const auto at = [&](std::size_t i) HWY_ATTR {
      std::int64_t pairs;
      std::memcpy(&pairs, pairs_ + levels[4 * i], sizeof pairs);
      return pairs;
    };
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
    return VI16{_mm512_set_epi64(at(7), at(6), at(5), at(4), at(3), at(2), at(1), at(0))};
#elif HWY_TARGET == HWY_AVX2
    return VI16{_mm256_set_epi64x(at(3), at(2), at(1), at(0))};
#elif HWY_ARCH_X86
    return VI16{_mm_set_epi64x(at(1), at(0))};
#else
    alignas(64) std::int64_t lanes[kWords / 4];
    for (std::size_t i = 0; i < kWords / 4; ++i)
      lanes[i] = at(i);
    return hn::BitCast(DI16(), hn::Load(hn::Repartition<std::int64_t, D8>(), lanes));
#endif
  }

  static HWY_INLINE VS gain(VS value, VS v) {
    const DS d;
    const VS one = hn::Set(d, 1.0F);
    return hn::IfThenElse(hn::Eq(v, hn::Zero(d)), one, hn::Mul(value, hn::Div(one, v)));
  }

  VS to_levels_, to_codes_;
  alignas(64) std::uint32_t pairs_[deep_tiles::kLevels + 16];
};

/// deep_tiles::scaled() of a vector of codes; `black` is the code of 0.
HWY_INLINE V16 scale_codes(V16 codes, VS black, const Changes& by) {
  const Halves c = numbers_of(codes);
  // The sum ends in the code, with that of black added.
  const VS rounding = hn::Add(hn::Set(DS(), kRounding), black);
  const auto scaled = [&](VS code, VS of, VS value, VS gain) HWY_ATTR {
    const VS from_v = hn::Sub(hn::Sub(code, black), of);
    const VS exact = hn::Add(value, hn::Mul(from_v, gain));
    return hn::BitCast(D32(), hn::Add(exact, rounding));
  };
  return join_words(scaled(c.even, by.v.even, by.value.even, by.gain.even),
                    scaled(c.odd, by.v.odd, by.value.odd, by.gain.odd));
}

/// Calls keep(i, at) for every vector of a block, then apply(i, at); `at` is the vector's first
/// column in the block.
template <typename Keep, typename Apply>
HWY_INLINE void in_tile_blocks(std::size_t n, const Keep& keep, const Apply& apply) {
  const std::size_t vectors = (n + kWords - 1) / kWords;
  for (std::size_t first = 0; first < vectors; first += kBlockVectors) {
    const std::size_t end = std::min(first + kBlockVectors, vectors);
    for (std::size_t i = first; i < end; ++i)
      keep(i, (i - first) * kWords);
    for (std::size_t i = first; i < end; ++i)
      apply(i, (i - first) * kWords);
  }
}

/// Vector of gray or packed pixels, in planes of words.
template <std::size_t kPlanes>
struct PixelPlanes {
  V16 plane[kPlanes];

  HWY_INLINE void load(const Codes& codes, const std::uint8_t* from) {
    const D16 d;
    const auto* words = reinterpret_cast<const std::uint16_t*>(from);
    if constexpr (kPlanes == 1) {
      plane[0] = codes.load(from);
    } else if constexpr (kPlanes == 3) {
      hn::LoadInterleaved3(d, words, plane[0], plane[1], plane[2]);
    } else {
      hn::LoadInterleaved4(d, words, plane[0], plane[1], plane[2], plane[3]);
    }
  }
  HWY_INLINE void store(const Codes& codes, std::uint8_t* to) const {
    const D16 d;
    auto* words = reinterpret_cast<std::uint16_t*>(to);
    if constexpr (kPlanes == 1) {
      store_words<Stores::cached>(codes.words(plane[0]), to);
    } else if constexpr (kPlanes == 3) {
      hn::StoreInterleaved3(plane[0], plane[1], plane[2], d, words);
    } else {
      hn::StoreInterleaved4(plane[0], plane[1], plane[2], plane[3], d, words);
    }
  }
  /// Largest colour; `first` is the plane of the first colour.
  HWY_INLINE V16 most(std::size_t first) const {
    if constexpr (kPlanes == 1) {
      return plane[0];
    } else {
      const V16 outer = kPlanes == 4 && first == 1 ? plane[kPlanes - 1] : plane[0];
      return hn::Max(hn::Max(plane[1], plane[2]), outer);
    }
  }
};

/// Vectors of a row of pixels; the tail is a copy.
template <std::size_t kPlanes>
class PixelRow {
 public:
  PixelRow(const std::uint8_t* in, std::size_t n)
      : in_(in), whole_(n / kWords), rest_bytes_(2 * kPlanes * (n % kWords)) {
    std::memset(rest_, 0, sizeof rest_);
    std::memcpy(rest_, in + whole_ * kStep, rest_bytes_);
  }
  HWY_INLINE const std::uint8_t* at(std::size_t i) const {
    return i < whole_ ? in_ + i * kStep : rest_;
  }
  HWY_INLINE std::uint8_t* target(std::size_t i, std::uint8_t* out) {
    return i < whole_ ? out + i * kStep : rest_;
  }
  void finish(std::uint8_t* out) const { std::memcpy(out + whole_ * kStep, rest_, rest_bytes_); }

 private:
  static constexpr std::size_t kStep = kPlanes * kBytes;
  const std::uint8_t* in_;
  std::size_t whole_;
  std::size_t rest_bytes_;
  alignas(64) std::uint8_t rest_[kStep];
};

/// Calls use(planes) with the words of a pixel as a compile-time constant.
template <typename Use>
HWY_INLINE void with_planes(const RgbLayout& pixel, const Use& use) {
  with_constant<std::size_t{1}, std::size_t{3}, std::size_t{4}>(
      static_cast<std::size_t>(pixel.step / 2), use);
}

/// Stores levels that fit in a byte.
HWY_INLINE void store_bytes(V16 levels, std::uint8_t* to) {
  const hn::Rebind<std::uint8_t, D16> d;
  hn::StoreU(hn::DemoteTo(d, hn::BitCast(DI16(), levels)), d, to);
}

/// Coarse level of each pixel: its v shifted to 8 bits.
void coarse_pixels(const DeepSamples& form, const RgbLayout& pixel, const std::uint8_t* in,
                   std::size_t n, std::uint8_t* levels) {
  const Codes codes(form);
  const auto first = static_cast<std::size_t>(pixel.first() / 2);
  with_planes(pixel, [&](auto planes) HWY_ATTR {
    PixelRow<planes()> row(in, n);
    const auto level = [&](std::size_t i) HWY_ATTR {
      PixelPlanes<planes()> pixels;
      pixels.load(codes, row.at(i));
      return hn::ShiftRightSame(pixels.most(first), form.depth - 8);
    };
    const std::size_t whole = n / kWords;
    for (std::size_t i = 0; i < whole; ++i)
      store_bytes(level(i), levels + i * kWords);
    if (whole * kWords == n) return;
    alignas(64) std::uint8_t rest[kWords];
    store_bytes(level(whole), rest);
    std::memcpy(levels + whole * kWords, rest, n - whole * kWords);
  });
}

/// Calls use(layout of chroma, rows of luma), both as compile-time constants. Only shared chroma
/// has two rows.
template <typename Use>
HWY_INLINE void with_tile_form(DeepChroma chroma_form, int row_count, const Use& use) {
  with_constant<DeepChroma::pairs, DeepChroma::shared, DeepChroma::each>(
      chroma_form, [&](auto chroma) HWY_ATTR {
        if constexpr (chroma() == DeepChroma::each) {
          use(chroma, std::integral_constant<int, 1>());
        } else {
          with_constant<1, 2>(row_count, [&](auto rows) HWY_ATTR { use(chroma, rows); });
        }
      });
}

/// V less luma of a vector of columns.
template <DeepChroma kChroma>
HWY_INLINE V16 above_luma(const YuvValues& values, const YuvRowIn& in) {
  ChromaCodes<kChroma> chroma;
  chroma.load(values.codes, in);
  return values.above(chroma);
}

/// Coarse level of each luma sample: its v shifted to 8 bits; the tail is a copy.
template <DeepChroma kChroma, std::size_t kRows>
void coarse_yuv_rows(const DeepSamples& form, const YuvRowIn& in, std::size_t n,
                     std::uint8_t* const levels[2]) {
  const YuvValues values(form);
  const auto keep = [&](const YuvRowIn& from, std::uint8_t* first, std::uint8_t* second) HWY_ATTR {
    const V16 above = above_luma<kChroma>(values, from);
    for (std::size_t r = 0; r < kRows; ++r) {
      const V16 v = values.of(values.codes.load(from.luma[r]), above);
      store_bytes(hn::ShiftRightSame(v, form.depth - 8), r == 0 ? first : second);
    }
  };
  std::size_t at = 0;
  for (; at + kWords <= n; at += kWords)
    keep(advance<kChroma>(in, at), levels[0] + at, kRows == 2 ? levels[1] + at : nullptr);
  if (at == n) return;
  const Tail<kChroma, kRows> tail(advance<kChroma>(in, at), n - at);
  alignas(64) std::uint8_t rest[2][kWords];
  keep(tail.in(), rest[0], rest[1]);
  for (std::size_t r = 0; r < kRows; ++r)
    std::memcpy(levels[r] + at, rest[r], n - at);
}

void coarse_yuv(const DeepYuvForm& form, const YuvRowIn& in, std::size_t n,
                std::uint8_t* const levels[2]) {
  with_tile_form(form.chroma, form.rows, [&](auto chroma, auto rows) {
    coarse_yuv_rows<chroma(), rows()>(form.samples, in, n, levels);
  });
}

/// Scales pixels in blocks: positions of all values first, then look-ups, so that no load waits for
/// a recent store.
void apply_pixels(const deep_tiles::Form& form, const RgbLayout& pixel, const DeepTileSpan& span,
                  const std::uint8_t* in, std::size_t n, std::uint8_t* out) {
  const Codes codes(form.samples);
  const SpanValues values(form, span);
  const auto first = static_cast<std::size_t>(pixel.first() / 2);
  with_planes(pixel, [&](auto planes) HWY_ATTR {
    PixelRow<planes()> row(in, n);
    BlockPlaces block;
    in_tile_blocks(
        n,
        [&](std::size_t i, std::size_t at) HWY_ATTR {
          PixelPlanes<planes()> pixels;
          pixels.load(codes, row.at(i));
          values.keep(pixels.most(first), 0, at, block);
        },
        [&](std::size_t i, std::size_t at) HWY_ATTR {
          const Changes changes = values.changes(block, 0, at, span.weights + i * kWords);
          PixelPlanes<planes()> pixels;
          pixels.load(codes, row.at(i));
          for (std::size_t p = 0; p < planes(); ++p) {
            const bool copied = planes() == 4 && p == (first == 0 ? 3 : 0);
            if (!copied) pixels.plane[p] = scale_codes(pixels.plane[p], hn::Zero(DS()), changes);
          }
          pixels.store(codes, row.target(i, out));
        });
    row.finish(out);
  });
}

/// deep_tiles::scaled_chroma() of vectors, by mean gains.
class ScaledChroma {
 public:
  explicit ScaledChroma(const DeepSamples& form)
      : middle_(hn::Set(DS(), static_cast<float>(form.chroma_middle))),
        base_(hn::Set(DS(), kRounding + static_cast<float>(form.chroma_middle))),
        least_(hn::Set(DS(), kRounding)),
        most_(hn::Set(DS(), kRounding + static_cast<float>(form.most))) {}

  HWY_INLINE V16 operator()(V16 codes, VS even_mean, VS odd_mean) const {
    const Halves c = numbers_of(codes);
    const auto scaled = [&](VS code, VS mean) HWY_ATTR {
      // The middle is even, so that adding it does not change how halves are rounded.
      const VS rounded = hn::Add(hn::Mul(hn::Sub(code, middle_), mean), base_);
      return hn::BitCast(D32(), hn::Min(hn::Max(rounded, least_), most_));
    };
    return join_words(scaled(c.even, even_mean), scaled(c.odd, odd_mean));
  }

 private:
  VS middle_, base_, least_, most_;
};

/// Scaler of the columns of a span: luma by the gain of its v, chroma by the mean gain of the luma
/// that it covers.
template <DeepChroma kChroma, std::size_t kRows>
class YuvTiles {
 public:
  YuvTiles(const deep_tiles::Form& form, const DeepTileSpan& span)
      : values_(form.samples),
        tiles_(form, span),
        chroma_(form.samples),
        black_(hn::Set(DS(), static_cast<float>(form.samples.weights.luma_offset))) {}

  HWY_INLINE void keep(const YuvRowIn& in, std::size_t at, BlockPlaces& block) const {
    const V16 above = above_luma<kChroma>(values_, in);
    for (std::size_t r = 0; r < kRows; ++r)
      tiles_.keep(values_.of_kept(values_.codes.load(in.luma[r]), above), r, at, block);
  }

  HWY_INLINE void apply(const YuvRowIn& in, const BlockPlaces& block, std::size_t at,
                        const std::uint32_t* weights, const YuvRowOut& out) const {
    ChromaCodes<kChroma> chroma;
    chroma.load(values_.codes, in);
    V16 luma[kRows];
    Halves sum;
    for (std::size_t r = 0; r < kRows; ++r) {
      const Changes changes = tiles_.changes(block, r, at, weights);
      // Luma below black has v = 0 and gain 1, and stays.
      luma[r] = scale_codes(values_.codes.load(in.luma[r]), black_, changes);
      sum.even = r == 0 ? changes.gain.even : hn::Add(sum.even, changes.gain.even);
      sum.odd = r == 0 ? changes.gain.odd : hn::Add(sum.odd, changes.gain.odd);
    }
    if constexpr (ChromaCodes<kChroma>::kShared) {
      const VS mean = hn::Mul(hn::Add(sum.even, sum.odd), hn::Set(DS(), 0.5F / kRows));
      chroma.first = chroma_(chroma.first, mean, mean);
    } else {
      chroma.first = chroma_(chroma.first, sum.even, sum.odd);
      chroma.second = chroma_(chroma.second, sum.even, sum.odd);
    }
    const Codes& codes = values_.codes;
    for (std::size_t r = 0; r < kRows; ++r)
      store_words<Stores::cached>(codes.words(luma[r]), out.luma[r]);
    if constexpr (kChroma == DeepChroma::pairs) {
      store_words<Stores::cached>(codes.words(chroma.first), out.cb);
    } else if constexpr (kChroma == DeepChroma::shared) {
      store_pairs(codes.words(chroma.first), out.cb, out.cr);
    } else {
      store_words<Stores::cached>(codes.words(chroma.first), out.cb);
      store_words<Stores::cached>(codes.words(chroma.second), out.cr);
    }
  }

 private:
  YuvValues values_;
  SpanValues tiles_;
  ScaledChroma chroma_;
  VS black_;
};

/// Scales columns in blocks, as apply_pixels(); the tail is a copy.
template <DeepChroma kChroma, std::size_t kRows>
void apply_yuv_rows(const deep_tiles::Form& form, const DeepTileSpan& span, const YuvRowIn& in,
                    std::size_t n, const YuvRowOut& out) {
  const YuvTiles<kChroma, kRows> tiles(form, span);
  const std::size_t whole = n / kWords;
  const std::size_t rest = n % kWords;
  const std::size_t last = rest != 0 ? whole * kWords : 0;
  Tail<kChroma, kRows> tail(advance<kChroma>(in, last), rest != 0 ? rest : std::min(n, kWords));
  const auto source = [&](std::size_t i) HWY_ATTR {
    return i < whole ? advance<kChroma>(in, i * kWords) : tail.in();
  };
  BlockPlaces block;
  in_tile_blocks(
      n, [&](std::size_t i, std::size_t at) HWY_ATTR { tiles.keep(source(i), at, block); },
      [&](std::size_t i, std::size_t at) HWY_ATTR {
        tiles.apply(source(i), block, at, span.weights + i * kWords,
                    i < whole ? advance<kChroma>(out, i * kWords) : tail.out());
      });
  if (rest != 0) tail.copy_to(advance<kChroma>(out, last));
}

void apply_yuv(const deep_tiles::Form& form, DeepChroma chroma_form, int row_count,
               const DeepTileSpan& span, const YuvRowIn& in, std::size_t n, const YuvRowOut& out) {
  with_tile_form(chroma_form, row_count, [&](auto chroma, auto rows) {
    apply_yuv_rows<chroma(), rows()>(form, span, in, n, out);
  });
}

DeepTileRows target_deep_tile_rows() {
  return {hwy::TargetName(HWY_TARGET),
          coarse_pixels,
          coarse_yuv,
          mix,
          order_weights,
          apply_pixels,
          apply_yuv};
}

}  // namespace HWY_NAMESPACE
}  // namespace equalux::deep_tile_loops
HWY_AFTER_NAMESPACE();

#endif  // vectors
#endif  // include guard
