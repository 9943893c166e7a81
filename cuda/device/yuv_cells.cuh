#pragma once

#include <cstdint>

#include "cuda/equalize/fused/fused_layouts.cuh"

/// The arithmetic of the YCbCr layouts. A cell is a chroma sample with the luma samples it covers;
/// a pair is two neighbouring luma samples of a row as two 16-bit halves of a word.
///
/// It is that of pixel_math.h and tone_curve.h in other clothes: two samples an instruction where
/// 16 bits hold them, and single precision where it is exact, since that unit would be idle
/// otherwise.
namespace equalux::cuda {

/// 1.5 2^23: a float in [2^23, 2^24) has the integer part in its lowest bits.
inline constexpr float kIntegerBase = 12582912.0f;
inline constexpr std::uint32_t kIntegerBaseBits = 0x4B400000U;

/// (Byte `i` of words, less 128) / 2^kExponent as a float; exact.
template <int kExponent>
__device__ __forceinline__ float chroma_of_byte(const std::uint32_t* words, int i) {
  constexpr std::uint32_t kBase = 0x4B000000U - (std::uint32_t{kExponent} << 23);
  const std::uint32_t bits = __byte_perm(words[i / 4], kBase, 0x7640 | (i % 4));
  return __fadd_rn(__uint_as_float(bits), -__uint_as_float(kBase | 128U));
}

/// A word with the same value in both halves.
__device__ __forceinline__ std::uint32_t both(std::int32_t value) {
  const auto half = static_cast<std::uint32_t>(value) & 0xFFFFU;
  return half << 16 | half;
}

/// Samples 2j and 2j + 1 of a row.
__device__ __forceinline__ std::uint32_t pair_of(const std::uint32_t* words, int j) {
  return __byte_perm(words[j / 2], 0, j % 2 == 0 ? 0x4140 : 0x4342);
}

/// The largest of the three sums, whole and above `base`, in the lowest bits. All products and sums
/// are integers below 2^24 times a power of two, so single precision holds them exactly.
__device__ __forceinline__ std::uint32_t whole_above(float red, float green, float blue,
                                                     float base) {
  constexpr float kUnit = 0x1p-16f / kChromaScale;
  // The largest is positive, and of such floats the larger is the larger integer.
  const int most = __vimax3_s32(__float_as_int(red), __float_as_int(green), __float_as_int(blue));
  return __float_as_uint(__fmaf_rd(__int_as_float(most), kUnit, base));
}

/// value_above_luma() in the lowest bits of kIntegerBase.
__device__ __forceinline__ std::uint32_t above_luma(const YuvFloats& k, float u, float w) {
  constexpr float kHalf = 32768.0f * kChromaScale;
  const float red = __fmaf_rn(w, k.red_w, kHalf);
  const float green = __fmaf_rn(u, k.minus_green_u, __fmaf_rn(w, k.minus_green_w, kHalf));
  const float blue = __fmaf_rn(u, k.blue_u, kHalf);
  return whole_above(red, green, blue, kIntegerBase);
}

/// value_above_luma() less the luma offset in the low 16 bits, from the codes, each in the second
/// byte of a word. `base` is kIntegerBase less the luma offset.
__device__ __forceinline__ std::uint32_t above_luma_of_codes(const YuvCodeFloats& k, float base,
                                                             std::uint32_t cb, std::uint32_t cr) {
  const float u = __uint_as_float(cb);
  const float w = __uint_as_float(cr);
  const float red = __fmaf_rn(w, k.red_w, k.red);
  const float green = __fmaf_rn(u, k.green_u, __fmaf_rn(w, k.green_w, k.green));
  const float blue = __fmaf_rn(u, k.blue_u, k.blue);
  return whole_above(red, green, blue, base);
}

/// Four luma codes of a row less the offset. kBlack: some may lie below black.
template <bool kBlack>
class LumaAboveBlack {
 public:
  /// `offset` in every byte; `above` is codes - offset.
  __device__ __forceinline__ LumaAboveBlack(std::uint32_t codes, std::uint32_t above,
                                            std::uint32_t offset)
      : codes_(codes), above_(above) {
    if constexpr (kBlack) {
      // No byte borrows from the next one: its highest bit, set before, is taken back afterwards.
      constexpr std::uint32_t kHighest = 0x80808080U;
      above_ = ((codes | kHighest) - offset) ^ (~codes & kHighest);
      below_ = ((above_ & ~codes & kHighest) >> 7) * 0xFFU;
      above_ &= ~below_;
    }
  }

