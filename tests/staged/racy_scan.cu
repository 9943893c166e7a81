#include "cuda/runtime/check.h"
#include "tests/staged/racy_scan.h"

namespace equalux::test {
namespace {

__global__ void racy_scan_kernel(const std::uint32_t* counts, std::uint32_t* sums, int n) {
  __shared__ std::uint32_t shared[kMostRacyElements];
  const int i = static_cast<int>(threadIdx.x);
  shared[i] = counts[i];
  __syncthreads();
  for (int distance = 1; distance < n; distance *= 2) {
    const std::uint32_t left = i >= distance ? shared[i - distance] : 0;
    // The planted race: a barrier belongs here.
    shared[i] += left;
    __syncthreads();
  }
  sums[i] = shared[i];
}

}  // namespace

void racy_scan(const std::uint32_t* counts, std::uint32_t* sums, int n, cudaStream_t stream) {
  racy_scan_kernel<<<1, static_cast<unsigned>(n), 0, stream>>>(counts, sums, n);
  cuda::check(cudaGetLastError(), "launching the racy scan");
}

}  // namespace equalux::test
