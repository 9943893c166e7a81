#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>

#include "pipelines/plugin/cuda_memory.h"
#include "pipelines/plugin/filter_element.h"
#include "pipelines/plugin/frame_queue.h"
#include "pipelines/plugin/memory_allocator.h"

/// Streaming part of an element.
namespace equalux::gst {

/// Processes the stream of one element. Called with the sink pad's stream lock held, or when no
/// buffer can come, except cuda() and latency(). On failure it posts a message with the reason; it
/// never throws.
class FilterStream {
 public:
  explicit FilterStream(GstEqualuxFilter* element);
  ~FilterStream();
  FilterStream(const FilterStream&) = delete;
  FilterStream& operator=(const FilterStream&) = delete;

  bool start();
  void stop();
  /// Sets size, format and memory of input and output, and makes the filter.
  bool set_caps(GstCaps* in, GstCaps* out);
  /// Renegotiates caps if properties now ask for another output format; called before a buffer is
  /// taken and before caps are negotiated, which `in` are (null = those of now). If that is
  /// impossible, a warning says why.
  void follow_output_format(GstCaps* in);

  /// Takes the buffer that the base class holds, if there is one, and returns the oldest finished
  /// one once more than queue-depth are in flight.
  GstFlowReturn generate(GstBuffer** out);
  /// Counts a frame that was skipped because it came late.
  void count_dropped() { ++dropped_; }
  /// Returns true where the buffer that is pushed now is a discontinuity. The base class marks the
  /// next one that it pushes, which queue-depth makes one from before the discontinuity.
  [[nodiscard]] bool pushes_discontinuity() const { return pushes_discontinuity_; }
  /// Begins a stream, by its STREAM_START event. The filter forgets frames of another one.
  void begin(const std::string& id);
  /// Takes note of a segment, in which time may go back.
  void begin_segment() { new_segment_ = true; }
  /// Pushes all frames in flight.
  GstFlowReturn drain();
  /// Drops all frames in flight, and resets the filter's history.
  void drop();

  void propose(GstQuery* query);
  bool decide(GstQuery* query);

  /// Latency that queue-depth adds to the pipeline; 0 where the rate is unknown. Any thread may
  /// call it.
  [[nodiscard]] GstClockTime latency() const { return latency_; }
  /// Returns true where results have a format of their own, whatever the frames' format.
  [[nodiscard]] bool converts() const { return recipe_ && recipe_->output_format(); }
  [[nodiscard]] CudaMemory* cuda() { return cuda_.get(); }

 private:
  void read_caps(GstCaps* in, GstCaps* out);
  void build(const ImageDesc& desc);
  void tell_latency();
  [[nodiscard]] AreaProcessor make_processor();
  [[nodiscard]] AreaProcessor make_cpu_area_processor() const;
  void take_recipe();
  void build_with(RecipePtr before);
  void take_changes();
  void refuse_changes(const Error& error, unsigned changes);
  void require_negotiable(const FilterRecipe& recipe, GstCaps* in, const RunningStream& frames);
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
  [[nodiscard]] GstClockTime time_of(GstBuffer* buffer);
  [[nodiscard]] bool breaks_off(GstBuffer* buffer);

  [[nodiscard]] guint buffers_needed() const;

  [[nodiscard]] std::size_t pending() const;
  void finish_all();
  void forget();
  BufferPtr finish_oldest();

  GstFlowReturn guarded(const std::function<GstFlowReturn()>& work);
  void post_error(const Error& error);
  [[nodiscard]] CudaScope scope() { return CudaScope(in_cuda_memory_ ? cuda_.get() : nullptr); }
  [[nodiscard]] GstBaseTransform* transform() const { return &element_->parent; }

  GstEqualuxFilter* element_;
  std::unique_ptr<CudaMemory> cuda_;  // null in builds without it

  GstVideoInfo info_{};
  GstVideoInfo out_info_{};
  ImageDesc desc_;                // of the caps
  PixelFormat out_format_{};      // of the output caps
  bool in_cuda_memory_ = false;   // by the caps
  bool on_device_ = false;        // system memory, filtered on a GPU
  bool downstream_pool_ = false;  // downstream offers a special kind of memory
  bool downstream_video_meta_ = false;
  guint downstream_least_ = 0;  // buffers that downstream needs at least
  AllocatorPtr allocator_;      // of memory that the processor copies fast
  std::atomic<GstClockTime> latency_{0};

  FilterSettings settings_;
  RecipePtr recipe_;
  unsigned seen_settings_ = 0;
  unsigned seen_recipe_ = 0;
  /// Caps for which no filter could be made; the error was posted.
  struct RefusedCaps {
    CapsPtr in;
    CapsPtr out;
    unsigned changes = 0;  ///< of the recipe
  };
  RefusedCaps refused_;
  std::unique_ptr<FrameQueue> queue_;
  std::deque<FinishedFrame> ready_;  // from queues that are gone
  std::string id_;                   // of the stream; empty before it begins
  std::uint64_t next_index_ = 0;
  std::uint64_t dropped_ = 0;
  bool pushes_discontinuity_ = false;
  bool new_segment_ = false;                      // since the last buffer
  GstClockTime last_time_ = GST_CLOCK_TIME_NONE;  // of the buffer before; none at the start
  GstClockTime last_duration_ = 0;                // its own, or by the rate; 0 = not known
};

}  // namespace equalux::gst
