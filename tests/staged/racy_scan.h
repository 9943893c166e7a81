#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

/// A planted race, for the tool that has to find it.
namespace equalux::test {

/// Most elements of racy_scan(): one block has a thread for each.
inline constexpr int kMostRacyElements = 1024;

/// Enqueues the scan that the HSV equalization report's section 3.4 calls Problem 1: Kogge-Stone in
/// one buffer of shared memory, without the barrier between a step's reads and its writes. A thread
/// may read an element that another warp has already changed, so that the sums may be wrong.
/// `counts` and `sums` are device memory of n elements. Throws Error(unavailable).
void racy_scan(const std::uint32_t* counts, std::uint32_t* sums, int n, cudaStream_t stream);

}  // namespace equalux::test
