#pragma once

#include <cstddef>

#include "pipelines/plugin/area_filter.h"

/// Filtering of frames that are already in device memory.
namespace equalux::gst {

/// Makes a processor in the current CUDA context, which the caller must make current in every call
/// and in the destructor; `device` is that context's. Images and targets of frames are device
/// memory. A frame that comes out is finished, because memory of GStreamer 1.22 has no stream to
/// wait on, and that of later ones counts as finished once cuda_map_mode() has waited for it.
/// Throws Error(unavailable), and Error(usage) for an impossible recipe.
[[nodiscard]] AreaProcessor make_cuda_memory_processor(const RecipePtr& recipe, int device,
                                                       std::size_t depth);

}  // namespace equalux::gst
