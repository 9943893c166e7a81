#include "cuda/denoise/denoise_samples.cuh"
#include "cuda/runtime/check.h"

namespace equalux::cuda {
namespace {

using denoise::kTaps;
using denoise::Vector;

constexpr int kThreads = 256;
/// Blocks that a multiprocessor runs at a time at least: loads wait for long.
constexpr int kBlocks = 4;
/// Samples of the first component that a block of threads has; of others those that are covered.
constexpr int kTileColumns = 64;
constexpr int kTileRows = 32;
/// Deviations that are looked at on each side of a sample.
constexpr int kReach = 2;
/// A tile has a four beside its own on each side. A block that moves as one has whole fours of
/// every component.
constexpr int kMostColumns = kTileColumns + 2 * kFour;
constexpr int kMostRows = kTileRows + 2 * kReach;

/// A sample's code, and what is known of it where it comes from, in a word.
__device__ __forceinline__ std::uint32_t packed(int code, int estimate, int weight) {
  return static_cast<std::uint32_t>(code | estimate << 12 | weight << 26);
}
__device__ __forceinline__ int code_of(std::uint32_t word) {
  return static_cast<int>(word & 0xFFF);
}
__device__ __forceinline__ int estimate_of_word(std::uint32_t word) {
  return static_cast<int>(word >> 12 & 0x3FFF);
}
__device__ __forceinline__ int weight_of(std::uint32_t word) {
  return static_cast<int>(word >> 26);
}

/// What was known of four neighbouring samples.
struct Known {
  int estimate[kFour];
  int weight[kFour];
};

/// The same where they have come from elsewhere: interpolated, by taps, from what is around it. `x`
/// has the places of the four.
__device__ void find_moved(const DenoisePicture& picture, const DenoiseComponent& component,
                           Vector vector, const int (&x)[kFour], int y, Known& result) {
  const KnownPlanes& known = component.known;
  const int parts_x = denoise::phases_of(vector.x, component.shift_x);
  const int parts_y = denoise::phases_of(vector.y, component.shift_y);
  const int phase_x = denoise::phase_of(parts_x);
  const int phase_y = denoise::phase_of(parts_y);
  const int from_y = y + denoise::sample_before(parts_y);
  const int before = denoise::sample_before(parts_x);
  const std::int16_t* const taps_x = picture.tables->taps[phase_x];
  const std::int16_t* const taps_y = picture.tables->taps[phase_y];
  const bool neighbours = x[kFour - 1] - x[0] == kFour - 1;
  int sums[kFour] = {};
  const int first = phase_y == 0 ? 2 : 0;
  const int last = phase_y == 0 ? 3 : kTaps;
#pragma unroll 1
  for (int k = first; k < last; ++k) {
    const std::int16_t* const row =
        known.estimate.row(nearest_place(from_y + k - 2, known.estimate.rows));
    int across[kFour];
    if (phase_x == 0) {
#pragma unroll
      for (int i = 0; i < kFour; ++i)
        across[i] = row[nearest_place(x[i] + before, known.estimate.columns)];
    } else if (neighbours) {
      int samples[kFour + kTaps - 1];
#pragma unroll
      for (int i = 0; i < kFour + kTaps - 1; ++i)
        samples[i] = row[nearest_place(x[0] + before + i - 2, known.estimate.columns)];
#pragma unroll
      for (int i = 0; i < kFour; ++i) {
        int sum = 0;
#pragma unroll
        for (int t = 0; t < kTaps; ++t)
          sum += denoise::times(samples[i + t], taps_x[t]);
        across[i] = denoise::clamp(sum, 0, denoise::kSampleMost);
      }
    } else {
#pragma unroll
      for (int i = 0; i < kFour; ++i) {
        int sum = 0;
        for (int t = 0; t < kTaps; ++t) {
          const int at = nearest_place(x[i] + before + t - 2, known.estimate.columns);
          sum += denoise::times(row[at], taps_x[t]);
        }
        across[i] = denoise::clamp(sum, 0, denoise::kSampleMost);
      }
    }
#pragma unroll
    for (int i = 0; i < kFour; ++i)
      sums[i] = phase_y == 0 ? across[i] : sums[i] + denoise::times(across[i], taps_y[k]);
  }
  const int v = y + denoise::nearest_sample(parts_y);
  const bool between = phase_x != 0 || phase_y != 0;
#pragma unroll
  for (int i = 0; i < kFour; ++i) {
    result.estimate[i] = denoise::clamp(sums[i], 0, denoise::kSampleMost);
    const int u = x[i] + denoise::nearest_sample(parts_x);
    int weight = 0;
    if (u >= 0 && v >= 0 && u < known.weight.columns && v < known.weight.rows)
      weight = known.weight.row(v)[u];
    result.weight[i] = between ? denoise::weight_between(weight) : weight;
  }
}

struct Shared {
  /// A deviation, and above it its magnitude: sums of words are sums of both.
  alignas(16) std::int32_t deviations[kMostRows][kMostColumns];
  alignas(16) std::uint32_t words[kMostRows][kMostColumns];
  alignas(4) std::uint8_t change[kTileRows][kTileColumns];  // of the first component
  SharedCurve inverse;
  std::uint16_t certainty[denoise::kWeights];  // fractions
  std::uint16_t keep[denoise::kWeights];
};

/// Where a component's part of a tile begins, and how large it is.
struct Tile {
  int x;
  int y;
  int columns;
  int rows;
};

/// Deviations and words of the tile and around it. What lies outside the plane repeats what is at
/// its edge.
template <int kColumns>
__device__ void find_deviations(const DenoisePicture& picture, const DenoiseComponent& component,
                                const Tile& tile, Shared& shared) {
  constexpr int kFours = kColumns / kFour + 2;
  const int up = denoise::kSampleBits - picture.in_words.depth;
  for (auto n = static_cast<int>(threadIdx.x); n < kFours * (tile.rows + 2 * kReach);
       n += kThreads) {
    const int column = n % kFours * kFour;
    const int row = n / kFours;
    const int first = tile.x + column - kFour;
    const int y = nearest_place(tile.y + row - kReach, component.in.rows);
    int codes[kFour];
    int x[kFour];
    Known known;
    const bool inside = first >= 0 && first + kFour <= component.in.columns;
#pragma unroll
    for (int i = 0; i < kFour; ++i)
      x[i] = nearest_place(first + i, component.in.columns);
    if (inside) {
      load_codes(component.in, picture.in_words, first, y, codes);
    } else {
#pragma unroll
      for (int i = 0; i < kFour; ++i)
        codes[i] = code_at(component.in, picture.in_words, x[i], y);
    }
    // All of them are of one block: one of a plane's edge is, whose nearest ones are its own.
    const int block = (y << component.shift_y) / denoise::kBlock * picture.block_columns +
                      (x[0] << component.shift_x) / denoise::kBlock;
    const Vector vector = picture.vectors[block];
    if (vector != Vector{0, 0}) {
      find_moved(picture, component, vector, x, y, known);
    } else if (inside) {
      load_four(component.known.estimate.row(y) + first, known.estimate);
      const std::uint32_t weights =
          *reinterpret_cast<const std::uint32_t*>(component.known.weight.row(y) + first);
#pragma unroll
      for (int i = 0; i < kFour; ++i)
        known.weight[i] = static_cast<int>(weights >> (8 * i) & 255);
    } else {
#pragma unroll
      for (int i = 0; i < kFour; ++i) {
        known.estimate[i] = component.known.estimate.row(y)[x[i]];
        known.weight[i] = component.known.weight.row(y)[x[i]];
      }
    }
    int deviations[kFour];
    std::uint32_t words[kFour];
#pragma unroll
    for (int i = 0; i < kFour; ++i) {
      const int deviation = denoise::deviation(codes[i] << up, known.estimate[i],
                                               shared.inverse.at(known.estimate[i]),
                                               shared.certainty[known.weight[i]]);
      deviations[i] = deviation + (abs(deviation) << 16);
      words[i] = packed(codes[i], known.estimate[i], known.weight[i]);
    }
    *reinterpret_cast<int4*>(&shared.deviations[row][column]) =
        int4{deviations[0], deviations[1], deviations[2], deviations[3]};
    *reinterpret_cast<uint4*>(&shared.words[row][column]) =
        uint4{words[0], words[1], words[2], words[3]};
  }
}

/// The mean of the first component's changes that a sample of another covers.
__device__ int covered_change(const DenoisePicture& picture, const DenoiseComponent& component,
                              const Tile& tile, int column, int row, const Shared& shared) {
  const Samples<const std::uint8_t>& luma = picture.components[0].in;
  const int left = column << component.shift_x;
  const int above = row << component.shift_y;
  const int right = min(left + component.shift_x, luma.columns - 1 - (tile.x << component.shift_x));
  const int below = min(above + component.shift_y, luma.rows - 1 - (tile.y << component.shift_y));
  if (component.shift_x == 0)
    return (shared.change[above][left] + shared.change[below][left] + 1) >> 1;
  return (shared.change[above][left] + shared.change[above][right] + shared.change[below][left] +
          shared.change[below][right] + 2) >>
         2;
}

/// Estimates and weights after the picture. A thread has four neighbouring samples.
template <int kColumns>
__device__ void update(const DenoisePicture& picture, const DenoiseComponent& component, bool first,
                       const Tile& tile, Shared& shared) {
  constexpr int kFours = kColumns / kFour;
  const int up = denoise::kSampleBits - picture.in_words.depth;
  for (auto n = static_cast<int>(threadIdx.x); n < kFours * tile.rows; n += kThreads) {
    const int column = n % kFours * kFour;
    const int row = n / kFours;
    const int x = tile.x + column;
    const int y = tile.y + row;
    if (x >= component.in.columns || y >= component.in.rows) continue;
    // Sums of five rows, of the four columns and two on each side.
    int sums[kFour + 2 * kReach] = {};
    int own[kFour];
#pragma unroll
    for (int k = 0; k < 5; ++k) {
      const std::int32_t* const at = &shared.deviations[row + k][column];
      const int2 left = *reinterpret_cast<const int2*>(at + kFour - kReach);
      const int4 middle = *reinterpret_cast<const int4*>(at + kFour);
      const int2 right = *reinterpret_cast<const int2*>(at + 2 * kFour);
      const int all[kFour + 2 * kReach] = {left.x,   left.y,   middle.x, middle.y,
                                           middle.z, middle.w, right.x,  right.y};
#pragma unroll
      for (int i = 0; i < kFour + 2 * kReach; ++i)
        sums[i] += all[i];
      if (k == kReach) {
#pragma unroll
        for (int i = 0; i < kFour; ++i)
          own[i] = static_cast<std::int16_t>(all[i + kReach]);
      }
    }
    const uint4 four = *reinterpret_cast<const uint4*>(&shared.words[row + kReach][column + kFour]);
    const std::uint32_t words[kFour] = {four.x, four.y, four.z, four.w};
    int estimates[kFour];
    std::uint32_t weights[kFour];
    std::uint32_t changes = 0;
#pragma unroll
    for (int i = 0; i < kFour; ++i) {
      const int both = sums[i] + sums[i + 1] + sums[i + 2] + sums[i + 3] + sums[i + 4];
      const int sum = static_cast<std::int16_t>(both);
      int change = denoise::change(sum, (both - sum) >> 16, own[i]);
      if (first) {
        changes |= static_cast<std::uint32_t>(change) << (8 * i);
      } else if (x + i < component.in.columns) {
        change = max(change, covered_change(picture, component, tile, column + i, row, shared));
      }
      const int left = denoise::weight_after(weight_of(words[i]), change);
      estimates[i] = denoise::estimate_of(code_of(words[i]) << up, estimate_of_word(words[i]),
                                          shared.keep[left]);
      weights[i] = static_cast<std::uint32_t>(min(left + 1, picture.most));
    }
    if (first) *reinterpret_cast<std::uint32_t*>(&shared.change[row][column]) = changes;
    std::int16_t* const estimate = component.next.estimate.row(y) + x;
    std::uint8_t* const weight = component.next.weight.row(y) + x;
    if (x + kFour <= component.in.columns) {
      *reinterpret_cast<uint2*>(estimate) =
          uint2{static_cast<std::uint32_t>(estimates[0] | estimates[1] << 16),
                static_cast<std::uint32_t>(estimates[2] | estimates[3] << 16)};
      *reinterpret_cast<std::uint32_t*>(weight) =
          weights[0] | weights[1] << 8 | weights[2] << 16 | weights[3] << 24;
    } else {
#pragma unroll
      for (int i = 0; i < kFour; ++i) {
        if (x + i >= component.in.columns) continue;
        estimate[i] = static_cast<std::int16_t>(estimates[i]);
        weight[i] = static_cast<std::uint8_t>(weights[i]);
      }
    }
  }
}

template <int kColumns>
__device__ void estimate_component(const DenoisePicture& picture, int number, Shared& shared) {
  const DenoiseComponent& component = picture.components[number];
  const int rows = kTileRows >> component.shift_y;
  const Tile tile{static_cast<int>(blockIdx.x) * kColumns, static_cast<int>(blockIdx.y) * rows,
                  kColumns, rows};
  const bool any = tile.x < component.in.columns && tile.y < component.in.rows;
  if (any) find_deviations<kColumns>(picture, component, tile, shared);
  __syncthreads();
  if (any) update<kColumns>(picture, component, number == 0, tile, shared);
}

/// A block of threads has a tile of the first component and what covers it of the others, which
/// take its changes over.
__global__ void __launch_bounds__(kThreads, kBlocks)
    estimate_next_kernel(const __grid_constant__ DenoisePicture picture) {
  __shared__ Shared shared;
  wait_then_release();
  const auto thread = static_cast<int>(threadIdx.x);
  if (thread < denoise::kWeights) {
    shared.keep[thread] =
        static_cast<std::uint16_t>(denoise::fraction(picture.tables->weights.keep[thread]));
    shared.certainty[thread] =
        static_cast<std::uint16_t>(denoise::fraction(picture.tables->weights.certainty[thread]));
  }
  for (int c = 0; c < picture.count; ++c) {
    const DenoiseComponent& component = picture.components[c];
    // The words are read by all before the next ones are written.
    if (c != 0) __syncthreads();
    shared.inverse.load(component.noise->curves.inverse, thread);
    __syncthreads();
    if (component.shift_x == 0) {
      estimate_component<kTileColumns>(picture, c, shared);
    } else {
      estimate_component<kTileColumns / 2>(picture, c, shared);
    }
  }
}

/// A thread for each sample of a component; those of the first set the blocks' vectors, too.
__global__ void __launch_bounds__(kThreads)
    estimate_start_kernel(const __grid_constant__ DenoisePicture picture) {
  wait_then_release();
  const DenoiseComponent& component = picture.components[blockIdx.z];
  const auto x = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);
  const auto y = static_cast<int>(blockIdx.y);
  if (blockIdx.z == 0 && x < picture.block_columns && y < picture.block_rows)
    picture.vectors[y * picture.block_columns + x] = Vector{0, 0};
  if (x >= component.in.columns || y >= component.in.rows) return;
  component.next.estimate.row(y)[x] =
      static_cast<std::int16_t>(sample_at(component.in, picture.in_words, x, y));
  component.next.weight.row(y)[x] = 1;
}

unsigned parts(int n, int of) {
  return static_cast<unsigned>((n + of - 1) / of);
}

}  // namespace

void estimate_next(const DenoisePicture& picture, const LaunchDevice& device, cudaStream_t stream) {
  const Samples<const std::uint8_t>& luma = picture.components[0].in;
  EarlyLaunch launch(device);
  const cudaLaunchConfig_t config = launch.config(
      dim3(parts(luma.columns, kTileColumns), parts(luma.rows, kTileRows)), dim3(kThreads), stream);
  check(cudaLaunchKernelEx(&config, estimate_next_kernel, picture), "launching the estimate");
}

void estimate_start(const DenoisePicture& picture, const LaunchDevice& device,
                    cudaStream_t stream) {
  const Samples<const std::uint8_t>& luma = picture.components[0].in;
  EarlyLaunch launch(device);
  const cudaLaunchConfig_t config =
      launch.config(dim3(parts(luma.columns, kThreads), static_cast<unsigned>(luma.rows),
                         static_cast<unsigned>(picture.count)),
                    dim3(kThreads), stream);
  check(cudaLaunchKernelEx(&config, estimate_start_kernel, picture),
        "launching the first estimate");
}

}  // namespace equalux::cuda
