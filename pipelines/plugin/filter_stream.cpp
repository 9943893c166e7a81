#include "pipelines/plugin/filter_stream.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <limits>
#include <new>
#include <utility>

#include <equalux/device.h>

#include "pipelines/gstreamer/gst_formats.h"
#include "pipelines/plugin/timings_structure.h"
#include "src/options/option_values.h"

#define GST_CAT_DEFAULT equalux_debug

namespace equalux::gst {

namespace {

/// Longest time without a frame after which a stream that lost some is still the same picture: an
/// outage of a camera's network lasts seconds, a jump in a file mostly longer.
constexpr GstClockTime kLongestLoss = 2 * GST_SECOND;

void clear_on_cpu(const ImageView& to, void*) {
  for (int p = 0; p < traits(to.desc.format).planes; ++p) {
    for (int y = 0; y < plane_rows(to.desc, p); ++y)
      std::memset(to.row(p, y), 0, row_bytes(to.desc, p));
  }
}

void copy_on_cpu(const ConstImageView& from, const ImageView& to, void*) {
  copy_image(from, to);
}

void read_info(GstCaps* caps, GstVideoInfo& info) {
  if (gst_video_info_from_caps(&info, caps) != FALSE) return;
  const StringPtr text(gst_caps_to_string(caps));
  throw Error(ExitCode::bad_input, std::string("caps cannot be read: ") + text.get());
}

/// Returns true where frames differ in nothing but their rate and the shape of their pixels, which
/// no filter looks at.
bool same_frames(GstVideoInfo before, const GstVideoInfo& after) {
  before.fps_n = after.fps_n;
  before.fps_d = after.fps_d;
  before.par_n = after.par_n;
  before.par_d = after.par_d;
  before.flags = after.flags;  // of a rate that varies
  return gst_video_info_is_equal(&before, &after) != FALSE;
}

/// Returns how long some frames take at the rate of the caps; 0 where that is unknown.
GstClockTime time_of_frames(const GstVideoInfo& info, std::size_t frames) {
  if (GST_VIDEO_INFO_FPS_N(&info) <= 0) return 0;
  return gst_util_uint64_scale(frames * GST_SECOND,
                               static_cast<guint64>(GST_VIDEO_INFO_FPS_D(&info)),
                               static_cast<guint64>(GST_VIDEO_INFO_FPS_N(&info)));
}

int as_int(guint value) {
  constexpr guint kMost = std::numeric_limits<int>::max();
  return static_cast<int>(value < kMost ? value : kMost);
}

/// Returns true where writing into the buffer is visible to nobody else.
bool is_ours(GstBuffer* buffer) {
  return gst_buffer_is_writable(buffer) != FALSE &&
         gst_buffer_is_all_memory_writable(buffer) != FALSE;
}

/// Marks a buffer as a discontinuity where frames before it are missing.
BufferPtr marked(BufferPtr buffer, const FrameFacts& facts) {
  if (facts.discontinuity && !GST_BUFFER_FLAG_IS_SET(buffer.get(), GST_BUFFER_FLAG_DISCONT)) {
    buffer.reset(gst_buffer_make_writable(buffer.release()));
    GST_BUFFER_FLAG_SET(buffer.get(), GST_BUFFER_FLAG_DISCONT);
  }
  return buffer;
}

void set_control_values(GstBaseTransform* transform, GstBuffer* buffer) {
  if (transform->segment.format != GST_FORMAT_TIME || !GST_BUFFER_PTS_IS_VALID(buffer)) return;
  const GstClockTime time =
      gst_segment_to_stream_time(&transform->segment, GST_FORMAT_TIME, GST_BUFFER_PTS(buffer));
  if (GST_CLOCK_TIME_IS_VALID(time)) gst_object_sync_values(GST_OBJECT(transform), time);
}

/// Returns true for pools of plain memory, which is no better than an upstream buffer's.
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

/// Makes a pool of video frames in the memory of `allocator` (null = plain memory).
BufferPoolPtr make_pool(GstCaps* caps, guint size, GstAllocator* allocator) {
  BufferPoolPtr pool(gst_video_buffer_pool_new());
  GstStructure* config = gst_buffer_pool_get_config(pool.get());
  gst_buffer_pool_config_set_params(config, caps, size, 0, 0);
  gst_buffer_pool_config_set_allocator(config, allocator, nullptr);
  gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  if (gst_buffer_pool_set_config(pool.get(), config) == FALSE) return nullptr;
  return pool;
}

bool are_in_cuda_memory(GstCaps* caps) {
  const char* feature = cuda_memory_feature();
  return feature != nullptr &&
         gst_caps_features_contains(gst_caps_get_features(caps, 0), feature) != FALSE;
}

/// Throws Error(usage) for a recipe that does not take such frames.
void require_taken(const FilterRecipe& recipe, const RunningStream& frames) {
  if (frames.in_cuda_memory && recipe.output_format()) {
    throw Error(ExitCode::usage,
                std::string(gst_video_format_to_string(to_gst(*recipe.output_format()))) +
                    " is made of frames in system memory only, which cudadownload before the "
                    "element gives");
  }
  if (!recipe.accepts(frames.format)) {
    throw Error(ExitCode::usage, std::string("frames of format ") +
                                     gst_video_format_to_string(to_gst(frames.format)) +
                                     " are not taken with the properties as they are now");
  }
}

/// Throws Error(usage) for properties that contradict each other or the backend.
void check(const FilterRecipe& recipe, Backend backend) {
  throw_violations(recipe.violations(backend));
}

/// Returns true where a property is set that only the other backend has.
bool lacks(const FilterRecipe& recipe, Backend backend) {
  return recipe.violations(Backend::automatic).empty() && !recipe.violations(backend).empty();
}

}  // namespace

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

/// Runs work that may throw; after an error the queue is destroyed.
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
           last_time_ = GST_CLOCK_TIME_NONE;
           settings_ = settings_of(element_);
           // Checks the device, no more: with frames in CUDA memory, theirs is the only context.
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
  // The next stream reads the properties, and files, again.
  keep_recipe(element_, nullptr, 0);
  tell_running(element_, {});
  refused_ = {};
  id_.clear();
  allocator_.reset();
  downstream_pool_ = false;
  downstream_video_meta_ = false;
  downstream_least_ = 0;
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
        // The property changed during negotiation, which the next buffer has repeated.
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
    new_segment_ = false;
    last_time_ = GST_CLOCK_TIME_NONE;
    return GST_FLOW_OK;
  });
}

