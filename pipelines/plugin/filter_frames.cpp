#include <limits>
#include <new>
#include <utility>

#include "pipelines/gstreamer/gst_formats.h"
#include "pipelines/plugin/filter_stream.h"

#define GST_CAT_DEFAULT equalux_debug

/// The way of one buffer into the queue.
namespace equalux::gst {

namespace {

int as_int(guint value) {
  constexpr guint kMost = std::numeric_limits<int>::max();
  return static_cast<int>(value < kMost ? value : kMost);
}

/// True where nobody else sees what is written into the buffer.
bool is_ours(GstBuffer* buffer) {
  return gst_buffer_is_writable(buffer) != FALSE &&
         gst_buffer_is_all_memory_writable(buffer) != FALSE;
}

void set_control_values(GstBaseTransform* transform, GstBuffer* buffer) {
  if (transform->segment.format != GST_FORMAT_TIME || !GST_BUFFER_PTS_IS_VALID(buffer)) return;
  const GstClockTime time =
      gst_segment_to_stream_time(&transform->segment, GST_FORMAT_TIME, GST_BUFFER_PTS(buffer));
  if (GST_CLOCK_TIME_IS_VALID(time)) gst_object_sync_values(GST_OBJECT(transform), time);
}

}  // namespace

GstFlowReturn FilterStream::take(BufferPtr in) {
  set_control_values(transform(), in.get());
  take_changes();
  const FrameFacts facts = facts_of(in.get());
  const bool empty = gst_buffer_get_size(in.get()) == 0;
  const bool gap = GST_BUFFER_FLAG_IS_SET(in.get(), GST_BUFFER_FLAG_GAP);
  if (empty || (!converts() && (gap || !settings_.enabled))) {
    const CudaScope current = scope();
    if (!queue_) build(desc_);
    queue_->pass(std::move(in));
    return GST_FLOW_OK;
  }
  if (in_cuda_memory_) follow_context(in.get());
  const CudaScope current = scope();
  const ImageDesc desc = desc_of(in.get());
  if (!queue_ || queue_->desc() != desc) build(desc);

  const FrameAreas areas = areas_of(in.get());
  const bool in_place = !converts() && areas.whole() && queue_->filter().works_in_place();
  BufferPtr out;
  // Another size than the caps tell, as cropped frames have: nobody's pool has such buffers.
  if (desc != desc_ && converts()) {
    out = output_of_size(desc, in.get());
  } else if (desc != desc_) {
    out.reset(in_place && is_ours(in.get()) ? in.release() : gst_buffer_copy_deep(in.get()));
    if (!out) throw Error(ExitCode::bad_input, "a buffer cannot be copied");
    if (in_place) in.reset();
  } else if (in_place && !on_device_ && !downstream_pool_ && is_ours(in.get())) {
    out = std::move(in);
  } else if (const GstFlowReturn flow = output_for(in.get(), out); flow != GST_FLOW_OK) {
    return flow;
  }
  queue_->push(std::move(in), std::move(out), areas, facts);
  return GST_FLOW_OK;
}

/// A buffer for the result, with everything of the input but its pixels.
GstFlowReturn FilterStream::output_for(GstBuffer* in, BufferPtr& out) {
  const auto* klass = GST_BASE_TRANSFORM_GET_CLASS(element_);
  if (!in_cuda_memory_) {
    GstBuffer* buffer = nullptr;
    const GstFlowReturn flow = klass->prepare_output_buffer(transform(), in, &buffer);
    out.reset(buffer);
    return flow;
  }
  const BufferPoolPtr pool(gst_base_transform_get_buffer_pool(transform()));
  out = cuda_->acquire(pool.get(), out_info_);
  if (!out) {
    return GST_PAD_IS_FLUSHING(transform()->srcpad) ? GST_FLOW_FLUSHING : GST_FLOW_ERROR;
  }
  klass->copy_metadata(transform(), in, out.get());
  return GST_FLOW_OK;
}

/// The same for a frame of another size than the caps tell, in memory of its own.
BufferPtr FilterStream::output_of_size(const ImageDesc& desc, GstBuffer* in) {
  GstVideoInfo info;
  const GstVideoFormat format = GST_VIDEO_INFO_FORMAT(&out_info_);
  const auto width = static_cast<guint>(desc.width);
  const auto height = static_cast<guint>(desc.height);
  if (gst_video_info_set_format(&info, format, width, height) == FALSE) {
    throw Error(ExitCode::bad_input, "a buffer's video meta tells an impossible size");
  }
  BufferPtr out(gst_buffer_new_allocate(nullptr, GST_VIDEO_INFO_SIZE(&info), nullptr));
  if (!out) throw std::bad_alloc();
  GST_BASE_TRANSFORM_GET_CLASS(element_)->copy_metadata(transform(), in, out.get());
  gst_buffer_add_video_meta_full(out.get(), GST_VIDEO_FRAME_FLAG_NONE, format, width, height,
                                 GST_VIDEO_INFO_N_PLANES(&info), info.offset, info.stride);
  return out;
}

ImageDesc FilterStream::desc_of(GstBuffer* buffer) const {
  ImageDesc desc = desc_;
  if (const GstVideoMeta* meta = gst_buffer_get_video_meta(buffer); meta != nullptr) {
    desc.width = as_int(meta->width);
    desc.height = as_int(meta->height);
    if (meta->format != GST_VIDEO_INFO_FORMAT(&info_)) {
      throw Error(ExitCode::bad_input,
                  std::string("a buffer's video meta says ") +
                      gst_video_format_to_string(meta->format) + ", must be the caps' " +
                      gst_video_format_to_string(GST_VIDEO_INFO_FORMAT(&info_)));
    }
  }
  return desc;
}

FrameAreas FilterStream::areas_of(GstBuffer* buffer) const {
  FrameAreas areas;
  if (!settings_.enabled) {
    areas.regions_only = true;  // and no regions: nothing is filtered
    return areas;
  }
  areas.split = settings_.split;
  areas.regions_only = settings_.regions;
  if (!areas.regions_only) return areas;
  gpointer state = nullptr;
  while (GstMeta* meta = gst_buffer_iterate_meta_filtered(
             buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
    const auto* region = reinterpret_cast<GstVideoRegionOfInterestMeta*>(meta);
    areas.regions.push_back(
        {as_int(region->x), as_int(region->y), as_int(region->w), as_int(region->h)});
  }
  return areas;
}

FrameFacts FilterStream::facts_of(GstBuffer* buffer) {
  FrameFacts facts;
  facts.index = next_index_++ + dropped_;
  facts.dropped_before = std::exchange(dropped_, 0);
  next_index_ += facts.dropped_before;
  if (GST_BUFFER_PTS_IS_VALID(buffer))
    facts.pts_ns = static_cast<std::int64_t>(GST_BUFFER_PTS(buffer));
  facts.discontinuity =
      GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_DISCONT) || facts.dropped_before > 0;
  facts.field_order = field_order_of(info_, buffer);
  return facts;
}

void FilterStream::follow_context(GstBuffer* buffer) {
  if (!cuda_->in_other_context(buffer, settings_.device)) return;
  GST_INFO_OBJECT(element_, "the buffers' CUDA context changed, taking the new one");
  finish_all();
  {
    const CudaScope current = scope();
    queue_.reset();
  }
  cuda_->adopt_context(buffer);
  gst_base_transform_reconfigure_src(transform());
}

}  // namespace equalux::gst
