#include <algorithm>
#include <cstdint>
#include <vector>

#include "cuda/convolve/convolve.h"
#include "cuda/convolve/convolve_taps.cuh"
#include "cuda/convolve/convolve_tile.cuh"
#include "cuda/convolve/plane_copy.cuh"
#include "cuda/device/dependent_launch.cuh"
#include "cuda/runtime/check.h"
#include "cuda/runtime/pick_kernel.h"

/// The 3 x 3 convolution that runs by default. A warp walks down a column of 512 bytes, 16 bytes
/// per lane. Asynchronous copies bring the next rows to shared memory. Each row is read once, and
/// its products are added to the three rows of results that it belongs to, which are in registers;
/// one dp4a instruction multiplies and adds the three taps of a kernel row.
namespace equalux::cuda {
namespace {

constexpr int kWords = kLaneBytes / 4;
constexpr int kWarps = 4;   // of a block; each has rows of its own
constexpr int kBlocks = 5;  // resident on a multiprocessor
constexpr int kRing = 3;    // rows of a warp in shared memory

struct Conv3x3Params {
  BytePlane plane;
  Outside outside;
  TapRows taps;
  LevelOfSum levels;
  std::int32_t start;        // first value of each sum
  std::uint32_t multiplier;  // for Finish::top
  PlaneCopies copies;
  int columns;    // of tiles
  int rows_each;  // results of each warp
  int bands;      // of rows that are convolved; later bands are copied
};

/// Returns `levels` with the byte that each pixel keeps from `original`.
template <int kStep>
__device__ __forceinline__ std::uint32_t keep(std::uint32_t levels, std::uint32_t original,
                                              std::uint32_t kept) {
  if constexpr (kStep == 4) return (levels & ~kept) | (original & kept);
  return levels;
}

template <Finish kFinish>
__device__ __forceinline__ std::uint32_t finish(std::int32_t (&sum)[4], const Conv3x3Params& p) {
  if constexpr (kFinish == Finish::scaled) {
    return pack_byte<1>(sum);
  } else if constexpr (kFinish == Finish::top) {
#pragma unroll
    for (std::int32_t& value : sum)
      value = static_cast<std::int32_t>(static_cast<std::uint32_t>(value) * p.multiplier);
    return pack_byte<3>(sum);
  } else {
    if constexpr (kFinish == Finish::any) {
#pragma unroll
      for (std::int32_t& value : sum)
        value = p.levels.level(static_cast<std::uint32_t>(value));
    }
    return pack_clamped(sum);
  }
}

/// Writes the first `valid` of a lane's levels, with the widest stores that kGranule allows.
template <int kGranule>
__device__ __forceinline__ void store(std::uint8_t* to, const std::uint32_t (&levels)[kWords],
                                      int valid) {
  if (valid <= 0) return;
  if (kGranule == 16 && valid >= kLaneBytes) {
    const uint4 all{levels[0], levels[1], levels[2], levels[3]};
    *reinterpret_cast<uint4*>(to) = all;
    return;
  }
  if (kGranule == 4 && valid >= kLaneBytes) {
#pragma unroll
    for (int word = 0; word < kWords; ++word)
      reinterpret_cast<std::uint32_t*>(to)[word] = levels[word];
    return;
  }
#pragma unroll
  for (int i = 0; i < kLaneBytes; ++i) {
    if (i < valid) to[i] = static_cast<std::uint8_t>(levels[i / 4] >> (i % 4 * 8));
  }
}

/// Convolves rows of one column of 512 bytes per warp, or copies rows of unchanged planes. A block
/// has four independent warps, so that no barrier of the block is needed. Per lane 32 partial sums
/// are in registers. Each result byte costs three dp4a and one or two byte permutations; memory is
/// read once and written once, plus two border rows per warp.
template <int kStep, int kGranule, Finish kFinish>
__global__ void __launch_bounds__(kLanes* kWarps, kBlocks)
    convolve_3x3_kernel(const __grid_constant__ Conv3x3Params p) {
  __shared__ TileRow rings[kWarps][kRing];
  TileRow* const ring = rings[threadIdx.y];
  const int lane = static_cast<int>(threadIdx.x);
  const int warp = static_cast<int>(blockIdx.x * kWarps + threadIdx.y);
  const int band = warp / p.columns;
  const int left = (warp - band * p.columns) * kTile;
  wait_for_results();
  if (band >= p.bands) {
    copy_rows(p.copies, left, lane, (band - p.bands) * p.rows_each, p.rows_each);
    return;
  }
  const int begin = band * p.rows_each;
  const int end = min(begin + p.rows_each, p.plane.rows);  // of the results; one more row is read
  if (begin >= end) return;
  const int x = left + lane * kLaneBytes;
  const int valid = p.plane.width * kStep - x;
  std::uint8_t* to = p.plane.out + begin * p.plane.out_stride + x;
  const std::uint32_t kept = p.plane.kept < 0 ? 0 : 0xFFU << (8 * p.plane.kept);
  const Tile<kStep, kGranule> tile(p.plane, p.outside, left, lane);

#pragma unroll
  for (int i = 0; i < kRing - 1; ++i) {
    tile.load(ring[i], begin - 1 + i);
    copies_commit();
  }
  std::int32_t two_rows[kLaneBytes];  // sums that have two of their three rows
  std::int32_t one_row[kLaneBytes];
#pragma unroll
  for (int i = 0; i < kLaneBytes; ++i) {
    two_rows[i] = p.start;
    one_row[i] = p.start;
  }
  std::uint32_t above[kWords]{};
  // Unrolled over the ring, so that positions in it are compile-time constants.
  for (int first = begin - 1; first <= end; first += kRing) {
#pragma unroll
    for (int i = 0; i < kRing; ++i) {
      const int y = first + i;
      if (y > end) return;
      copies_wait<kRing - 2>();
      __syncwarp();  // all lanes see row y, and have read the row whose place is reused
      // Loads some rows beyond the last in vain, which costs less than a test.
      tile.load(ring[(i + kRing - 1) % kRing], y + kRing - 1);
      copies_commit();
      TileRow& row = ring[i];
      tile.mend_sides(row, y);
      const auto* words = reinterpret_cast<const std::uint32_t*>(row.at(lane * kLaneBytes));
      const uint4 own = *reinterpret_cast<const uint4*>(words);
      const std::uint32_t taken[kWords + 2] = {words[-1], own.x, own.y,
                                               own.z,     own.w, words[kWords]};
      std::uint32_t levels[kWords];
#pragma unroll
      for (int word = 0; word < kWords; ++word) {
        std::uint32_t around[4];
        gather<kStep>(taken[word], taken[word + 1], taken[word + 2], around);
        std::int32_t sum[4];
#pragma unroll
        for (int b = 0; b < 4; ++b) {
          std::int32_t& two = two_rows[word * 4 + b];
          std::int32_t& one = one_row[word * 4 + b];
          sum[b] = multiply_add(around[b], p.taps.bottom, two);
          two = multiply_add(around[b], p.taps.middle, one);
          one = multiply_add(around[b], p.taps.top, p.start);
        }
        levels[word] = keep<kStep>(finish<kFinish>(sum, p), above[word], kept);
        above[word] = taken[word + 1];
      }
      if (y > begin) {
        store<kGranule>(to, levels, valid);
        to += p.plane.out_stride;
      }
    }
  }
}

std::uint32_t tap_row(const std::int32_t* weights, std::int32_t scale) {
  std::uint32_t row = 0;
  for (int i = 0; i < 3; ++i)
    row |= (static_cast<std::uint32_t>(weights[i] * scale) & 0xFFU) << (8 * i);
  return row;
}

bool fit_signed_bytes(const std::vector<std::int32_t>& weights, std::int32_t scale) {
  return std::all_of(weights.begin(), weights.end(), [scale](std::int32_t weight) {
    const std::int64_t scaled = std::int64_t{weight} * scale;
    return scaled >= -128 && scaled <= 127;
  });
}

/// Returns true where every frame gives results within 0..255, so that clamping is not needed.
bool stays_within(const ExactKernel& kernel) {
  std::int64_t least = kernel.bias;
  std::int64_t most = kernel.bias;
  for (const std::int32_t weight : kernel.weights)
    (weight < 0 ? least : most) += 255 * std::int64_t{weight};
  return least >= 0 && most < 256 * kernel.divisor;
}

Finish finish_of(const ExactKernel& kernel) {
  if (kernel.divisor == 1) return Finish::plain;
  if (!stays_within(kernel) || kernel.divisor > 256) return Finish::any;
  const bool whole = 256 % kernel.divisor == 0;
  return whole && fit_signed_bytes(kernel.weights, static_cast<std::int32_t>(256 / kernel.divisor))
             ? Finish::scaled
             : Finish::top;
}

using Kernel = void (*)(Conv3x3Params);

template <int kStep>
Kernel kernel_of(const BytePlane& plane, Finish finish) {
  if (!plane.is_multiple(4)) return &convolve_3x3_kernel<kStep, 1, Finish::any>;
  if (!plane.is_multiple(16)) return &convolve_3x3_kernel<kStep, 4, Finish::any>;
  switch (finish) {
    case Finish::plain:
      return &convolve_3x3_kernel<kStep, 16, Finish::plain>;
    case Finish::scaled:
      return &convolve_3x3_kernel<kStep, 16, Finish::scaled>;
    case Finish::top:
      return &convolve_3x3_kernel<kStep, 16, Finish::top>;
    default:
      return &convolve_3x3_kernel<kStep, 16, Finish::any>;
  }
}

int blocks_for(int count, int each) {
  return (count + each - 1) / each;
}

}  // namespace

LevelOfSum LevelOfSum::of(const ExactKernel& kernel) {
  LevelOfSum levels;
  levels.bias = static_cast<std::uint32_t>(kernel.bias);
  levels.positive = kernel.separable;
  const auto divisor = static_cast<std::uint32_t>(kernel.divisor);
  levels.shifts = (divisor & (divisor - 1)) == 0;
  if (levels.shifts) {
    while ((1U << levels.shift) < divisor)
      ++levels.shift;
  } else {
    levels.divisor = FastDivisor::of(divisor);
  }
  return levels;
}

LaunchDevice convolve_3x3_device() {
  return LaunchDevice::of(reinterpret_cast<const void*>(&convolve_3x3_kernel<1, 16, Finish::any>));
}

bool is_small(const ExactKernel& kernel) {
  return !kernel.separable && kernel.size == 3 && fit_signed_bytes(kernel.weights, 1);
}

void convolve_3x3(const BytePlane& plane, Outside outside, const ExactKernel& kernel,
                  const PlaneCopies& copies, const LaunchDevice& device, cudaStream_t stream) {
  // Planes that are not aligned to 16 bytes take the kernels for any divisor, which saves kernels.
  const Finish finish = plane.is_multiple(16) ? finish_of(kernel) : Finish::any;
  const Kernel run = with_step(
      plane.step, [&](auto step) { return kernel_of<decltype(step)::value>(plane, finish); });
  const std::int32_t scale =
      finish == Finish::scaled ? static_cast<std::int32_t>(256 / kernel.divisor) : 1;
  Conv3x3Params p{};
  p.plane = plane;
  p.outside = outside;
  p.taps = {tap_row(&kernel.weights[0], scale), tap_row(&kernel.weights[3], scale),
            tap_row(&kernel.weights[6], scale)};
  p.levels = LevelOfSum::of(kernel);
  p.start = finish == Finish::any ? 0 : static_cast<std::int32_t>(kernel.bias) * scale;
  p.multiplier = top_byte_multiplier(kernel.divisor);
  p.copies = copies;

  // One wave of blocks: each warp has so many rows that all multiprocessors are busy until the end.
  constexpr int kFewestRows = 4;
  p.columns = blocks_for(plane.width * plane.step, kTile);
  const int copied = copies.plane[0].rows + copies.plane[1].rows;
  const int most_bands =
      std::max(1, device.multiprocessors * kBlocks * kWarps / p.columns - (copied > 0 ? 1 : 0));
  p.rows_each = std::max(kFewestRows, blocks_for(plane.rows + copied, most_bands));
  p.bands = blocks_for(plane.rows, p.rows_each);
  const int blocks = blocks_for(p.columns * (p.bands + blocks_for(copied, p.rows_each)), kWarps);
  launch_early(device, "launching convolve", run, dim3(static_cast<unsigned>(blocks)),
               dim3(kLanes, kWarps), stream, p);
}

}  // namespace equalux::cuda
