#pragma once

#include <equalux/image.h>

#include "pipelines/gstreamer/gst_common.h"

/// Buffers in memory of ours.
namespace equalux::gst {

using AllocatorPtr = std::unique_ptr<GstAllocator, UnrefObject>;

/// Allocates system memory that a processor reaches fast, page-locked memory for example, and plain
/// memory where that is short. `memory` must live as long as the program.
[[nodiscard]] AllocatorPtr make_allocator(const ImageMemory& memory);

}  // namespace equalux::gst
