#pragma once

#include "cuda/equalize/deep/deep_stages.h"

/// Frames of 4:2:0 with fractions of levels, in words of 12 bits, that are whole pairs of cells: a
/// thread has two cells beside each other, which it loads and stores as words of 4 or 8 bytes.
namespace equalux::cuda {

inline constexpr int kFineDepth = 12;
inline constexpr unsigned kFineBlock = 256;

/// The frame's form, of which the compiler knows the depth.
__device__ __forceinline__ DeepSamples fine_form(const DeepFrame& frame) {
  DeepSamples form = frame.form;
  form.depth = kFineDepth;
  form.most = (1 << kFineDepth) - 1;
  form.chroma_middle = 1 << (kFineDepth - 1);
  return form;
}

/// Two cells beside each other: codes of luma by row, Cb and Cr less the middle, and what V has
/// over luma.
struct FineCells {
  std::int32_t luma[2][4];
  std::int32_t u[2];
  std::int32_t w[2];
  std::int32_t above[2];
};

/// Those of a row of cells, from cell 2 `pair` on. kPaired: Cb and Cr lie in pairs.
template <bool kPaired>
__device__ __forceinline__ FineCells read_fine_cells(const DeepFrame& frame,
                                                     const DeepSamples& form, int row, int pair) {
  const auto lower = [&](std::uint32_t words) { return deep_code(form, words & 0xFFFF); };
  const auto upper = [&](std::uint32_t words) { return deep_code(form, words >> 16); };
  FineCells cells;
#pragma unroll
  for (int line = 0; line < 2; ++line) {
    const std::uint8_t* const at = frame.planes[0].from(2 * row + line) + 8 * std::int64_t{pair};
    const auto words = *reinterpret_cast<const uint2*>(at);
    cells.luma[line][0] = lower(words.x);
    cells.luma[line][1] = upper(words.x);
    cells.luma[line][2] = lower(words.y);
    cells.luma[line][3] = upper(words.y);
  }
  std::uint32_t chroma[2];
  if constexpr (kPaired) {
    const std::uint8_t* const at = frame.planes[1].from(row) + 8 * std::int64_t{pair};
    const auto words = *reinterpret_cast<const uint2*>(at);
    chroma[0] = __byte_perm(words.x, words.y, 0x5410);
    chroma[1] = __byte_perm(words.x, words.y, 0x7632);
  } else {
#pragma unroll
    for (int c = 0; c < 2; ++c) {
      const std::uint8_t* const at = frame.planes[1 + c].from(row) + 4 * std::int64_t{pair};
      chroma[c] = *reinterpret_cast<const std::uint32_t*>(at);
    }
  }
  cells.u[0] = lower(chroma[0]) - form.chroma_middle;
  cells.u[1] = upper(chroma[0]) - form.chroma_middle;
  cells.w[0] = lower(chroma[1]) - form.chroma_middle;
  cells.w[1] = upper(chroma[1]) - form.chroma_middle;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    cells.above[i] = deep_value_above_luma<std::int32_t>(form.weights, cells.u[i], cells.w[i]);
  }
  return cells;
}

/// Calls use(row, pair) for every pair of cells once, over all threads of the grid.
template <typename Use>
__device__ __forceinline__ void for_each_fine_pair(const DeepFrame& frame, Use use) {
  const auto across = static_cast<int>(frame.columns / 2);
  const auto rows = static_cast<int>(frame.rows);
  const auto threads = static_cast<int>(gridDim.x * kFineBlock);
  const auto first = static_cast<int>(blockIdx.x * kFineBlock + threadIdx.x);
  const int rows_on = threads / across;
  const int pairs_on = threads % across;
  int row = first / across;
  int pair = first % across;
  while (row < rows) {
    use(row, pair);
    row += rows_on;
    pair += pairs_on;
    if (pair >= across) {
      pair -= across;
      ++row;
    }
  }
}

/// True where the frame can be read so.
[[nodiscard]] inline bool reads_fine_cells(const DeepFrame& frame) {
  const auto lies_at = [](const PlanePair& plane, std::uintptr_t granule) {
    return (reinterpret_cast<std::uintptr_t>(plane.in) |
            static_cast<std::uintptr_t>(plane.in_stride)) %
               granule ==
           0;
  };
  if (frame.sampling != Sampling::s420 || frame.form.depth != kFineDepth || frame.interlaced ||
      frame.width % 4 != 0 || frame.height % 2 != 0 || !lies_at(frame.planes[0], 8))
    return false;
  if (frame.step == 4)
    return lies_at(frame.planes[1], 8) && frame.planes[2].in == frame.planes[1].in + 2;
  return frame.step == 2 && lies_at(frame.planes[1], 4) && lies_at(frame.planes[2], 4);
}

/// True where its results can be rounded to bytes so, without dither.
[[nodiscard]] inline bool writes_fine_cells(const DeepFrame& frame) {
  const DeepRounding& rounding = frame.rounding;
  if (!rounding.active || rounding.dither != Dither::none) return false;
  const auto lies_at = [](const Samples<std::uint8_t>& samples, std::uintptr_t granule) {
    return (reinterpret_cast<std::uintptr_t>(samples.first) |
            static_cast<std::uintptr_t>(samples.stride)) %
               granule ==
           0;
  };
  const Samples<std::uint8_t>& cb = rounding.out[1];
  const Samples<std::uint8_t>& cr = rounding.out[2];
  if (rounding.out[0].step != 1 || !lies_at(rounding.out[0], 4)) return false;
  if (cb.step == 2) return cr.step == 2 && cr.first == cb.first + 1 && lies_at(cb, 4);
  return cb.step == 1 && cr.step == 1 && lies_at(cb, 2) && lies_at(cr, 2);
}

}  // namespace equalux::cuda