void FilterStream::begin(const std::string& id) {
  if (std::exchange(id_, id) == id) return;
  guarded([&] {
    forget();
    return GST_FLOW_OK;
  });
}

/// Resets the filter's history behind the frames in flight.
void FilterStream::forget() {
  finish_all();
  const CudaScope current = scope();
  if (queue_) queue_->filter().reset();
  last_time_ = GST_CLOCK_TIME_NONE;
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
  pushes_discontinuity_ = GST_BUFFER_FLAG_IS_SET(buffer.get(), GST_BUFFER_FLAG_DISCONT);
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

// Caps and properties: which filter runs, where, and on what.

bool FilterStream::set_caps(GstCaps* in, GstCaps* out) {
  drain();
  // Without caps the base class would ask again for every buffer.
  if (refused_.in && gst_caps_is_equal(refused_.in.get(), in) != FALSE &&
      gst_caps_is_equal(refused_.out.get(), out) != FALSE &&
      refused_.changes == element_->changes->recipe.load()) {
    return false;
  }
  refused_ = {};
  const GstVideoInfo in_before = info_;
  const GstVideoInfo out_before = out_info_;
  const bool in_cuda_memory_before = in_cuda_memory_;
  const bool taken = guarded([&] {
                       read_caps(in, out);
                       if (queue_ && in_cuda_memory_ == in_cuda_memory_before &&
                           same_frames(in_before, info_) && same_frames(out_before, out_info_)) {
                         tell_latency();  // and the filter keeps its memory of earlier frames
                         return GST_FLOW_OK;
                       }
                       {
                         const CudaScope current(in_cuda_memory_before ? cuda_.get() : nullptr);
                         queue_.reset();
                       }
                       seen_settings_ = element_->changes->settings.load();
                       settings_ = settings_of(element_);
                       const RecipePtr before = recipe_;
                       take_recipe();
                       if (output_format(*recipe_) != out_format_) {
                         // Changed since transform_caps() was asked.
                         gst_base_transform_reconfigure_src(transform());
                         return GST_FLOW_OK;
                       }
                       if (in_cuda_memory_) cuda_->ensure_context(settings_.device);
                       const CudaScope current = scope();
                       build_with(before);
                       return GST_FLOW_OK;
                     }) == GST_FLOW_OK;
  if (taken) {
    tell_running(element_, {recipe_, desc_.format, in_cuda_memory_});
  } else {
    refused_ = {CapsPtr(gst_caps_ref(in)), CapsPtr(gst_caps_ref(out)),
                element_->changes->recipe.load()};
  }
  return taken;
}

/// Takes the recipe for the properties when caps are set. In a running stream a wrong change is
/// refused, as it is between frames.
void FilterStream::take_recipe() {
  const unsigned changes = element_->changes->recipe.load();
  try {
    RecipePtr recipe = recipe_of(element_);
    if (recipe_ && recipe != recipe_) {
      check(*recipe, settings_.backend);
      require_taken(*recipe, {nullptr, desc_.format, in_cuda_memory_});
    }
    recipe_ = std::move(recipe);
    seen_recipe_ = changes;
  } catch (const Error& error) {
    if (!recipe_) throw;
    refuse_changes(error, changes);
  }
}

/// Makes the filter for the caps; with the recipe of the caps before (null = none), where a change
/// since then is impossible for these, as tiles in a small frame are.
void FilterStream::build_with(RecipePtr before) {
  try {
    build(desc_);
  } catch (const Error& error) {
    if (error.code() != ExitCode::usage || !before || before == recipe_) throw;
    recipe_ = std::move(before);
    if (output_format(*recipe_) != out_format_) throw;
    build(desc_);
    refuse_changes(error, seen_recipe_);
  }
}

void FilterStream::read_caps(GstCaps* in, GstCaps* out) {
  read_info(in, info_);
  read_info(out, out_info_);
  const GstVideoInterlaceMode mode = GST_VIDEO_INFO_INTERLACE_MODE(&info_);
  if (mode != GST_VIDEO_INTERLACE_MODE_PROGRESSIVE &&
      mode != GST_VIDEO_INTERLACE_MODE_INTERLEAVED && mode != GST_VIDEO_INTERLACE_MODE_MIXED) {
    throw Error(ExitCode::bad_input, std::string("interlace-mode is ") +
                                         gst_video_interlace_mode_to_string(mode) +
                                         ", must be progressive, interleaved or mixed");
  }
  StreamInfo stream;
  read_video_info(info_, stream);
  desc_ = stream.desc;
  out_format_ = from_gst(GST_VIDEO_INFO_FORMAT(&out_info_)).value_or(desc_.format);
  in_cuda_memory_ = are_in_cuda_memory(in);
}

void FilterStream::build(const ImageDesc& desc) {
  finish_all();
  queue_.reset();
  on_device_ = false;
  AreaProcessor processor = make_processor();
  const std::size_t depth = settings_.queue_depth;
  const MapMode mode = in_cuda_memory_ ? cuda_->map_mode() : MapMode{};
  queue_ = std::make_unique<FrameQueue>(info_, out_info_, desc, std::move(processor), depth, mode);

  const ImageMemory* memory = queue_->processor().frame_memory();
  allocator_ = memory == nullptr ? nullptr : make_allocator(*memory);
  const std::string used = queue_->processor().description();
  GST_OBJECT_LOCK(element_);
  const bool news = std::exchange(element_->report->device_used, used) != used;
  GST_OBJECT_UNLOCK(element_);
  if (news) g_object_notify(G_OBJECT(element_), "device-used");
  GST_INFO_OBJECT(element_, "%dx%d %s on %s", desc.width, desc.height,
                  std::string(to_string(desc.format)).c_str(), used.c_str());

  tell_latency();
}

/// Says what queue-depth costs at the rate of the caps, where that changed.
void FilterStream::tell_latency() {
  const std::size_t depth = settings_.queue_depth;
  const GstClockTime latency = time_of_frames(info_, depth);
  if (latency_.exchange(latency) != latency) {
    gst_element_post_message(GST_ELEMENT(element_), gst_message_new_latency(GST_OBJECT(element_)));
  }
}

AreaProcessor FilterStream::make_processor() {
  const FilterSettings& settings = settings_;
  check(*recipe_, settings.backend);
  const std::size_t depth = std::size_t{settings.queue_depth} + 1;
  if (in_cuda_memory_) return cuda_->make_processor(recipe_, depth);
  const bool needed = settings.backend == Backend::cuda ||
                      (settings.backend == Backend::automatic && lacks(*recipe_, Backend::cpu));
  if (settings.backend == Backend::cpu ||
      (settings.backend == Backend::automatic && lacks(*recipe_, Backend::cuda))) {
    return make_cpu_area_processor();
  }
  if (!needed) {
    if (const CudaStatus status = cuda_status(); !status.available) {
      GST_INFO_OBJECT(element_, "on the CPU, since %s", status.reason.c_str());
      return make_cpu_area_processor();
    }
  }
  try {
    AreaProcessor made = make_device_processor(recipe_, settings.device, depth);
    on_device_ = true;
    return made;
  } catch (const Error& error) {
    if (needed || error.code() != ExitCode::unavailable) throw;
    GST_WARNING_OBJECT(element_, "on the CPU, since %s", error.what());
  }
  return make_cpu_area_processor();
}

AreaProcessor FilterStream::make_cpu_area_processor() const {
  const CpuOptions options{settings_.threads};
  auto area = std::make_unique<AreaFilter>(
      recipe_, [options](const FilterRecipe& recipe) { return recipe.make(options); },
      LeaveFrame{copy_on_cpu, clear_on_cpu});
  AreaProcessor made;
  made.filter = area.get();
  std::vector<std::unique_ptr<Filter>> filters;
  filters.push_back(std::move(area));
  made.processor = make_cpu_processor(std::move(filters), options.threads);
  return made;
}

/// Takes changed properties. If they contradict each other or the stream, the previous filter
/// continues, and a warning says why.
void FilterStream::take_changes() {
  if (const unsigned changes = element_->changes->settings.load();
      std::exchange(seen_settings_, changes) != changes) {
    const FilterSettings now = settings_of(element_);
    settings_.enabled = now.enabled;
    settings_.split = now.split;
    settings_.regions = now.regions;
    settings_.message_timings = now.message_timings;
  }
  const unsigned changes = element_->changes->recipe.load();
  if (seen_recipe_ == changes) return;
  try {
    RecipePtr recipe = recipe_of(element_);
    if (output_format(*recipe) != out_format_) return;  // changed since follow_output_format()
    const CudaScope current = scope();
    if (queue_) queue_->filter().replace(recipe);
    recipe_ = std::move(recipe);
    seen_recipe_ = changes;
    tell_running(element_, {recipe_, desc_.format, in_cuda_memory_});
  } catch (const Error& error) {
    refuse_changes(error, changes);
  }
}

void FilterStream::refuse_changes(const Error& error, unsigned changes) {
  seen_recipe_ = changes;
  keep_recipe(element_, recipe_, changes);
  GST_ELEMENT_WARNING(element_, LIBRARY, SETTINGS, ("%s", error.what()),
                      ("the parameters before go on"));
}

void FilterStream::follow_output_format(GstCaps* in) {
  const unsigned changes = element_->changes->recipe.load();
  if (!recipe_ || seen_recipe_ == changes) return;
  RunningStream frames{recipe_, desc_.format, in_cuda_memory_};
  const CapsPtr caps(in != nullptr ? gst_caps_ref(in)
                                   : gst_pad_get_current_caps(transform()->sinkpad));
  GstVideoInfo info;
  if (in != nullptr) {
    if (gst_video_info_from_caps(&info, in) == FALSE) return;  // set_caps() will say so
    const auto format = from_gst(GST_VIDEO_INFO_FORMAT(&info));
    if (!format) return;
    frames.format = *format;
    frames.in_cuda_memory = are_in_cuda_memory(in);
  }
  try {
    const RecipePtr recipe = recipe_of(element_);
    const auto output = [&](const FilterRecipe& of) {
      return of.output_format().value_or(frames.format);
    };
    if (output(*recipe) == output(*recipe_)) return;  // take_changes() is enough
    check(*recipe, settings_.backend);
    require_negotiable(*recipe, caps.get(), frames);
    gst_base_transform_reconfigure_src(transform());
  } catch (const Error& error) {
    refuse_changes(error, changes);
  }
}

/// Throws Error(usage) where a recipe's output format is impossible for the frames, or downstream
/// does not accept it. A failed negotiation would end the stream.
void FilterStream::require_negotiable(const FilterRecipe& recipe, GstCaps* in,
                                      const RunningStream& frames) {
  require_taken(recipe, frames);
  const auto* klass = GST_BASE_TRANSFORM_GET_CLASS(element_);
  const CapsPtr out(klass->transform_caps(transform(), GST_PAD_SINK, in, nullptr));
  const CapsPtr taken(gst_pad_peer_query_caps(transform()->srcpad, out.get()));
  if (gst_caps_can_intersect(taken.get(), out.get()) == FALSE) {
    const PixelFormat format = recipe.output_format().value_or(frames.format);
    throw Error(ExitCode::usage, std::string("downstream does not take ") +
                                     gst_video_format_to_string(to_gst(format)));
  }
}

// The way of a buffer into the queue.

GstFlowReturn FilterStream::take(BufferPtr in) {
  set_control_values(transform(), in.get());
  take_changes();
  if (breaks_off(in.get())) forget();
  const FrameFacts facts = facts_of(in.get());
  const bool empty = gst_buffer_get_size(in.get()) == 0;
  const bool gap = GST_BUFFER_FLAG_IS_SET(in.get(), GST_BUFFER_FLAG_GAP);
  if (empty || (!converts() && (gap || !settings_.enabled))) {
    const CudaScope current = scope();
    if (!queue_) build(desc_);
    queue_->pass(marked(std::move(in), facts));
    return GST_FLOW_OK;
  }
  if (in_cuda_memory_) follow_context(in.get());
  const CudaScope current = scope();
  const ImageDesc desc = desc_of(in.get());
  if (!queue_ || queue_->desc() != desc) build(desc);

  const FrameAreas areas = areas_of(in.get());
  const bool in_place = !converts() && areas.whole() && queue_->filter().works_in_place();
  BufferPtr out;
  // Cropped frames may have another size than the caps: no pool has such buffers.
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
  queue_->push(std::move(in), marked(std::move(out), facts), areas, facts);
  return GST_FLOW_OK;
}

/// Returns a buffer for the result, with everything of the input but its pixels.
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

/// Returns such a buffer for a frame of another size than the caps, in memory of its own.
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

/// Returns the time of the next buffer; of one that has none, the end of the buffer before.
GstClockTime FilterStream::time_of(GstBuffer* buffer) {
  const GstClockTime time = GST_BUFFER_PTS_IS_VALID(buffer)       ? GST_BUFFER_PTS(buffer)
                            : GST_CLOCK_TIME_IS_VALID(last_time_) ? last_time_ + last_duration_
                                                                  : 0;
  last_time_ = time;
  last_duration_ =
      GST_BUFFER_DURATION_IS_VALID(buffer) ? GST_BUFFER_DURATION(buffer) : time_of_frames(info_, 1);
  return time;
}

/// Returns true for a discontinuity, or a new segment, where time goes back or jumps. Others are
/// frames that were lost on their way: the picture is still the same, and forgetting it would make
/// it flash.
bool FilterStream::breaks_off(GstBuffer* buffer) {
  const bool segment = std::exchange(new_segment_, false);
  if (!(segment || GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_DISCONT)) ||
      !GST_BUFFER_PTS_IS_VALID(buffer) || !GST_CLOCK_TIME_IS_VALID(last_time_)) {
    return false;
  }
  const bool backwards = transform()->segment.rate < 0;
  const GstClockTime from = backwards ? GST_BUFFER_PTS(buffer) : last_time_;
  const GstClockTime to = backwards ? last_time_ : GST_BUFFER_PTS(buffer);
  return to < from || to - from > kLongestLoss;
}

