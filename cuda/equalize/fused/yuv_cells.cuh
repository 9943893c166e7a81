#pragma once

#include <cstdint>

#include "cuda/equalize/fused/fused_layouts.cuh"

/// Arithmetic on YCbCr samples in registers. A cell is a chroma sample with the luma samples that
/// it covers; a pair is two neighbouring luma samples of a row, as two 16-bit halves of a word.
///
/// Results are those of pixel_math.h and tone_curve.h. Speed comes from two samples in each
/// instruction where 16 bits hold them, and from single precision where it is exact, because the
/// floating-point units would be idle otherwise.
namespace equalux::cuda {

/// 1.5 2^23. A float in [2^23, 2^24) has its integer part in its lowest bits, so adding this
/// converts to an integer without a conversion instruction.
inline constexpr float kIntegerBase = 12582912.0f;
inline constexpr std::uint32_t kIntegerBaseBits = 0x4B400000U;

/// Converts byte `i` of words to (byte - 128) / 2^kExponent as a float. Exact: the byte becomes the
/// low bits of a mantissa, and one subtraction removes the rest.
template <int kExponent>
__device__ __forceinline__ float chroma_of_byte(const std::uint32_t* words, int i) {
  constexpr std::uint32_t kBase = 0x4B000000U - (std::uint32_t{kExponent} << 23);
  const std::uint32_t bits = __byte_perm(words[i / 4], kBase, 0x7640 | (i % 4));
  return __fadd_rn(__uint_as_float(bits), -__uint_as_float(kBase | 128U));
}

/// Puts the same value into both halves of a word.
__device__ __forceinline__ std::uint32_t both(std::int32_t value) {
  const auto half = static_cast<std::uint32_t>(value) & 0xFFFFU;
  return half << 16 | half;
}

/// Extracts samples 2j and 2j + 1 of a row as a pair.
__device__ __forceinline__ std::uint32_t pair_of(const std::uint32_t* words, int j) {
  return __byte_perm(words[j / 2], 0, j % 2 == 0 ? 0x4140 : 0x4342);
}

/// Takes the largest of three sums and adds its integer part to `base`, into the lowest bits of the
/// result. All products and sums are integers below 2^24 times one power of two, so single
/// precision holds them exactly.
__device__ __forceinline__ std::uint32_t whole_above(float red, float green, float blue,
                                                     float base) {
  constexpr float kUnit = 0x1p-16f / kChromaScale;
  // Compares floats as integers: the largest is positive, and positive floats are ordered as their
  // bits are.
  const int most = __vimax3_s32(__float_as_int(red), __float_as_int(green), __float_as_int(blue));
  return __float_as_uint(__fmaf_rd(__int_as_float(most), kUnit, base));
}

/// Computes value_above_luma() into the lowest bits of a float above kIntegerBase.
__device__ __forceinline__ std::uint32_t above_luma(const YuvFloats& k, float u, float w) {
  constexpr float kHalf = 32768.0f * kChromaScale;
  const float red = __fmaf_rn(w, k.red_w, kHalf);
  const float green = __fmaf_rn(u, k.minus_green_u, __fmaf_rn(w, k.minus_green_w, kHalf));
  const float blue = __fmaf_rn(u, k.blue_u, kHalf);
  return whole_above(red, green, blue, kIntegerBase);
}

/// Computes value_above_luma() less the luma offset into the low 16 bits, from chroma codes in the
/// second byte of a word. `base` is kIntegerBase less the luma offset.
__device__ __forceinline__ std::uint32_t above_luma_of_codes(const YuvCodeFloats& k, float base,
                                                             std::uint32_t cb, std::uint32_t cr) {
  const float u = __uint_as_float(cb);
  const float w = __uint_as_float(cr);
  const float red = __fmaf_rn(w, k.red_w, k.red);
  const float green = __fmaf_rn(u, k.green_u, __fmaf_rn(w, k.green_w, k.green));
  const float blue = __fmaf_rn(u, k.blue_u, k.blue);
  return whole_above(red, green, blue, base);
}

/// Four luma codes of a row, less the luma offset. kBlack: some of them may lie below black.
template <bool kBlack>
class LumaAboveBlack {
 public:
  /// `offset` has the luma offset in every byte; `above` is codes - offset.
  __device__ __forceinline__ LumaAboveBlack(std::uint32_t codes, std::uint32_t above,
                                            std::uint32_t offset)
      : codes_(codes), above_(above) {
    if constexpr (kBlack) {
      // Subtracts byte by byte: each byte's highest bit is set first, so that no byte borrows from
      // the next, and put right afterwards.
      constexpr std::uint32_t kHighest = 0x80808080U;
      above_ = ((codes | kHighest) - offset) ^ (~codes & kHighest);
      below_ = ((above_ & ~codes & kHighest) >> 7) * 0xFFU;
      above_ &= ~below_;
    }
  }

