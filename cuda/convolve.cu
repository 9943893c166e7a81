#include <algorithm>

#include "check.h"
#include "convolve.h"

/// The 3 x 3 kernel that runs by default. A lane holds 16 bytes of a row and walks down; each row
/// is read once, and its products go to the three rows of results that it belongs to. Four bytes,
/// of which three are a row of taps, are multiplied and added by one instruction.
namespace equalux::cuda {
namespace {

constexpr int kVector = 16;  // bytes of a row that a lane holds
constexpr int kWarp = 32;
constexpr int kWarps = 4;  // of a block; each has rows of its own
constexpr int kAhead = 3;  // rows on their way from memory

/// Rows of the kernel, top to bottom, as signed bytes: the left tap lowest, the highest byte 0.
struct TapRows {
  std::uint32_t top = 0;
  std::uint32_t middle = 0;
  std::uint32_t bottom = 0;
};

/// What a lane reads of a row.
struct RowPart {
  uint4 own;
  std::uint32_t left;   // the four bytes before; valid in the warp's first lane
  std::uint32_t right;  // the four bytes after; valid in its last lane and at the row's end
};

__device__ __forceinline__ std::int32_t multiply_add(std::uint32_t bytes, std::uint32_t taps,
                                                     std::int32_t sum) {
  std::int32_t result;
  asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(result) : "r"(bytes), "r"(taps), "r"(sum));
  return result;
}

/// Four levels as bytes, clamped to 0..255; `a` becomes the lowest.
__device__ __forceinline__ std::uint32_t pack_levels(std::int32_t a, std::int32_t b, std::int32_t c,
                                                     std::int32_t d) {
  std::uint32_t high;
  std::uint32_t all;
  asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;" : "=r"(high) : "r"(d), "r"(c), "r"(0));
  asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;" : "=r"(all) : "r"(b), "r"(a), "r"(high));
  return all;
}

/// For each of the four bytes of `own`: the tap to its left, itself, the tap to its right, in the
/// three low bytes. The fourth is multiplied by 0.
template <int kStep>
__device__ __forceinline__ void gather(std::uint32_t left, std::uint32_t own, std::uint32_t right,
                                       std::uint32_t (&taps)[4]) {
  if constexpr (kStep == 1) {
    taps[0] = __byte_perm(left, own, 0x6543);
    taps[1] = own;
    taps[2] = own >> 8;
    taps[3] = __byte_perm(own, right, 0x5432);
  } else if constexpr (kStep == 3) {
    const std::uint32_t sides =
        __byte_perm(left, right, 0x5432);  // left 2, left 3, right 0, right 1
    taps[0] = __byte_perm(left, own, 0x7741);
    taps[1] = __byte_perm(sides, own, 0x2250);
    taps[2] = __byte_perm(sides, own, 0x3361);
    taps[3] = __byte_perm(own, right, 0x6630);
  } else {
    const std::uint32_t low = __byte_perm(left, own, 0x5140);   // left 0, own 0, left 1, own 1
    const std::uint32_t high = __byte_perm(left, own, 0x7362);  // left 2, own 2, left 3, own 3
    taps[0] = __byte_perm(low, right, 0x4410);
    taps[1] = __byte_perm(low, right, 0x5532);
    taps[2] = __byte_perm(high, right, 0x6610);
    taps[3] = __byte_perm(high, right, 0x7732);
  }
}

/// A lane's part of the plane.
template <int kStep, bool kAligned>
struct Lane {
  const BytePlane& plane;
  Outside outside;
  int x;  // first byte in its row
  int row_bytes;
  bool first;  // of the warp
  bool last;   // of the warp, or at the row's end

