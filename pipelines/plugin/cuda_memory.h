#pragma once

#include <memory>

#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>

#include "pipelines/gstreamer/gst_common.h"
#include "pipelines/plugin/cuda_backend.h"

/// Buffers in CUDA memory, and the context that an element shares with its neighbours. A build
/// without gstreamer-cuda or the CUDA toolkit has cuda_memory_absent.cpp in its place.
namespace equalux::gst {

/// One element's use of CUDA memory. For the streaming thread, except set_context() and
/// answer_context(), which any thread may call as GstElement's.
class CudaMemory {
 public:
  virtual ~CudaMemory() = default;

  /// Takes a context that the application or a neighbour offers, if it is of this device (-1 = of
  /// any).
  virtual void set_context(GstContext* context, int device) = 0;
  /// Answers a CONTEXT query for a CUDA context, if there is one.
  virtual bool answer_context(GstQuery* query) = 0;
  /// Makes sure that there is a context: a neighbour's or the application's, else a new one of
  /// `device`. Throws Error(unavailable).
  virtual void ensure_context(int device) = 0;
  /// Releases the context.
  virtual void leave_context() = 0;
  /// Switches to the context of a buffer that is in another one than ours, of an allowed device.
  /// Returns true where our context changed; everything made in the old one must be destroyed
  /// before. Throws Error(bad_input) for memory that is not CUDA's, and Error(unavailable) for
  /// memory of another device.
  [[nodiscard]] virtual bool in_other_context(GstBuffer* buffer, int device) = 0;
  virtual void adopt_context(GstBuffer* buffer) = 0;

  /// Makes the context current, and leave() the previous one. Calls nest.
  virtual bool enter() = 0;
  virtual void leave() = 0;

  /// Makes a processor in the current context; up to `depth` frames may be in flight.
  [[nodiscard]] virtual AreaProcessor make_processor(const RecipePtr& recipe,
                                                     std::size_t depth) = 0;
  /// Returns how buffers are mapped.
  [[nodiscard]] virtual MapMode map_mode() const = 0;

  /// Adds one of our pools to an ALLOCATION query from upstream, for frames of its caps, of which
  /// at least `least` are needed.
  virtual void propose(GstQuery* query, guint least) = 0;
  /// Puts a pool of our context first into an ALLOCATION query that downstream has answered:
  /// downstream's own if it fits, with `more` buffers than downstream asks for. Returns false where
  /// that is impossible.
  virtual bool decide(GstQuery* query, guint more) = 0;
  /// Returns a buffer for a frame of `info` in our context, from `pool` if that is of the same
  /// context.
  [[nodiscard]] virtual BufferPtr acquire(GstBufferPool* pool, const GstVideoInfo& info) = 0;
};

/// Returns true where the libraries and a driver exist. Called once, when the plugin is loaded.
[[nodiscard]] bool cuda_memory_starts();
/// Name of the caps feature, or null in a build without it.
[[nodiscard]] const char* cuda_memory_feature();
/// Makes the CUDA memory of `element`, which must outlive it; null in a build without it.
[[nodiscard]] std::unique_ptr<CudaMemory> make_cuda_memory(GstElement* element);

/// Makes a context current during its lifetime; does nothing without one.
class CudaScope {
 public:
  explicit CudaScope(CudaMemory* memory)
      : memory_(memory != nullptr && memory->enter() ? memory : nullptr) {}
  ~CudaScope() {
    if (memory_ != nullptr) memory_->leave();
  }
  CudaScope(const CudaScope&) = delete;
  CudaScope& operator=(const CudaScope&) = delete;

 private:
  CudaMemory* memory_;
};

}  // namespace equalux::gst