  /// Sample i times 256. Samples below black give -65,281, which keeps the sum with the chroma term
  /// below 0: V exceeds luma by at most 239, times 256.
  [[nodiscard]] __device__ __forceinline__ std::uint32_t times_256(int i) const {
    if constexpr (!kBlack) return byte_times_256(&above_, i);
    return __byte_perm(above_, below_, 0x4404 + i * 0x1111);
  }

  /// Packs four results as codes; samples below black keep their original code.
  [[nodiscard]] __device__ __forceinline__ std::uint32_t codes_of(std::uint32_t results,
                                                                  std::uint32_t offset) const {
    if constexpr (!kBlack) return results + offset;
    return (codes_ & below_) | (((results & ~below_) + offset) & ~below_);
  }

 private:
  std::uint32_t codes_;
  std::uint32_t above_;
  std::uint32_t below_ = 0;  ///< 0xFF in the bytes of samples below black
};

/// A chroma code scaled in single precision, and how close it came to rounding the other way.
struct ScaledChroma {
  std::uint32_t code;  ///< in the low half, not clamped
  float distance;      ///< of the exact product from the code, at most a half
};

/// Computes 128 + u times the mean gain, rounded. `u` has been divided by the number of gains in
/// `sum`.
__device__ __forceinline__ ScaledChroma scale_chroma_fast(float u, float sum) {
  constexpr float kBase = kIntegerBase + 128.0f;
  const float code = __fmaf_rn(u, sum, kBase);
  const float distance = __fmaf_rn(u, sum, -__fadd_rn(code, -kBase));
  return {__float_as_uint(code), distance};
}

/// Distance up to which a result of scale_chroma_fast() is certain. Single precision and the nudged
/// gains err by less than 2^-14 of a code, since u times the gain is below 129 or the result is
/// clamped; results nearer to a half are computed again in integers.
inline constexpr float kSureDistance = 0.5f - 0x1p-14f;

/// Rounds u G / (k 2^40) half up and returns the code; see scale_chroma_exact(). k = 2^kShift.
template <int kShift>
__device__ __forceinline__ std::uint32_t scale_chroma(std::uint32_t code, std::uint64_t gain_sum) {
  const std::int64_t product = static_cast<std::int64_t>(static_cast<std::int32_t>(code) - 128) *
                               static_cast<std::int64_t>(gain_sum);
  constexpr std::int64_t kHalf = std::int64_t{1} << (39 + kShift);
  const auto scaled = static_cast<std::int32_t>((product + kHalf) >> (40 + kShift)) + 128;
  return static_cast<std::uint32_t>(min(max(scaled, 0), 255));
}

/// Takes Cb from the low bytes of four words, and Cr from the low bytes of their high halves.
__device__ __forceinline__ uint2 split_halves(const std::uint32_t* halves) {
  const std::uint32_t low = __byte_perm(halves[0], halves[1], 0x6240);
  const std::uint32_t high = __byte_perm(halves[2], halves[3], 0x6240);
  return {__byte_perm(low, high, 0x5410), __byte_perm(low, high, 0x7632)};
}

/// The samples that a lane holds in registers: kPairs pairs of each of kRows rows, and the chroma
/// of their cells, each kColumns luma samples wide.
template <int kColumns, int kRows, int kPairs, bool kInterleaved>
struct LaneCells {
  static constexpr int kCellsAPair = 2 / kColumns;
  static constexpr int kCells = kPairs * kCellsAPair;
  static constexpr int kShift = (kColumns == 2 ? 1 : 0) + (kRows == 2 ? 1 : 0);
  /// u() and w() are divided by the samples of a cell and by kGainScale.
  static constexpr int kChromaExponent = kShift + kGainExponent;
  std::uint32_t luma[kRows][kPairs / 2];
  std::uint32_t chroma[kCells / 2];  ///< as in memory: Cb, Cr, Cb ... or all Cb, then all Cr

  static constexpr int cb_byte(int cell) { return kInterleaved ? 2 * cell : cell; }
  static constexpr int cr_byte(int cell) { return kInterleaved ? 2 * cell + 1 : kCells + cell; }

  /// Cb of a cell less 128, divided by 2^kChromaExponent; w() is the same of Cr.
  __device__ __forceinline__ float u(int cell) const {
    return chroma_of_byte<kChromaExponent>(chroma, cb_byte(cell));
  }
  __device__ __forceinline__ float w(int cell) const {
    return chroma_of_byte<kChromaExponent>(chroma, cr_byte(cell));
  }