  /// The byte at position `at` of a row, up to a pixel outside; 0 beyond.
  __device__ std::uint32_t byte_at(const std::uint8_t* row, int at) const {
    if (at >= 0 && at < row_bytes) return row[at];
    const int channel = at < 0 ? at + kStep : at - row_bytes;
    if (channel < 0 || channel >= kStep) return 0;
    const int pixel = border_index(at < 0 ? -1 : plane.width, plane.width, outside.border);
    return pixel < 0 ? outside.value : row[pixel * kStep + channel];
  }
  __device__ std::uint32_t bytes_at(const std::uint8_t* row, int at) const {
    return byte_at(row, at) | byte_at(row, at + 1) << 8 | byte_at(row, at + 2) << 16 |
           byte_at(row, at + 3) << 24;
  }
  __device__ std::uint32_t word_at(const std::uint8_t* row, int at) const {
    if (kAligned && at >= 0 && at + 4 <= row_bytes) {
      return __ldg(reinterpret_cast<const std::uint32_t*>(row + at));
    }
    return bytes_at(row, at);
  }
  __device__ RowPart load(int y) const {
    RowPart part{};
    if (x >= row_bytes) return part;
    const int row_index = border_index(y, plane.rows, outside.border);
    if (row_index < 0) {
      const std::uint32_t all = outside.value * 0x01010101U;
      return {{all, all, all, all}, all, all};
    }
    const std::uint8_t* row = plane.in + row_index * plane.in_stride;
    if (kAligned && x + kVector <= row_bytes) {
      part.own = __ldg(reinterpret_cast<const uint4*>(row + x));
    } else {
      part.own = {bytes_at(row, x), bytes_at(row, x + 4), bytes_at(row, x + 8),
                  bytes_at(row, x + 12)};
    }
    if (first) part.left = word_at(row, x - 4);
    if (last) part.right = word_at(row, x + kVector);
    return part;
  }
  __device__ void store(int y, const uint4& levels) const {
    std::uint8_t* to = plane.out + y * plane.out_stride + x;
    if (kAligned && x + kVector <= row_bytes) {
      *reinterpret_cast<uint4*>(to) = levels;
      return;
    }
    const std::uint32_t words[4] = {levels.x, levels.y, levels.z, levels.w};
#pragma unroll
    for (int i = 0; i < kVector; ++i) {
      if (x + i < row_bytes) to[i] = static_cast<std::uint8_t>(words[i / 4] >> (i % 4 * 8));
    }
  }
};

/// `levels` with the byte that is kept of each pixel from `original`.
template <int kStep>
__device__ __forceinline__ std::uint32_t keep(std::uint32_t levels, std::uint32_t original,
                                              std::uint32_t kept) {
  if constexpr (kStep == 4) return (levels & ~kept) | (original & kept);
  return levels;
}

template <int kStep, bool kAligned, bool kShifts>
__global__ void __launch_bounds__(kWarp* kWarps)
    convolve_3x3_kernel(const __grid_constant__ BytePlane plane, Outside outside, TapRows taps,
                        Levels levels, int rows_each) {
  const int row_bytes = plane.width * kStep;
  const int x = static_cast<int>(blockIdx.x * kWarp + threadIdx.x) * kVector;
  const Lane<kStep, kAligned> lane{
      plane,     outside,          x,
      row_bytes, threadIdx.x == 0, threadIdx.x == kWarp - 1 || x + kVector >= row_bytes};
  const int begin = static_cast<int>(blockIdx.y * kWarps + threadIdx.y) * rows_each;
  const int end = min(begin + rows_each, plane.rows);
  const std::uint32_t kept = plane.kept < 0 ? 0 : 0xFFU << (8 * plane.kept);
  const auto bias = static_cast<std::int32_t>(levels.bias);

  RowPart ahead[kAhead];
#pragma unroll
  for (int i = 0; i < kAhead; ++i) {
    if (begin - 1 + i <= end) ahead[i] = lane.load(begin - 1 + i);
  }
  std::int32_t two_rows[kVector];  // of results: the row above has had two of its three rows
  std::int32_t one_row[kVector];
#pragma unroll
  for (int i = 0; i < kVector; ++i) {
    two_rows[i] = bias;
    one_row[i] = bias;
  }
  uint4 above{};
  for (int y = begin - 1; y <= end; y += kAhead) {
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      if (y + i > end) break;
      const RowPart part = ahead[i];
      if (y + i + kAhead <= end) ahead[i] = lane.load(y + i + kAhead);
      const std::uint32_t left = __shfl_up_sync(~0U, part.own.w, 1);
      const std::uint32_t right = __shfl_down_sync(~0U, part.own.x, 1);
      const std::uint32_t words[6] = {
          lane.first ? part.left : left, part.own.x, part.own.y, part.own.z, part.own.w,
          lane.last ? part.right : right};
      std::uint32_t result[4];
#pragma unroll
      for (int word = 0; word < 4; ++word) {
        std::uint32_t around[4];
        gather<kStep>(words[word], words[word + 1], words[word + 2], around);
        std::int32_t level[4];
#pragma unroll
        for (int b = 0; b < 4; ++b) {
          std::int32_t& two = two_rows[word * 4 + b];
          std::int32_t& one = one_row[word * 4 + b];
          const std::int32_t sum = multiply_add(around[b], taps.bottom, two);
          two = multiply_add(around[b], taps.middle, one);
          one = multiply_add(around[b], taps.top, bias);
          if constexpr (kShifts) {
            level[b] = sum >> levels.shift;
          } else {
            level[b] = static_cast<std::int32_t>(
                levels.divisor.quotient(static_cast<std::uint32_t>(max(sum, 0))));
          }
        }
        result[word] = pack_levels(level[0], level[1], level[2], level[3]);
      }
      if (y + i > begin && x < row_bytes) {
        lane.store(y + i - 1,
                   {keep<kStep>(result[0], above.x, kept), keep<kStep>(result[1], above.y, kept),
                    keep<kStep>(result[2], above.z, kept), keep<kStep>(result[3], above.w, kept)});
      }
      above = part.own;
    }
  }
}