  /// Sample i times 256; below black -65,281: V is at most 239 times 256 more than luma.
  [[nodiscard]] __device__ __forceinline__ std::uint32_t times_256(int i) const {
    if constexpr (!kBlack) return byte_times_256(&above_, i);
    return __byte_perm(above_, below_, 0x4404 + i * 0x1111);
  }

  /// Four results as codes; samples below black stay what they were.
  [[nodiscard]] __device__ __forceinline__ std::uint32_t codes_of(std::uint32_t results,
                                                                  std::uint32_t offset) const {
    if constexpr (!kBlack) return results + offset;
    return (codes_ & below_) | (((results & ~below_) + offset) & ~below_);
  }

 private:
  std::uint32_t codes_;
  std::uint32_t above_;
  std::uint32_t below_ = 0;  ///< bytes of ones
};

/// Chroma scaled in single precision, and how sure that is.
struct ScaledChroma {
  std::uint32_t code;  ///< in the low half, not clamped
  float distance;      ///< from the code's middle
};

/// 128 + u times the mean gain, rounded. `u` is divided by as many as the gains in `sum`.
__device__ __forceinline__ ScaledChroma scale_chroma_fast(float u, float sum) {
  constexpr float kBase = kIntegerBase + 128.0f;
  const float code = __fmaf_rn(u, sum, kBase);
  const float distance = __fmaf_rn(u, sum, -__fadd_rn(code, -kBase));
  return {__float_as_uint(code), distance};
}

/// Single precision and the nudged gains are off by less than 2^-14 of a code: u times the gain is
/// below 129, or the result is clamped. Nearer to a half than this, integers decide.
inline constexpr float kSureDistance = 0.5f - 0x1p-14f;

/// round-half-up of u G / (k 2^40), as a code; see scale_chroma_exact(). k = 2^kShift.
template <int kShift>
__device__ __forceinline__ std::uint32_t scale_chroma(std::uint32_t code, std::uint64_t gain_sum) {
  const std::int64_t product = static_cast<std::int64_t>(static_cast<std::int32_t>(code) - 128) *
                               static_cast<std::int64_t>(gain_sum);
  constexpr std::int64_t kHalf = std::int64_t{1} << (39 + kShift);
  const auto scaled = static_cast<std::int32_t>((product + kHalf) >> (40 + kShift)) + 128;
  return static_cast<std::uint32_t>(min(max(scaled, 0), 255));
}

/// Low bytes of the halves of four words, and of their high halves: Cb and Cr of four cells.
__device__ __forceinline__ uint2 split_halves(const std::uint32_t* halves) {
  const std::uint32_t low = __byte_perm(halves[0], halves[1], 0x6240);
  const std::uint32_t high = __byte_perm(halves[2], halves[3], 0x6240);
  return {__byte_perm(low, high, 0x5410), __byte_perm(low, high, 0x7632)};
}

/// kPairs pairs of a row in registers, with kRows rows below each other and the chroma of their
/// cells, kColumns samples wide.
template <int kColumns, int kRows, int kPairs, bool kInterleaved>
struct LaneCells {
  static constexpr int kCellsAPair = 2 / kColumns;
  static constexpr int kCells = kPairs * kCellsAPair;
  static constexpr int kShift = (kColumns == 2 ? 1 : 0) + (kRows == 2 ? 1 : 0);
  /// u and w are divided by the samples of a cell and by kGainScale.
  static constexpr int kChromaExponent = kShift + kGainExponent;
  std::uint32_t luma[kRows][kPairs / 2];
  std::uint32_t chroma[kCells / 2];  ///< as in memory: Cb, Cr, Cb ... or all Cb before all Cr

