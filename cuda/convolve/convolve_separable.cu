#include <algorithm>
#include <cstddef>

#include "cuda/convolve/convolve.h"
#include "cuda/convolve/convolve_window.cuh"
#include "cuda/device/dependent_launch.cuh"
#include "cuda/runtime/check.h"

/// Separable kernels of up to 31 x 31 in one pass on the tensor cores. A warp walks down two tiles
/// of 16 bytes, 16 rows per step. Along x: sums = T · rows, for eight rows at once. The sums are
/// split into bytes, which in the registers are already the left operand of the pass along y, where
/// the weights are the right one: sums · C. Only the frame's bytes go through shared memory.
///
/// Weights and sums of more than 8 bits are split into bytes; Horner's rule adds the products, the
/// highest power of 256 first, modulo 2^32, and results are below 2^32.
namespace equalux::cuda {
namespace {

constexpr int kProductRows = 8;  // rows of a product
constexpr int kProductStep = 2 * kProductRows;
constexpr int kProductStages = 3;  // steps in shared memory

struct SeparableParams {
  BytePlane plane;
  Outside outside;
  SumFinish finish;
  int granule;
  int size;
  int rows_each;  // results of a block
  std::int16_t row[kMaxSeparableKernel];
  std::int16_t column[kMaxSeparableKernel];
};

/// Splits the sums along x of two groups of rows, 0 to 2^24 - 1, into bytes in the order that the
/// pass along y multiplies. `half` is 0 for row g of a matrix and 1 for row g + 8.
template <int kPlanes>
__device__ __forceinline__ void cut(const Sums& upper, const Sums& lower, int half,
                                    std::uint32_t (&planes)[kPlanes][2]) {
  const auto of = [half](const Sums& sums, int i) {
    return static_cast<std::uint32_t>(sums[2 * half + i]);
  };
  const std::uint32_t first = __byte_perm(of(upper, 0), of(upper, 1), 0x5140);
  const std::uint32_t second = __byte_perm(of(lower, 0), of(lower, 1), 0x5140);
  planes[0][half] = __byte_perm(first, second, 0x5410);
  planes[1][half] = __byte_perm(first, second, 0x7632);
  if constexpr (kPlanes == 3) {
    planes[2][half] = __byte_perm(__byte_perm(of(upper, 0), of(upper, 1), 0x0062),
                                  __byte_perm(of(lower, 0), of(lower, 1), 0x0062), 0x5410);
  }
}

/// Blocks per multiprocessor: weights of one byte need fewer registers, so that one more fits.
__host__ __device__ constexpr int blocks_at_once(int halo, bool wide) {
  return wide || halo > 2 ? kBlocksAtOnce : kBlocksAtOnce + 1;
}

/// Convolves a column of 256 bytes per block of eight warps, which share the rows in shared memory:
/// three steps, two of which are being copied. Registers hold T, the weights along y, and the sums
/// of the last kPairs pairs of row groups. kHalo is the number of blocks of 16 bytes on either side
/// that results need. With kWide weights have two bytes and sums along x three, else one and two.
template <int kHalo, int kPairs, bool kWide>
__global__ void __launch_bounds__(kWindowThreads, blocks_at_once(kHalo, kWide))
    convolve_separable_kernel(const __grid_constant__ SeparableParams p) {
  using Shape = WindowShape<kHalo>;
  constexpr int kWeightPlanes = kWide ? 2 : 1;
  constexpr int kSumPlanes = kWide ? 3 : 2;
  constexpr int kPitch = Shape::kPitch;
  __shared__ alignas(16) std::uint8_t stages[kProductStages][kProductStep * kPitch];
  __shared__ std::uint8_t bands[kWeightPlanes][Shape::kBand];
  __shared__ std::uint8_t columns[kWeightPlanes][kMaxSeparableKernel + 1];

  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % 32;
  const int g = lane / 4;
  const int t = lane % 4;
  const int radius = p.size / 2;
  make_bands<kWindowThreads>(p.row, p.size, p.plane.step, Shape::kZero, bands);
  if (thread < p.size) {
#pragma unroll
    for (int plane = 0; plane < kWeightPlanes; ++plane)
      columns[plane][thread] = static_cast<std::uint8_t>(p.column[thread] >> (8 * plane));
  }
  __syncthreads();
  std::uint32_t along[kWeightPlanes][Shape::kBlocks][2];
#pragma unroll
  for (int plane = 0; plane < kWeightPlanes; ++plane) {
#pragma unroll
    for (int block = 0; block < Shape::kBlocks; ++block) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        along[plane][block][half] = band_word(
            bands[plane], Shape::kZero + (block - kHalo) * kChunk + 4 * t - result_of(g, half));
      }
    }
  }
  // Results of group q need groups q to q + groups - 1 of the rows that are read, which begin
  // `radius` rows above the results. After step s, the results of the two groups from 2 s + 1 -
  // groups on can be computed.
  const int groups = 1 + (2 * radius + kProductRows - 1) / kProductRows;
  std::uint32_t down[2][kWeightPlanes][kPairs];  // for both groups of a step
#pragma unroll
  for (int which = 0; which < 2; ++which) {
#pragma unroll
    for (int pair = 0; pair < kPairs; ++pair) {
      std::uint32_t words[kWeightPlanes] = {};
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int row = 2 * t + i % 2 + i / 2 * kProductRows;  // row in the pair, in the order of
                                                               // cut()
        const int tap =
            (pair - kPairs + 1) * kProductStep + row + kProductRows * (groups - 1 - which) - g;
        if (tap < 0 || tap >= p.size) continue;
#pragma unroll
        for (int plane = 0; plane < kWeightPlanes; ++plane)
          words[plane] |= static_cast<std::uint32_t>(columns[plane][tap]) << (8 * i);
      }
#pragma unroll
      for (int plane = 0; plane < kWeightPlanes; ++plane)
        down[which][plane][pair] = words[plane];
    }
  }

  wait_for_results();
  const int begin = static_cast<int>(blockIdx.y) * p.rows_each;
  const int end = min(begin + p.rows_each, p.plane.rows);
  const int first_byte = static_cast<int>(blockIdx.x) * kWindowBytes;
  const int own_byte = first_tile(thread / 32);
  const Window<kHalo> window(p.plane, p.outside, p.granule, first_byte, radius * p.plane.step);
  const bool at_side = window.is_at_side();
  const ResultRows results(p.plane, p.granule, first_byte + own_byte, begin, end - begin, lane);
  const int steps = ((end - begin + kProductRows - 1) / kProductRows + groups - 2) / 2 + 1;
