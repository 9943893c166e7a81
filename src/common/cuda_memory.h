#pragma once

#include <memory>

#include <equalux/image.h>

/// What is asked of CUDA about frames of others, in a build without it too.
namespace equalux {

/// Memory for frames on the device that is current; the host cannot reach it.
[[nodiscard]] const ImageMemory& cuda_frame_memory();

/// The device in whose memory a frame lies. Throws Error(usage) where it lies in none's, and
/// Error(unavailable) without CUDA.
[[nodiscard]] int cuda_device_of(const void* memory);

/// How far callers' streams of a device, each a cudaStream_t, have been used. Keeps none of them: a
/// stream may be gone before the next one comes, and that may have its handle. Functions throw
/// Error(unavailable).
class CudaStreamEnd {
 public:
  virtual ~CudaStreamEnd() = default;
  /// Has what is enqueued on `stream` from now on wait for what there was at the last mark().
  virtual void order(void* stream) = 0;
  /// Ends at what `stream` has until now. A stream that is being captured into a graph is not
  /// marked, nor ordered: whoever launches the graph does that.
  virtual void mark(void* stream) = 0;
  /// Waits for what there was at the last mark().
  virtual void finish() = 0;
};

[[nodiscard]] std::unique_ptr<CudaStreamEnd> make_cuda_stream_end(int device);

/// Orders `stream` behind what `before` has until now, both of the device, once and by such an end.
void cuda_wait(int device, void* stream, void* before);

}  // namespace equalux
