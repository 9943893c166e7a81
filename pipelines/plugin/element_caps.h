#pragma once

#include <functional>

#include <equalux/image.h>

#include "pipelines/gstreamer/gst_common.h"

/// What elements take.
namespace equalux::gst {

/// What an element takes: CUDA memory first, where this machine has it, then system memory; the
/// formats that `accepts` is true for.
[[nodiscard]] CapsPtr element_caps(const std::function<bool(PixelFormat)>& accepts,
                                   bool with_cuda_memory);

/// The same caps for pictures of any format and colour.
[[nodiscard]] CapsPtr without_format(const CapsPtr& caps);

}  // namespace equalux::gst
