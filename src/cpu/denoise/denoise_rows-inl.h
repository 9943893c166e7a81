// SIMD bodies of denoise_rows.h; included once for each target. The arithmetic is that of
// denoise_math.h, operation by operation, in lanes of 16 bits.
#if defined(EQUALUX_DENOISE_ROWS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUALUX_DENOISE_ROWS_INL_H
#undef EQUALUX_DENOISE_ROWS_INL_H
#else
#define EQUALUX_DENOISE_ROWS_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace equalux::denoise {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

/// Plain C++ loops for targets without vectors.
DenoiseRows target_denoise_rows() {
  return scalar_denoise_rows();
}

#else

using D = hn::ScalableTag<std::int16_t>;
using DU = hn::RebindToUnsigned<D>;
using DAll = hn::Repartition<std::uint8_t, D>;
/// Vectors of as many bytes as there are lanes of 16 bits.
using DB = hn::Rebind<std::uint8_t, D>;
using DS = hn::Rebind<std::int8_t, D>;
using V = hn::Vec<D>;
using VAll = hn::Vec<DAll>;
using DAllSigned = hn::Repartition<std::int8_t, D>;
using VAllSigned = hn::Vec<DAllSigned>;

constexpr std::size_t kLanes = hn::MaxLanes(D());
constexpr std::size_t kBytes = 2 * kLanes;

HWY_INLINE V set(int x) {
  return hn::Set(D(), static_cast<std::int16_t>(x));
}

HWY_INLINE V clamped(V x, int least, int most) {
  return hn::Min(hn::Max(x, set(least)), set(most));
}

HWY_INLINE V load_bytes(const std::uint8_t* from) {
  return hn::PromoteTo(D(), hn::LoadU(DB(), from));
}

/// Two vectors as bytes, saturating, one after the other.
HWY_INLINE VAll bytes_in_order(V first, V second) {
#if HWY_TARGET == HWY_AVX2
  return VAll{_mm256_permute4x64_epi64(_mm256_packus_epi16(first.raw, second.raw), 0xD8)};
#else
  return hn::Combine(DAll(), hn::DemoteTo(DB(), second), hn::DemoteTo(DB(), first));
#endif
}
/// bytes_in_order() of signed bytes.
HWY_INLINE VAllSigned signed_bytes_in_order(V first, V second) {
#if HWY_TARGET == HWY_AVX2
  return VAllSigned{_mm256_permute4x64_epi64(_mm256_packs_epi16(first.raw, second.raw), 0xD8)};
#else
  return hn::Combine(DAllSigned(), hn::DemoteTo(DS(), second), hn::DemoteTo(DS(), first));
#endif
}
/// Two vectors as bytes, saturating, in the order that InterleaveLower() and InterleaveUpper()
/// undo; saves the permute of bytes_in_order().
HWY_INLINE VAll bytes_of_two(V first, V second) {
#if HWY_TARGET == HWY_AVX2
  return VAll{_mm256_packus_epi16(first.raw, second.raw)};
#elif HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  return VAll{_mm512_packus_epi16(first.raw, second.raw)};
#else
  return bytes_in_order(first, second);
#endif
}
/// Inverse of bytes_in_order().
HWY_INLINE void numbers_of(VAll bytes, V (&numbers)[2]) {
  numbers[0] = hn::PromoteTo(D(), hn::LowerHalf(DB(), bytes));
  numbers[1] = hn::PromoteTo(D(), hn::UpperHalf(DB(), bytes));
}

/// Look-up of a table of kWeights bytes by weights.
class WeightTable {
 public:
  /// fraction() of the entries for two vectors of weights.
  HWY_INLINE void look_up(VAll weight, V (&fractions)[2]) const {
    numbers_of(entries_of(weight), fractions);
    for (V& each : fractions)
      each = hn::ShiftLeft<7>(each);
  }

#if EQUALUX_VBMI
  explicit WeightTable(const std::uint8_t* table)
      : entries_{
            _mm512_broadcast_i64x4(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(table)))} {
    static_assert(kWeights == 32);
  }

 private:
  HWY_INLINE VAll entries_of(VAll weight) const {
    return VAll{_mm512_permutexvar_epi8(weight.raw, entries_.raw)};
  }
  VAll entries_;
#else
  explicit WeightTable(const std::uint8_t* table)
      : low_(hn::LoadDup128(DAll(), table)), high_(hn::LoadDup128(DAll(), table + 16)) {}

 private:
  HWY_INLINE VAll entries_of(VAll weight) const {
    // The shuffle gives 0 for negative indices, which exactly one of the two halves has.
    const VAll high = hn::Sub(weight, hn::Set(DAll(), 16));
    const VAll low = hn::Xor(high, hn::Set(DAll(), 0xF0));
    return hn::Or(hn::TableLookupBytesOr0(low_, low), hn::TableLookupBytesOr0(high_, high));
  }
  VAll low_;
  VAll high_;
#endif
};

/// Look-up of LevelCurve::at().
class Curve {
 public:
  explicit Curve(const LevelCurve& curve) : knots_(curve.knot), rises_(curve.rise) {}

  /// Values at the estimates in two vectors.
  HWY_INLINE void at(const V (&estimate)[2], V (&result)[2]) const {
    V knot[2];
    V rise[2];
    const V segment[2] = {hn::ShiftRight<kKnotShift>(estimate[0]),
                          hn::ShiftRight<kKnotShift>(estimate[1])};
    look_up(segment, knot, rise);
    for (int k = 0; k < 2; ++k) {
      const V part = hn::And(hn::ShiftLeft<7 - (kKnotShift - 8)>(estimate[k]), set(255 << 7));
      result[k] = hn::Add(knot[k], hn::MulFixedPoint15(rise[k], part));
    }
  }

 private:
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  HWY_INLINE void look_up(const V (&segment)[2], V (&knot)[2], V (&rise)[2]) const {
    for (int k = 0; k < 2; ++k) {
      knot[k] = knots_.at(segment[k]);
      rise[k] = rises_.at(segment[k]);
    }
  }
  /// Table of kSegments entries, repeated to fill a vector.
  class Table {
   public:
    explicit Table(const std::int16_t (&entries)[kSegments])
        : entries_{_mm512_broadcast_i64x4(
              _mm256_loadu_si256(reinterpret_cast<const __m256i*>(entries)))} {}
    HWY_INLINE V at(V index) const { return V{_mm512_permutexvar_epi16(index.raw, entries_.raw)}; }

