#pragma once

#include <cstdint>

#include <equalux/image.h>

/// Instances of the fused kernel, each compiled in the file of its family of formats.
namespace equalux::cuda {

/// Access of a kernel to frames; see warp_chunks.cuh.
enum class Access {
  flat,   ///< lanes have fixed parts: planes as for spans, lines of whole parts
  spans,  ///< 16 bytes at a time: all planes and strides are multiples of kVectorBytes
  bytes,  ///< byte by byte: any alignment
};
inline constexpr int kAccesses = 3;
/// Columns of a lane's part of a chunk, with Access::flat.
inline constexpr std::uint32_t kPartColumns = 16;

/// Returns the kernel for frames of a format: a __global__ function of one FusedParams. Null for
/// formats of another family, and where the format does not have the access.
[[nodiscard]] const void* fused_packed_kernel(PixelFormat format, Access access);
[[nodiscard]] const void* fused_420_kernel(PixelFormat format, Access access);
[[nodiscard]] const void* fused_422_444_kernel(PixelFormat format, Access access);
/// Returns the kernel for frames of a format whose saturation changes: a __global__ function of one
/// FusedParams. Null for gray, for formats of another family, and where the format does not have
/// the access.
[[nodiscard]] const void* fused_packed_saturated_kernel(PixelFormat format, Access access);
[[nodiscard]] const void* fused_420_saturated_kernel(PixelFormat format, Access access);
[[nodiscard]] const void* fused_422_444_saturated_kernel(PixelFormat format, Access access);

}  // namespace equalux::cuda