#pragma unroll
  for (int s = 0; s < kProductStages - 1; ++s) {
    if (s < steps) window.load(stages[s], begin - radius + s * kProductStep);
    copies_commit();
  }

  std::uint32_t sums[kTilesOfWarp][kSumPlanes][kPairs][2] = {};  // of the last pairs, oldest first
  int stage = 0;
  for (int s = 0; s < steps; ++s) {
    copies_wait<kProductStages - 2>();
    __syncthreads();  // all threads see step s, and have read the step before
    if (s + kProductStages - 1 < steps) {
      window.load(stages[stage == 0 ? kProductStages - 1 : stage - 1],
                  begin - radius + (s + kProductStages - 1) * kProductStep);
    }
    copies_commit();
    if (at_side) {
      window.mend_sides(stages[stage], kProductStep);
      __syncthreads();
    }
    Sums rows[kTilesOfWarp][2] = {};
    std::uint32_t bytes[2][loaded_blocks(Shape::kOfWarp)];
#pragma unroll
    for (int group = 0; group < 2; ++group) {
      load_blocks<Shape::kOfWarp>(
          bytes[group], stages[stage] + group * kProductRows * kPitch + own_byte, kPitch, lane);
    }
#pragma unroll
    for (int plane = kWeightPlanes - 1; plane >= 0; --plane) {
#pragma unroll
      for (int tile = 0; tile < kTilesOfWarp; ++tile) {
#pragma unroll
        for (int group = 0; group < 2; ++group) {
          if (plane < kWeightPlanes - 1) shift_up(rows[tile][group]);
          multiply(rows[tile][group], along[plane], bytes[group] + tile * (kTileStep / kChunk));
        }
      }
    }
    stage = stage + 1 == kProductStages ? 0 : stage + 1;
#pragma unroll
    for (int tile = 0; tile < kTilesOfWarp; ++tile) {
      std::uint32_t cuts[kSumPlanes][2];
      cut(rows[tile][0], rows[tile][1], 0, cuts);
      cut(rows[tile][0], rows[tile][1], 1, cuts);
#pragma unroll
      for (int plane = 0; plane < kSumPlanes; ++plane) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
#pragma unroll
          for (int pair = 0; pair + 1 < kPairs; ++pair)
            sums[tile][plane][pair][half] = sums[tile][plane][pair + 1][half];
          sums[tile][plane][kPairs - 1][half] = cuts[plane][half];
        }
      }
    }
    // Horner's rule: products whose powers of 256 add up to `power`, the highest first.
    constexpr int kResults = 2 * kTilesOfWarp;  // the tiles of one group, then of the other
    constexpr int kMostPower = kWeightPlanes + kSumPlanes - 2;
    Sums results_of[kResults] = {};
