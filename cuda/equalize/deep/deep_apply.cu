#include "cuda/device/dependent_launch.cuh"
#include "cuda/equalize/deep/deep_cells.cuh"
#include "cuda/equalize/fine_cells.cuh"
#include "cuda/runtime/check.h"
#include "src/equalize/saturation.h"

namespace equalux::cuda {
namespace {

constexpr unsigned kBlocksEach = 16;

/// A value's level, as a byte of the frame that is rounded to.
__device__ __forceinline__ std::uint8_t level_of(const DeepRounding& rounding, std::int32_t value,
                                                 std::int32_t x, std::int32_t y) {
  const int threshold = rounding_threshold(rounding.dither, x, y, rounding.bits);
  return static_cast<std::uint8_t>(rounded_level(value, threshold, rounding.bits));
}
__device__ __forceinline__ void store_level(const DeepRounding& rounding, int component,
                                            std::int32_t value, std::int32_t x, std::int32_t y) {
  *rounding.out[component].at(x, y) = level_of(rounding, value, x, y);
}

/// What pixels become, by v.
struct DeepChange {
  const std::uint64_t* gains;
  // Where saturation changes too.
  const std::uint32_t* levels;   ///< W
  const std::uint32_t* factors;  ///< k

  /// k of v in f for a pixel whose least channel lies `below` under v.
  [[nodiscard]] __device__ saturation::Factor factor(std::int32_t v, std::int32_t below) const {
    return saturation::factor_of(__ldg(&factors[v]), v, below);
  }
  [[nodiscard]] __device__ std::int32_t saturated(saturation::Factor f, std::int32_t v,
                                                  std::int32_t c) const {
    return saturation::scaled(__ldg(&levels[v]), kDeepCurveBits, f, v, c);
  }
};

/// A luma sample: what it becomes, and what its chroma sample is told.
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
    // Of v = 0 it is that of gain 1.
    const std::int64_t share =
        saturation::scaled_share(deep_gain_share(__ldg(&change.gains[own])), f);
    if (y < 0) return {luma, share};
    return {min(form.weights.luma_offset + change.saturated(f, v, y), form.most), share};
  } else {
    const std::uint64_t gain =
        luma < form.weights.luma_offset ? deep_gain_one(form.depth) : __ldg(&change.gains[v]);
    return {deep_scaled_luma(form, luma, gain), deep_gain_share(gain)};
  }
}

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

template <Sampling kSampling, bool kAligned, bool kRounded, bool kSaturated>
__device__ void apply_deep_cell(const DeepFrame& frame, const DeepChange& change, std::uint32_t row,
                                std::uint32_t column) {
  const DeepSamples& form = frame.form;
  const DeepCell cell = read_deep_cell<kSampling, kAligned>(frame, row, column);
  const std::int32_t least =
      kSaturated ? saturation::least_above_luma(form.weights, cell.u, cell.w) : 0;
  std::int64_t sum = 0;
#pragma unroll
  for (int line = 0; line < cell_rows(kSampling); ++line) {
    if (line >= cell.lines) break;
    std::uint32_t words = 0;
#pragma unroll
    for (int i = 0; i < cell_columns(kSampling); ++i) {
      if (i >= cell.columns) break;
      const DeepLuma changed =
          change_luma<kSaturated>(form, change, cell.luma[line][i], cell.above, least);
      const std::int32_t scaled = changed.luma;
      if constexpr (kRounded) {
        const std::int32_t y = line == 0 ? cell.rows.first : cell.rows.second;
        store_level(frame.rounding, 0, scaled, cell.x + i, y);
        // Half a pair of packed 4:2:2 has room for a column more, which repeats the last one.
        if (kSampling == Sampling::s422 && cell.columns == 1 && frame.rounding.out[0].step == 2) {
          frame.rounding.out[0].at(cell.x, y)[2] = level_of(frame.rounding, scaled, cell.x, y);
        }
      } else {
        words |= std::uint32_t{deep_word(form, scaled)} << (16 * i);
      }
      sum += changed.share;
    }
    if constexpr (kRounded) continue;
    const std::int32_t y = line == 0 ? cell.rows.first : cell.rows.second;
    std::uint8_t* out = frame.planes[0].to(y) + 2 * std::int64_t{cell.x};
    if (cell.columns == 2) {
      store_pair<kAligned>(out, words);
    } else {
      store_word<kAligned>(out, words);
    }
  }
  const std::int32_t count_log2 = (cell.lines - 1) + (cell.columns - 1);
  const std::int32_t cb = deep_scaled_chroma(form, cell.u, sum, count_log2);
  const std::int32_t cr = deep_scaled_chroma(form, cell.w, sum, count_log2);
  if constexpr (kRounded) {
    const auto x = static_cast<std::int32_t>(column);
    const auto y = static_cast<std::int32_t>(row);
    store_level(frame.rounding, 1, cb, x, y);
    store_level(frame.rounding, 2, cr, x, y);
  } else {
    const std::int64_t at = std::int64_t{frame.step} * column;
    store_word<kAligned>(frame.planes[1].to(row) + at, deep_word(form, cb));
    store_word<kAligned>(frame.planes[2].to(row) + at, deep_word(form, cr));
  }
}

