#pragma once

#include <cstddef>
#include <memory>

#include "pipelines/plugin/area_filter.h"

/// Frames in system memory, filtered on a GPU.
namespace equalux::gst {

/// A processor of the GPU that `device` names (-1 = the one with most free memory); `depth` frames
/// may be under way. Throws Error(unavailable), and Error(usage) for a number that no device has or
/// a recipe that cannot be.
[[nodiscard]] AreaProcessor make_device_processor(const RecipePtr& recipe, int device,
                                                  std::size_t depth);

}  // namespace equalux::gst