   private:
    V entries_;
  };
#else
  HWY_INLINE void look_up(const V (&segment)[2], V (&knot)[2], V (&rise)[2]) const {
    const VAll index = bytes_of_two(segment[0], segment[1]);
    knots_.at(index, knot);
    rises_.at(index, rise);
  }
  /// Table of 16-bit entries, split into bytes.
  class Table {
   public:
    explicit Table(const std::int16_t* entries) {
      HWY_ALIGN std::uint8_t lower[kSegments];
      HWY_ALIGN std::uint8_t upper[kSegments];
      for (int i = 0; i < kSegments; ++i) {
        lower[i] = static_cast<std::uint8_t>(entries[i] & 255);
        upper[i] = static_cast<std::uint8_t>((entries[i] >> 8) & 255);
      }
      lower_ = hn::LoadDup128(DAll(), lower);
      upper_ = hn::LoadDup128(DAll(), upper);
    }
    /// Entries for two vectors; bytes_of_two() made the index of both.
    HWY_INLINE void at(VAll index, V (&entries)[2]) const {
      const VAll lower = hn::TableLookupBytes(lower_, index);
      const VAll upper = hn::TableLookupBytes(upper_, index);
      entries[0] = hn::BitCast(D(), hn::InterleaveLower(DAll(), lower, upper));
      entries[1] = hn::BitCast(D(), hn::InterleaveUpper(DAll(), lower, upper));
    }

   private:
    VAll lower_;
    VAll upper_;
  };
#endif
  Table knots_;
  Table rises_;
};

/// Calls step(i) for whole vectors, as long as all bytes read lie before the last sample, since
/// loads of interleaved samples read more. The plain loops do the tail. Returns the number of
/// samples done.
template <typename Step>
HWY_INLINE std::size_t for_whole_vectors(std::size_t n, std::size_t lanes, Step step) {
  std::size_t i = 0;
  for (; i + lanes < n; i += lanes)
    step(i);
  return i;
}

/// Calls step(i) for whole vectors of adjacent samples. The last one overlaps the one before to end
/// with the row; rows shorter than a vector are left. Returns the number of samples done.
template <typename Step>
HWY_INLINE std::size_t for_overlapping_vectors(std::size_t n, Step step) {
  if (n < kLanes) return 0;
  for (std::size_t i = 0; i < n - kLanes; i += kLanes)
    step(i);
  step(n - kLanes);
  return n;
}

/// Samples to 14 bits: a shift after a mask, a deinterleaving load or a shift that aligns words.
void load(const std::uint8_t* in, int step, int depth, int shift, std::size_t n,
          std::int16_t* out) {
  const DU du;
  std::size_t done = 0;
  if (depth == 8 && step == 1) {
    done = for_overlapping_vectors(n, [&](std::size_t i) HWY_ATTR {
      hn::StoreU(hn::ShiftLeft<kSampleBits - 8>(load_bytes(in + i)), D(), out + i);
    });
  } else if (depth == 8 && step == 2) {
    done = for_whole_vectors(n, kLanes, [&](std::size_t i) {
      const auto pairs = hn::BitCast(du, hn::LoadU(DAll(), in + 2 * i));
      const auto bytes = hn::And(pairs, hn::Set(du, 255));
      hn::StoreU(hn::BitCast(D(), hn::ShiftLeft<kSampleBits - 8>(bytes)), D(), out + i);
    });
  } else if (depth == 8) {
    done = for_whole_vectors(n, kBytes, [&](std::size_t i) {
      hn::Vec<DAll> first;
      hn::Vec<DAll> rest[3];
      if (step == 3) {
        hn::LoadInterleaved3(DAll(), in + 3 * i, first, rest[0], rest[1]);
      } else {
        hn::LoadInterleaved4(DAll(), in + 4 * i, first, rest[0], rest[1], rest[2]);
      }
      V numbers[2];
      numbers_of(first, numbers);
      hn::StoreU(hn::ShiftLeft<kSampleBits - 8>(numbers[0]), D(), out + i);
      hn::StoreU(hn::ShiftLeft<kSampleBits - 8>(numbers[1]), D(), out + i + kLanes);
    });
  } else if (step == 2) {
    const auto most = hn::Set(du, static_cast<std::uint16_t>((1 << depth) - 1));
    done = for_whole_vectors(n, kLanes, [&](std::size_t i) {
      const auto words = hn::BitCast(du, hn::LoadU(DAll(), in + 2 * i));
      const auto codes = hn::Min(hn::ShiftRightSame(words, shift), most);
      hn::StoreU(hn::BitCast(D(), hn::ShiftLeftSame(codes, kSampleBits - depth)), D(), out + i);
    });
  }
  if (done == n) return;
  scalar_denoise_rows().load(in + done * static_cast<std::size_t>(step), step, depth, shift,
                             n - done, out + done);
}

/// 14 bits back to samples, rounded half up. Interleaved samples of other components are read and
/// written back.
void store(const std::int16_t* in, int step, int depth, int shift, std::size_t n,
           std::uint8_t* out) {
  const DU du;
  const int up = kSampleBits - depth;
  const V half = set((1 << up) / 2);
  const auto codes = [&](std::size_t i) {
    const V sum = hn::Add(hn::LoadU(D(), in + i), half);
    return hn::Min(hn::BitCast(du, hn::ShiftRightSame(sum, up)),
                   hn::Set(du, static_cast<std::uint16_t>((1 << depth) - 1)));
  };
  const auto code_bytes = [&](std::size_t i) {
    return hn::DemoteTo(DB(), hn::BitCast(D(), codes(i)));
  };
  const auto all_code_bytes = [&](std::size_t i) {
    return hn::Combine(DAll(), code_bytes(i + kLanes), code_bytes(i));
  };
  const auto words = [&](std::size_t i) { return hn::ShiftLeftSame(codes(i), shift); };
  const auto store_words = [&](auto x, std::uint8_t* to) {
    hn::StoreU(hn::BitCast(DAll(), x), DAll(), to);
  };
  std::size_t done = 0;
  if (depth == 8 && step == 1) {
    done = for_overlapping_vectors(
        n, [&](std::size_t i) HWY_ATTR { hn::StoreU(code_bytes(i), DB(), out + i); });
  } else if (depth == 8 && step == 2) {
    // The high byte, the other chroma sample or luma, is written back.
    done = for_whole_vectors(n, kLanes, [&](std::size_t i) {
      const auto others =
          hn::AndNot(hn::Set(du, 255), hn::BitCast(du, hn::LoadU(DAll(), out + 2 * i)));
      hn::StoreU(hn::BitCast(DAll(), hn::Or(others, codes(i))), DAll(), out + 2 * i);
    });
  } else if (depth == 8) {
    done = for_whole_vectors(n, kBytes, [&](std::size_t i) {
      hn::Vec<DAll> first;
      hn::Vec<DAll> rest[3];
      const hn::Vec<DAll> codes = all_code_bytes(i);
      if (step == 3) {
        hn::LoadInterleaved3(DAll(), out + 3 * i, first, rest[0], rest[1]);
        hn::StoreInterleaved3(codes, rest[0], rest[1], DAll(), out + 3 * i);
      } else {
        hn::LoadInterleaved4(DAll(), out + 4 * i, first, rest[0], rest[1], rest[2]);
        hn::StoreInterleaved4(codes, rest[0], rest[1], rest[2], DAll(), out + 4 * i);
      }
    });
  } else if (step == 2) {
    done = for_whole_vectors(n, kLanes, [&](std::size_t i) { store_words(words(i), out + 2 * i); });
  } else if (step == 4) {
    // The high half, the other chroma sample, is written back.
    const hn::RepartitionToWide<DU> pairs;
    done = for_whole_vectors(n, kLanes, [&](std::size_t i) {
      const auto join = [&](auto half, std::uint8_t* to) {
        const auto others =
            hn::AndNot(hn::Set(pairs, 0xFFFF), hn::BitCast(pairs, hn::LoadU(DAll(), to)));
        hn::StoreU(hn::BitCast(DAll(), hn::Or(others, hn::PromoteTo(pairs, half))), DAll(), to);
      };
      const auto all = words(i);
      const hn::Half<DU> half;
      join(hn::LowerHalf(half, all), out + 4 * i);
      join(hn::UpperHalf(half, all), out + 4 * i + 2 * kLanes);
    });
  } else {
    auto* const pixels = reinterpret_cast<std::uint16_t*>(out);
    done = for_whole_vectors(n, kLanes, [&](std::size_t i) {
      hn::Vec<DU> first;
      hn::Vec<DU> rest[3];
      if (step == 6) {
        hn::LoadInterleaved3(du, pixels + 3 * i, first, rest[0], rest[1]);
        hn::StoreInterleaved3(words(i), rest[0], rest[1], du, pixels + 3 * i);
      } else {
        hn::LoadInterleaved4(du, pixels + 4 * i, first, rest[0], rest[1], rest[2]);
        hn::StoreInterleaved4(words(i), rest[0], rest[1], rest[2], du, pixels + 4 * i);
      }
    });
  }
  if (done == n) return;
  scalar_denoise_rows().store(in + done, step, depth, shift, n - done,
                              out + done * static_cast<std::size_t>(step));
}

