#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "cuda/convolve/convolve.h"
#include "cuda/convolve/convolve_window.cuh"
#include "cuda/device/dependent_launch.cuh"
#include "cuda/runtime/check.h"

/// Kernels with any weights, up to 15 x 15, on the tensor cores: each kernel row is a banded matrix
/// T, and the sums are the sum over j of T(j) · rows from j on. A block walks down a column of
/// tiles. Weights of more than 8 bits are split into bytes, the highest one signed, whose products
/// Horner's rule adds modulo 2^32.
namespace equalux::cuda {
namespace {

constexpr int kGroup = 8;  // rows of a product
constexpr int kGroups = 4;
constexpr int kTileRows = kGroup * kGroups;
constexpr int kMostPlanes = 4;
constexpr std::size_t kSharedUnasked = 48 * 1024;  // bytes that a block may have without asking

struct DirectParams {
  BytePlane plane;
  Outside outside;
  SumFinish finish;
  int granule;
  int size;
  int planes;      // bytes of a weight
  int tiles_each;  // tiles of each block
  std::int32_t weights[kMaxCustomKernel * kMaxCustomKernel];
};

/// A banded matrix in shared memory, arranged as the words that lanes load: place i has bytes 2i to
/// 2i + 3 for row g of a matrix, whose result is byte 2g, and bytes 2i - 1 to 2i + 2 for row g + 8,
/// whose result is the byte after it.
template <int kHalo>
struct Band {
  static constexpr int kPlaces = WindowShape<kHalo>::kBlocks * (kChunk / 2) + kChunk / 2;
  uint2 words[kPlaces];
};

/// Adds the products with one byte of all weights.
template <int kHalo, bool kSigned>
__device__ __forceinline__ void add_plane(Sums (&sums)[kGroups * kTilesOfWarp],
                                          const Band<kHalo>* bands, const std::uint8_t* rows,
                                          int size, int from, int lane) {
  using Shape = WindowShape<kHalo>;
#pragma unroll 1
  for (int j = 0; j < size; ++j) {
    std::uint32_t along[Shape::kBlocks][2];
#pragma unroll
    for (int block = 0; block < Shape::kBlocks; ++block) {
      const uint2 words = bands[j].words[from + block * (kChunk / 2)];
      along[block][0] = words.x;
      along[block][1] = words.y;
    }
#pragma unroll
    for (int group = 0; group < kGroups; ++group) {
      std::uint32_t bytes[loaded_blocks(Shape::kOfWarp)];
      load_blocks<Shape::kOfWarp>(bytes, rows + (group * kGroup + j) * Shape::kPitch, Shape::kPitch,
                                  lane);
#pragma unroll
      for (int tile = 0; tile < kTilesOfWarp; ++tile) {
        multiply<Shape::kBlocks, kSigned>(sums[group * kTilesOfWarp + tile], along,
                                          bytes + tile * (kTileStep / kChunk));
      }
    }
  }
}

template <int kHalo>
constexpr std::size_t window_bytes(int size) {
  return static_cast<std::size_t>(kTileRows + size - 1) * WindowShape<kHalo>::kPitch;
}

/// Convolves a column of tiles per block of 256 threads: each warp has two tiles of 16 bytes and 32
/// rows, whose sums are in registers. Shared memory has two windows of the plane, one of which is
/// being copied, and all bands. Each tile costs size · (2 kHalo + 1) products of 16 x 8 x 16 bytes
/// for each byte of a weight and eight rows.
template <int kHalo>
__global__ void __launch_bounds__(kWindowThreads, kBlocksAtOnce)
    convolve_direct_kernel(const __grid_constant__ DirectParams p) {
  using Shape = WindowShape<kHalo>;
  extern __shared__ uint4 shared[];  // two windows, then `size` bands for each byte of the weights
  const int window_rows = kTileRows + p.size - 1;
  auto* const windows = reinterpret_cast<std::uint8_t*>(shared);
  auto* const bands = reinterpret_cast<Band<kHalo>*>(windows + 2 * window_rows * Shape::kPitch);
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % 32;
  const int radius = p.size / 2;
  constexpr int kPlaces = Band<kHalo>::kPlaces;
  for (int i = thread; i < p.planes * p.size * kPlaces; i += kWindowThreads) {
    const int place = i % kPlaces;
    const int j = i / kPlaces % p.size;
    const int plane = i / kPlaces / p.size;
    // Byte b of the five from byte 2 place - 1 on.
    std::uint64_t bytes = 0;
#pragma unroll 1
    for (int b = 0; b < 5; ++b) {
      const int distance = 2 * place - 1 + b - Shape::kZero;
      const int tap = distance / p.plane.step + radius;
      if (distance % p.plane.step != 0 || tap < 0 || tap >= p.size) continue;
      const auto weight = static_cast<std::uint32_t>(p.weights[j * p.size + tap]);
      bytes |= static_cast<std::uint64_t>(weight >> (8 * plane) & 0xFFU) << (8 * b);
    }
    bands[plane * p.size + j].words[place] = {static_cast<std::uint32_t>(bytes >> 8),
                                              static_cast<std::uint32_t>(bytes)};
  }
  // Place of the words that this lane needs for the first block.
  const int from = (kChunk + 4 * (lane % 4)) / 2 - lane / 4;

  wait_for_results();
  const int first_byte = static_cast<int>(blockIdx.x) * kWindowBytes;
  const int own_byte = first_tile(thread / 32);
  const int first_row = static_cast<int>(blockIdx.y) * p.tiles_each * kTileRows;
  const Window<kHalo> window(p.plane, p.outside, p.granule, first_byte, radius * p.plane.step);
  const bool at_side = window.is_at_side();
  const ResultRows results(p.plane, p.granule, first_byte + own_byte, first_row,
                           p.plane.rows - first_row, lane);
  const int tiles = min(p.tiles_each, (p.plane.rows - first_row + kTileRows - 1) / kTileRows);
  const auto load = [&](int tile) {
    window.load(windows + tile % 2 * window_rows * Shape::kPitch,
                first_row + tile * kTileRows - radius, window_rows);
  };
  load(0);
  copies_commit();
  for (int i = 0; i < tiles; ++i) {
    if (i + 1 < tiles) load(i + 1);
    copies_commit();
    copies_wait<1>();
    __syncthreads();
    std::uint8_t* const rows = windows + i % 2 * window_rows * Shape::kPitch;
    if (at_side) {
      window.mend_sides(rows, window_rows);
      __syncthreads();
    }
    Sums sums[kGroups * kTilesOfWarp] = {};
    add_plane<kHalo, true>(sums, bands + (p.planes - 1) * p.size, rows + own_byte, p.size, from,
                           lane);
#pragma unroll 1
    for (int plane = p.planes - 2; plane >= 0; --plane) {
#pragma unroll
      for (Sums& of_tile : sums)
        shift_up(of_tile);
      add_plane<kHalo, false>(sums, bands + plane * p.size, rows + own_byte, p.size, from, lane);
    }
    std::uint32_t pairs[kGroups * kTilesOfWarp];
    p.finish.pairs(sums, pairs);
#pragma unroll
    for (int group = 0; group < kGroups; ++group) {
      const std::uint32_t of_group[kTilesOfWarp] = {pairs[group * kTilesOfWarp],
                                                    pairs[group * kTilesOfWarp + 1]};
      results.store(i * kTileRows + group * kGroup, of_group);
    }
    __syncthreads();  // all threads have read the window that is overwritten next
  }
}

/// Returns the number of bytes that hold every weight as a signed number.
int bytes_of(const ExactKernel& kernel) {
  int bytes = 1;
  for (const std::int32_t weight : kernel.weights) {
    while (bytes < kMostPlanes &&
           (weight < -(1LL << (8 * bytes - 1)) || weight >= 1LL << (8 * bytes - 1)))
      ++bytes;
  }
  return bytes;
}

/// Shared memory for two windows and the bands of `size` rows of weights with `planes` bytes.
template <int kHalo>
constexpr std::size_t shared_bytes(int size, int planes) {
  return 2 * window_bytes<kHalo>(size) +
         sizeof(Band<kHalo>) * static_cast<std::size_t>(size) * static_cast<std::size_t>(planes);
}

template <int kHalo>
void launch(const DirectParams& p, const LaunchDevice& device, cudaStream_t stream) {
  const std::size_t shared = shared_bytes<kHalo>(p.size, p.planes);
  if (shared > kSharedUnasked) {
    // As much as any kernel needs: the number belongs to the function, which filters of other
    // threads may launch between this call and the launch.
    constexpr auto kMost = static_cast<int>(shared_bytes<kHalo>(kMaxCustomKernel, kMostPlanes));
    check(cudaFuncSetAttribute(reinterpret_cast<const void*>(&convolve_direct_kernel<kHalo>),
                               cudaFuncAttributeMaxDynamicSharedMemorySize, kMost),
          "asking for shared memory");
  }
  launch_windows(&convolve_direct_kernel<kHalo>, p, p.tiles_each * kTileRows, shared, device,
                 stream);
}

}  // namespace

void convolve_direct(const BytePlane& plane, Outside outside, const ExactKernel& kernel,
                     const LaunchDevice& device, cudaStream_t stream) {
  DirectParams p{};
  p.plane = plane;
  p.outside = outside;
  p.finish = SumFinish::of(kernel);
  p.granule = granule_of(plane);
  p.size = kernel.size;
  p.planes = bytes_of(kernel);
  std::copy(kernel.weights.begin(), kernel.weights.end(), p.weights);
  p.tiles_each = rows_of_block(plane, device, kTileRows, kTileRows) / kTileRows;
  if (halo_blocks(kernel.radius() * plane.step) == 1) {
    launch<1>(p, device, stream);
  } else {
    launch<2>(p, device, stream);
  }
}

}  // namespace equalux::cuda