#pragma unroll
    for (int power = kMostPower; power >= 0; --power) {
#pragma unroll
      for (int plane = kSumPlanes - 1; plane >= 0; --plane) {
        const int weights = power - plane;
        if (weights < 0 || weights >= kWeightPlanes) continue;
#pragma unroll
        for (int i = 0; i < kResults; ++i)
          multiply(results_of[i], sums[i % kTilesOfWarp][plane], down[i / kTilesOfWarp][weights]);
      }
      if (power == 0) continue;
#pragma unroll
      for (Sums& result : results_of)
        shift_up(result);
    }
    std::uint32_t pairs[kResults];
    p.finish.pairs(results_of, pairs);
#pragma unroll
    for (int which = 0; which < 2; ++which) {
      const std::uint32_t of_group[kTilesOfWarp] = {pairs[which * kTilesOfWarp],
                                                    pairs[which * kTilesOfWarp + 1]};
      results.store((2 * s + 1 - groups + which) * kProductRows, of_group);
    }
  }
}

using SeparableKernel = void (*)(SeparableParams);

template <bool kWide>
SeparableKernel kernel_for(int halo, bool tall) {
  switch (halo) {
    case 1:
      return tall ? &convolve_separable_kernel<1, 3, kWide>
                  : &convolve_separable_kernel<1, 2, kWide>;
    case 2:
      return tall ? &convolve_separable_kernel<2, 3, kWide>
                  : &convolve_separable_kernel<2, 2, kWide>;
    case 3:
      return &convolve_separable_kernel<3, 3, kWide>;
    default:
      return &convolve_separable_kernel<4, 3, kWide>;
  }
}

/// Returns true where weights are bytes, and sums along x have at most 16 bits.
bool is_narrow(const ExactKernel& kernel) {
  std::int64_t sum = 0;
  std::int32_t most = 0;
  for (const std::int32_t weight : kernel.row) {
    sum += weight;
    most = std::max(most, weight);
  }
  for (const std::int32_t weight : kernel.column)
    most = std::max(most, weight);
  return most <= 255 && sum * 255 <= 65535;
}

}  // namespace

void convolve_separable(const BytePlane& plane, Outside outside, const ExactKernel& kernel,
                        const LaunchDevice& device, cudaStream_t stream) {
  SeparableParams p{};
  p.plane = plane;
  p.outside = outside;
  p.finish = SumFinish::of(kernel);
  p.granule = granule_of(plane);
  p.size = kernel.size;
  std::copy(kernel.row.begin(), kernel.row.end(), p.row);
  std::copy(kernel.column.begin(), kernel.column.end(), p.column);
  const int halo = halo_blocks(kernel.radius() * plane.step);
  const bool tall = kernel.radius() > kProductRows;
  const bool wide = !is_narrow(kernel);
  const SeparableKernel run = wide ? kernel_for<true>(halo, tall) : kernel_for<false>(halo, tall);

  p.rows_each = rows_of_block(plane, device, kProductRows, 2 * (kernel.radius() + kProductStep),
                              blocks_at_once(halo, wide));
  launch_windows(run, p, p.rows_each, 0, device, stream);
}

}  // namespace equalux::cuda
