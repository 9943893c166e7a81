#pragma once

#include <cstdint>

#include "cuda/equalize/deep/deep_cells.cuh"
#include "src/equalize/deep_line.h"
#include "src/equalize/saturation.h"

/// Results of the cells of a frame with more than 8 bits, one cell at a time, in integers: for any
/// layout, and for cells that are in no strip.
namespace equalux::cuda {

/// Rounds a value to a byte of the 8-bit frame.
__device__ __forceinline__ std::uint8_t level_of(const DeepRounding& rounding, std::int32_t value,
                                                 std::int32_t x, std::int32_t y) {
  const int threshold = rounding_threshold(rounding.dither, x, y, rounding.bits);
  return static_cast<std::uint8_t>(rounded_level(value, threshold, rounding.bits));
}
__device__ __forceinline__ void store_level(const DeepRounding& rounding, int component,
                                            std::int32_t value, std::int32_t x, std::int32_t y) {
  *rounding.out[component].at(x, y) = level_of(rounding, value, x, y);
}

/// Computes deep_scaled() in products of 32 bits: a gain times a code is below 2^63, and its whole
/// part is in the upper half.
class HalfProducts {
 public:
  explicit __device__ HalfProducts(std::int32_t depth)
      : bits_(deep_gain_bits(depth) - 32), half_(1U << (bits_ - 1)) {}
  [[nodiscard]] __device__ __forceinline__ std::uint32_t operator()(std::uint32_t code,
                                                                    std::uint64_t gain) const {
    const std::uint32_t upper = __umulhi(code, static_cast<std::uint32_t>(gain)) +
                                (code * static_cast<std::uint32_t>(gain >> 32) + half_);
    return upper >> bits_;
  }

 private:
  std::int32_t bits_;   ///< of the upper half, behind the binary point
  std::uint32_t half_;  ///< one half, in units of the upper half
};

/// Tables that pixels are changed by, indexed by v.
struct DeepChange {
  const std::uint64_t* gains;
  const std::uint32_t* levels;  ///< W
  // Tables for changed saturation.
  const std::uint32_t* factors;  ///< k
  const DeepLine* lines;         ///< read for strips
  // Counters to be cleared; there may be none.
  std::uint32_t* cleared;
  std::uint32_t cleared_words;

