#pragma once

#include <memory>
#include <optional>

#include <equalux/image.h>

/// Queries about frames in CUDA memory, also for builds without CUDA.
namespace equalux {

/// Returns the allocator of frames on the current device, which the host cannot reach.
[[nodiscard]] const ImageMemory& cuda_frame_memory();

/// Returns the device in whose memory a frame lies. Throws Error(usage) where it lies in none's,
/// and Error(unavailable) without CUDA.
[[nodiscard]] int cuda_device_of(const void* memory);

/// Marks and waits for a point in callers' streams (cudaStream_t) of a device. No stream is kept:
/// it may be destroyed before the next one comes, even with the same handle. All functions throw
/// Error(unavailable).
class CudaStreamEnd {
 public:
  virtual ~CudaStreamEnd() = default;
  /// Makes later work on `stream` wait for the work before the last mark().
  virtual void order(void* stream) = 0;
  /// Marks the work that `stream` has up to now. A stream that is captured into a graph is neither
  /// marked nor ordered: whoever launches the graph must order it.
  virtual void mark(void* stream) = 0;
  /// Waits for the work before the last mark().
  virtual void finish() = 0;
};

[[nodiscard]] std::unique_ptr<CudaStreamEnd> make_cuda_stream_end(int device);

/// Keeps the CUDA context that is current in the calling thread, or that none is, until its end:
/// callers may use another device, or a context of their own. Never throws.
class KeptCudaContext {
 public:
  /// Does nothing unless `keeps`.
  explicit KeptCudaContext(bool keeps = true) noexcept;
  ~KeptCudaContext();
  KeptCudaContext(const KeptCudaContext&) = delete;
  KeptCudaContext& operator=(const KeptCudaContext&) = delete;

 private:
  std::optional<void*> kept_;  ///< CUcontext
};

/// Makes later work on `stream` wait for the work that `before` has up to now; both are streams of
/// the device. Leaves the caller's context current.
void cuda_wait(int device, void* stream, void* before);

}  // namespace equalux
