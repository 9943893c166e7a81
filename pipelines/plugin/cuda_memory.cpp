#include "pipelines/plugin/cuda_memory.h"

#include <utility>
#include <vector>

#include <gst/cuda/cuda-gst.h>
#include <gst/cuda/gstcudabufferpool.h>
#include <gst/cuda/gstcudacontext.h>
#include <gst/cuda/gstcudamemory.h>
#include <gst/cuda/gstcudautils.h>

#include "cuda/runtime/check.h"
#include "pipelines/gstreamer/cuda_library.h"
#include "pipelines/plugin/cuda_memory_processor.h"

namespace equalux::gst {

namespace {

using CudaContextPtr = std::unique_ptr<GstCudaContext, UnrefObject>;

int device_of(GstCudaContext* context) {
  gint device = -1;
  g_object_get(context, "cuda-device-id", &device, nullptr);
  return device;
}

GstCudaMemory* memory_of(GstBuffer* buffer) {
  if (gst_buffer_n_memory(buffer) != 1 ||
      gst_is_cuda_memory(gst_buffer_peek_memory(buffer, 0)) == FALSE) {
    throw Error(ExitCode::bad_input,
                "a buffer is not one piece of CUDA memory, as the caps say it must be");
  }
  return GST_CUDA_MEMORY_CAST(gst_buffer_peek_memory(buffer, 0));
}

/// A configured pool and the size of its buffers, which depends on the pitch.
struct SizedPool {
  BufferPoolPtr pool;
  guint size = 0;
};

class GstCudaMemoryUse final : public CudaMemory {
 public:
  explicit GstCudaMemoryUse(GstElement* element) : element_(element) {}
  ~GstCudaMemoryUse() override { leave_context(); }

  void set_context(GstContext* context, int device) override {
    // Objects belong to the context in which they were made.
    if (context_ == nullptr) gst_cuda_handle_set_context(element_, context, device, &context_);
  }

  bool answer_context(GstQuery* query) override {
    return context_ != nullptr && gst_cuda_handle_context_query(element_, query, context_) != FALSE;
  }

  void ensure_context(int device) override {
    if (gst_cuda_ensure_element_context(element_, device, &context_) == FALSE) {
      throw Error(ExitCode::unavailable,
                  "there is no CUDA context for device " + std::to_string(device));
    }
  }

  void leave_context() override {
    own_pool_.reset();
    gst_clear_object(&context_);
  }

  bool in_other_context(GstBuffer* buffer, int device) override {
    GstCudaContext* theirs = memory_of(buffer)->context;
    if (theirs == context_) return false;
    if (device >= 0 && device_of(theirs) != device) {
      throw Error(ExitCode::unavailable, "the buffers are on CUDA device " +
                                             std::to_string(device_of(theirs)) +
                                             ", cuda-device-id must be that or -1");
    }
    return true;
  }

  void adopt_context(GstBuffer* buffer) override {
    auto* theirs = static_cast<GstCudaContext*>(gst_object_ref(memory_of(buffer)->context));
    leave_context();
    context_ = theirs;
  }

  bool enter() override { return context_ != nullptr && gst_cuda_context_push(context_) != FALSE; }
  void leave() override { gst_cuda_context_pop(nullptr); }

  AreaProcessor make_processor(const RecipePtr& recipe, std::size_t depth) override {
    return make_cuda_memory_processor(recipe, device_of(context_), depth);
  }

  [[nodiscard]] MapMode map_mode() const override { return cuda_map_mode(); }

  void propose(GstQuery* query, guint least) override {
    if (context_ == nullptr) return;
    GstCaps* caps = nullptr;
    gst_query_parse_allocation(query, &caps, nullptr);
    const SizedPool made = make_pool(caps, least);
    if (made.pool) gst_query_add_allocation_pool(query, made.pool.get(), made.size, least, 0);
  }

