#include "cuda/equalize/curve_ahead.h"
#include "cuda/equalize/limited_curve.cuh"
#include "cuda/runtime/check.h"

namespace equalux::cuda {
namespace {

constexpr int kAheadThreads = 256;

/// Computes what can be known of a frame's curve before the frame: one block, which the steps'
/// barriers need, with one thread per level.
__global__ void __launch_bounds__(kAheadThreads)
    curve_ahead_kernel(FusedState* state, const __grid_constant__ tone::Frame tone,
                       std::uint32_t max_value) {
  __shared__ CurveSteps steps;
  __shared__ CurveState curve;
  __shared__ std::uint8_t last_of_bin[256];
  load_state<kAheadThreads>(curve.ahead.history, state->history);
  copies_commit();
  last_of_bin[threadIdx.x] = state->last_of_bin[threadIdx.x];
  if (threadIdx.x == 0) {
    curve.tone = tone;
    curve.max_value = max_value;
  }
  copies_wait<0>();
  __syncthreads();
  prepare_curve<kAheadThreads>(last_of_bin, steps, curve);
  __syncthreads();
  store_state<kAheadThreads>(state->ahead, curve.ahead);
}

}  // namespace

void curve_ahead(FusedState* state, const tone::Frame& tone, std::uint32_t max_value,
                 cudaStream_t stream) {
  curve_ahead_kernel<<<1, kAheadThreads, 0, stream>>>(state, tone, max_value);
  check(cudaGetLastError(), "launching curve_ahead");
}

}  // namespace equalux::cuda
