#include "pipelines/plugin/filter_stream.h"

#include <exception>
#include <new>
#include <utility>

#include <equalux/device.h>

#include "pipelines/gstreamer/gst_formats.h"
#include "pipelines/plugin/timings_structure.h"

#define GST_CAT_DEFAULT equalux_debug

namespace equalux::gst {

FilterStream::FilterStream(GstEqualuxFilter* element)
    : element_(element), cuda_(make_cuda_memory(GST_ELEMENT(element))) {}

FilterStream::~FilterStream() {
  stop();
}

void FilterStream::post_error(const Error& error) {
  switch (error.code()) {
    case ExitCode::usage:
      GST_ELEMENT_ERROR(element_, LIBRARY, SETTINGS, ("%s", error.what()), (nullptr));
      break;
    case ExitCode::unavailable:
      GST_ELEMENT_ERROR(element_, RESOURCE, NOT_FOUND, ("%s", error.what()), (nullptr));
      break;
    default:
      GST_ELEMENT_ERROR(element_, STREAM, FORMAT, ("%s", error.what()), (nullptr));
  }
}

/// Runs work that may throw; after an error the queue is gone.
GstFlowReturn FilterStream::guarded(const std::function<GstFlowReturn()>& work) {
  try {
    return work();
  } catch (const Error& error) {
    post_error(error);
  } catch (const std::bad_alloc&) {
    GST_ELEMENT_ERROR(element_, RESOURCE, NO_SPACE_LEFT, ("There is no memory for a frame."),
                      (nullptr));
  } catch (const std::exception& error) {
    GST_ELEMENT_ERROR(element_, LIBRARY, FAILED, ("%s", error.what()), (nullptr));
  }
  const CudaScope current = scope();
  ready_.clear();
  queue_.reset();
  return GST_FLOW_ERROR;
}

bool FilterStream::start() {
  return guarded([&] {
           next_index_ = 0;
           dropped_ = 0;
           settings_ = settings_of(element_);
           // No more than that: with frames in CUDA memory theirs is the only context.
           if (settings_.backend == Backend::cuda) require_cuda_device(settings_.device);
           return GST_FLOW_OK;
         }) == GST_FLOW_OK;
}

void FilterStream::stop() {
  drop();
  {
    const CudaScope current = scope();
    queue_.reset();
    recipe_.reset();
  }
  // The next stream begins with what the properties ask for, and with files as they are then.
  keep_recipe(element_, nullptr, 0);
  refused_ = {};
  allocator_.reset();
  downstream_pool_ = false;
  downstream_video_meta_ = false;
  in_cuda_memory_ = false;
  on_device_ = false;
  latency_ = 0;
  if (cuda_) cuda_->leave_context();
  GST_OBJECT_LOCK(element_);
  element_->report->device_used.clear();
  GST_OBJECT_UNLOCK(element_);
}

GstFlowReturn FilterStream::generate(GstBuffer** out) {
  *out = nullptr;
  return guarded([&] {
    GstBuffer*& queued = transform()->queued_buf;
    if (queued != nullptr) {
      BufferPtr buffer(std::exchange(queued, nullptr));
      if (output_format(*recipe_) != out_format_) {
        // The property changed while caps were negotiated, which the next buffer has done again.
        ++dropped_;
        return GST_FLOW_OK;
      }
      const GstFlowReturn flow = take(std::move(buffer));
      if (flow != GST_FLOW_OK) return flow;
    }
    if (pending() > settings_.queue_depth) *out = finish_oldest().release();
    return GST_FLOW_OK;
  });
}

GstFlowReturn FilterStream::drain() {
  GstFlowReturn flow = GST_FLOW_OK;
  while (pending() > 0) {
    BufferPtr buffer;
    const GstFlowReturn finished = guarded([&] {
      buffer = finish_oldest();
      return GST_FLOW_OK;
    });
    if (finished != GST_FLOW_OK) return finished;
    // Downstream must not find our context current.
    const GstFlowReturn pushed = gst_pad_push(transform()->srcpad, buffer.release());
    if (pushed != GST_FLOW_OK) flow = pushed;
  }
  return flow;
}

void FilterStream::drop() {
  guarded([&] {
    const CudaScope current = scope();
    while (queue_ && queue_->size() > 0)
      queue_->pop();
    ready_.clear();
    if (queue_) queue_->filter().reset();
    return GST_FLOW_OK;
  });
}

std::size_t FilterStream::pending() const {
  return ready_.size() + (queue_ ? queue_->size() : 0);
}

void FilterStream::finish_all() {
  const CudaScope current = scope();
  while (queue_ && queue_->size() > 0)
    ready_.push_back(queue_->pop());
}

BufferPtr FilterStream::finish_oldest() {
  FinishedFrame frame;
  if (!ready_.empty()) {
    frame = std::move(ready_.front());
    ready_.pop_front();
  } else {
    const CudaScope current = scope();
    frame = queue_->pop();
  }
  BufferPtr buffer = std::move(frame.buffer);
  if (!frame.filtered) return buffer;
  if (settings_.message_timings) {
    gst_element_post_message(
        GST_ELEMENT(element_),
        gst_message_new_element(GST_OBJECT(element_), timings_structure(frame).release()));
  }
  GST_OBJECT_LOCK(element_);
  element_->report->last = std::move(frame);
  GST_OBJECT_UNLOCK(element_);
  return buffer;
}

}  // namespace equalux::gst
