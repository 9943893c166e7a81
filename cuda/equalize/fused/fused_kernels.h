#pragma once

#include <cstdint>

#include <equalux/image.h>

/// The instances of the fused kernel, each compiled in the file of its family of formats.
namespace equalux::cuda {

/// How a kernel reads and writes frames; see warp_chunks.cuh.
enum class Access {
  flat,   ///< lanes have parts of their own: planes as for spans, lines of whole parts
  spans,  ///< 16 bytes at a time: all planes and strides are multiples of kVectorBytes
  bytes,  ///< any alignment
};
inline constexpr int kAccesses = 3;
/// Columns of a lane's part of a chunk, for Access::flat.
inline constexpr std::uint32_t kPartColumns = 16;

/// Kernel for frames of a format. A __global__ function of one FusedParams, or null for formats of
/// another family and for an access that the format does not have.
[[nodiscard]] const void* fused_packed_kernel(PixelFormat format, Access access);
[[nodiscard]] const void* fused_420_kernel(PixelFormat format, Access access);
[[nodiscard]] const void* fused_422_444_kernel(PixelFormat format, Access access);
/// The same for frames whose saturation changes; of formats of colour.
[[nodiscard]] const void* fused_packed_saturated_kernel(PixelFormat format, Access access);
[[nodiscard]] const void* fused_420_saturated_kernel(PixelFormat format, Access access);
[[nodiscard]] const void* fused_422_444_saturated_kernel(PixelFormat format, Access access);

}  // namespace equalux::cuda
