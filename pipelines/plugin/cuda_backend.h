#pragma once

#include <cstddef>
#include <memory>

#include "pipelines/plugin/area_filter.h"

/// Filtering of frames in system memory on a GPU.
namespace equalux::gst {

/// Makes a processor on the GPU that `device` names (-1 = the one with most free memory); up to
/// `depth` frames may be in flight. Throws Error(unavailable), and Error(usage) for a number that
/// no device has or an impossible recipe.
[[nodiscard]] AreaProcessor make_device_processor(const RecipePtr& recipe, int device,
                                                  std::size_t depth);

}  // namespace equalux::gst
