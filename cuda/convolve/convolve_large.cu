#include <cstddef>
#include <type_traits>

#include "cuda/convolve/convolve.h"
#include "cuda/convolve/convolve_samples.cuh"
#include "cuda/runtime/check.h"

/// Kernels that convolve_3x3() does not take, over tiles in shared memory. Threads hold kDown
/// results below each other, so that a sample that is read serves several of them.
namespace equalux::cuda {
namespace {

constexpr int kDown = 8;
constexpr int kBands = 2;  // of kDown rows in a tile
constexpr int kTileRows = kDown * kBands;
constexpr int kThreads = 128;  // of a band
constexpr int kPadding = kDown - 1;

/// Columns of the kernel, each with zeros before and after it, so that row j of a window counts for
/// result k by weight j - k without a branch.
struct DirectWeights {
  std::int32_t columns[kMaxCustomKernel][kMaxCustomKernel + 2 * kPadding];
};

struct SeparableWeights {
  std::int32_t column[kMaxSeparableKernel + 2 * kPadding];
  std::int32_t row[kMaxSeparableKernel];
};

/// Adds a column of a tile, from `column` on downwards, times the padded weights.
__device__ __forceinline__ void add_column(const std::uint8_t* column, int pitch, int size,
                                           const std::int32_t* weights,
                                           std::uint32_t (&sums)[kDown]) {
  std::uint32_t window[kDown];  // window[k] = weights[j - k + kPadding]
#pragma unroll
  for (int k = 0; k < kDown; ++k)
    window[k] = k == 0 ? 0 : static_cast<std::uint32_t>(weights[kPadding - k]);
  for (int j = 0; j < size + kPadding; ++j) {
#pragma unroll
    for (int k = kDown - 1; k > 0; --k)
      window[k] = window[k - 1];
    window[0] = static_cast<std::uint32_t>(weights[j + kPadding]);
    const std::uint32_t value = column[j * pitch];
#pragma unroll
    for (int k = 0; k < kDown; ++k)
      sums[k] += window[k] * value;
  }
}

/// Pixels of a tile, so that it is some hundred bytes wide.
template <int kStep>
constexpr int tile_pixels() {
  return kStep == 1 ? 128 : 32;
}

/// Where a level goes, or the byte that is kept.
__device__ __forceinline__ void put(const BytePlane& plane, int at, int y, int channel,
                                    std::uint8_t level) {
  plane.out[y * plane.out_stride + at] =
      channel == plane.kept ? plane.in[y * plane.in_stride + at] : level;
}

template <int kStep>
__global__ void __launch_bounds__(kThreads* kBands)
    convolve_direct_kernel(const __grid_constant__ BytePlane plane, Outside outside,
                           const __grid_constant__ DirectWeights weights, Levels levels, int size) {
  extern __shared__ std::uint8_t tile[];
  constexpr int kPixels = tile_pixels<kStep>();
  const int radius = size / 2;
  const int x = static_cast<int>(blockIdx.x) * kPixels;
  const int y = static_cast<int>(blockIdx.y) * kTileRows;
  const int pitch = (kPixels + 2 * radius) * kStep;
  load_tile<kStep>(tile, plane, outside, x - radius, y - radius, kPixels + 2 * radius,
                   kTileRows + 2 * radius);
  __syncthreads();
  const int at = static_cast<int>(threadIdx.x);
  if (at >= kPixels * kStep || x * kStep + at >= plane.width * kStep) return;
  const int band = static_cast<int>(threadIdx.y) * kDown;
  std::uint32_t sums[kDown] = {};
  for (int i = 0; i < size; ++i) {
    add_column(tile + band * pitch + at + i * kStep, pitch, size, weights.columns[i], sums);
  }
#pragma unroll
  for (int k = 0; k < kDown; ++k) {
    if (y + band + k < plane.rows) {
      put(plane, x * kStep + at, y + band + k, at % kStep, levels.level(sums[k]));
    }
  }
}

template <int kStep>
__global__ void __launch_bounds__(kThreads* kBands)
    convolve_separable_kernel(const __grid_constant__ BytePlane plane, Outside outside,
                              const __grid_constant__ SeparableWeights weights, Levels levels,
                              int size) {
  extern __shared__ std::uint32_t columns[];  // results of the vertical pass, then the tile
  constexpr int kPixels = tile_pixels<kStep>();
  constexpr int kAcross = 4;  // results of a thread beside each other
  const int radius = size / 2;
  const int x = static_cast<int>(blockIdx.x) * kPixels;
  const int y = static_cast<int>(blockIdx.y) * kTileRows;
  const int pitch = (kPixels + 2 * radius) * kStep;
  auto* const tile = reinterpret_cast<std::uint8_t*>(columns + kTileRows * pitch);
  load_tile<kStep>(tile, plane, outside, x - radius, y - radius, kPixels + 2 * radius,
                   kTileRows + 2 * radius);
  __syncthreads();
  const int band = static_cast<int>(threadIdx.y) * kDown;
  for (int at = static_cast<int>(threadIdx.x); at < pitch; at += kThreads) {
    std::uint32_t sums[kDown] = {};
    add_column(tile + band * pitch + at, pitch, size, weights.column, sums);
#pragma unroll
    for (int k = 0; k < kDown; ++k)
      columns[(band + k) * pitch + at] = sums[k];
  }
  __syncthreads();
  constexpr int kOfRow = kPixels / kAcross * kStep;
  const int thread = static_cast<int>(threadIdx.y * kThreads + threadIdx.x);
  for (int task = thread; task < kTileRows * kOfRow; task += kThreads * kBands) {
    const int row = task / kOfRow;
    const int channel = task % kOfRow % kStep;
    const int pixel = task % kOfRow / kStep * kAcross;
    const std::uint32_t* from = columns + row * pitch + pixel * kStep + channel;
    std::uint32_t window[kAcross] = {0, from[0], from[kStep], from[2 * kStep]};
    std::uint32_t sums[kAcross] = {};
    for (int i = 0; i < size; ++i) {
#pragma unroll
      for (int k = 0; k < kAcross - 1; ++k)
        window[k] = window[k + 1];
      window[kAcross - 1] = from[(i + kAcross - 1) * kStep];
      const auto weight = static_cast<std::uint32_t>(weights.row[i]);
#pragma unroll
      for (int k = 0; k < kAcross; ++k)
        sums[k] += weight * window[k];
    }
#pragma unroll
    for (int k = 0; k < kAcross; ++k) {
      if (x + pixel + k < plane.width && y + row < plane.rows) {
        put(plane, (x + pixel + k) * kStep + channel, y + row, channel, levels.level(sums[k]));
      }
    }
  }
}

template <typename Launch>
void with_step(int step, Launch launch) {
  if (step == 1) launch(std::integral_constant<int, 1>{});
  if (step == 3) launch(std::integral_constant<int, 3>{});
  if (step == 4) launch(std::integral_constant<int, 4>{});
}

template <int kStep>
dim3 tiles(const BytePlane& plane) {
  constexpr int kPixels = tile_pixels<kStep>();
  return {static_cast<unsigned>((plane.width + kPixels - 1) / kPixels),
          static_cast<unsigned>((plane.rows + kTileRows - 1) / kTileRows)};
}

template <int kStep>
std::size_t tile_bytes(int size) {
  return std::size_t{kStep} * static_cast<std::size_t>(tile_pixels<kStep>() + size - 1) *
         static_cast<std::size_t>(kTileRows + size - 1);
}

}  // namespace

void convolve_direct(const BytePlane& plane, Outside outside, const ExactKernel& kernel,
                     cudaStream_t stream) {
  DirectWeights weights{};
  for (int j = 0; j < kernel.size; ++j) {
    for (int i = 0; i < kernel.size; ++i) {
      weights.columns[i][kPadding + j] =
          kernel.weights[static_cast<std::size_t>(j * kernel.size + i)];
    }
  }
  with_step(plane.step, [&](auto step) {
    constexpr int kStep = decltype(step)::value;
    convolve_direct_kernel<kStep>
        <<<tiles<kStep>(plane), dim3(kThreads, kBands), tile_bytes<kStep>(kernel.size), stream>>>(
            plane, outside, weights, Levels::of(kernel), kernel.size);
  });
  check(cudaGetLastError(), "launching convolve");
}

void convolve_separable(const BytePlane& plane, Outside outside, const ExactKernel& kernel,
                        cudaStream_t stream) {
  SeparableWeights weights{};
  for (int i = 0; i < kernel.size; ++i) {
    weights.column[kPadding + i] = kernel.column[static_cast<std::size_t>(i)];
    weights.row[i] = kernel.row[static_cast<std::size_t>(i)];
  }
  with_step(plane.step, [&](auto step) {
    constexpr int kStep = decltype(step)::value;
    const std::size_t columns = sizeof(std::uint32_t) * kTileRows * kStep *
                                static_cast<std::size_t>(tile_pixels<kStep>() + kernel.size - 1);
    convolve_separable_kernel<kStep>
        <<<tiles<kStep>(plane), dim3(kThreads, kBands), columns + tile_bytes<kStep>(kernel.size),
           stream>>>(plane, outside, weights, Levels::of(kernel), kernel.size);
  });
  check(cudaGetLastError(), "launching convolve");
}

}  // namespace equalux::cuda