/// Sum over lanes of products of 16-bit numbers, in 32 bits: multiply-add of pairs (pmaddwd).
template <typename Tag>
class ProductSum {
 public:
  HWY_INLINE ProductSum() : sum_(hn::Zero(Wide())), more_(sum_) {}

  HWY_INLINE void add(hn::Vec<Tag> a, hn::Vec<Tag> b) {
    sum_ = hn::ReorderWidenMulAccumulate(Wide(), a, b, sum_, more_);
  }
  HWY_INLINE void add(hn::Vec<Tag> numbers) { add(numbers, hn::Set(Tag(), 1)); }
  [[nodiscard]] HWY_INLINE int total() const {
    return hn::GetLane(hn::SumOfLanes(Wide(), hn::Add(sum_, more_)));
  }

 private:
  using Wide = hn::RepartitionToWide<Tag>;
  hn::Vec<Wide> sum_;
  hn::Vec<Wide> more_;  // second accumulator, which Highway uses on some targets
};

/// One row of the block in a vector: second differences along x by three unaligned loads, then
/// along y in lanes of 32 bits.
NoiseBlock noise_block(const std::int16_t* first, std::ptrdiff_t stride) {
  static_assert(kNoiseBlock == 8);
  const hn::CappedTag<std::int16_t, kNoiseBlock> d;
  const hn::RepartitionToWide<decltype(d)> d32;
  const hn::Half<decltype(d)> half;
  if constexpr (hn::MaxLanes(d) < kNoiseBlock) {
    return scalar_denoise_rows().noise_block(first, stride);
  } else {
    ProductSum<decltype(d)> levels;
    // Second differences along rows fit in 16 bits, those in both directions need 32.
    hn::Vec<decltype(d32)> left[kNoiseBlock];
    hn::Vec<decltype(d32)> right[kNoiseBlock];
    for (int y = 0; y < kNoiseBlock; ++y) {
      const std::int16_t* const row = first + y * stride;
      const auto here = hn::LoadU(d, row);
      const auto middle = hn::LoadU(d, row + 1);
      const auto second = hn::Add(hn::Sub(here, middle), hn::Sub(hn::LoadU(d, row + 2), middle));
      levels.add(here);
      left[y] = hn::PromoteTo(d32, hn::LowerHalf(half, second));
      right[y] = hn::PromoteTo(d32, hn::UpperHalf(half, second));
    }
    const auto inner = [&](const hn::Vec<decltype(d32)>(&rows)[kNoiseBlock]) HWY_ATTR {
      auto sum = hn::Zero(d32);
      for (int y = 1; y + 1 < kNoiseBlock; ++y) {
        const auto beside = hn::Sub(hn::Sub(rows[y - 1], rows[y]), hn::Sub(rows[y], rows[y + 1]));
        sum = hn::Add(sum, hn::Abs(beside));
      }
      return sum;
    };
    // The last two columns have no right neighbour within the block.
    const auto textures = hn::Add(
        inner(left), hn::IfThenElseZero(hn::FirstN(d32, kNoiseBlock / 2 - 2), inner(right)));
    return {levels.total() / (kNoiseBlock * kNoiseBlock),
            hn::GetLane(hn::SumOfLanes(d32, textures))};
  }
}

/// Columns of second differences are the lower four lanes; they need 32 bits along y only. Changes
/// stay in registers until their mean is known.
NoiseSums sums_of_block(const std::int16_t* first, std::ptrdiff_t stride, int level,
                        const std::int16_t* then, std::ptrdiff_t then_stride, int gain) {
  const hn::CappedTag<std::int16_t, kNoiseBlock> d;
  const hn::RepartitionToWide<decltype(d)> d32;
  const hn::Half<decltype(d)> half;
  if constexpr (hn::MaxLanes(d) < kNoiseBlock) {
    return scalar_denoise_rows().noise_sums(first, stride, level, then, then_stride, gain);
  } else {
    const auto set16 = [&](int number)
                           HWY_ATTR { return hn::Set(d, static_cast<std::int16_t>(number)); };
    ProductSum<decltype(d)> sum;
    ProductSum<decltype(d)> change;
    ProductSum<decltype(d)> residual;
    ProductSum<decltype(d)> activity;
    ProductSum<decltype(d)> before;
    hn::Vec<decltype(d)> changes[kNoiseBlock];
    hn::Vec<decltype(d32)> second[kNoiseBlock];
    for (int y = 0; y < kNoiseBlock; ++y) {
      const std::int16_t* const row = first + y * stride;
      const auto here = hn::LoadU(d, row);
      const auto middle = hn::LoadU(d, row + 2);
      const auto across = hn::Add(hn::Sub(here, middle), hn::Sub(hn::LoadU(d, row + 4), middle));
      second[y] = hn::PromoteTo(d32, hn::LowerHalf(half, across));
      const auto old = hn::LoadU(d, then + y * then_stride);
      const auto light = hn::MulFixedPoint15(hn::Sub(old, set16(kDark)), set16(gain));
      const auto lit = hn::Max(hn::Min(hn::Add(old, light), set16(kSampleMost)), hn::Zero(d));
      changes[y] = hn::Sub(here, lit);
      sum.add(changes[y]);
    }
    const int all = sum.total();
    const auto mean = set16(mean_change(all));
    for (int y = 0; y < kNoiseBlock; ++y) {
      change.add(hn::Abs(changes[y]));
      const auto rest = hn::Sub(changes[y], mean);
      residual.add(hn::Abs(rest));
      const auto own = hn::Sub(hn::LoadU(d, first + y * stride), set16(level));
      activity.add(hn::Abs(own));
      before.add(hn::Abs(hn::Sub(own, rest)));
    }
    auto spread = hn::Zero(d32);
    for (int y = 2; y + 2 < kNoiseBlock; ++y) {
      spread = hn::Add(spread, hn::Abs(hn::Sub(hn::Sub(second[y - 2], second[y]),
                                               hn::Sub(second[y], second[y + 2]))));
    }
    return {hn::GetLane(hn::SumOfLanes(d32, spread)),
            change.total(),
            residual.total(),
            activity.total(),
            before.total(),
            all};
  }
}

