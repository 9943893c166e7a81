#include "cuda/clahe/deep_clahe.h"
#include "cuda/device/dependent_launch.cuh"
#include "cuda/equalize/deep/deep_cells.cuh"
#include "cuda/runtime/check.h"
#include "src/clahe/tile_curves.h"
#include "src/equalize/saturation.h"

namespace equalux::cuda {
namespace {

/// Block size of counting. Each warp has a table of its own in shared memory, since neighbouring
/// pixels often have the same level, and their atomics would collide across warps.
constexpr int kCountThreads = 256;
constexpr int kCountTables = kCountThreads / 32;

/// Counts one band of a tile's lines per block, by coarse levels. Threads take one cell of a line
/// after another, so that loads are coalesced and several lines are under way where tiles are
/// narrow. At the end the block adds the warps' tables and puts the sums into device memory with
/// atomics.
template <Sampling kSampling, bool kAligned>
__global__ void __launch_bounds__(kCountThreads)
    deep_clahe_count_kernel(const __grid_constant__ DeepClaheFrame f) {
  __shared__ std::uint32_t tables[kCountTables][deep_tiles::kLevels];
  const int thread = static_cast<int>(threadIdx.x);
  for (int i = thread; i < kCountTables * deep_tiles::kLevels; i += kCountThreads)
    tables[0][i] = 0;
  const ClaheFrame& t = f.tiles;
  const int tile = static_cast<int>(blockIdx.x) / t.bands;
  const int band = static_cast<int>(blockIdx.x) % t.bands;
  const int tile_x = tile % t.tiles_x;
  const int tile_y = tile / t.tiles_x;
  const int first_column = t.edge_x[tile_x];
  const int columns = t.edge_x[tile_x + 1] - first_column;
  const int lines = t.edge_y[tile_y + 1] - t.edge_y[tile_y];
  const auto line_of = [&](int b) {
    return t.edge_y[tile_y] + static_cast<int>(std::int64_t{b} * lines / t.bands);
  };
  const int last_line = line_of(band + 1);
  int line = line_of(band) + thread / columns;
  int column = thread % columns;
  const int line_step = kCountThreads / columns;
  const int column_step = kCountThreads % columns;
  wait_then_release();
  __syncthreads();
  std::uint32_t* own = tables[thread / 32];
  while (line < last_line) {
    for_deep_values<kSampling, kAligned>(
        f.frame, static_cast<std::uint32_t>(line),
        static_cast<std::uint32_t>(first_column + column), [&](std::int32_t v) {
          atomicAdd(own + coarse_level(f.form.samples, static_cast<std::uint32_t>(v)), 1U);
        });
    line += line_step;
    column += column_step;
    if (column >= columns) {
      column -= columns;
      ++line;
    }
  }
  __syncthreads();
  std::uint32_t* counts = t.states[tile].counts;
  for (int i = thread; i < deep_tiles::kLevels; i += kCountThreads) {
    std::uint32_t sum = 0;
#pragma unroll
    for (int table = 0; table < kCountTables; ++table)
      sum += tables[table][i];
    if (sum != 0) atomicAdd(counts + i, sum);
  }
}

/// Block size: one thread per value, and enough threads for all coarse levels.
constexpr int kFactorThreads = 1024;
static_assert(kFactorThreads >= deep_tiles::kLevels);

/// Computes the saturation factor of each value, one thread each. Every block computes the factors
/// of all coarse levels in shared memory first, which is cheaper than another launch; values
/// between them are interpolated.
__global__ void __launch_bounds__(kFactorThreads)
    deep_clahe_factors_kernel(saturation::Rule rule, DeepSamples form, std::uint32_t count,
                              const unsigned long long* sums, unsigned long long* next_sums,
                              std::uint32_t* factors) {
  __shared__ std::uint32_t mean[deep_tiles::kLevels];
  __shared__ std::uint32_t coarse[deep_tiles::kLevels];
  const std::uint32_t level = threadIdx.x;
  const std::uint32_t last = coarse_max(form);
  wait_then_release();
  if (sums != nullptr && level <= last) {
    mean[level] = tiles::mean_level(__ldcg(sums + level), count);
    if (blockIdx.x == 0) next_sums[level] = 0;
  }
  __syncthreads();
  if (level <= last) coarse[level] = saturation::factor_of_result(rule, mean, level, last);
  __syncthreads();
  const std::uint32_t v = blockIdx.x * kFactorThreads + threadIdx.x;
  if (v <= static_cast<std::uint32_t>(form.weights.luma_max))
    factors[v] = deep_factor_between(form, coarse, v);
}

/// Block size: a thread makes two neighbouring levels of each table, then scales cells. A block has
/// one line of cells, whose tables serve thousands of pixels.
constexpr int kLevelPairs = deep_tiles::kLevels / 2;

/// Interpolates the curves above and below a line: for each tile column and level a word with that
/// tile's level in the lower half, and the level of the tile to its right in the upper half. Right
/// of the last tile the last one is repeated.
__device__ __forceinline__ void mix_pairs(const ClaheFrame& t, const LineMix& line,
                                          std::uint32_t* pairs) {
  const auto thread = static_cast<int>(threadIdx.x);
  const auto row = [&](int tile_row) {
    return reinterpret_cast<const std::uint32_t*>(t.levels) + tile_row * t.tiles_x * kLevelPairs +
           thread;
  };
  const std::uint32_t* above = row(line.above);
  const std::uint32_t* below = row(line.below);
  struct Two {
    std::uint32_t level[2];
  };
  const auto mixed = [&](int tile) {
    const std::uint32_t a = __ldcg(above + tile * kLevelPairs);
    const std::uint32_t b = __ldcg(below + tile * kLevelPairs);
    return Two{{deep_tiles::mix_rows(a & 0xFFFFU, b & 0xFFFFU, line.weight),
                deep_tiles::mix_rows(a >> 16, b >> 16, line.weight)}};
  };
  Two left = mixed(0);
#pragma unroll 4
  for (int tile = 0; tile < t.tiles_x; ++tile) {
    const Two right = mixed(min(tile + 1, t.tiles_x - 1));
    reinterpret_cast<uint2*>(pairs + tile * deep_tiles::kLevels)[thread] =
        uint2{left.level[0] | right.level[0] << 16, left.level[1] | right.level[1] << 16};
    left = right;
  }
}

/// The result of a value, and the gain that leads to it.
struct DeepTileChange {
  float value;
  float gain;
};

__device__ __forceinline__ DeepTileChange change_of(const deep_tiles::Form& form,
                                                    const std::uint32_t* pairs,
                                                    const DeepColumnMix& mix, std::int32_t v) {
  const deep_tiles::Place place = deep_tiles::place_of(form, v);
  const std::uint32_t* table = pairs + mix.tile * deep_tiles::kLevels;
  const std::uint32_t here = table[place.level];
  const std::uint32_t next = table[min(place.level + 1, deep_tiles::kLevels - 1)];
  const float value = deep_tiles::value_of(
      form, {here & 0xFFFFU, here >> 16, next & 0xFFFFU, next >> 16}, place.beyond, mix.of_right);
  return {value, deep_tiles::gain_of(value, v)};
}

template <Sampling kSampling, bool kAligned>
__device__ __forceinline__ void apply_pixel(const DeepClaheFrame& f, const std::uint32_t* pairs,
                                            std::uint32_t row, std::uint32_t column) {
  const DeepSamples& samples = f.form.samples;
  const std::int64_t at = std::int64_t{f.frame.step} * column;
  const std::uint8_t* in = f.frame.planes[0].from(row) + at;
  std::uint8_t* out = f.frame.planes[0].to(row) + at;
  if constexpr (kSampling == Sampling::gray) {
    const std::int32_t v = deep_code(samples, load_word<kAligned>(in));
    const DeepTileChange change = change_of(f.form, pairs, f.columns[column], v);
    store_word<kAligned>(out,
                         deep_word(samples, deep_tiles::scaled(v, v, change.value, change.gain)));
  } else {
    const DeepPixel pixel = read_deep_pixel<kAligned>(f.frame, in);
    const DeepTileChange change = change_of(f.form, pairs, f.columns[column], pixel.value);
    if (f.frame.alpha_offset >= 0) {
      store_word<kAligned>(out + f.frame.alpha_offset,
                           load_word<kAligned>(in + f.frame.alpha_offset));
    }
#pragma unroll
    for (int i = 0; i < 3; ++i) {
      const std::int32_t code =
          deep_tiles::scaled(pixel.c[i], pixel.value, change.value, change.gain);
      store_word<kAligned>(out + f.frame.color_offset + 2 * i, deep_word(samples, code));
    }
  }
}

/// Scales a cell; a missing column counts as its neighbour.
template <Sampling kSampling, bool kAligned>
__device__ __forceinline__ void apply_cell(const DeepClaheFrame& f, const std::uint32_t* pairs,
                                           std::uint32_t row, std::uint32_t column) {
  constexpr int kColumns = cell_columns(kSampling);
  constexpr int kRows = cell_rows(kSampling);
  const DeepSamples& samples = f.form.samples;
  const DeepCell cell = read_deep_cell<kSampling, kAligned>(f.frame, row, column);
  std::uint32_t words[kRows] = {};
  float sum = 0;
  float of_column = 0;
#pragma unroll
  for (int k = 0; k < kColumns; ++k) {
    if (k < cell.columns) {
      const DeepColumnMix mix = f.columns[cell.x + k];
#pragma unroll
      for (int line = 0; line < kRows; ++line) {
        if (line >= cell.lines) break;
        const std::int32_t y = cell.luma[line][k] - samples.weights.luma_offset;
        const std::int32_t v =
            y < 0 ? 0 : yuv_value(samples.weights, cell.luma[line][k], cell.above);
        const DeepTileChange change = change_of(f.form, pairs, mix, v);
        of_column = line == 0 ? change.gain : of_column + change.gain;
        const std::int32_t code =
            samples.weights.luma_offset + deep_tiles::scaled(y, v, change.value, change.gain);
        words[line] |= std::uint32_t{deep_word(samples, code)} << (16 * k);
      }
    }
    sum = k == 0 ? of_column : sum + of_column;
  }
#pragma unroll
  for (int line = 0; line < kRows; ++line) {
    if (line >= cell.lines) break;
    const std::int32_t y = line == 0 ? cell.rows.first : cell.rows.second;
    std::uint8_t* out = f.frame.planes[0].to(y) + 2 * std::int64_t{cell.x};
    if (cell.columns == 2) {
      store_pair<kAligned>(out, words[line]);
    } else {
      store_word<kAligned>(out, words[line] & 0xFFFFU);
    }
  }
  const float part = 1.0F / static_cast<float>(kColumns * cell.lines);
  const std::int64_t at = std::int64_t{f.frame.step} * column;
  const auto store_chroma = [&](int plane, std::int32_t u) {
    store_word<kAligned>(f.frame.planes[plane].to(row) + at,
                         deep_word(samples, deep_tiles::scaled_chroma(samples, u, sum * part)));
  };
  store_chroma(1, cell.u);
  store_chroma(2, cell.w);
}

/// Scales a frame: a block has one line of cells and first makes the line's tables in shared
/// memory, 4 bytes per level and tile column; then neighbouring threads scale neighbouring cells,
/// so that accesses are coalesced.
template <Sampling kSampling, bool kAligned>
__global__ void __launch_bounds__(kLevelPairs)
    deep_clahe_apply_kernel(const __grid_constant__ DeepClaheFrame f) {
  extern __shared__ __align__(16) std::uint32_t pairs[];
  const std::uint32_t line = blockIdx.x;
  const LineMix mix = f.tiles.line_mixes[line];
  wait_then_release();
  mix_pairs(f.tiles, mix, pairs);
  __syncthreads();
  for (std::uint32_t column = threadIdx.x; column < f.frame.columns; column += kLevelPairs) {
    if constexpr (kSampling == Sampling::gray || kSampling == Sampling::rgb) {
      apply_pixel<kSampling, kAligned>(f, pairs, line, column);
    } else {
      apply_cell<kSampling, kAligned>(f, pairs, line, column);
    }
  }
}

}  // namespace

void deep_clahe_count(const DeepClaheFrame& frame, const LaunchDevice& device,
                      cudaStream_t stream) {
  const ClaheFrame& tiles = frame.tiles;
  const auto blocks = static_cast<unsigned>(tiles.tiles_x * tiles.tiles_y * tiles.bands);
  with_deep_cells(frame.frame, [&](auto sampling, auto aligned) {
    launch_early(device, "launching the counting of tiles",
                 deep_clahe_count_kernel<decltype(sampling)::value, decltype(aligned)::value>,
                 dim3(blocks), dim3(kCountThreads), stream, frame);
  });
}

void deep_clahe_factors(const DeepClaheFrame& frame, std::uint32_t* factors,
                        unsigned long long* next_sums, const LaunchDevice& device,
                        cudaStream_t stream) {
  const ClaheFrame& tiles = frame.tiles;
  const auto blocks =
      static_cast<unsigned>(frame.form.samples.weights.luma_max / kFactorThreads + 1);
  launch_early(device, "launching deep_clahe_factors", deep_clahe_factors_kernel, dim3(blocks),
               dim3(kFactorThreads), stream, tiles.tone.saturation, frame.form.samples,
               static_cast<std::uint32_t>(tiles.tiles_x * tiles.tiles_y), tiles.curve_sums,
               next_sums, factors);
}

void deep_clahe_apply(const DeepClaheFrame& frame, const LaunchDevice& device,
                      cudaStream_t stream) {
  const std::size_t tables =
      static_cast<std::size_t>(frame.tiles.tiles_x) * deep_tiles::kLevels * sizeof(std::uint32_t);
  with_deep_cells(frame.frame, [&](auto sampling, auto aligned) {
    launch_early(device, "launching the scaling by tiles",
                 deep_clahe_apply_kernel<decltype(sampling)::value, decltype(aligned)::value>,
                 dim3(static_cast<unsigned>(frame.tiles.lines)), dim3(kLevelPairs), tables, stream,
                 frame);
  });
}

LaunchDevice deep_clahe_device() {
  return LaunchDevice::of(
      reinterpret_cast<const void*>(&deep_clahe_count_kernel<Sampling::gray, true>));
}

}  // namespace equalux::cuda
