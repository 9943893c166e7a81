#pragma once

#include <cstdint>

#include "cuda/device/linear_thread.cuh"
#include "src/equalize/tone/tone_curve.h"

/// Walks over the V plane of an HSV image, and the bins of its 256 levels.
namespace equalux::cuda {

/// Levels of an 8-bit channel.
inline constexpr std::uint32_t kLevels = 256;

/// Fills bin(level) of every level into shared memory. All threads of the block call it, and
/// synchronise before they read. A look-up per pixel costs less than the 64-bit division of
/// bin_of().
__device__ __forceinline__ void fill_bins(std::uint32_t (&bin_of_level)[kLevels],
                                          std::uint32_t bins) {
  for (std::uint32_t level = thread_in_block(); level < kLevels; level += threads_of_block()) {
    bin_of_level[level] = static_cast<std::uint32_t>(bin_of(level, bins, 255));
  }
}

/// Calls use(value) for every value, with kInFlight values in flight per thread. From four on, four
/// neighbouring values are one access of 16 bytes, for which `v` must be aligned.
template <int kInFlight, typename Use>
__device__ __forceinline__ void visit_values(const float* v, std::uint32_t count, Use use) {
  std::uint32_t done = 0;
  if constexpr (kInFlight >= 4) {
    const auto* groups = reinterpret_cast<const float4*>(v);
    walk_in_flight<kInFlight / 4>(
        interleaved_walk(count / 4), [&](std::uint32_t i) { return groups[i]; },
        [&](std::uint32_t, const float4& group) {
          use(group.x);
          use(group.y);
          use(group.z);
          use(group.w);
        });
    done = count / 4 * 4;
  }
  walk_in_flight<(kInFlight < 4 ? kInFlight : 1)>(
      interleaved_walk(count - done), [&](std::uint32_t i) { return v[done + i]; },
      [&](std::uint32_t, float value) { use(value); });
}

/// Replaces every value by map(value), with accesses as in visit_values().
template <int kInFlight, typename Map>
__device__ __forceinline__ void replace_values(float* v, std::uint32_t count, Map map) {
  std::uint32_t done = 0;
  if constexpr (kInFlight >= 4) {
    auto* groups = reinterpret_cast<float4*>(v);
    walk_in_flight<kInFlight / 4>(
        interleaved_walk(count / 4), [&](std::uint32_t i) { return groups[i]; },
        [&](std::uint32_t i, const float4& group) {
          groups[i] = {map(group.x), map(group.y), map(group.z), map(group.w)};
        });
    done = count / 4 * 4;
  }
  walk_in_flight<(kInFlight < 4 ? kInFlight : 1)>(
      interleaved_walk(count - done), [&](std::uint32_t i) { return v[done + i]; },
      [&](std::uint32_t i, float value) { v[done + i] = map(value); });
}

}  // namespace equalux::cuda