/// Sums of neighbouring lanes: those of the first vector, then those of the second.
HWY_INLINE hn::Vec<DU> pair_sums(V first, V second) {
#if HWY_TARGET == HWY_AVX2
  return hn::Vec<DU>{_mm256_permute4x64_epi64(_mm256_hadd_epi16(first.raw, second.raw), 0xD8)};
#else
  const hn::RepartitionToWide<DU> wide;
  const hn::Half<DU> half;
  const auto sums = [&](V numbers) HWY_ATTR {
    const auto pairs = hn::BitCast(wide, numbers);
    const auto all = hn::Add(hn::And(pairs, hn::Set(wide, 0xFFFF)), hn::ShiftRight<16>(pairs));
    return hn::TruncateTo(half, all);
  };
  return hn::Combine(DU(), sums(second), sums(first));
#endif
}

/// Sums of two rows, then of neighbouring lanes.
void halve(const std::int16_t* above, const std::int16_t* below, std::size_t n, std::int16_t* out) {
  // Sums of four samples fit in 16 bits without a sign.
  static_assert(4 * kSampleMost + 2 < 1 << 16);
  const auto rows = [&](std::size_t at) HWY_ATTR {
    return hn::Add(hn::LoadU(D(), above + at), hn::LoadU(D(), below + at));
  };
  for (std::size_t i = 0; i < n; i += kLanes) {
    const auto sums = pair_sums(rows(2 * i), rows(2 * i + kLanes));
    const auto means = hn::ShiftRight<2>(hn::Add(sums, hn::Set(DU(), 2)));
    hn::StoreU(hn::BitCast(D(), means), D(), out + i);
  }
}

/// Copies rows of kCopied samples, in whole vectors.
void copy_rows(const std::int16_t* first, std::ptrdiff_t stride, int height, int y, int rows,
               std::int16_t* out) {
  constexpr int kStep = HWY_MIN(static_cast<int>(kLanes), kCopied);
  const hn::CappedTag<std::int16_t, kCopied> d;
  for (int k = 0; k < rows; ++k, out += kCopied) {
    const std::int16_t* const from = first + HWY_MAX(HWY_MIN(y + k, height - 1), 0) * stride;
    for (int x = 0; x < kCopied; x += kStep)
      hn::StoreU(hn::LoadU(d, from + x), d, out + x);
  }
}

/// Vectors of windows: as wide as a window, or smaller where the target's are.
using DW = hn::CappedTag<std::int16_t, SampleWindow::kSide>;
constexpr std::size_t kWindowLanes = hn::MaxLanes(DW());

/// Five sums of products over a window.
SlopeSums slopes(SampleWindow now, SampleWindow then) {
  const DW d;
  const auto most = hn::Set(d, static_cast<std::int16_t>(kMostSlope));
  const auto limited = [&](auto x) { return hn::Max(hn::Min(x, most), hn::Neg(most)); };
  ProductSum<DW> xx;
  ProductSum<DW> xy;
  ProductSum<DW> yy;
  ProductSum<DW> xd;
  ProductSum<DW> yd;
  for (int y = 0; y < SampleWindow::kSide; ++y) {
    for (std::size_t x = 0; x < SampleWindow::kSide; x += kWindowLanes) {
      const std::int16_t* const row = then.row(y) + x;
      const auto slope_x =
          limited(hn::ShiftRight<3>(hn::Sub(hn::LoadU(d, row + 1), hn::LoadU(d, row - 1))));
      const auto slope_y = limited(hn::ShiftRight<3>(
          hn::Sub(hn::LoadU(d, row + then.stride), hn::LoadU(d, row - then.stride))));
      const auto change =
          limited(hn::ShiftRight<2>(hn::Sub(hn::LoadU(d, now.row(y) + x), hn::LoadU(d, row))));
      xx.add(slope_x, slope_x);
      xy.add(slope_x, slope_y);
      yy.add(slope_y, slope_y);
      xd.add(slope_x, change);
      yd.add(slope_y, change);
    }
  }
  return {xx.total(), xy.total(), yy.total(), xd.total(), yd.total()};
}

/// Weighted sum of kTaps samples, which at(k) loads, saturated.
template <typename Tag, typename At>
HWY_INLINE hn::Vec<Tag> tapped(Tag d, const hn::Vec<Tag> (&taps)[kTaps], At at) {
  auto sum = hn::MulFixedPoint15(at(0), taps[0]);
  for (int k = 1; k < kTaps; ++k)
    sum = hn::Add(sum, hn::MulFixedPoint15(at(k), taps[k]));
  return hn::Min(hn::Max(sum, hn::Zero(d)), hn::Set(d, std::int16_t{kSampleMost}));
}

/// Broadcasts each tap to a vector.
template <typename Tag>
HWY_INLINE void spread(Tag d, const Taps& taps, hn::Vec<Tag> (&all)[kTaps]) {
  for (std::size_t k = 0; k < kTaps; ++k)
    all[k] = hn::Set(d, taps[k]);
}

/// Sum of absolute differences of a window, two rows at a time, whose sum fits in 16 bits.
int difference(SampleWindow a, SampleWindow b) {
  static_assert(2 * kSampleMost < 1 << 15);
  const DW d;
  ProductSum<DW> sum;
  const auto size = [&](int y, std::size_t x) HWY_ATTR {
    return hn::Abs(hn::Sub(hn::LoadU(d, a.row(y) + x), hn::LoadU(d, b.row(y) + x)));
  };
  for (int y = 0; y < SampleWindow::kSide; y += 2)
    for (std::size_t x = 0; x < SampleWindow::kSide; x += kWindowLanes)
      sum.add(hn::Add(size(y, x), size(y + 1, x)));
  return sum.total();
}

