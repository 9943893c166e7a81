#include <algorithm>
#include <cstddef>

#include "cuda/convolve/convolve.h"
#include "cuda/convolve/convolve_samples.cuh"
#include "cuda/runtime/check.h"

/// The published modes: one thread per pixel, in square blocks, whose channels it computes one
/// after another. The modes differ in where weights and samples are kept: device memory, constant
/// memory, or samples in shared memory.
namespace equalux::cuda {
namespace {

constexpr int kMostWeights = kMaxSeparableKernel * kMaxSeparableKernel;

/// Weights as a launch parameter, which is in constant memory. Each launch has its own copy there,
/// while a __constant__ symbol would be shared by all filters of the process.
struct ConstantWeights {
  std::int32_t weights[kMostWeights];
};

struct Size {
  int size;
  __device__ int radius() const { return size / 2; }
};

__device__ __forceinline__ void put(const BytePlane& plane, int x, int y, int channel,
                                    std::uint8_t level) {
  const int at = x * plane.step + channel;
  plane.out[y * plane.out_stride + at] =
      channel == plane.kept ? plane.in[y * plane.in_stride + at] : level;
}

/// Computes a pixel's sum for one channel from samples in device memory.
__device__ __forceinline__ std::uint32_t sum_at(const BytePlane& plane, Outside outside, int x,
                                                int y, int channel, const std::int32_t* weights,
                                                Size kernel) {
  std::uint32_t sum = 0;
  for (int j = 0; j < kernel.size; ++j) {
    for (int i = 0; i < kernel.size; ++i) {
      const std::uint32_t value =
          sample(plane, outside, x + i - kernel.radius(), y + j - kernel.radius(), channel);
      sum += static_cast<std::uint32_t>(weights[j * kernel.size + i]) * value;
    }
  }
  return sum;
}

__device__ __forceinline__ void convolve_pixel(const BytePlane& plane, Outside outside,
                                               const std::int32_t* weights, Size kernel,
                                               const LevelOfSum& levels) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= plane.width || y >= plane.rows) return;
  for (int channel = 0; channel < plane.step; ++channel) {
    const std::uint32_t sum = sum_at(plane, outside, x, y, channel, weights, kernel);
    put(plane, x, y, channel, levels.level(sum));
  }
}

/// Mode global: weights and samples are loaded through the caches, size · size of each per sample.
__global__ void convolve_global_kernel(const __grid_constant__ BytePlane plane, Outside outside,
                                       const std::int32_t* weights, Size kernel,
                                       LevelOfSum levels) {
  convolve_pixel(plane, outside, weights, kernel, levels);
}

/// Mode constant: all threads read the same weight at a time, which constant memory broadcasts to
/// the warp.
__global__ void convolve_constant_kernel(const __grid_constant__ BytePlane plane, Outside outside,
                                         const __grid_constant__ ConstantWeights weights,
                                         Size kernel, LevelOfSum levels) {
  convolve_pixel(plane, outside, weights.weights, kernel, levels);
}

/// Mode shared: the block first copies its pixels and their neighbours to shared memory, so that
/// each sample is loaded about once from device memory and size · size times from shared memory.
template <int kStep>
__global__ void convolve_shared_kernel(const __grid_constant__ BytePlane plane, Outside outside,
                                       const __grid_constant__ ConstantWeights weights, Size kernel,
                                       LevelOfSum levels) {
  extern __shared__ std::uint8_t tile[];
  const int pixels = static_cast<int>(blockDim.x) + 2 * kernel.radius();
  const int rows = static_cast<int>(blockDim.y) + 2 * kernel.radius();
  const int left = static_cast<int>(blockIdx.x * blockDim.x);
  const int top = static_cast<int>(blockIdx.y * blockDim.y);
  load_tile<kStep>(tile, plane, outside, left - kernel.radius(), top - kernel.radius(), pixels,
                   rows);
  __syncthreads();
  const int x = left + static_cast<int>(threadIdx.x);
  const int y = top + static_cast<int>(threadIdx.y);
  if (x >= plane.width || y >= plane.rows) return;
  for (int channel = 0; channel < kStep; ++channel) {
    std::uint32_t sum = 0;
    for (int j = 0; j < kernel.size; ++j) {
      const std::uint8_t* row =
          tile +
          ((static_cast<int>(threadIdx.y) + j) * pixels + static_cast<int>(threadIdx.x)) * kStep;
      for (int i = 0; i < kernel.size; ++i) {
        sum += static_cast<std::uint32_t>(weights.weights[j * kernel.size + i]) *
               row[i * kStep + channel];
      }
    }
    put(plane, x, y, channel, levels.level(sum));
  }
}

/// Writes all size x size weights.
void write_weights(const ExactKernel& kernel, std::int32_t* to) {
  if (!kernel.separable) {
    std::copy(kernel.weights.begin(), kernel.weights.end(), to);
    return;
  }
  for (const std::int32_t down : kernel.column) {
    for (const std::int32_t across : kernel.row)
      *to++ = down * across;
  }
}

}  // namespace

std::vector<std::int32_t> all_weights(const ExactKernel& kernel) {
  const auto size = static_cast<std::size_t>(kernel.size);
  std::vector<std::int32_t> weights(size * size);
  write_weights(kernel, weights.data());
  return weights;
}

void published_convolve(ConvolveMode mode, int block, const BytePlane& plane, Outside outside,
                        const ExactKernel& kernel, const std::int32_t* weights,
                        cudaStream_t stream) {
  const auto side = static_cast<unsigned>(block);
  const dim3 grid((static_cast<unsigned>(plane.width) + side - 1) / side,
                  (static_cast<unsigned>(plane.rows) + side - 1) / side);
  const dim3 threads(side, side);
  const LevelOfSum levels = LevelOfSum::of(kernel);
  const Size size{kernel.size};
  if (mode == ConvolveMode::global) {
    convolve_global_kernel<<<grid, threads, 0, stream>>>(plane, outside, weights, size, levels);
    check(cudaGetLastError(), "launching convolve");
    return;
  }
  ConstantWeights constant{};
  write_weights(kernel, constant.weights);
  if (mode == ConvolveMode::constant) {
    convolve_constant_kernel<<<grid, threads, 0, stream>>>(plane, outside, constant, size, levels);
  } else {
    const auto tile = static_cast<std::size_t>(block + kernel.size - 1);
    const std::size_t bytes = tile * tile * static_cast<std::size_t>(plane.step);
    const auto run = plane.step == 1   ? &convolve_shared_kernel<1>
                     : plane.step == 3 ? &convolve_shared_kernel<3>
                                       : &convolve_shared_kernel<4>;
    run<<<grid, threads, bytes, stream>>>(plane, outside, constant, size, levels);
  }
  check(cudaGetLastError(), "launching convolve");
}

}  // namespace equalux::cuda
