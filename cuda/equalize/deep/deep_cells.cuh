#pragma once

#include <cstdint>

#include "cuda/equalize/deep/deep_stages.h"
#include "cuda/runtime/pick_kernel.h"
#include "src/format/layout.h"

/// Walks over the cells of frames with more than 8 bits, and loads and stores of samples.
namespace equalux::cuda {

/// Block size: threads take neighbouring cells of a row, so that accesses are coalesced.
inline constexpr unsigned kDeepBlock = 256;

/// Returns the number of pieces of kDeepBlock cells that a row has.
__host__ __device__ inline std::uint32_t deep_segments(const DeepFrame& frame) {
  return (frame.columns + kDeepBlock - 1) / kDeepBlock;
}

/// Returns the grid of a kernel that walks over a frame: at most `each` blocks per multiprocessor.
inline unsigned deep_grid(const DeepFrame& frame, int multiprocessors, unsigned each) {
  const std::uint32_t items = deep_segments(frame) * frame.rows;
  const unsigned most = static_cast<unsigned>(multiprocessors) * each;
  return items < most ? items : most;
}

/// Calls use(row, column) once for every cell of the frame, spread over all threads of the grid.
template <typename Use>
__device__ void for_each_deep_cell(const DeepFrame& frame, Use use) {
  const std::uint32_t segments = deep_segments(frame);
  const std::uint32_t items = segments * frame.rows;
  for (std::uint32_t item = blockIdx.x; item < items; item += gridDim.x) {
    const std::uint32_t row = item / segments;
    const std::uint32_t column = (item - row * segments) * kDeepBlock + threadIdx.x;
    if (column < frame.columns) use(row, column);
  }
}

/// Loads a word of 16 bits from any address, or from an even one.
template <bool kAligned>
__device__ std::uint32_t load_word(const std::uint8_t* at) {
  if constexpr (kAligned) {
    return *reinterpret_cast<const std::uint16_t*>(at);
  } else {
    return at[0] | static_cast<std::uint32_t>(at[1]) << 8;
  }
}

template <bool kAligned>
__device__ void store_word(std::uint8_t* at, std::uint32_t word) {
  if constexpr (kAligned) {
    *reinterpret_cast<std::uint16_t*>(at) = static_cast<std::uint16_t>(word);
  } else {
    at[0] = static_cast<std::uint8_t>(word);
    at[1] = static_cast<std::uint8_t>(word >> 8);
  }
}

/// Loads two words of 16 bits, the first into the low half; where aligned, in one access of 32
/// bits.
template <bool kAligned>
__device__ std::uint32_t load_pair(const std::uint8_t* at) {
  if constexpr (kAligned) {
    return *reinterpret_cast<const std::uint32_t*>(at);
  } else {
    return load_word<false>(at) | load_word<false>(at + 2) << 16;
  }
}

/// Stores two words as load_pair() loads them.
template <bool kAligned>
__device__ void store_pair(std::uint8_t* at, std::uint32_t words) {
  if constexpr (kAligned) {
    *reinterpret_cast<std::uint32_t*>(at) = words;
  } else {
    store_word<false>(at, words & 0xffff);
    store_word<false>(at + 2, words >> 16);
  }
}

/// The three colour codes of a packed pixel.
struct DeepPixel {
  std::int32_t c[3];
  std::int32_t value;
};

template <bool kAligned>
__device__ DeepPixel read_deep_pixel(const DeepFrame& frame, const std::uint8_t* at) {
  DeepPixel pixel;
  for (int i = 0; i < 3; ++i)
    pixel.c[i] = deep_code(frame.form, load_word<kAligned>(at + frame.color_offset + 2 * i));
  pixel.value = max(pixel.c[0], max(pixel.c[1], pixel.c[2]));
  return pixel;
}

/// A chroma sample and its luma: `lines` rows of `columns` samples, each 1 or 2. Loops run to the
/// largest number that the sampling allows, a compile-time constant, so that a cell stays in
/// registers.
struct DeepCell {
  LumaRows rows;
  std::int32_t lines;
  std::int32_t columns;
  std::int32_t x;  ///< first luma column
  std::int32_t u;
  std::int32_t w;
  std::int32_t above;  ///< of V over luma
  std::int32_t luma[2][2];
};

template <Sampling kSampling, bool kAligned>
__device__ DeepCell read_deep_cell(const DeepFrame& frame, std::uint32_t row,
                                   std::uint32_t column) {
  const DeepSamples& form = frame.form;
  DeepCell cell;
  const auto at_row = static_cast<std::int32_t>(row);
  cell.rows = luma_rows_of(kSampling, at_row, frame.height, frame.interlaced);
  cell.lines = cell.rows.first == cell.rows.second ? 1 : 2;
  cell.x = static_cast<std::int32_t>(column) * cell_columns(kSampling);
  cell.columns = cell_columns(kSampling) == 2 && cell.x + 1 < frame.width ? 2 : 1;
  const std::int64_t at = std::int64_t{frame.step} * column;
  cell.u =
      deep_code(form, load_word<kAligned>(frame.planes[1].from(row) + at)) - form.chroma_middle;
  cell.w =
      deep_code(form, load_word<kAligned>(frame.planes[2].from(row) + at)) - form.chroma_middle;
  cell.above = deep_value_above_luma(form.weights, cell.u, cell.w);
#pragma unroll
  for (int line = 0; line < cell_rows(kSampling); ++line) {
    if (line >= cell.lines) break;
    const std::int32_t y = line == 0 ? cell.rows.first : cell.rows.second;
    const std::uint8_t* luma = frame.planes[0].from(y) + 2 * std::int64_t{cell.x};
    const std::uint32_t words =
        cell.columns == 2 ? load_pair<kAligned>(luma) : load_word<kAligned>(luma);
    cell.luma[line][0] = deep_code(form, words & 0xffff);
    cell.luma[line][1] = deep_code(form, words >> 16);
  }
  return cell;
}

/// Calls use(v) for each luma sample of a cell, or for a pixel.
template <Sampling kSampling, bool kAligned, typename Use>
__device__ __forceinline__ void for_deep_values(const DeepFrame& frame, std::uint32_t row,
                                                std::uint32_t column, const Use& use) {
  if constexpr (kSampling == Sampling::gray || kSampling == Sampling::rgb) {
    const std::uint8_t* at = frame.planes[0].from(row) + std::int64_t{frame.step} * column;
    if constexpr (kSampling == Sampling::gray) {
      use(deep_code(frame.form, load_word<kAligned>(at)));
    } else {
      use(read_deep_pixel<kAligned>(frame, at).value);
    }
  } else {
    const DeepCell cell = read_deep_cell<kSampling, kAligned>(frame, row, column);
#pragma unroll
    for (int line = 0; line < cell_rows(kSampling); ++line) {
#pragma unroll
      for (int i = 0; i < cell_columns(kSampling); ++i) {
        if (line >= cell.lines || i >= cell.columns) continue;
        use(yuv_value(frame.form.weights, cell.luma[line][i], cell.above));
      }
    }
  }
}

/// Calls use(sampling, aligned) with both as compile-time constants.
template <typename Use>
void with_deep_cells(const DeepFrame& frame, Use use) {
  using enum Sampling;
  with_constant<gray, rgb, s420, s422, s444>(frame.sampling, [&](auto sampling) {
    with_constant<true, false>(frame.aligned, [&](auto aligned) { use(sampling, aligned); });
  });
}

}  // namespace equalux::cuda