FrameFacts FilterStream::facts_of(GstBuffer* buffer) {
  FrameFacts facts;
  facts.index = next_index_++ + dropped_;
  facts.dropped_before = std::exchange(dropped_, 0);
  next_index_ += facts.dropped_before;
  facts.pts_ns = static_cast<std::int64_t>(time_of(buffer));
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

// Memory of buffers.

/// Returns how many of upstream's buffers are away at once: the one in work, those that queue-depth
/// holds, and, where frames go on in them, what downstream needs.
guint FilterStream::buffers_needed() const {
  const bool in_place = !converts() && queue_ && queue_->filter().works_in_place() && !on_device_ &&
                        !downstream_pool_;
  return settings_.queue_depth + 1 + (in_place ? downstream_least_ : 0);
}

void FilterStream::propose(GstQuery* query) {
  // Frames may be passed on in their own memory; padded ones only to elements that handle padding.
  if (in_cuda_memory_ || downstream_video_meta_ || converts()) {
    gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);
  }
  if (in_cuda_memory_) {
    cuda_->propose(query, buffers_needed());
    return;
  }
  if (allocator_) gst_query_add_allocation_param(query, allocator_.get(), nullptr);
  GstCaps* caps = nullptr;
  gboolean need_pool = FALSE;
  gst_query_parse_allocation(query, &caps, &need_pool);
  GstVideoInfo info;
  if (caps == nullptr || gst_video_info_from_caps(&info, caps) == FALSE) return;
  const auto size = static_cast<guint>(GST_VIDEO_INFO_SIZE(&info));
  const BufferPoolPtr pool =
      allocator_ && need_pool != FALSE ? make_pool(caps, size, allocator_.get()) : nullptr;
  gst_query_add_allocation_pool(query, pool.get(), size, buffers_needed(), 0);
}

