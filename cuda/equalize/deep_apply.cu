#include "cuda/equalize/deep_cells.cuh"
#include "cuda/runtime/check.h"

namespace equalux::cuda {
namespace {

constexpr unsigned kBlocksEach = 16;

template <Sampling kSampling, bool kAligned>
__device__ void apply_deep_pixel(const DeepFrame& frame, const std::uint64_t* gains,
                                 std::uint32_t row, std::uint32_t column) {
  const std::int64_t at = std::int64_t{frame.step} * column;
  const std::uint8_t* in = frame.planes[0].from(row) + at;
  std::uint8_t* out = frame.planes[0].to(row) + at;
  const DeepSamples& form = frame.form;
  if constexpr (kSampling == Sampling::gray) {
    const std::int32_t v = deep_code(form, load_word<kAligned>(in));
    store_word<kAligned>(out, deep_word(form, deep_scaled(v, __ldg(&gains[v]), form.depth)));
  } else {
    const DeepPixel pixel = read_deep_pixel<kAligned>(frame, in);
    const std::uint64_t gain = __ldg(&gains[pixel.value]);
    if (frame.alpha_offset >= 0) {
      store_word<kAligned>(out + frame.alpha_offset, load_word<kAligned>(in + frame.alpha_offset));
    }
    for (int i = 0; i < 3; ++i) {
      store_word<kAligned>(out + frame.color_offset + 2 * i,
                           deep_word(form, deep_scaled(pixel.c[i], gain, form.depth)));
    }
  }
}

template <Sampling kSampling, bool kAligned>
__device__ void apply_deep_cell(const DeepFrame& frame, const std::uint64_t* gains,
                                std::uint32_t row, std::uint32_t column) {
  const DeepSamples& form = frame.form;
  const DeepCell cell = read_deep_cell<kSampling, kAligned>(frame, row, column);
  std::int64_t sum = 0;
#pragma unroll
  for (int line = 0; line < cell_rows(kSampling); ++line) {
    if (line >= cell.lines) break;
    std::uint32_t words = 0;
#pragma unroll
    for (int i = 0; i < cell_columns(kSampling); ++i) {
      if (i >= cell.columns) break;
      const std::int32_t luma = cell.luma[line][i];
      const std::int32_t v = yuv_value(form.weights, luma, cell.above);
      const std::uint64_t gain =
          luma < form.weights.luma_offset ? deep_gain_one(form.depth) : __ldg(&gains[v]);
      words |= std::uint32_t{deep_word(form, deep_scaled_luma(form, luma, gain))} << (16 * i);
      sum += deep_gain_share(gain);
    }
    const std::int32_t y = line == 0 ? cell.rows.first : cell.rows.second;
    std::uint8_t* out = frame.planes[0].to(y) + 2 * std::int64_t{cell.x};
    if (cell.columns == 2) {
      store_pair<kAligned>(out, words);
    } else {
      store_word<kAligned>(out, words);
    }
  }
  const std::int32_t count_log2 = (cell.lines - 1) + (cell.columns - 1);
  const std::int64_t at = std::int64_t{frame.step} * column;
  store_word<kAligned>(frame.planes[1].to(row) + at,
                       deep_word(form, deep_scaled_chroma(form, cell.u, sum, count_log2)));
  store_word<kAligned>(frame.planes[2].to(row) + at,
                       deep_word(form, deep_scaled_chroma(form, cell.w, sum, count_log2)));
}

/// A thread a cell. The gains, 8 to 512 KiB, are read through the caches.
template <Sampling kSampling, bool kAligned>
__global__ void __launch_bounds__(kDeepBlock)
    deep_apply_kernel(DeepFrame frame, const std::uint64_t* gains) {
  for_each_deep_cell(frame, [&](std::uint32_t row, std::uint32_t column) {
    if constexpr (kSampling == Sampling::gray || kSampling == Sampling::rgb) {
      apply_deep_pixel<kSampling, kAligned>(frame, gains, row, column);
    } else {
      apply_deep_cell<kSampling, kAligned>(frame, gains, row, column);
    }
  });
}

}  // namespace

void deep_apply(const DeepFrame& frame, const DeepTables& tables, int multiprocessors,
                cudaStream_t stream) {
  const unsigned grid = deep_grid(frame, multiprocessors, kBlocksEach);
  with_deep_cells(frame, [&](auto sampling, auto aligned) {
    deep_apply_kernel<decltype(sampling)::value, decltype(aligned)::value>
        <<<grid, kDeepBlock, 0, stream>>>(frame, tables.gains);
  });
  check(cudaGetLastError(), "launching deep_apply");
}

}  // namespace equalux::cuda
