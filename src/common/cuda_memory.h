#pragma once

#include <equalux/image.h>

/// What is asked of CUDA about frames of others, in a build without it too.
namespace equalux {

/// Memory for frames on the device that is current; the host cannot reach it.
[[nodiscard]] const ImageMemory& cuda_frame_memory();

/// The device in whose memory a frame lies. Throws Error(usage) where it lies in none's, and
/// Error(unavailable) without CUDA.
[[nodiscard]] int cuda_device_of(const void* memory);

/// Has what is enqueued on `stream`, a cudaStream_t, from now on wait for all that `before` has
/// until now; both are the device's. Waits for nothing itself. Throws Error(unavailable).
void cuda_wait(int device, void* stream, void* before);

/// Waits until a stream of the device has done all. Throws Error(unavailable).
void cuda_finish(int device, void* stream);

}  // namespace equalux