/// A thread a cell. The gains, 8 to 512 KiB, are read through the caches.
template <Sampling kSampling, bool kAligned, bool kRounded, bool kSaturated>
__global__ void __launch_bounds__(kDeepBlock)
    deep_apply_kernel(DeepFrame frame, DeepChange change) {
  wait_then_release();
  for_each_deep_cell(frame, [&](std::uint32_t row, std::uint32_t column) {
    if constexpr (kSampling == Sampling::gray || kSampling == Sampling::rgb) {
      apply_deep_pixel<kSampling, kAligned, kRounded, kSaturated>(frame, change, row, column);
    } else {
      apply_deep_cell<kSampling, kAligned, kRounded, kSaturated>(frame, change, row, column);
    }
  });
}

/// The same of reads_fine_cells() and writes_fine_cells(), where saturation stays.
template <bool kPairedIn, bool kPairedOut>
__global__ void __launch_bounds__(kFineBlock)
    fine_apply_kernel(const __grid_constant__ DeepFrame frame, const DeepChange change) {
  wait_then_release();
  const DeepSamples form = fine_form(frame);
  const DeepRounding& rounding = frame.rounding;
  constexpr int kBits = kFineDepth - 8;
  constexpr int kThreshold = rounding_threshold(Dither::none, 0, 0, kBits);
  const auto level_of = [](std::int32_t value) {
    return static_cast<std::uint32_t>(rounded_level(value, kThreshold, kBits));
  };
  for_each_fine_pair(frame, [&](int row, int pair) {
    const FineCells cells = read_fine_cells<kPairedIn>(frame, form, row, pair);
    std::int64_t sums[2] = {};
#pragma unroll
    for (int line = 0; line < 2; ++line) {
      std::uint32_t word = 0;
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const DeepLuma changed =
            change_luma<false>(form, change, cells.luma[line][i], cells.above[i / 2], 0);
        word |= level_of(changed.luma) << (8 * i);
        sums[i / 2] += changed.share;
      }
      const Samples<std::uint8_t>& luma = rounding.out[0];
      *reinterpret_cast<std::uint32_t*>(luma.first + luma.stride * (2 * row + line) +
                                        4 * std::int64_t{pair}) = word;
    }
    std::uint32_t cb[2];
    std::uint32_t cr[2];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      cb[i] = level_of(deep_scaled_chroma(form, cells.u[i], sums[i], 2));
      cr[i] = level_of(deep_scaled_chroma(form, cells.w[i], sums[i], 2));
    }
    const auto at = [&](int component, int bytes) {
      const Samples<std::uint8_t>& chroma = rounding.out[component];
      return chroma.first + chroma.stride * row + bytes * std::int64_t{pair};
    };
    if constexpr (kPairedOut) {
      *reinterpret_cast<std::uint32_t*>(at(1, 4)) = cb[0] | cr[0] << 8 | cb[1] << 16 | cr[1] << 24;
    } else {
      *reinterpret_cast<std::uint16_t*>(at(1, 2)) = static_cast<std::uint16_t>(cb[0] | cb[1] << 8);
      *reinterpret_cast<std::uint16_t*>(at(2, 2)) = static_cast<std::uint16_t>(cr[0] | cr[1] << 8);
    }
  });
}

}  // namespace

void deep_apply(const DeepFrame& frame, const DeepTables& tables, bool saturates,
                const LaunchDevice& device, cudaStream_t stream) {
  const unsigned grid = deep_grid(frame, device.multiprocessors, kBlocksEach);
  EarlyLaunch launch(device);
  const cudaLaunchConfig_t config = launch.config(dim3(grid), dim3(kDeepBlock), stream);
  if (!saturates && reads_fine_cells(frame) && writes_fine_cells(frame)) {
    static_assert(kFineBlock == kDeepBlock);
    with_constant<true, false>(frame.step == 4, [&](auto paired_in) {
      with_constant<true, false>(frame.rounding.out[1].step == 2, [&](auto paired_out) {
        const auto kernel =
            fine_apply_kernel<decltype(paired_in)::value, decltype(paired_out)::value>;
        const DeepChange change{tables.gains, tables.curve, tables.factors};
        check(cudaLaunchKernelEx(&config, kernel, frame, change), "launching deep_apply");
      });
    });
    return;
  }
  with_deep_cells(frame, [&](auto sampling, auto aligned) {
    with_constant<false, true>(frame.rounding.active, [&](auto rounded) {
      with_constant<false, true>(saturates, [&](auto saturated) {
        constexpr Sampling kSampling = decltype(sampling)::value;
        // Gray has no colours.
        constexpr bool kSaturated = kSampling != Sampling::gray && decltype(saturated)::value;
        const auto kernel = deep_apply_kernel<kSampling, decltype(aligned)::value,
                                              decltype(rounded)::value, kSaturated>;
        const DeepChange change{tables.gains, tables.curve, tables.factors};
        check(cudaLaunchKernelEx(&config, kernel, frame, change), "launching deep_apply");
      });
    });
  });
}

}  // namespace equalux::cuda
