#pragma once

#include <cuda_runtime_api.h>
#include <equalux/image.h>

/// Copies of frames to, from and within a device, and clearing of frames.
namespace equalux {

/// Enqueues copies of the samples of one frame to another of the same desc, with any strides.
/// Throws Error(unavailable).
void copy_planes(const ConstImageView& from, const ImageView& to, cudaMemcpyKind kind,
                 cudaStream_t stream);

/// Enqueues zeros for all samples of a frame on a device, with any strides. Throws
/// Error(unavailable).
void clear_planes(const ImageView& to, cudaStream_t stream);

}  // namespace equalux