/// Both sums of a window's differences, which of(y, x) computes for a vector; two rows at a time,
/// as in difference().
template <typename Difference>
HWY_INLINE WindowDifference sums_of(int limit, Difference of) {
  const auto most = hn::Set(DW(), static_cast<std::int16_t>(limit));
  const auto least = hn::Neg(most);
  const auto limited = [&](auto x) HWY_ATTR { return hn::Max(hn::Min(x, most), least); };
  ProductSum<DW> magnitudes;
  ProductSum<DW> drift;
  for (int y = 0; y < SampleWindow::kSide; y += 2) {
    for (std::size_t x = 0; x < SampleWindow::kSide; x += kWindowLanes) {
      const auto above = of(y, x);
      const auto below = of(y + 1, x);
      magnitudes.add(hn::Add(hn::Abs(above), hn::Abs(below)));
      drift.add(hn::Add(limited(above), limited(below)));
    }
  }
  return {magnitudes.total(), drift.total()};
}

WindowDifference differences(SampleWindow a, SampleWindow b, int limit) {
  const DW d;
  return sums_of(limit, [&](int y, std::size_t x) HWY_ATTR {
    return hn::Sub(hn::LoadU(d, a.row(y) + x), hn::LoadU(d, b.row(y) + x));
  });
}

/// Interpolates across into a window on the stack, then down as the sums need it: six products of
/// 16 bits for each sample and direction.
WindowDifference moved_differences(SampleWindow a, SampleWindow b, const Taps* across,
                                   const Taps* down, int limit) {
  constexpr int kSide = SampleWindow::kSide;
  const DW d;
  hn::Vec<DW> taps[kTaps];
  HWY_ALIGN std::int16_t rows[SampleWindow::kAll * kSide];
  if (across != nullptr) {
    spread(d, *across, taps);
    // Rows above and below are needed only for interpolation down.
    const int begin = down == nullptr ? 0 : -SampleWindow::kAbove;
    const int end = down == nullptr ? kSide : kSide + SampleWindow::kBelow;
    for (int y = begin; y < end; ++y) {
      for (int x = 0; x < kSide; x += static_cast<int>(kWindowLanes)) {
        const std::int16_t* const first = b.row(y) + x - 2;
        hn::Store(tapped(d, taps, [&](int k) HWY_ATTR { return hn::LoadU(d, first + k); }), d,
                  rows + (y + SampleWindow::kAbove) * kSide + x);
      }
    }
    b = {rows + SampleWindow::kAbove * kSide, kSide};
  }
  if (down == nullptr) return differences(a, b, limit);
  spread(d, *down, taps);
  return sums_of(limit, [&](int y, std::size_t x) HWY_ATTR {
    const auto moved =
        tapped(d, taps, [&](int k) HWY_ATTR { return hn::LoadU(d, b.row(y + k - 2) + x); });
    return hn::Sub(hn::LoadU(d, a.row(y) + x), moved);
  });
}

/// Samples by which rows of a block are prefetched: the hardware prefetcher does not follow so many
/// rows side by side.
constexpr std::size_t kAhead = 64;

/// One vector's columns at a time, so that the rows interpolated across stay in the L1 cache.
void interpolate(const std::int16_t* in, std::ptrdiff_t stride, const Taps* across,
                 const Taps* down, std::size_t n, int rows, std::int16_t* out,
                 std::ptrdiff_t out_stride) {
  constexpr int kRows = 16;  // rows at a time
  const D d;
  V taps_across[kTaps];
  V taps_down[kTaps];
  if (across != nullptr) spread(d, *across, taps_across);
  if (down != nullptr) spread(d, *down, taps_down);
  const auto between = [&](const std::int16_t* at) HWY_ATTR {
    return tapped(d, taps_across, [&](int k) HWY_ATTR { return hn::LoadU(d, at + k - 2); });
  };
  for (int first = 0; first < rows; first += kRows) {
    const int last = HWY_MIN(first + kRows, rows);
    for (std::size_t i = 0; i < n; i += kLanes) {
      for (int y = first; y < last; ++y)
        hwy::Prefetch(in + (y + 3) * stride + i + kAhead);
      if (down == nullptr) {
        for (int y = first; y < last; ++y) {
          const std::int16_t* const at = in + y * stride + i;
          hn::StoreU(across == nullptr ? hn::LoadU(d, at) : between(at), d,
                     out + y * out_stride + i);
        }
        continue;
      }
      HWY_ALIGN std::int16_t made[(kRows + kTaps - 1) * kLanes];
      const std::int16_t* from = in + (first - 2) * stride + i;
      std::ptrdiff_t step = stride;
      if (across != nullptr) {
        for (int k = 0; k < last - first + kTaps - 1; ++k)
          hn::Store(between(from + k * stride), d, made + k * static_cast<int>(kLanes));
        from = made;
        step = kLanes;
      }
      for (int y = first; y < last; ++y, from += step) {
        hn::StoreU(
            tapped(d, taps_down, [&](int k) HWY_ATTR { return hn::LoadU(d, from + k * step); }), d,
            out + y * out_stride + i);
      }
    }
  }
}

/// Copies weights; with `between` through weight_between(), all in lanes of bytes.
void move_weights(const std::uint8_t* weight, std::ptrdiff_t stride, bool between, std::size_t n,
                  int rows, std::uint8_t* out, std::ptrdiff_t out_stride) {
  const DAll d;
  const DU words;
  // weight_between() in bytes: (7 n + 4) / 8 = n - (n + 3) / 8, both rounded down. Words are
  // shifted; the mask removes the bits that come from the byte above.
  const auto quotient = hn::Set(d, static_cast<std::uint8_t>(between ? 255 >> 3 : 0));
  for (int y = 0; y < rows; ++y, weight += stride, out += out_stride) {
    // Runs are often only a block wide: prefetches the next one, as the hardware does not follow so
    // many rows.
    hwy::Prefetch(weight + n + kAhead);
    for (std::size_t i = 0; i < n; i += kBytes) {
      const auto w = hn::LoadU(d, weight + i);
      const auto sum = hn::BitCast(words, hn::Add(w, hn::Set(d, 3)));
      const auto lost = hn::And(hn::BitCast(d, hn::ShiftRight<3>(sum)), quotient);
      hn::StoreU(hn::Sub(w, lost), d, out + i);
    }
  }
}

/// Sums of 14-bit samples and their parts fit in 16 bits; the result is limited to a sample.
void lighten(const std::int16_t* estimate, const std::int16_t* gain, std::size_t n,
             std::int16_t* out) {
  for (std::size_t i = 0; i < n; i += kLanes) {
    const V here = hn::LoadU(D(), estimate + i);
    const V light = hn::Sub(here, set(kDark));
    const V sum = hn::Add(here, hn::MulFixedPoint15(light, hn::LoadU(D(), gain + i)));
    hn::StoreU(hn::Max(hn::Min(sum, set(kSampleMost)), hn::Zero(D())), D(), out + i);
  }
}