  bool decide(GstQuery* query, guint more) override {
    if (context_ == nullptr) return false;
    GstCaps* caps = nullptr;
    gst_query_parse_allocation(query, &caps, nullptr);
    guint least = more;
    guint most = 0;
    SizedPool chosen;
    const bool offered = gst_query_get_n_allocation_pools(query) > 0;
    if (offered) {
      GstBufferPool* theirs = nullptr;
      gst_query_parse_nth_allocation_pool(query, 0, &theirs, nullptr, &least, &most);
      const BufferPoolPtr pool(theirs);
      least += more;
      if (most != 0) most += more;
      if (is_of_context(pool.get())) chosen = configured(pool.get(), caps, least, most);
    }
    if (!chosen.pool) {
      chosen = make_pool(caps, least);
      most = 0;
    }
    if (!chosen.pool) return false;
    if (offered) {
      gst_query_set_nth_allocation_pool(query, 0, chosen.pool.get(), chosen.size, least, most);
    } else {
      gst_query_add_allocation_pool(query, chosen.pool.get(), chosen.size, least, most);
    }
    return true;
  }

  BufferPtr acquire(GstBufferPool* pool, const GstVideoInfo& info) override {
    GstBuffer* buffer = nullptr;
    GstBufferPool* source = is_of_context(pool) ? pool : own_pool(info);
    if (source == nullptr || gst_buffer_pool_set_active(source, TRUE) == FALSE) return nullptr;
    static_cast<void>(gst_buffer_pool_acquire_buffer(source, &buffer, nullptr));
    return BufferPtr(buffer);
  }

 private:
  bool is_of_context(GstBufferPool* pool) const {
    return pool != nullptr && GST_IS_CUDA_BUFFER_POOL(pool) &&
           GST_CUDA_BUFFER_POOL(pool)->context == context_;
  }

  static SizedPool configured(GstBufferPool* pool, GstCaps* caps, guint least, guint most) {
    GstVideoInfo info;
    if (caps == nullptr || gst_video_info_from_caps(&info, caps) == FALSE) return {};
    GstStructure* config = gst_buffer_pool_get_config(pool);
    gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
    gst_buffer_pool_config_set_params(config, caps, static_cast<guint>(GST_VIDEO_INFO_SIZE(&info)),
                                      least, most);
    if (gst_buffer_pool_set_config(pool, config) == FALSE) return {};
    SizedPool result{BufferPoolPtr(static_cast<GstBufferPool*>(gst_object_ref(pool))), 0};
    config = gst_buffer_pool_get_config(pool);
    gst_buffer_pool_config_get_params(config, nullptr, &result.size, nullptr, nullptr);
    gst_structure_free(config);
    return result;
  }

  SizedPool make_pool(GstCaps* caps, guint least) const {
    const BufferPoolPtr pool(gst_cuda_buffer_pool_new(context_));
    return configured(pool.get(), caps, least, 0);
  }

  /// Returns our own pool, for frames after a change of context until the source pad is negotiated
  /// again.
  GstBufferPool* own_pool(const GstVideoInfo& info) {
    if (!own_pool_) {
      const CapsPtr caps(gst_video_info_to_caps(const_cast<GstVideoInfo*>(&info)));
      gst_caps_set_features_simple(
          caps.get(), gst_caps_features_new(GST_CAPS_FEATURE_MEMORY_CUDA_MEMORY, nullptr));
      own_pool_.reset(make_pool(caps.get(), 0).pool.release());
    }
    return own_pool_.get();
  }

  /// Deleter of a pool, which frees its memory with its last buffer.
  struct LeavePool {
    void operator()(GstBufferPool* pool) const noexcept {
      gst_buffer_pool_set_active(pool, FALSE);
      gst_object_unref(pool);
    }
  };

  GstElement* element_;
  GstCudaContext* context_ = nullptr;
  std::unique_ptr<GstBufferPool, LeavePool> own_pool_;
};

}  // namespace

bool cuda_memory_starts() {
  return cuda_library_starts();
}

const char* cuda_memory_feature() {
  return GST_CAPS_FEATURE_MEMORY_CUDA_MEMORY;
}

std::unique_ptr<CudaMemory> make_cuda_memory(GstElement* element) {
  return std::make_unique<GstCudaMemoryUse>(element);
}

}  // namespace equalux::gst