std::uint32_t tap_row(const std::int32_t* weights) {
  std::uint32_t row = 0;
  for (int i = 0; i < 3; ++i)
    row |= (static_cast<std::uint32_t>(weights[i]) & 0xFFU) << (8 * i);
  return row;
}

bool is_aligned(const BytePlane& plane) {
  const auto in = reinterpret_cast<std::uintptr_t>(plane.in);
  const auto out = reinterpret_cast<std::uintptr_t>(plane.out);
  return ((in | out | static_cast<std::uintptr_t>(plane.in_stride) |
           static_cast<std::uintptr_t>(plane.out_stride)) %
          kVector) == 0;
}

using Kernel = void (*)(BytePlane, Outside, TapRows, Levels, int);

template <int kStep>
Kernel kernel_of(bool aligned, bool shifts) {
  if (aligned) {
    return shifts ? &convolve_3x3_kernel<kStep, true, true>
                  : &convolve_3x3_kernel<kStep, true, false>;
  }
  return shifts ? &convolve_3x3_kernel<kStep, false, true>
                : &convolve_3x3_kernel<kStep, false, false>;
}

}  // namespace

Levels Levels::of(const ExactKernel& kernel) {
  Levels levels;
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

bool is_small(const ExactKernel& kernel) {
  return !kernel.separable && kernel.size == 3 &&
         std::all_of(kernel.weights.begin(), kernel.weights.end(),
                     [](std::int32_t weight) { return weight >= -128 && weight <= 127; });
}

void convolve_3x3(const BytePlane& plane, Outside outside, const ExactKernel& kernel,
                  int multiprocessors, cudaStream_t stream) {
  const Levels levels = Levels::of(kernel);
  const TapRows taps{tap_row(&kernel.weights[0]), tap_row(&kernel.weights[3]),
                     tap_row(&kernel.weights[6])};
  const bool aligned = is_aligned(plane);
  const Kernel run = plane.step == 1   ? kernel_of<1>(aligned, levels.shifts)
                     : plane.step == 3 ? kernel_of<3>(aligned, levels.shifts)
                                       : kernel_of<4>(aligned, levels.shifts);
  // Long columns read few rows twice, short ones give every multiprocessor enough warps.
  constexpr int kWarpsWanted = 24;
  const int columns = (plane.width * plane.step + kWarp * kVector - 1) / (kWarp * kVector);
  const std::int64_t wanted = std::int64_t{multiprocessors} * kWarpsWanted;
  const auto rows_each = static_cast<int>(
      std::clamp<std::int64_t>(std::int64_t{plane.rows} * columns / wanted, 4, 32));
  const int bands = (plane.rows + rows_each * kWarps - 1) / (rows_each * kWarps);
  run<<<dim3(static_cast<unsigned>(columns), static_cast<unsigned>(bands)), dim3(kWarp, kWarps), 0,
        stream>>>(plane, outside, taps, levels, rows_each);
  check(cudaGetLastError(), "launching convolve");
}

}  // namespace equalux::cuda
