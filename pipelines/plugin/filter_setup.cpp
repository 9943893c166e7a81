#include <cstring>
#include <utility>

#include <equalux/device.h>

#include "pipelines/gstreamer/gst_formats.h"
#include "pipelines/plugin/filter_stream.h"

#define GST_CAT_DEFAULT equalux_debug

/// Caps and properties: which filter runs, where, and on what.
namespace equalux::gst {

namespace {

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

}  // namespace

bool FilterStream::set_caps(GstCaps* in, GstCaps* out) {
  drain();
  // Without caps the base class asks anew for every buffer.
  if (refused_.in && gst_caps_is_equal(refused_.in.get(), in) != FALSE &&
      gst_caps_is_equal(refused_.out.get(), out) != FALSE &&
      refused_.changes == element_->changes->recipe.load()) {
    return false;
  }
  refused_ = {};
  const bool taken = guarded([&] {
                       {
                         const CudaScope current = scope();
                         queue_.reset();
                       }
                       read_caps(in, out);
                       seen_settings_ = element_->changes->settings.load();
                       settings_ = settings_of(element_);
                       take_recipe();
                       if (output_format(*recipe_) != out_format_) {
                         // Set since transform_caps() was asked.
                         gst_base_transform_reconfigure_src(transform());
                         return GST_FLOW_OK;
                       }
                       if (in_cuda_memory_) cuda_->ensure_context(settings_.device);
                       const CudaScope current = scope();
                       build(desc_);
                       return GST_FLOW_OK;
                     }) == GST_FLOW_OK;
  if (!taken) {
    refused_ = {CapsPtr(gst_caps_ref(in)), CapsPtr(gst_caps_ref(out)),
                element_->changes->recipe.load()};
  }
  return taken;
}

/// What the properties ask for when caps are set. In a stream that runs, a wrong change is refused
/// as it is between frames.
void FilterStream::take_recipe() {
  const unsigned changes = element_->changes->recipe.load();
  try {
    RecipePtr recipe = recipe_of(element_);
    if (recipe_ && recipe != recipe_) recipe->check(settings_.backend);
    recipe_ = std::move(recipe);
    seen_recipe_ = changes;
  } catch (const Error& error) {
    if (!recipe_) throw;
    refuse_changes(error, changes);
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
  const char* feature = cuda_memory_feature();
  in_cuda_memory_ = feature != nullptr &&
                    gst_caps_features_contains(gst_caps_get_features(in, 0), feature) != FALSE;
}

void FilterStream::build(const ImageDesc& desc) {
  finish_all();
  queue_.reset();
  on_device_ = false;
  AreaProcessor processor = make_processor();
  const std::size_t depth = settings_.queue_depth;
  const unsigned flags = in_cuda_memory_ ? cuda_->map_flags() : 0;
  queue_ = std::make_unique<FrameQueue>(info_, out_info_, desc, std::move(processor), depth, flags);

  const ImageMemory* memory = queue_->processor().frame_memory();
  allocator_ = memory == nullptr ? nullptr : make_allocator(*memory);
  const std::string used = queue_->processor().description();
  GST_OBJECT_LOCK(element_);
  const bool news = std::exchange(element_->report->device_used, used) != used;
  GST_OBJECT_UNLOCK(element_);
  if (news) g_object_notify(G_OBJECT(element_), "device-used");
  GST_INFO_OBJECT(element_, "%dx%d %s on %s", desc.width, desc.height,
                  std::string(to_string(desc.format)).c_str(), used.c_str());

  const bool known = GST_VIDEO_INFO_FPS_N(&info_) > 0;
  const GstClockTime latency =
      known ? gst_util_uint64_scale(depth * GST_SECOND,
                                    static_cast<guint64>(GST_VIDEO_INFO_FPS_D(&info_)),
                                    static_cast<guint64>(GST_VIDEO_INFO_FPS_N(&info_)))
            : 0;
  if (latency_.exchange(latency) != latency) {
    gst_element_post_message(GST_ELEMENT(element_), gst_message_new_latency(GST_OBJECT(element_)));
  }
}

AreaProcessor FilterStream::make_processor() {
  const FilterSettings& settings = settings_;
  recipe_->check(settings.backend);
  const std::size_t depth = std::size_t{settings.queue_depth} + 1;
  if (in_cuda_memory_) return cuda_->make_processor(recipe_, depth);
  const bool needed = settings.backend == Backend::cuda ||
                      (settings.backend == Backend::automatic && recipe_->needs_cuda());
  if (settings.backend == Backend::cpu ||
      (settings.backend == Backend::automatic && recipe_->needs_cpu())) {
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

/// Takes properties that changed. Where they do not go together, or not with this stream, the
/// filter that was there goes on, and a warning says why.
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
    if (output_format(*recipe) != out_format_) return;  // set since follow_output_format()
    const CudaScope current = scope();
    if (queue_) queue_->filter().replace(recipe);
    recipe_ = std::move(recipe);
    seen_recipe_ = changes;
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

void FilterStream::follow_output_format() {
  const unsigned changes = element_->changes->recipe.load();
  if (!recipe_ || seen_recipe_ == changes) return;
  try {
    const RecipePtr recipe = recipe_of(element_);
    if (output_format(*recipe) == out_format_) return;  // take_changes() is enough
    recipe->check(settings_.backend);
    require_negotiable(*recipe);
    gst_base_transform_reconfigure_src(transform());
  } catch (const Error& error) {
    refuse_changes(error, changes);
  }
}

/// Throws Error(usage) where the frames that come cannot become what a recipe makes, or downstream
/// does not take that. Negotiating in vain would end the stream.
void FilterStream::require_negotiable(const FilterRecipe& recipe) {
  const std::string format = gst_video_format_to_string(to_gst(output_format(recipe)));
  if (in_cuda_memory_) {
    throw Error(ExitCode::usage, format +
                                     " is made of frames in system memory only, which "
                                     "cudadownload before the element gives");
  }
  if (!recipe.accepts(desc_.format)) {
    throw Error(ExitCode::usage, std::string("frames of format ") +
                                     gst_video_format_to_string(to_gst(desc_.format)) +
                                     " are not taken with the properties as they are now");
  }
  const CapsPtr in(gst_pad_get_current_caps(transform()->sinkpad));
  const auto* klass = GST_BASE_TRANSFORM_GET_CLASS(element_);
  const CapsPtr out(klass->transform_caps(transform(), GST_PAD_SINK, in.get(), nullptr));
  const CapsPtr taken(gst_pad_peer_query_caps(transform()->srcpad, out.get()));
  if (gst_caps_can_intersect(taken.get(), out.get()) == FALSE) {
    throw Error(ExitCode::usage, "downstream does not take " + format);
  }
}

}  // namespace equalux::gst
