#pragma once

#include <cstddef>

#include "pipelines/plugin/area_filter.h"

/// Frames that are in device memory already.
namespace equalux::gst {

/// A processor of the CUDA context that is current now and, by the caller's care, in every call and
/// in its destructor; `device` is that context's. Frames' images and targets are device memory. A
/// frame that comes out is finished: memory of GStreamer 1.22 carries no stream to wait on. Throws
/// Error(unavailable), and Error(usage) for a recipe that cannot be.
[[nodiscard]] AreaProcessor make_cuda_memory_processor(const RecipePtr& recipe, int device,
                                                       std::size_t depth);

}  // namespace equalux::gst
