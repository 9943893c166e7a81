#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

#include "cuda/equalize/fused/fused_params.h"

namespace equalux::cuda {

/// Enqueues the preparation of a frame's curve from the history in `state`, which is in device
/// memory and has levels up to `max_value`. The fused kernel does this for the next frame by
/// itself; this function is for a first frame, for a loaded history, and for limits that are
/// changing over time.
void curve_ahead(FusedState* state, const tone::Frame& tone, std::uint32_t max_value,
                 cudaStream_t stream);

}  // namespace equalux::cuda
