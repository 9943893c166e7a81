#pragma once

#include <cstdint>

#include "cuda/equalize/fused/fused_config.h"

/// Histograms in shared memory whose additions never meet.
///
/// A table has a row of 32 words, one a lane, for each of 256 values: a warp's 32 increments lie in
/// 32 banks, whatever the values, and a flat image costs what any other does. Warps share a table,
/// so additions are atomic.
///
/// Two tables lie side by side, so that a row has 256 bytes and the value is the second byte of the
/// address: one byte permutation makes it. A single table has rows of 128 bytes.
namespace equalux::cuda {

/// One thread's counters among kTables.
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

  /// Counts two values, bytes kByte of a word's halves.
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

/// What a table has counted of a value. Neighbouring threads take neighbouring values, so that they
/// begin at different banks.
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
