#include "pipelines/plugin/frame_queue.h"

#include <optional>
#include <utility>

#include "pipelines/gstreamer/gst_formats.h"

namespace equalux::gst {

namespace {

/// A buffer mapped as a picture. The buffer must outlive it.
class MappedFrame {
 public:
  MappedFrame(const GstVideoInfo& info, GstBuffer* buffer, unsigned flags) {
    // Without a reference, since a second one would make the buffer read-only.
    const auto how = static_cast<GstMapFlags>(flags | GST_VIDEO_FRAME_MAP_FLAG_NO_REF);
    if (gst_video_frame_map(&frame_, &info, buffer, how) == FALSE) {
      throw Error(ExitCode::bad_input,
                  "a buffer of " + std::to_string(gst_buffer_get_size(buffer)) +
                      " bytes cannot be mapped, must hold a frame of " +
                      std::to_string(GST_VIDEO_INFO_SIZE(&info)) + " bytes or describe it");
    }
  }
  ~MappedFrame() { gst_video_frame_unmap(&frame_); }
  MappedFrame(const MappedFrame&) = delete;
  MappedFrame& operator=(const MappedFrame&) = delete;

  [[nodiscard]] const GstVideoFrame& frame() const { return frame_; }

 private:
  GstVideoFrame frame_{};
};

}  // namespace

/// One buffer in the queue. Maps are destroyed before buffers.
struct FrameQueue::Job {
  BufferPtr in;  ///< null where `out` is filtered in place, or passed on unchanged
  BufferPtr out;
  std::optional<MappedFrame> in_map;
  std::optional<MappedFrame> out_map;
  FramePtr result;  ///< set once collected
  bool filtered = false;
};

FrameQueue::FrameQueue(const GstVideoInfo& in_info, const GstVideoInfo& out_info,
                       const ImageDesc& desc, AreaProcessor processor, std::size_t depth,
                       MapMode mode)
    : in_info_(in_info),
      out_info_(out_info),
      desc_(desc),
      mode_(mode),
      frames_(desc, 2 * (depth + 2), true),
      processor_(std::move(processor)) {
  out_desc_ = processor_.processor->configure(desc);
}

FrameQueue::~FrameQueue() {
  processor_.processor.reset();  // Waits for copies and kernels that use the jobs' memory.
  jobs_.clear();
}

void FrameQueue::push(BufferPtr in, BufferPtr out, const FrameAreas& areas,
                      const FrameFacts& facts) {
  auto job = std::make_unique<Job>();
  job->in = std::move(in);
  job->out = std::move(out);
  job->filtered = true;
  if (job->in) {
    job->in_map.emplace(in_info_, job->in.get(), GST_MAP_READ | mode_.flags);
    job->out_map.emplace(out_info_, job->out.get(), GST_MAP_WRITE | mode_.flags);
  } else {
    job->out_map.emplace(out_info_, job->out.get(), GST_MAP_READ | GST_MAP_WRITE | mode_.flags);
  }
  if (mode_.settle != nullptr) {
    if (job->in) mode_.settle(job->in.get());
    mode_.settle(job->out.get());  // what it held before may still be read
  }
  FramePtr from = frames_.acquire();
  FramePtr to = frames_.acquire();
  from->image = view_of((job->in_map ? job->in_map : job->out_map)->frame(), desc_);
  from->place() = facts;
  from->captured = Clock::now();
  from->timings.dropped_before = facts.dropped_before;
  to->target = writable_view_of(job->out_map->frame(), out_desc_);
  to->image = to->target;
  jobs_.push_back(std::move(job));

  processor_.filter->set_areas(areas);
  processor_.processor->submit(std::move(from), std::move(to), true, false);
  ++under_way_;
  while (under_way_ >= processor_.processor->depth())
    collect_oldest();
}

void FrameQueue::pass(BufferPtr buffer) {
  auto job = std::make_unique<Job>();
  job->out = std::move(buffer);
  jobs_.push_back(std::move(job));
}

void FrameQueue::collect_oldest() {
  FramePtr result = processor_.processor->collect(true);
  --under_way_;
  for (const std::unique_ptr<Job>& job : jobs_) {
    if (!job->filtered || job->result) continue;
    job->result = std::move(result);
    job->out_map.reset();
    job->in_map.reset();
    job->in.reset();
    return;
  }
}

FinishedFrame FrameQueue::pop() {
  FinishedFrame finished;
  if (jobs_.empty()) return finished;
  if (jobs_.front()->filtered && !jobs_.front()->result) collect_oldest();
  const std::unique_ptr<Job> job = std::move(jobs_.front());
  jobs_.pop_front();
  finished.buffer = std::move(job->out);
  if (!job->filtered) return finished;
  finished.filtered = true;
  finished.index = job->result->index;
  finished.pts_ns = job->result->pts_ns;
  finished.timings = job->result->timings;
  finished.timings.latency_ms = milliseconds(Clock::now() - job->result->captured);
  return finished;
}

}  // namespace equalux::gst