/// Two vectors of samples for one of weights: look-ups in bytes, products of 16 bits (pmulhrsw).
void deviations(const std::int16_t* sample, const std::int16_t* estimate,
                const std::uint8_t* weight, const LevelCurve& inverse, std::size_t n,
                std::int8_t* out) {
  const WeightTable certainties(weight_tables().certainty);
  const Curve curve(inverse);
  for (std::size_t i = 0; i < n; i += 2 * kLanes) {
    V certainty[2];
    certainties.look_up(hn::LoadU(DAll(), weight + i), certainty);
    const V old[2] = {hn::LoadU(D(), estimate + i), hn::LoadU(D(), estimate + i + kLanes)};
    V inverses[2];
    curve.at(old, inverses);
    const auto deviation = [&](std::size_t k) HWY_ATTR {
      const V difference = clamped(hn::Sub(hn::LoadU(D(), sample + i + k * kLanes), old[k]),
                                   -kMostDifference, kMostDifference);
      const V scale = hn::MulFixedPoint15(inverses[k], certainty[k]);
      // The upper limit is applied by the saturating conversion to bytes.
      static_assert(kMostDeviation == 127);
      return hn::Max(hn::MulFixedPoint15(hn::ShiftLeft<3>(difference), scale),
                     set(-kMostDeviation));
    };
    hn::StoreU(signed_bytes_in_order(deviation(0), deviation(1)), DAllSigned(), out + i);
  }
}

/// Sums over five rows, of even and of odd columns.
struct EvenAndOdd {
  V even;
  V odd;
};

/// sums_of_five() of bytes, of which the sum of two fits in a byte.
template <typename BytesOfRow>
HWY_INLINE EvenAndOdd sums_of_five(BytesOfRow row) {
  const DU du;
  const auto first = hn::BitCast(du, hn::Add(row(0), row(1)));
  const auto second = hn::BitCast(du, hn::Add(row(2), row(3)));
  const auto last = hn::BitCast(du, row(4));
  const auto odd = hn::Add(hn::Add(hn::ShiftRight<8>(first), hn::ShiftRight<8>(second)),
                           hn::ShiftRight<8>(last));
  // Words summed whole, less the high bytes' sum shifted up, is the sum of the low bytes.
  const auto both = hn::Add(hn::Add(first, second), last);
  return {hn::BitCast(D(), hn::Sub(both, hn::ShiftLeft<8>(odd))), hn::BitCast(D(), odd)};
}

/// Sums of five rows for each column, over a stretch that fits in the L1 cache: even columns, odd
/// columns, and their sum, one lane for each pair of columns.
struct ColumnSums {
  static constexpr std::size_t kStretch = 1024;  // columns
  static constexpr std::size_t kPairs = kStretch / 2 + 2 * kLanes;
  HWY_ALIGN std::int16_t even[kPairs];
  HWY_ALIGN std::int16_t odd[kPairs];
  HWY_ALIGN std::int16_t both[kPairs];

  HWY_INLINE void store(std::size_t at, const EvenAndOdd& sums) {
    hn::Store(sums.even, D(), even + at);
    hn::Store(sums.odd, D(), odd + at);
    hn::Store(hn::Add(sums.even, sums.odd), D(), both + at);
  }
  /// Sums of five columns around the even and the odd column of each pair, from pair `at` + 1 on.
  HWY_INLINE V around_even(std::size_t at) const {
    return hn::Add(hn::Add(hn::LoadU(D(), both + at), hn::LoadU(D(), both + at + 1)),
                   hn::LoadU(D(), even + at + 2));
  }
  HWY_INLINE V around_odd(std::size_t at) const {
    return hn::Add(hn::Add(hn::LoadU(D(), both + at + 1), hn::LoadU(D(), both + at + 2)),
                   hn::LoadU(D(), odd + at));
  }
};

/// Sums of 5 x 5 deviations in two passes over a stretch: five rows, then five columns. Even and
/// odd columns are in separate lanes of 16 bits, which hold sums of 25 numbers of at most 127.
void changes(const Rows5<std::int8_t>& rows, bool chroma, std::size_t n, std::uint8_t* out) {
  const DAllSigned d;
  const DAll bytes;
  ColumnSums above;  // sums of positive deviations
  ColumnSums magnitudes;
  for (std::size_t first = 0; first < n; first += ColumnSums::kStretch) {
    const std::size_t count = HWY_MIN(ColumnSums::kStretch, n - first);
    for (std::size_t i = 0; i < count + 4; i += kBytes) {
      // Magnitudes of two rows fit in a byte, and so do their positive parts.
      static_assert(2 * kMostDeviation < 1 << 8);
      const auto above_0 = [&](std::size_t k) HWY_ATTR {
        const auto row = hn::LoadU(d, rows[k] + first + i - 2);
        return hn::BitCast(bytes, hn::Max(row, hn::Zero(d)));
      };
      const auto size = [&](std::size_t k) HWY_ATTR {
        return hn::BitCast(bytes, hn::Abs(hn::LoadU(d, rows[k] + first + i - 2)));
      };
      above.store(i / 2, sums_of_five(above_0));
      magnitudes.store(i / 2, sums_of_five(size));
    }
    const auto by_sums = [&](V sum_above, V magnitude) HWY_ATTR {
      const V sum = hn::Sub(hn::Add(sum_above, sum_above), magnitude);
      const V by_mean = hn::Sub(hn::Abs(sum), set(kLeastSum));
      const V by_energy = hn::Sub(magnitude, set(kLeastMagnitudes));
      const V by_both = clamped(hn::Max(by_mean, by_energy), 0, 255);
      if (!chroma) return by_both;
      // 1, kRepeated, below it: the sign of the difference.
      static_assert(kRepeated == 1);
      const auto less = hn::BitCast(DU(), hn::Sub(magnitude, set(kLeastNews)));
      return hn::Max(by_both, hn::BitCast(D(), hn::ShiftRight<15>(less)));
    };
    for (std::size_t i = 0; i < count; i += kBytes) {
      const V even = by_sums(above.around_even(i / 2), magnitudes.around_even(i / 2));
      const V odd = by_sums(above.around_odd(i / 2), magnitudes.around_odd(i / 2));
      const auto by_both = hn::BitCast(bytes, hn::Or(even, hn::ShiftLeft<8>(odd)));
      const auto own = hn::BitCast(bytes, hn::Abs(hn::LoadU(d, rows[2] + first + i)));
      // Eight times the excess, saturated at 255.
      static_assert(kOwnFactor == 1 << 3);
      auto by_own = hn::SaturatedSub(own, hn::Set(bytes, kLeastOwn));
      for (int k = 0; k < 3; ++k)
        by_own = hn::SaturatedAdd(by_own, by_own);
      hn::StoreU(hn::Max(by_both, by_own), bytes, out + first + i);
    }
  }
}