  /// Cb less 128, divided by 2^kShift; w_over_samples() is the same of Cr.
  __device__ __forceinline__ float u_over_samples(int cell) const {
    return chroma_of_byte<kShift>(chroma, cb_byte(cell));
  }
  __device__ __forceinline__ float w_over_samples(int cell) const {
    return chroma_of_byte<kShift>(chroma, cr_byte(cell));
  }

  /// Replaces the chroma; each word has Cb in its low half and Cr in its high half.
  __device__ __forceinline__ void set_chroma(const std::uint32_t (&halves)[kCells]) {
    if constexpr (kInterleaved) {
#pragma unroll
      for (int i = 0; i < kCells / 2; ++i) {
        chroma[i] = __byte_perm(halves[2 * i], halves[2 * i + 1], 0x6420);
      }
    } else {
#pragma unroll
      for (int i = 0; i < kCells / 4; ++i) {
        const uint2 four = split_halves(halves + 4 * i);
        chroma[i] = four.x;
        chroma[kCells / 4 + i] = four.y;
      }
    }
  }

  /// Computes above_luma_of_codes() for both columns of pair j.
  __device__ __forceinline__ std::uint32_t above_of_codes(const YuvCodeFloats& k, float base,
                                                          int j) const {
    std::uint32_t halves[kCellsAPair];
#pragma unroll
    for (int i = 0; i < kCellsAPair; ++i) {
      halves[i] = above_luma_of_codes(k, base, byte_times_256(chroma, cb_byte(j * kCellsAPair + i)),
                                      byte_times_256(chroma, cr_byte(j * kCellsAPair + i)));
    }
    return __byte_perm(halves[0], halves[kCellsAPair - 1], kCellsAPair == 2 ? 0x5410 : 0x1010);
  }
};

template <typename Cells, int kRows, int kPairs, typename Counter>
__device__ __forceinline__ void count_cells(const FusedParams& p, const Cells& cells,
                                            Counter& counter) {
  const float base = kIntegerBase - static_cast<float>(p.weights.luma_offset);
  const std::uint32_t most = both(p.weights.luma_max);
  std::uint32_t values[kPairs][kRows];
#pragma unroll
  for (int j = 0; j < kPairs; ++j) {
    const std::uint32_t above = cells.above_of_codes(p.yuv_codes, base, j);
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
      values[j][row] = __viaddmin_s16x2_relu(pair_of(cells.luma[row], j), above, most);
    }
  }
#pragma unroll
  for (int j = 0; j < kPairs; ++j) {
#pragma unroll
    for (int row = 0; row < kRows; ++row)
      counter.template add_pair<0>(values[j][row]);
  }
}

/// Computes V of one sample that lies in a slot.
template <typename Layout>
__device__ __forceinline__ std::int32_t value_at(const FusedParams& p, const std::uint8_t* slot,
                                                 int row, int x) {
  const std::int32_t above =
      value_above_luma(p.weights, slot[Layout::cb_at(x)], slot[Layout::cr_at(x)]);
  return yuv_value(p.weights, slot[Layout::luma_at(row, x)], above);
}

/// Scales Cb and Cr of the cell at column `x` in integers, into the halves of a word.
template <typename Layout, typename Gains>
__device__ __forceinline__ std::uint32_t scale_cell_exact(const FusedParams& p,
                                                          const std::uint8_t* slot, int x,
                                                          const Gains& gains) {
  std::uint64_t sum = 0;
#pragma unroll
  for (int row = 0; row < Layout::kRows; ++row) {
#pragma unroll
    for (int i = 0; i < Layout::kColumns; ++i) {
      const bool black = slot[Layout::luma_at(row, x + i)] < p.weights.luma_offset;
      sum += gains.chroma_gain(
          black ? 0U : static_cast<std::uint32_t>(value_at<Layout>(p, slot, row, x + i)));
    }
  }
  return scale_chroma<Layout::Cells::kShift>(slot[Layout::cb_at(x)], sum) |
         scale_chroma<Layout::Cells::kShift>(slot[Layout::cr_at(x)], sum) << 16;
}

/// Adds `flag` to `flags` where |a| or |b| exceeds `most`. Written with predicates, so that the
/// warp does not branch.
__device__ __forceinline__ void flag_beyond(float a, float b, float most, std::uint32_t flag,
                                            std::uint32_t& flags) {
  asm("{ .reg .pred one, either;\n"
      "setp.gt.f32 one, %1, %3;\n"
      "setp.gt.or.f32 either, %2, %3, one;\n"
      "@either or.b32 %0, %0, %4; }"
      : "+r"(flags)
      : "f"(fabsf(a)), "f"(fabsf(b)), "f"(most), "r"(flag));
}

