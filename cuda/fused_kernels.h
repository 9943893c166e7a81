#pragma once

#include <equalux/image.h>

/// The instances of the fused kernel, each compiled in the file of its family of formats.
namespace equalux::cuda {

/// Kernel for frames of a format; `aligned` where all planes, strides included, are multiples of
/// kVectorBytes. A __global__ function of one FusedParams, or null for formats of another family.
[[nodiscard]] const void* fused_packed_kernel(PixelFormat format, bool aligned);
[[nodiscard]] const void* fused_420_kernel(PixelFormat format, bool aligned);
[[nodiscard]] const void* fused_422_444_kernel(PixelFormat format, bool aligned);

}  // namespace equalux::cuda