/// Sums of neighbouring bytes.
HWY_INLINE V pair_sums(VAll bytes) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  return V{_mm512_maddubs_epi16(bytes.raw, _mm512_set1_epi8(1))};
#elif HWY_TARGET == HWY_AVX2
  return V{_mm256_maddubs_epi16(bytes.raw, _mm256_set1_epi8(1))};
#elif HWY_TARGET == HWY_SSE4
  return V{_mm_maddubs_epi16(bytes.raw, _mm_set1_epi8(1))};
#else
  const auto words = hn::BitCast(DU(), bytes);
  return hn::BitCast(D(), hn::Add(hn::And(words, hn::Set(DU(), 255)), hn::ShiftRight<8>(words)));
#endif
}

/// Mean change of the luma that each chroma sample covers: two rows, equal where there is only one,
/// and one or two columns.
void join(const std::uint8_t* above, const std::uint8_t* below, int shift_x, std::size_t n,
          std::uint8_t* change) {
  const DAll d;
  for (std::size_t i = 0; i < n; i += kBytes) {
    VAll covered;
    if (shift_x == 0) {
      covered = hn::AverageRound(hn::LoadU(d, above + i), hn::LoadU(d, below + i));
    } else {
      const auto means = [&](std::size_t at) HWY_ATTR {
        const V sum =
            hn::Add(pair_sums(hn::LoadU(d, above + at)), pair_sums(hn::LoadU(d, below + at)));
        return hn::ShiftRight<2>(hn::Add(sum, set(2)));
      };
      // The second load stays within the row where luma ends before it.
      covered = bytes_in_order(means(2 * i), means(i + kLanes < n ? 2 * i + kBytes : 2 * i));
    }
    hn::StoreU(hn::Max(hn::LoadU(d, change + i), covered), d, change + i);
  }
}

/// Weights in vectors of bytes, estimates in two vectors of 16 bits.
void update(const std::int16_t* sample, const std::int16_t* estimate, const std::uint8_t* weight,
            const std::uint8_t* change, WeightRule rule, std::size_t n, std::int16_t* new_estimate,
            std::uint8_t* new_weight) {
  const WeightTable keeps(weight_tables().keep);
  const auto limit = hn::Set(DAll(), static_cast<std::uint8_t>(rule.most));
  for (std::size_t i = 0; i < n; i += 2 * kLanes) {
    // weight_after() as weight - floor((weight change + 127) / 256), which is equal.
    const VAll before = hn::LoadU(DAll(), weight + i);
    const VAll changed = hn::LoadU(DAll(), change + i);
    const auto lost = [&](VAll half_before, VAll half_changed) HWY_ATTR {
      const auto product = hn::Mul(hn::BitCast(DU(), half_before), hn::BitCast(DU(), half_changed));
      return hn::BitCast(D(), hn::ShiftRight<8>(hn::Add(product, hn::Set(DU(), 127))));
    };
    const VAll none = hn::Zero(DAll());
    const V lost_of[2] = {
        lost(hn::InterleaveLower(DAll(), before, none), hn::InterleaveLower(DAll(), changed, none)),
        lost(hn::InterleaveUpper(DAll(), before, none),
             hn::InterleaveUpper(DAll(), changed, none))};
    const VAll left = hn::Sub(before, bytes_of_two(lost_of[0], lost_of[1]));
    V keep[2];
    keeps.look_up(left, keep);
    for (std::size_t k = 0; k < 2; ++k) {
      const std::size_t at = i + k * kLanes;
      const V now = hn::LoadU(D(), sample + at);
      const V difference = hn::Sub(now, hn::LoadU(D(), estimate + at));
      hn::StoreU(hn::Sub(now, hn::MulFixedPoint15(difference, keep[k])), D(), new_estimate + at);
    }
    const auto one = hn::Set(DAll(), 1);
    VAll next = hn::Add(left, one);
    if (rule.chroma) {
      // A mask is -1, which takes the one away again.
      const VAll repeated = hn::VecFromMask(DAll(), hn::Eq(changed, hn::Set(DAll(), kRepeated)));
      next = hn::Max(hn::Add(next, repeated), one);
    }
    hn::StoreU(hn::Min(next, limit), DAll(), new_weight + i);
  }
}

/// pull() of a difference.
HWY_INLINE V pulled(V difference, V reach) {
  const V size = hn::Abs(difference);
  const V rest =
      hn::BitCast(D(), hn::SaturatedSub(hn::BitCast(DU(), reach), hn::BitCast(DU(), size)));
#if HWY_TARGET == HWY_AVX2
  return V{_mm256_sign_epi16(hn::Min(size, rest).raw, difference.raw)};
#elif HWY_TARGET == HWY_SSE4
  return V{_mm_sign_epi16(hn::Min(size, rest).raw, difference.raw)};
#else
  return hn::Max(hn::Min(difference, rest), hn::Neg(rest));
#endif
}

/// Sum of the pulls of all neighbours on the samples from i on. Differences are negated, so that a
/// neighbour is a memory operand of the subtraction.
HWY_INLINE V pulls(const Rows5<std::int16_t>& rows, std::size_t i, V own, V reach) {
  V sum = hn::Zero(D());
  const auto pull = [&](const std::int16_t* neighbour) HWY_ATTR {
    sum = hn::Sub(sum, pulled(hn::Sub(own, hn::LoadU(D(), neighbour)), reach));
  };
  pull(rows[0] + i);
  for (std::size_t k = 1; k < 4; ++k) {
    const std::int16_t* const row = rows[k] + i;
    pull(row - 1);
    if (k != 2) pull(row);
    pull(row + 1);
  }
  pull(rows[2] + i - 2);
  pull(rows[2] + i + 2);
  pull(rows[4] + i);
  return sum;
}

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_SSE4
constexpr bool kPullsInBytes = true;

/// Two vectors as signed bytes, saturating, interleaved in halves, which sums() undoes.
HWY_INLINE VAllSigned bytes_of(V first, V second) {
#if HWY_TARGET <= HWY_AVX3
  return VAllSigned{_mm512_packs_epi16(first.raw, second.raw)};
#elif HWY_TARGET == HWY_AVX2
  return VAllSigned{_mm256_packs_epi16(first.raw, second.raw)};
#else
  return VAllSigned{_mm_packs_epi16(first.raw, second.raw)};
#endif
}

/// pulled() in bytes: exact where reach is at most 127, as differences that saturate have no pull.
HWY_INLINE VAllSigned pulled_bytes(VAllSigned difference, VAllSigned reach) {
  const DAll du;
  const auto size = hn::BitCast(du, hn::Abs(difference));
  const auto rest = hn::SaturatedSub(hn::BitCast(du, reach), size);
#if HWY_TARGET <= HWY_AVX3
  const VAllSigned most = hn::BitCast(DAllSigned(), rest);
  return hn::Max(hn::Min(difference, most), hn::Neg(most));
#elif HWY_TARGET == HWY_AVX2
  const auto least = hn::Min(size, rest);
  return VAllSigned{_mm256_sign_epi8(least.raw, difference.raw)};
#else
  const auto least = hn::Min(size, rest);
  return VAllSigned{_mm_sign_epi8(least.raw, difference.raw)};
#endif
}

