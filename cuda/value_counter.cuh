#pragma once

#include <cstdint>

#include "fused_config.h"

/// Histograms in shared memory without atomics.
///
/// Every thread counts in bytes of its own. A table has a row of 32 words for each value; a thread
/// owns one byte of the word of its lane, its warp's place among the table's four warps says which.
/// So a warp's 32 increments never meet in a bank, whatever the values, and a flat image costs what
/// any other does. A byte holds 255: the tables are emptied in time by add_up().
namespace equalux::cuda {

/// Most increments of a thread between two calls of add_up().
inline constexpr int kMostCounts = 255;

/// One thread's counters.
class ValueCounter {
 public:
  __device__ ValueCounter(std::uint8_t* tables, int warp, int lane)
      : mine_(tables + warp / kWarpsPerTable * kTableBytes + lane * 4 + warp % kWarpsPerTable) {}

  __device__ __forceinline__ void add(std::uint32_t value) { ++mine_[value * (kLanes * 4)]; }

  /// Two values at once, the halves of a word: neither load waits for the other's store.
  __device__ __forceinline__ void add_pair(std::uint32_t pair) {
    static_assert(kLanes * 4 == 1 << 7);
    std::uint8_t* a = mine_ + (pair & 0xFFFFU) * (kLanes * 4);
    std::uint8_t* b = mine_ + (pair >> 9);  // the low half is below 2^9
    add_at(a, b);
  }
 private:
  static __device__ __forceinline__ void add_at(std::uint8_t* a, std::uint8_t* b) {
    const std::uint32_t count_a = *a;
    const std::uint32_t count_b = *b;
    *a = static_cast<std::uint8_t>(count_a + 1);
    *b = static_cast<std::uint8_t>(a == b ? count_a + 2 : count_b + 1);
  }

 private:
  std::uint8_t* mine_;
};

/// Adds the counts of two values, thread % 128 and 128 more, to `sums`, and clears them if `clear`.
/// All threads of a table call it, synchronised before and after.
__device__ __forceinline__ void add_up(std::uint8_t* tables, int thread, bool clear,
                                       std::uint32_t (&sums)[2]) {
  constexpr int kTableThreads = kWarpsPerTable * kLanes;
  constexpr int kVectors = kLanes * 4 / 16;
  const int within = thread % kTableThreads;
  auto* table = reinterpret_cast<uint4*>(tables + thread / kTableThreads * kTableBytes);
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    uint4* row = table + (within + half * kTableThreads) * kVectors;
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      uint4& cell = row[(i + within) % kVectors];  // each lane begins at another bank
      const uint4 counts = cell;
      if (clear) cell = uint4{0, 0, 0, 0};
      sums[half] = __dp4a(counts.x, 0x01010101U, sums[half]);
      sums[half] = __dp4a(counts.y, 0x01010101U, sums[half]);
      sums[half] = __dp4a(counts.z, 0x01010101U, sums[half]);
      sums[half] = __dp4a(counts.w, 0x01010101U, sums[half]);
    }
  }
}

}  // namespace equalux::cuda
