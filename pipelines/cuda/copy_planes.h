#pragma once

#include <cuda_runtime_api.h>
#include <equalux/image.h>

/// Frames copied to, from and within a device, and made black there.
namespace equalux {

/// Enqueues copies of the samples of one frame to another of the same desc, of any strides. Throws
/// Error(unavailable).
void copy_planes(const ConstImageView& from, const ImageView& to, cudaMemcpyKind kind,
                 cudaStream_t stream);

/// Enqueues zeros for all samples of a frame on a device, of any strides. Throws
/// Error(unavailable).
void clear_planes(const ImageView& to, cudaStream_t stream);

}  // namespace equalux