bool FilterStream::decide(GstQuery* query) {
  downstream_least_ = 0;
  if (gst_query_get_n_allocation_pools(query) > 0) {
    gst_query_parse_nth_allocation_pool(query, 0, nullptr, nullptr, &downstream_least_, nullptr);
  }
  if (in_cuda_memory_) {
    const CudaScope current = scope();
    return cuda_->decide(query, settings_.queue_depth);
  }
  downstream_video_meta_ =
      gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr) != FALSE;
  downstream_pool_ = offers_memory_of_its_own(query);
  const guint least = downstream_least_ + settings_.queue_depth;
  if (downstream_pool_) {
    GstBufferPool* parsed = nullptr;
    guint size = 0;
    guint most = 0;
    gst_query_parse_nth_allocation_pool(query, 0, &parsed, &size, nullptr, &most);
    const BufferPoolPtr pool(parsed);
    if (most != 0) most += settings_.queue_depth;
    gst_query_set_nth_allocation_pool(query, 0, pool.get(), size, least, most);
    return true;
  }
  // Frames that cannot be filtered in place go into our own pool: allocating each would cost more
  // than the filter.
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
    gst_query_parse_nth_allocation_pool(query, 0, nullptr, &offered, nullptr, nullptr);
    gst_query_set_nth_allocation_pool(query, 0, pool.get(), std::max(size, offered), least, 0);
  } else {
    gst_query_add_allocation_pool(query, pool.get(), size, least, 0);
  }
  return true;
}

}  // namespace equalux::gst
