#pragma once

#include <equalux/image.h>

#include "pipelines/gstreamer/gst_common.h"

/// Buffers in our own kinds of memory.
namespace equalux::gst {

using AllocatorPtr = std::unique_ptr<GstAllocator, UnrefObject>;

/// Makes an allocator of system memory that a processor copies fast, such as page-locked memory,
/// and plain memory where that is short. `memory` must live as long as the program.
[[nodiscard]] AllocatorPtr make_allocator(const ImageMemory& memory);

}  // namespace equalux::gst
