#pragma once

#include <memory>

#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>

#include "pipelines/gstreamer/gst_common.h"
#include "pipelines/plugin/cuda_backend.h"

/// Buffers that lie in CUDA memory, and the context that an element shares with its neighbours. A
/// build without gstreamer-cuda or the CUDA toolkit has cuda_memory_absent.cpp in its place.
namespace equalux::gst {

/// One element's use of CUDA memory. The streaming thread's, but for set_context() and
/// answer_context(), which any thread may call as it may those of GstElement.
class CudaMemory {
 public:
  virtual ~CudaMemory() = default;

  /// Takes a context that the application or a neighbour offers, where it is of this device (-1 =
  /// of any).
  virtual void set_context(GstContext* context, int device) = 0;
  /// Answers QUERY_CONTEXT where it asks for a CUDA context that there is.
  virtual bool answer_context(GstQuery* query) = 0;
  /// Has a context: its neighbours' or the application's, else a new one of `device`. Throws
  /// Error(unavailable).
  virtual void ensure_context(int device) = 0;
  /// Lets the context go.
  virtual void leave_context() = 0;
  /// Takes the context of a buffer that lies in another one of an allowed device than ours. True
  /// where ours changed; everything made in the old one must be gone before. Throws
  /// Error(bad_input) for memory that is not CUDA's, and Error(unavailable) for that of another
  /// device.
  [[nodiscard]] virtual bool in_other_context(GstBuffer* buffer, int device) = 0;
  virtual void adopt_context(GstBuffer* buffer) = 0;

  /// Makes the context current, and the one before it again. Nests.
  virtual bool enter() = 0;
  virtual void leave() = 0;

  /// A processor of the current context; `depth` frames may be under way.
  [[nodiscard]] virtual AreaProcessor make_processor(const RecipePtr& recipe,
                                                     std::size_t depth) = 0;
  /// What GST_MAP flags must say beside reading and writing.
  [[nodiscard]] virtual unsigned map_flags() const = 0;

  /// Adds a pool of ours to an ALLOCATION query from upstream, for frames of its caps.
  virtual void propose(GstQuery* query) = 0;
  /// Puts a pool of our context first into an ALLOCATION query that downstream has answered:
  /// downstream's own where it fits. False where that cannot be.
  virtual bool decide(GstQuery* query) = 0;
  /// A buffer for a frame of `info` in our context, out of `pool` where that is of the same.
  [[nodiscard]] virtual BufferPtr acquire(GstBufferPool* pool, const GstVideoInfo& info) = 0;
};

/// True where the libraries and a driver are there. Called once, when the plugin is loaded.
[[nodiscard]] bool cuda_memory_starts();
/// The caps feature's name, or null in a build without.
[[nodiscard]] const char* cuda_memory_feature();
/// The CUDA memory of `element`, which must outlive it; null in a build without.
[[nodiscard]] std::unique_ptr<CudaMemory> make_cuda_memory(GstElement* element);

/// Makes a context current for as long as it lives; nothing without one.
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
