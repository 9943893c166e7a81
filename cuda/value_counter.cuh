#pragma once

#include <cstdint>

#include "fused_config.h"

/// Histograms in shared memory without atomics.
///
/// Every thread counts in bytes of its own. A table has a row of 32 words for each value; a thread
/// owns one byte of the word of its lane, its warp's place among the table's four warps says which.
/// So a warp's 32 increments never meet in a bank, whatever the values, and a flat image costs what
/// any other does. A byte holds 255: the tables are emptied in time by add_up().
///
/// Two tables lie side by side, so that a row has 256 bytes and the value is the second byte of the
/// address: one byte permutation makes it. A single table has rows of 128 bytes.
namespace equalux::cuda {

/// Most increments of a thread between two calls of add_up().
inline constexpr int kMostCounts = 255;

/// One thread's counters among `kTables`.
template <int kTables>
class ValueCounter {
 public:
  __device__ ValueCounter(std::uint8_t* tables, int warp, int lane)
      : tables_(tables),
        mine_(static_cast<std::uint32_t>(table_offset(warp / kWarpsPerTable) + lane * 4 +
                                         warp % kWarpsPerTable)) {}

  __device__ __forceinline__ void add(std::uint32_t value) const {
    ++tables_[value * kRowBytes + mine_];
  }

  /// Takes back what add_pair() counted.
  __device__ __forceinline__ void remove(std::uint32_t value) const {
    --tables_[value * kRowBytes + mine_];
  }

  /// Counts two values at once, bytes kByte of a word's halves: neither load waits for the other's
  /// store.
  template <int kByte>
  __device__ __forceinline__ void add_pair(std::uint32_t pair) {
    std::uint8_t* a = tables_ + address<kByte>(pair);
    std::uint8_t* b = tables_ + address<2 + kByte>(pair);
    const std::uint32_t count_a = *a;
    const std::uint32_t count_b = *b;
    *a = static_cast<std::uint8_t>(count_a + 1);
    *b = static_cast<std::uint8_t>(a == b ? count_a + 2 : count_b + 1);
  }

  /// Where a table begins, from the first.
  static __device__ constexpr int table_offset(int table) {
    return table / kSideBySide * (kSideBySide * kTableBytes) +
           table % kSideBySide * (kTableBytes / 256);
  }
  static constexpr int kSideBySide = kTables % 2 == 0 ? 2 : 1;
  static constexpr int kRowBytes = kSideBySide * (kTableBytes / 256);

 private:
  template <int kByte>
  [[nodiscard]] __device__ __forceinline__ std::uint32_t address(std::uint32_t word) const {
    if constexpr (kRowBytes == 256) {
      return __byte_perm(word, mine_, 0x7604 | kByte << 4);  // mine_ is 0 in bytes 1 and 3
    } else {
      return __byte_perm(word, 0, 0x4440 | kByte) * kRowBytes + mine_;
    }
  }

  std::uint8_t* tables_;
  std::uint32_t mine_;
};

/// Adds the counts of two values, thread % 128 and 128 more, to `sums`, and clears them if `clear`.
/// All threads of a table call it, synchronised before and after.
template <int kTables>
__device__ __forceinline__ void add_up(std::uint8_t* tables, int thread, bool clear,
                                       std::uint32_t (&sums)[2]) {
  using Counter = ValueCounter<kTables>;
  constexpr int kTableThreads = kWarpsPerTable * kLanes;
  constexpr int kVectors = kLanes * 4 / 16;
  const int within = thread % kTableThreads;
  std::uint8_t* table = tables + Counter::table_offset(thread / kTableThreads);
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    auto* row =
        reinterpret_cast<uint4*>(table + (within + half * kTableThreads) * Counter::kRowBytes);
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