  /// Computes the factor f of saturation for a pixel whose least channel is `below` less than v.
  [[nodiscard]] __device__ saturation::Factor factor(std::int32_t v, std::int32_t below) const {
    return saturation::factor_of(__ldg(&factors[v]), v, below);
  }
  [[nodiscard]] __device__ std::int32_t saturated(saturation::Factor f, std::int32_t v,
                                                  std::int32_t c) const {
    return saturation::scaled(__ldg(&levels[v]), kDeepCurveBits, f, v, c);
  }
  /// Computes what a luma sample adds to the sum that scales its chroma sample. For v = 0 the gain
  /// is 1.
  [[nodiscard]] __device__ std::int64_t share(std::int32_t v, saturation::Factor f) const {
    return saturation::scaled_share(deep_gain_share(__ldg(&gains[v])), f);
  }
  /// Clears the counters from which the curve was computed, for the next frame. One block does it.
  __device__ void clear_counts() const {
    if (blockIdx.x != 0) return;
    for (std::uint32_t i = threadIdx.x; i < cleared_words; i += blockDim.x)
      cleared[i] = 0;
  }
};

inline DeepChange change_by(const DeepTables& tables) {
  return {tables.gains, tables.curve,   tables.factors,
          tables.lines, tables.cleared, tables.cleared_words};
}

/// The result of a luma sample, and what it adds to the sum for its chroma sample.
struct DeepLuma {
  std::int32_t luma;
  std::int64_t share;
};

template <bool kSaturated>
__device__ __forceinline__ DeepLuma change_luma(const DeepSamples& form, const DeepChange& change,
                                                std::int32_t luma, std::int32_t above,
                                                std::int32_t least) {
  const std::int32_t v = yuv_value(form.weights, luma, above);
  if constexpr (kSaturated) {
    const std::int32_t y = luma - form.weights.luma_offset;
    const std::int32_t own = y < 0 ? 0 : v;
    const saturation::Factor f = change.factor(own, own - (y + least));
    const std::int64_t share = change.share(own, f);
    if (y < 0) return {luma, share};
    return {min(form.weights.luma_offset + change.saturated(f, v, y), form.most), share};
  } else {
    const std::uint64_t gain =
        luma < form.weights.luma_offset ? deep_gain_one(form.depth) : __ldg(&change.gains[v]);
    return {deep_scaled_luma(form, luma, gain), deep_gain_share(gain)};
  }
}

/// Changes a packed pixel or a sample of gray.
template <Sampling kSampling, bool kAligned, bool kRounded, bool kSaturated>
__device__ void apply_deep_pixel(const DeepFrame& frame, const DeepChange& change,
                                 std::uint32_t row, std::uint32_t column) {
  const std::int64_t at = std::int64_t{frame.step} * column;
  const std::uint8_t* in = frame.planes[0].from(row) + at;
  std::uint8_t* out = frame.planes[0].to(row) + at;
  const DeepSamples& form = frame.form;
  const auto x = static_cast<std::int32_t>(column);
  const auto y = static_cast<std::int32_t>(row);
  if constexpr (kSampling == Sampling::gray) {
    const std::int32_t v = deep_code(form, load_word<kAligned>(in));
    const std::int32_t scaled = deep_scaled(v, __ldg(&change.gains[v]), form.depth);
    if constexpr (kRounded) {
      store_level(frame.rounding, 0, scaled, x, y);
    } else {
      store_word<kAligned>(out, deep_word(form, scaled));
    }
  } else {
    const DeepPixel pixel = read_deep_pixel<kAligned>(frame, in);
    const std::int32_t v = pixel.value;
    const std::uint64_t gain = kSaturated ? 0 : __ldg(&change.gains[v]);
    const std::int32_t least = min(pixel.c[0], min(pixel.c[1], pixel.c[2]));
    const saturation::Factor f = kSaturated ? change.factor(v, v - least) : saturation::kUnchanged;
    if (frame.alpha_offset >= 0) {
      const std::uint32_t alpha = load_word<kAligned>(in + frame.alpha_offset);
      if constexpr (kRounded) {
        frame.rounding.out[0].at(x, y)[frame.rounding.alpha] =
            level_of(frame.rounding, static_cast<std::int32_t>(alpha), x, y);
      } else {
        store_word<kAligned>(out + frame.alpha_offset, alpha);
      }
    }
    for (int i = 0; i < 3; ++i) {
      const std::int32_t scaled = kSaturated ? change.saturated(f, v, pixel.c[i])
                                             : deep_scaled(pixel.c[i], gain, form.depth);
      if constexpr (kRounded) {
        store_level(frame.rounding, i, scaled, x, y);
      } else {
        store_word<kAligned>(out + frame.color_offset + 2 * i, deep_word(form, scaled));
      }
    }
  }
}

/// The result of a cell, in codes.
struct DeepResult {
  std::int32_t luma[2][2];
  std::int32_t cb;
  std::int32_t cr;
};

template <Sampling kSampling, bool kSaturated>
__device__ DeepResult change_deep_cell(const DeepSamples& form, const DeepChange& change,
                                       const DeepCell& cell) {
  const std::int32_t least =
      kSaturated ? saturation::least_above_luma(form.weights, cell.u, cell.w) : 0;
  DeepResult result{};
  std::int64_t sum = 0;
#pragma unroll
  for (int line = 0; line < cell_rows(kSampling); ++line) {
    if (line >= cell.lines) break;
#pragma unroll
    for (int i = 0; i < cell_columns(kSampling); ++i) {
      if (i >= cell.columns) break;
      const DeepLuma changed =
          change_luma<kSaturated>(form, change, cell.luma[line][i], cell.above, least);
      result.luma[line][i] = changed.luma;
      sum += changed.share;
    }
  }
  const std::int32_t count_log2 = (cell.lines - 1) + (cell.columns - 1);
  result.cb = deep_scaled_chroma(form, cell.u, sum, count_log2);
  result.cr = deep_scaled_chroma(form, cell.w, sum, count_log2);
  return result;
}

/// Stores the result of a cell.
template <Sampling kSampling, bool kAligned, bool kRounded>
__device__ void store_deep_cell(const DeepFrame& frame, std::uint32_t row, std::uint32_t column,
                                const DeepCell& cell, const DeepResult& result) {
  const DeepSamples& form = frame.form;
#pragma unroll
  for (int line = 0; line < cell_rows(kSampling); ++line) {
    if (line >= cell.lines) break;
    const std::int32_t y = line == 0 ? cell.rows.first : cell.rows.second;
    if constexpr (kRounded) {
#pragma unroll
      for (int i = 0; i < cell_columns(kSampling); ++i) {
        if (i >= cell.columns) break;
        const std::int32_t scaled = result.luma[line][i];
        store_level(frame.rounding, 0, scaled, cell.x + i, y);
        // Fills the second luma sample of the last pair of packed 4:2:2 in a row of odd width: it
        // repeats the last column.
        if (kSampling == Sampling::s422 && cell.columns == 1 && frame.rounding.out[0].step == 2) {
          frame.rounding.out[0].at(cell.x, y)[2] = level_of(frame.rounding, scaled, cell.x, y);
        }
      }
    } else {
      std::uint8_t* const out = frame.planes[0].to(y) + 2 * std::int64_t{cell.x};
      const std::uint32_t first = deep_word(form, result.luma[line][0]);
      if (cell.columns == 2) {
        store_pair<kAligned>(out,
                             first | std::uint32_t{deep_word(form, result.luma[line][1])} << 16);
      } else {
        store_word<kAligned>(out, first);
      }
    }
  }
  if constexpr (kRounded) {
    const auto x = static_cast<std::int32_t>(column);
    const auto y = static_cast<std::int32_t>(row);
    store_level(frame.rounding, 1, result.cb, x, y);
    store_level(frame.rounding, 2, result.cr, x, y);
  } else {
    const std::int64_t at = std::int64_t{frame.step} * column;
    store_word<kAligned>(frame.planes[1].to(row) + at, deep_word(form, result.cb));
    store_word<kAligned>(frame.planes[2].to(row) + at, deep_word(form, result.cr));
  }
}

template <Sampling kSampling, bool kAligned, bool kRounded, bool kSaturated>
__device__ void apply_deep_cell(const DeepFrame& frame, const DeepChange& change, std::uint32_t row,
                                std::uint32_t column) {
  const DeepCell cell = read_deep_cell<kSampling, kAligned>(frame, row, column);
  const DeepResult result = change_deep_cell<kSampling, kSaturated>(frame.form, change, cell);
  store_deep_cell<kSampling, kAligned, kRounded>(frame, row, column, cell, result);
}

}  // namespace equalux::cuda
