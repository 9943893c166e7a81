#include <algorithm>

#include "pipelines/plugin/filter_stream.h"

#define GST_CAT_DEFAULT equalux_debug

/// Which memory buffers lie in.
namespace equalux::gst {

namespace {

/// True for pools of plain memory, which is no better than an upstream buffer's.
bool is_plain(GstBufferPool* pool) {
  const GType type = G_OBJECT_TYPE(pool);
  return type == GST_TYPE_BUFFER_POOL || type == GST_TYPE_VIDEO_BUFFER_POOL;
}

bool offers_memory_of_its_own(GstQuery* query) {
  for (guint i = 0; i < gst_query_get_n_allocation_pools(query); ++i) {
    GstBufferPool* parsed = nullptr;
    gst_query_parse_nth_allocation_pool(query, i, &parsed, nullptr, nullptr, nullptr);
    const BufferPoolPtr pool(parsed);
    if (pool && !is_plain(pool.get())) return true;
  }
  return false;
}

/// A pool of video frames in the memory of `allocator` (null = plain memory).
BufferPoolPtr make_pool(GstCaps* caps, guint size, GstAllocator* allocator) {
  BufferPoolPtr pool(gst_video_buffer_pool_new());
  GstStructure* config = gst_buffer_pool_get_config(pool.get());
  gst_buffer_pool_config_set_params(config, caps, size, 0, 0);
  gst_buffer_pool_config_set_allocator(config, allocator, nullptr);
  gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  if (gst_buffer_pool_set_config(pool.get(), config) == FALSE) return nullptr;
  return pool;
}

}  // namespace

void FilterStream::propose(GstQuery* query) {
  // Frames may go on in the memory they came in: with padding only to those who know of it.
  if (in_cuda_memory_ || downstream_video_meta_ || converts()) {
    gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);
  }
  if (in_cuda_memory_) {
    cuda_->propose(query);
    return;
  }
  if (!allocator_) return;
  gst_query_add_allocation_param(query, allocator_.get(), nullptr);
  GstCaps* caps = nullptr;
  gboolean need_pool = FALSE;
  gst_query_parse_allocation(query, &caps, &need_pool);
  GstVideoInfo info;
  if (caps == nullptr || gst_video_info_from_caps(&info, caps) == FALSE) return;
  const auto size = static_cast<guint>(GST_VIDEO_INFO_SIZE(&info));
  const BufferPoolPtr pool = need_pool != FALSE ? make_pool(caps, size, allocator_.get()) : nullptr;
  gst_query_add_allocation_pool(query, pool.get(), size, 0, 0);
}

bool FilterStream::decide(GstQuery* query) {
  if (in_cuda_memory_) {
    const CudaScope current = scope();
    return cuda_->decide(query);
  }
  downstream_video_meta_ =
      gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr) != FALSE;
  downstream_pool_ = offers_memory_of_its_own(query);
  if (downstream_pool_) return true;
  // Frames that cannot be filtered in place go into a pool of ours: fresh memory for each would
  // cost more than the filter.
  GstCaps* caps = nullptr;
  gst_query_parse_allocation(query, &caps, nullptr);
  const auto size = static_cast<guint>(GST_VIDEO_INFO_SIZE(&out_info_));
  if (allocator_) {
    if (gst_query_get_n_allocation_params(query) > 0) {
      gst_query_set_nth_allocation_param(query, 0, allocator_.get(), nullptr);
    } else {
      gst_query_add_allocation_param(query, allocator_.get(), nullptr);
    }
  }
  const BufferPoolPtr pool(gst_video_buffer_pool_new());
  if (gst_query_get_n_allocation_pools(query) > 0) {
    guint offered = 0;
    guint least = 0;
    guint most = 0;
    gst_query_parse_nth_allocation_pool(query, 0, nullptr, &offered, &least, &most);
    gst_query_set_nth_allocation_pool(query, 0, pool.get(), std::max(size, offered), least, 0);
  } else {
    gst_query_add_allocation_pool(query, pool.get(), size, 0, 0);
  }
  return true;
}

}  // namespace equalux::gst