/// Sums of neighbouring bytes.
HWY_INLINE V sums(VAllSigned bytes) {
#if HWY_TARGET <= HWY_AVX3
  return V{_mm512_maddubs_epi16(_mm512_set1_epi8(1), bytes.raw)};
#elif HWY_TARGET == HWY_AVX2
  return V{_mm256_maddubs_epi16(_mm256_set1_epi8(1), bytes.raw)};
#else
  return V{_mm_maddubs_epi16(_mm_set1_epi8(1), bytes.raw)};
#endif
}

/// pulls() of two vectors of samples, with half the instructions for most of the work.
HWY_INLINE void pulls_in_bytes(const Rows5<std::int16_t>& rows, std::size_t i, const V (&own)[2],
                               const V (&reach)[2], V (&sum)[2]) {
  const DAllSigned d;
  const VAllSigned all_reach = bytes_of(reach[0], reach[1]);
  const auto pull = [&](const std::int16_t* from) HWY_ATTR {
    return pulled_bytes(bytes_of(hn::Sub(own[0], hn::LoadU(D(), from)),
                                 hn::Sub(own[1], hn::LoadU(D(), from + kLanes))),
                        all_reach);
  };
  sum[0] = sum[1] = hn::Zero(D());
  // A pull is at most 63: two fit in a byte, and one maddubs adds two pairs.
  const auto add_four = [&](const std::int16_t* a, const std::int16_t* b, const std::int16_t* c,
                            const std::int16_t* e) HWY_ATTR {
    const VAllSigned two = hn::Add(pull(a), pull(b));
    const VAllSigned others = hn::Add(pull(c), pull(e));
    sum[0] = hn::Sub(sum[0], sums(hn::InterleaveLower(d, two, others)));
    sum[1] = hn::Sub(sum[1], sums(hn::InterleaveUpper(d, two, others)));
  };
  const std::int16_t* const above = rows[1] + i;
  const std::int16_t* const beside = rows[2] + i;
  const std::int16_t* const below = rows[3] + i;
  add_four(rows[0] + i, above - 1, above, above + 1);
  add_four(beside - 2, beside - 1, beside + 1, beside + 2);
  add_four(below - 1, below, below + 1, rows[4] + i);
}
#else
constexpr bool kPullsInBytes = false;
HWY_INLINE void pulls_in_bytes(const Rows5<std::int16_t>&, std::size_t, const V (&)[2],
                               const V (&)[2], V (&)[2]) {}
#endif

/// reach() of samples, a stretch at a time, so that latencies of look-ups do not delay the pulls.
class Reaches {
 public:
  static constexpr std::size_t kStretch = 1024;

  Reaches(const LevelCurve& sigma, int spatial)
      : lefts_(weight_tables().left), curve_(sigma), spatial_(set(spatial)) {}

  void find(const std::int16_t* estimate, const std::uint8_t* weight, std::size_t n) {
    for (std::size_t i = 0; i < n; i += 2 * kLanes) {
      const V own[2] = {hn::LoadU(D(), estimate + i), hn::LoadU(D(), estimate + i + kLanes)};
      V left[2];
      lefts_.look_up(hn::LoadU(DAll(), weight + i), left);
      V sigmas[2];
      curve_.at(own, sigmas);
      for (std::size_t k = 0; k < 2; ++k) {
        const V noise = hn::Min(hn::MulFixedPoint15(sigmas[k], left[k]), set(kMostNoiseLeft));
        hn::Store(hn::Min(hn::MulFixedPoint15(hn::ShiftLeft<3>(noise), spatial_), set(kMostReach)),
                  D(), reaches_ + i + k * kLanes);
      }
    }
  }
  HWY_INLINE V at(std::size_t i) const { return hn::Load(D(), reaches_ + i); }

 private:
  WeightTable lefts_;
  Curve curve_;
  V spatial_;
  HWY_ALIGN std::int16_t reaches_[kStretch];
};

/// Two vectors of samples at a time: pulls in bytes where every reach is at most 127, that is,
/// where little noise is left, else in lanes of 16 bits.
void smooth(const Rows5<std::int16_t>& rows, const std::uint8_t* weight, const LevelCurve& sigma,
            int spatial, std::size_t n, std::int16_t* out) {
  const D d;
  Reaches reaches(sigma, spatial);
  for (std::size_t first = 0; first < n; first += Reaches::kStretch) {
    const std::size_t count = HWY_MIN(Reaches::kStretch, n - first);
    reaches.find(rows[2] + first, weight + first, count);
    const auto smoothed = [&](std::size_t i, V own, V sum) HWY_ATTR {
      hn::StoreU(hn::Add(own, hn::MulFixedPoint15(sum, set(kNeighbourShare))), d, out + i);
    };
    for (std::size_t k = 0; k < count; k += 2 * kLanes) {
      const std::size_t i = first + k;
      const V own[2] = {hn::LoadU(d, rows[2] + i), hn::LoadU(d, rows[2] + i + kLanes)};
      const V reach[2] = {reaches.at(k), reaches.at(k + kLanes)};
      if (kPullsInBytes && hn::AllFalse(d, hn::Gt(hn::Max(reach[0], reach[1]), set(127)))) {
        V sum[2];
        pulls_in_bytes(rows, i, own, reach, sum);
        smoothed(i, own[0], sum[0]);
        smoothed(i + kLanes, own[1], sum[1]);
        continue;
      }
      smoothed(i, own[0], pulls(rows, i, own[0], reach[0]));
      if (k + kLanes < count)
        smoothed(i + kLanes, own[1], pulls(rows, i + kLanes, own[1], reach[1]));
    }
  }
}

/// One product of 16 bits (pmulhrsw) for each sample.
void blend(const std::int16_t* sample, int strength, std::size_t n, std::int16_t* out) {
  for (std::size_t i = 0; i < n; i += kLanes) {
    const V now = hn::LoadU(D(), sample + i);
    const V difference = hn::Sub(hn::LoadU(D(), out + i), now);
    hn::StoreU(hn::Add(now, hn::MulFixedPoint15(difference, set(strength))), D(), out + i);
  }
}

DenoiseRows target_denoise_rows() {
  return {hwy::TargetName(HWY_TARGET),
          load,
          store,
          noise_block,
          sums_of_block,
          halve,
          copy_rows,
          difference,
          differences,
          moved_differences,
          slopes,
          interpolate,
          move_weights,
          lighten,
          deviations,
          changes,
          join,
          update,
          smooth,
          blend};
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace equalux::denoise
HWY_AFTER_NAMESPACE();

#endif  // EQUALUX_DENOISE_ROWS_INL_H