  static constexpr int cb_byte(int cell) { return kInterleaved ? 2 * cell : cell; }
  static constexpr int cr_byte(int cell) { return kInterleaved ? 2 * cell + 1 : kCells + cell; }

  /// Cb and Cr of a cell less 128, divided by 2^kChromaExponent.
  __device__ __forceinline__ float u(int cell) const {
    return chroma_of_byte<kChromaExponent>(chroma, cb_byte(cell));
  }
  __device__ __forceinline__ float w(int cell) const {
    return chroma_of_byte<kChromaExponent>(chroma, cr_byte(cell));
  }

  /// The same divided by 2^kShift.
  __device__ __forceinline__ float u_over_samples(int cell) const {
    return chroma_of_byte<kShift>(chroma, cb_byte(cell));
  }
  __device__ __forceinline__ float w_over_samples(int cell) const {
    return chroma_of_byte<kShift>(chroma, cr_byte(cell));
  }

  /// Takes the halves, Cb and Cr of each cell.
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

  /// above_luma_of_codes() for the two columns of pair j.
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

/// The value of one sample, read from a slot.
template <typename Layout>
__device__ __forceinline__ std::int32_t value_at(const FusedParams& p, const std::uint8_t* slot,
                                                 int row, int x) {
  const std::int32_t above =
      value_above_luma(p.weights, slot[Layout::cb_at(x)], slot[Layout::cr_at(x)]);
  return yuv_value(p.weights, slot[Layout::luma_at(row, x)], above);
}

/// Cb and Cr of the cell at column `x`, scaled in whole numbers: the halves of a word.
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

/// Adds `flag` to `flags` where one of two numbers is further from 0 than `most`; without a branch.
__device__ __forceinline__ void flag_beyond(float a, float b, float most, std::uint32_t flag,
                                            std::uint32_t& flags) {
  asm("{ .reg .pred one, either;\n"
      "setp.gt.f32 one, %1, %3;\n"
      "setp.gt.or.f32 either, %2, %3, one;\n"
      "@either or.b32 %0, %0, %4; }"
      : "+r"(flags)
      : "f"(fabsf(a)), "f"(fabsf(b)), "f"(most), "r"(flag));
}

/// Scales luma and chroma in place. `first_column` is where the cells lie in the slot, from which
/// they were loaded; `differences` are their words of luma less the offset, which no byte borrows
/// for unless kBlack.
template <typename Layout, int kPairs, bool kBlack, typename Gains>
__device__ __forceinline__ void scale_cells(
    const FusedParams& p, const std::uint8_t* slot, int first_column, typename Layout::Cells& cells,
    const std::uint32_t (&differences)[Layout::kRows][kPairs / 2], const Gains& gains) {
  using Cells = typename Layout::Cells;
  constexpr int kEach = Cells::kCellsAPair;
  const std::uint32_t most = gains.place_of(static_cast<std::uint32_t>(p.weights.luma_max));
  std::uint32_t scaled[Cells::kCells];
  std::uint32_t unsure = 0;  // cells whose chroma whole numbers must decide
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
      float sum[2];  // by column
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
        // Both clamped to 0 .. 255.
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

/// Scales for a whole warp: the frame's few dark corners do not slow down the rest.
template <typename Layout, int kPairs, typename Gains>
__device__ __forceinline__ void scale_lane(const FusedParams& p, const std::uint8_t* slot,
                                           int first_column, typename Layout::Cells& cells,
                                           const Gains& gains) {
  std::uint32_t differences[Layout::kRows][kPairs / 2];
  std::uint32_t borrows = 0;  // in the highest bits of bytes
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