/// Scales a lane's luma and chroma in place. `first_column` is where its cells lie in the slot,
/// which still holds the original samples. `differences` are the words of luma less the offset, in
/// which bytes may borrow only where kBlack.
template <typename Layout, int kPairs, bool kBlack, typename Gains>
__device__ __forceinline__ void scale_cells(
    const FusedParams& p, const std::uint8_t* slot, int first_column, typename Layout::Cells& cells,
    const std::uint32_t (&differences)[Layout::kRows][kPairs / 2], const Gains& gains) {
  using Cells = typename Layout::Cells;
  constexpr int kEach = Cells::kCellsAPair;
  const std::uint32_t most = gains.place_of(static_cast<std::uint32_t>(p.weights.luma_max));
  std::uint32_t scaled[Cells::kCells];
  std::uint32_t unsure = 0;  // bits of cells whose chroma must be computed in integers
#pragma unroll
  for (int word = 0; word < kPairs / 2; ++word) {
    using Luma = LumaAboveBlack<kBlack>;
    std::uint32_t results[Layout::kRows][4];
#pragma unroll
    for (int pair = 0; pair < 2; ++pair) {
      const int first_cell = (2 * word + pair) * kEach;
      float u[kEach];
      float w[kEach];
      std::uint32_t above[kEach];
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
        u[i] = cells.u(first_cell + i);
        w[i] = cells.w(first_cell + i);
        above[i] = gains.template place_above<kIntegerBaseBits>(above_luma(p.yuv, u[i], w[i]));
      }
      float sum[2];  // of gains, for each column
#pragma unroll
      for (int row = 0; row < Layout::kRows; ++row) {
        const Luma luma(cells.luma[row][word], differences[row][word], p.luma_offsets);
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          const std::uint32_t code = luma.times_256(2 * pair + i);
          const float gain = gains.gain_of_sum(code, above[kEach == 2 ? i : 0], most);
          results[row][2 * pair + i] = scale_rounded(code, gain);
          sum[i] = row == 0 ? gain : __fadd_rn(sum[i], gain);
        }
      }
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
        const int cell = first_cell + i;
        const float gain_sum = kEach == 2 ? sum[i] : __fadd_rn(sum[0], sum[1]);
        const ScaledChroma blue = scale_chroma_fast(u[i], gain_sum);
        const ScaledChroma red = scale_chroma_fast(w[i], gain_sum);
        // Clamps both codes to 0 .. 255.
        scaled[cell] = __vimin_s16x2_relu(__byte_perm(blue.code, red.code, 0x5410), 0x00FF00FFU);
        flag_beyond(blue.distance, red.distance, kSureDistance, 1U << cell, unsure);
      }
    }
#pragma unroll
    for (int row = 0; row < Layout::kRows; ++row) {
      const Luma luma(cells.luma[row][word], differences[row][word], p.luma_offsets);
      cells.luma[row][word] = luma.codes_of(
          pack(results[row][0], results[row][1], results[row][2], results[row][3]), p.luma_offsets);
    }
  }
#pragma unroll 1
  for (; unsure != 0; unsure &= unsure - 1) {
    const int cell = __ffs(static_cast<int>(unsure)) - 1;
    const std::uint32_t exact =
        scale_cell_exact<Layout>(p, slot, first_column + Layout::column_of_cell(cell), gains);
#pragma unroll
    for (int i = 0; i < Cells::kCells; ++i)
      scaled[i] = i == cell ? exact : scaled[i];
  }
  cells.set_chroma(scaled);
}

/// Scales a lane's cells; the whole warp chooses between the code for samples below black, which
/// few frames have, and the faster code for the others.
template <typename Layout, int kPairs, typename Gains>
__device__ __forceinline__ void scale_lane(const FusedParams& p, const std::uint8_t* slot,
                                           int first_column, typename Layout::Cells& cells,
                                           const Gains& gains) {
  std::uint32_t differences[Layout::kRows][kPairs / 2];
  std::uint32_t borrows = 0;  // flags in the highest bit of each byte that borrows
#pragma unroll
  for (int row = 0; row < Layout::kRows; ++row) {
#pragma unroll
    for (int word = 0; word < kPairs / 2; ++word) {
      const std::uint32_t codes = cells.luma[row][word];
      differences[row][word] = codes - p.luma_offsets;
      borrows |= differences[row][word] & ~codes;
    }
  }
  if (__any_sync(0xFFFFFFFFU, (borrows & 0x80808080U) != 0)) {
    scale_cells<Layout, kPairs, true>(p, slot, first_column, cells, differences, gains);
  } else {
    scale_cells<Layout, kPairs, false>(p, slot, first_column, cells, differences, gains);
  }
}

}  // namespace equalux::cuda
