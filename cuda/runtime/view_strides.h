#pragma once

#include <cstdint>
#include <string>

#include <equalux/error.h>
#include <equalux/image.h>

#include "src/format/layout.h"

namespace equalux::cuda {

/// Throws Error(usage) where kernels that keep strides in 32 bits cannot take those of a
/// ConstImageView or ImageView. `fields`: a field is every second row, at twice the stride.
template <typename View>
void check_strides(const char* filter, const View& view, bool fields = false) {
  const std::ptrdiff_t most = fields ? INT32_MAX / 2 : INT32_MAX;
  for (std::size_t i = 0; i < static_cast<std::size_t>(traits(view.desc.format).planes); ++i) {
    if (view.stride[i] <= most && view.stride[i] >= -most) continue;
    throw Error(ExitCode::usage, std::string(filter) + ": a stride is " +
                                     std::to_string(view.stride[i]) + " bytes, must be below " +
                                     (fields ? "2^30 in interlaced frames" : "2^31") + " on a GPU");
  }
}

}  // namespace equalux::cuda
