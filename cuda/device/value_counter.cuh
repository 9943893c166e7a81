#pragma once

#include <cstdint>

#include "cuda/device/warp.h"

/// Histograms in shared memory without bank conflicts.
///
/// A table has 256 rows, one for each value, of 32 counters, one for each lane: the 32 increments
/// of a warp fall into 32 different banks, whatever the values are, and a flat image costs as much
/// as any other. Several warps share a table, so increments are atomic.
///
/// Two tables lie side by side: a row then has 256 bytes, so that the value is the second byte of
/// the address, and one byte permutation makes the address. A single table has rows of 128 bytes.
namespace equalux::cuda {

/// The counters of one thread in one of kTables tables.
template <int kTables>
class ValueCounter {
 public:
  static_assert(kTables == 1 || kTables == 2);
  static constexpr int kRowBytes = kTables * kLanes * 4;

  __device__ ValueCounter(std::uint8_t* tables, int warp, int lane)
      : tables_(tables),
        mine_(static_cast<std::uint32_t>(warp % kTables * (kLanes * 4) + lane * 4)) {}

  __device__ __forceinline__ void add(std::uint32_t value) const {
    atomicAdd(word(value * kRowBytes + mine_), 1U);
  }
  __device__ __forceinline__ void remove(std::uint32_t value) const {
    atomicSub(word(value * kRowBytes + mine_), 1U);
  }

  /// Counts two values: byte kByte of each half of a word.
  template <int kByte>
  __device__ __forceinline__ void add_pair(std::uint32_t pair) const {
    atomicAdd(word(address<kByte>(pair)), 1U);
    atomicAdd(word(address<2 + kByte>(pair)), 1U);
  }

 private:
  template <int kByte>
  [[nodiscard]] __device__ __forceinline__ std::uint32_t address(std::uint32_t word) const {
    if constexpr (kRowBytes == 256) {
      return __byte_perm(word, mine_, 0x7604 | kByte << 4);  // mine_ is below 256
    } else {
      return __byte_perm(word, 0, 0x4440 | kByte) * kRowBytes + mine_;
    }
  }
  [[nodiscard]] __device__ __forceinline__ std::uint32_t* word(std::uint32_t offset) const {
    return reinterpret_cast<std::uint32_t*>(tables_ + offset);
  }

  std::uint8_t* tables_;
  std::uint32_t mine_;
};

/// Sums the 32 counters of a value in one table. Neighbouring threads sum neighbouring values and
/// begin at different vectors of their rows, which avoids bank conflicts.
template <int kTables>
__device__ __forceinline__ std::uint32_t row_sum(const std::uint8_t* tables, int table, int value) {
  constexpr int kVectors = kLanes * 4 / 16;
  const auto* row = reinterpret_cast<const uint4*>(
      tables + value * ValueCounter<kTables>::kRowBytes + table * (kLanes * 4));
  std::uint32_t sum = 0;
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    const uint4 counts = row[(i + value) % kVectors];
    sum += counts.x + counts.y + counts.z + counts.w;
  }
  return sum;
}

}  // namespace equalux::cuda
