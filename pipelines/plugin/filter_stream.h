#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>

#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>

#include "pipelines/plugin/cuda_memory.h"
#include "pipelines/plugin/filter_element.h"
#include "pipelines/plugin/frame_queue.h"
#include "pipelines/plugin/memory_allocator.h"

/// What an element does with its stream.
namespace equalux::gst {

/// The streaming side of one element. Called with the sink pad's stream lock held, or when no
/// buffer can come; but for cuda() and latency(). Where something fails it posts a
/// message that says what, and nothing is thrown.
class FilterStream {
 public:
  explicit FilterStream(GstEqualuxFilter* element);
  ~FilterStream();
  FilterStream(const FilterStream&) = delete;
  FilterStream& operator=(const FilterStream&) = delete;

  bool start();
  void stop();
  /// Fixes size, format and memory of what comes and of what goes, and makes the filter.
  bool set_caps(GstCaps* in, GstCaps* out);
  /// Called before a buffer is taken: has caps negotiated again where properties now ask for
  /// results of another format. Where that cannot be, a warning says why.
  void follow_output_format();

  /// Takes the buffer that the base class holds, if there is one, and returns the oldest finished
  /// one once more than queue-depth are under way.
  GstFlowReturn generate(GstBuffer** out);
  /// A frame was skipped since it came late.
  void count_dropped() { ++dropped_; }
  /// Pushes what is under way.
  GstFlowReturn drain();
  /// Forgets what is under way, and the frames seen so far.
  void drop();

  void propose(GstQuery* query);
  bool decide(GstQuery* query);

  /// What queue-depth adds to the pipeline's latency; 0 where the rate is not known. Any thread.
  [[nodiscard]] GstClockTime latency() const { return latency_; }
  /// True where results have a format of their own, whatever that of the frames.
  [[nodiscard]] bool converts() const { return recipe_ && recipe_->output_format(); }
  [[nodiscard]] CudaMemory* cuda() { return cuda_.get(); }

 private:
  void read_caps(GstCaps* in, GstCaps* out);
  void build(const ImageDesc& desc);
  [[nodiscard]] AreaProcessor make_processor();
  [[nodiscard]] AreaProcessor make_cpu_area_processor() const;
  void take_recipe();
  void take_changes();
  void refuse_changes(const Error& error, unsigned changes);
  void require_negotiable(const FilterRecipe& recipe);
  [[nodiscard]] PixelFormat output_format(const FilterRecipe& recipe) const {
    return recipe.output_format().value_or(desc_.format);
  }
  void follow_context(GstBuffer* buffer);

  GstFlowReturn take(BufferPtr in);
  [[nodiscard]] GstFlowReturn output_for(GstBuffer* in, BufferPtr& out);
  [[nodiscard]] BufferPtr output_of_size(const ImageDesc& desc, GstBuffer* in);
  [[nodiscard]] ImageDesc desc_of(GstBuffer* buffer) const;
  [[nodiscard]] FrameAreas areas_of(GstBuffer* buffer) const;
  [[nodiscard]] FrameFacts facts_of(GstBuffer* buffer);

  [[nodiscard]] std::size_t pending() const;
  void finish_all();
  BufferPtr finish_oldest();

  GstFlowReturn guarded(const std::function<GstFlowReturn()>& work);
  void post_error(const Error& error);
  [[nodiscard]] CudaScope scope() { return CudaScope(in_cuda_memory_ ? cuda_.get() : nullptr); }
  [[nodiscard]] GstBaseTransform* transform() const { return &element_->parent; }

  GstEqualuxFilter* element_;
  std::unique_ptr<CudaMemory> cuda_;  // null in builds without

  GstVideoInfo info_{};
  GstVideoInfo out_info_{};
  ImageDesc desc_;                // of the caps
  PixelFormat out_format_{};      // of the caps of results
  bool in_cuda_memory_ = false;   // the caps say so
  bool on_device_ = false;        // system memory, filtered on a GPU
  bool downstream_pool_ = false;  // downstream offers memory of a kind of its own
  bool downstream_video_meta_ = false;
  AllocatorPtr allocator_;  // of memory that the processor reaches fast
  std::atomic<GstClockTime> latency_{0};

  FilterSettings settings_;
  RecipePtr recipe_;
  unsigned seen_settings_ = 0;
  unsigned seen_recipe_ = 0;
  /// Caps for which no filter could be made, which an error said.
  struct RefusedCaps {
    CapsPtr in;
    CapsPtr out;
    unsigned changes = 0;  ///< of the recipe
  };
  RefusedCaps refused_;
  std::unique_ptr<FrameQueue> queue_;
  std::deque<FinishedFrame> ready_;  // out of queues that are gone
  std::uint64_t next_index_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace equalux::gst
