#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

#include "cuda/equalize/fused/fused_params.h"

namespace equalux::cuda {

/// Makes what a frame with such a curve needs of `state`'s history, in device memory with levels up
/// to `max_value`. The fused kernel leaves it for the next frame by itself; this is for a first
/// frame, a history that was loaded, and limits on their way to others.
void curve_ahead(FusedState* state, const tone::Frame& tone, std::uint32_t max_value,
                 cudaStream_t stream);

}  // namespace equalux::cuda
