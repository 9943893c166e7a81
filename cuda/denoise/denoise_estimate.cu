#include "cuda/denoise/denoise_samples.cuh"
#include "cuda/runtime/check.h"

namespace equalux::cuda {
namespace {

using denoise::kTaps;
using denoise::Vector;

constexpr int kThreads = 256;
/// Samples of the first component that a block of threads has; of others those that are covered.
constexpr int kTileColumns = 64;
constexpr int kTileRows = 32;
/// Deviations that are looked at on each side of a sample.
constexpr int kBorder = 2;

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

/// What was known of the sample that is now at a place of a component.
struct Known {
  int estimate;
  int weight;
};
__device__ __forceinline__ Known known_at(const DenoisePicture& picture,
                                          const DenoiseComponent& component, int x, int y) {
  const int column = (x << component.shift_x) / denoise::kBlock;
  const int row = (y << component.shift_y) / denoise::kBlock;
  const Vector vector = picture.vectors[row * picture.block_columns + column];
  const KnownPlanes& known = component.known;
  if (vector == Vector{0, 0}) return {known.estimate.row(y)[x], known.weight.row(y)[x]};

  const int parts_x = denoise::phases_of(vector.x, component.shift_x);
  const int parts_y = denoise::phases_of(vector.y, component.shift_y);
  const int phase_x = denoise::phase_of(parts_x);
  const int phase_y = denoise::phase_of(parts_y);
  const int from_x = x + denoise::sample_before(parts_x);
  const int from_y = y + denoise::sample_before(parts_y);
  const PlaneNumbers at{known.estimate};
  const std::int16_t* const taps_x = picture.tables->taps[phase_x];
  const std::int16_t* const taps_y = picture.tables->taps[phase_y];
  const auto across = [&](int v) {
    if (phase_x == 0) return at(from_x, v);
    int sum = 0;
#pragma unroll
    for (int k = 0; k < kTaps; ++k)
      sum += denoise::times(at(from_x + k - 2, v), taps_x[k]);
    return denoise::clamp(sum, 0, denoise::kSampleMost);
  };
  Known result{};
  if (phase_y == 0) {
    result.estimate = across(from_y);
  } else {
    int sum = 0;
#pragma unroll 1
    for (int k = 0; k < kTaps; ++k)
      sum += denoise::times(across(from_y + k - 2), taps_y[k]);
    result.estimate = denoise::clamp(sum, 0, denoise::kSampleMost);
  }
  const int u = x + denoise::nearest_sample(parts_x);
  const int v = y + denoise::nearest_sample(parts_y);
  if (u >= 0 && v >= 0 && u < known.weight.columns && v < known.weight.rows) {
    result.weight = known.weight.row(v)[u];
    if (phase_x != 0 || phase_y != 0) result.weight = denoise::weight_between(result.weight);
  }
  return result;
}

struct Shared {
  /// A deviation, and above it its magnitude: sums of words are sums of both.
  std::int32_t deviations[kTileRows + 2 * kBorder][kTileColumns + 2 * kBorder];
  std::uint32_t words[kTileRows][kTileColumns];
  std::uint8_t change[kTileRows][kTileColumns];  // of the first component
  SharedCurve inverse;
  denoise::WeightTables weights;
};

/// Where a component's part of a tile begins, and how large it is.
struct Tile {
  int x;
  int y;
  int columns;
  int rows;
};

/// Deviations of the tile and around it, and the words of the tile. What lies outside the plane
/// repeats what is at its edge.
__device__ void find_deviations(const DenoisePicture& picture, const DenoiseComponent& component,
                                const Tile& tile, Shared& shared) {
  const int columns = tile.columns + 2 * kBorder;
  const int up = denoise::kSampleBits - picture.in_words.depth;
  for (auto i = static_cast<int>(threadIdx.x); i < columns * (tile.rows + 2 * kBorder);
       i += kThreads) {
    const int column = i % columns;
    const int row = i / columns;
    const int x = nearest_place(tile.x + column - kBorder, component.in.columns);
    const int y = nearest_place(tile.y + row - kBorder, component.in.rows);
    const int code = code_at(component.in, picture.in_words, x, y);
    const Known known = known_at(picture, component, x, y);
    const int deviation =
        denoise::deviation(code << up, known.estimate, shared.inverse.at(known.estimate),
                           denoise::fraction(shared.weights.certainty[known.weight]));
    shared.deviations[row][column] = deviation + (abs(deviation) << 16);
    const int inner_x = column - kBorder;
    const int inner_y = row - kBorder;
    if (inner_x >= 0 && inner_y >= 0 && inner_x < tile.columns && inner_y < tile.rows)
      shared.words[inner_y][inner_x] = packed(code, known.estimate, known.weight);
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

/// Estimates and weights after the picture. A thread has neighbouring rows of a column: the sums of
/// five rows slide down.
__device__ void update(const DenoisePicture& picture, const DenoiseComponent& component, bool first,
                       const Tile& tile, Shared& shared) {
  const auto thread = static_cast<int>(threadIdx.x);
  const int column = thread % tile.columns;
  const int rows = tile.rows / (kThreads / tile.columns);
  const int begin = thread / tile.columns * rows;
  const int x = tile.x + column;
  const int up = denoise::kSampleBits - picture.in_words.depth;
  const auto five = [&](int row) {
    const std::int32_t* const at = &shared.deviations[row][column];
    return at[0] + at[1] + at[2] + at[3] + at[4];
  };
  int sums[5] = {0, five(begin), five(begin + 1), five(begin + 2), five(begin + 3)};
  for (int row = begin; row < begin + rows; ++row) {
#pragma unroll
    for (int k = 0; k < 4; ++k)
      sums[k] = sums[k + 1];
    sums[4] = five(row + 4);
    const int y = tile.y + row;
    if (x >= component.in.columns || y >= component.in.rows) continue;
    const int both = sums[0] + sums[1] + sums[2] + sums[3] + sums[4];
    const int sum = static_cast<std::int16_t>(both);
    const int own = static_cast<std::int16_t>(shared.deviations[row + kBorder][column + kBorder]);
    int change = denoise::change(sum, (both - sum) >> 16, own);
    if (first) {
      shared.change[row][column] = static_cast<std::uint8_t>(change);
    } else {
      change = max(change, covered_change(picture, component, tile, column, row, shared));
    }
    const std::uint32_t word = shared.words[row][column];
    const int left = denoise::weight_after(weight_of(word), change);
    component.next.estimate.row(y)[x] = static_cast<std::int16_t>(denoise::estimate_of(
        code_of(word) << up, estimate_of_word(word), denoise::fraction(shared.weights.keep[left])));
    component.next.weight.row(y)[x] = static_cast<std::uint8_t>(min(left + 1, picture.most));
  }
}

/// A block of threads has a tile of the first component and what covers it of the others, which
/// take its changes over.
__global__ void __launch_bounds__(kThreads)
    estimate_next_kernel(const __grid_constant__ DenoisePicture picture) {
  __shared__ Shared shared;
  wait_then_release();
  const auto thread = static_cast<int>(threadIdx.x);
  if (thread < denoise::kWeights) {
    shared.weights.keep[thread] = picture.tables->weights.keep[thread];
    shared.weights.certainty[thread] = picture.tables->weights.certainty[thread];
  }
  for (int c = 0; c < picture.count; ++c) {
    const DenoiseComponent& component = picture.components[c];
    const int columns = kTileColumns >> component.shift_x;
    const int rows = kTileRows >> component.shift_y;
    const Tile tile{static_cast<int>(blockIdx.x) * columns, static_cast<int>(blockIdx.y) * rows,
                    columns, rows};
    shared.inverse.load(component.noise->curves.inverse, thread);
    __syncthreads();
    if (tile.y < component.in.rows) find_deviations(picture, component, tile, shared);
    __syncthreads();
    if (tile.y < component.in.rows) update(picture, component, c == 0, tile, shared);
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
