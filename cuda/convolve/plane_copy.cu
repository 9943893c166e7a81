#include <algorithm>

#include "cuda/convolve/convolve.h"
#include "cuda/convolve/plane_copy.cuh"
#include "cuda/runtime/check.h"

namespace equalux::cuda {
namespace {

constexpr int kCopyWarps = 8;  // of a block: 256 threads
constexpr int kRows = 8;       // of each warp

__global__ void copy_planes_kernel(const __grid_constant__ PlaneCopies copies) {
  copy_rows(copies, static_cast<int>(blockIdx.x) * 512, static_cast<int>(threadIdx.x),
            static_cast<int>(blockIdx.y * kCopyWarps + threadIdx.y) * kRows, kRows);
}

}  // namespace

void PlaneCopies::add(const BytePlane& another) {
  const bool first = plane[0].rows == 0;
  plane[first ? 0 : 1] = another;
  aligned = (first || aligned) && another.is_multiple(16);
}

void copy_planes(const PlaneCopies& copies, cudaStream_t stream) {
  const int bytes = std::max(copies.plane[0].width, copies.plane[1].width);
  const int rows = copies.plane[0].rows + copies.plane[1].rows;
  if (bytes == 0 || rows == 0) return;
  const dim3 grid((static_cast<unsigned>(bytes) + 511) / 512,
                  static_cast<unsigned>(rows + kCopyWarps * kRows - 1) / (kCopyWarps * kRows));
  copy_planes_kernel<<<grid, dim3(32, kCopyWarps), 0, stream>>>(copies);
  check(cudaGetLastError(), "launching a copy of planes");
}

}  // namespace equalux::cuda
