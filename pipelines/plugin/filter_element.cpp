#include "pipelines/plugin/filter_element.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <exception>
#include <functional>
#include <span>
#include <utility>

#include <gst/video/video.h>

#include "pipelines/gstreamer/gst_formats.h"
#include "pipelines/plugin/filter_stream.h"

#define GST_CAT_DEFAULT equalux_debug

// Methods of the class; FilterStream implements what they do with a stream.

G_DEFINE_ABSTRACT_TYPE(GstEqualuxFilter, gst_equalux_filter, GST_TYPE_BASE_TRANSFORM)

namespace equalux::gst {

namespace {

GstBaseTransformClass* parent() {
  return GST_BASE_TRANSFORM_CLASS(gst_equalux_filter_parent_class);
}

FilterStream& stream_of(GstBaseTransform* transform) {
  return *GST_EQUALUX_FILTER(transform)->stream;
}

// Formats in the order in which a source that can choose should take them: those without conversion
// of chroma and with little memory first.
constexpr std::array kSystemFormats{
    PixelFormat::nv12, PixelFormat::i420, PixelFormat::yuy2, PixelFormat::uyvy, PixelFormat::y42b,
    PixelFormat::y444, PixelFormat::bgrx, PixelFormat::rgbx, PixelFormat::xrgb, PixelFormat::xbgr,
    PixelFormat::bgra, PixelFormat::rgba, PixelFormat::argb, PixelFormat::abgr, PixelFormat::bgr,
    PixelFormat::rgb,  PixelFormat::gray8};
// Formats of more than 8 bits, in a list of their own, so that a source that can choose takes 8.
constexpr std::array kDeepFormats{
    PixelFormat::p010_10le, PixelFormat::i420_10le, PixelFormat::i422_10le, PixelFormat::y444_10le,
    PixelFormat::p012_le,   PixelFormat::i420_12le, PixelFormat::i422_12le, PixelFormat::y444_12le,
    PixelFormat::p016_le,   PixelFormat::y444_16le, PixelFormat::rgba64_le, PixelFormat::bgra64_le,
    PixelFormat::argb64_le, PixelFormat::abgr64_le, PixelFormat::gray16_le};
// Formats that NVIDIA's decoders, encoders and converters have in common; their allocator has no
// gray.
constexpr std::array kCudaFormats{PixelFormat::nv12, PixelFormat::rgba, PixelFormat::bgra,
                                  PixelFormat::rgbx, PixelFormat::bgrx, PixelFormat::p010_10le};

void append(GstCaps* caps, std::span<const PixelFormat> formats,
            const std::function<bool(PixelFormat)>& accepts, const char* feature) {
  GValue names = G_VALUE_INIT;
  g_value_init(&names, GST_TYPE_LIST);
  for (const PixelFormat format : formats) {
    if (!accepts(format)) continue;
    GValue name = G_VALUE_INIT;
    g_value_init(&name, G_TYPE_STRING);
    g_value_set_static_string(&name, gst_video_format_to_string(to_gst(format)));
    gst_value_list_append_and_take_value(&names, &name);
  }
  if (gst_value_list_get_size(&names) > 0) {
    GstStructure* structure = gst_structure_new(
        "video/x-raw", "width", GST_TYPE_INT_RANGE, 1, kMaxSide, "height", GST_TYPE_INT_RANGE, 1,
        kMaxSide, "framerate", GST_TYPE_FRACTION_RANGE, 0, 1, G_MAXINT, 1, nullptr);
    gst_structure_set_value(structure, "format", &names);
    gst_caps_append_structure_full(
        caps, structure, feature == nullptr ? nullptr : gst_caps_features_new(feature, nullptr));
  }
  g_value_unset(&names);
}

/// Returns an element's caps: CUDA memory first, if this machine has it, then system memory; with
/// the formats for which `accepts` is true.
CapsPtr element_caps(const std::function<bool(PixelFormat)>& accepts, bool with_cuda_memory) {
  CapsPtr caps(gst_caps_new_empty());
  if (with_cuda_memory) append(caps.get(), kCudaFormats, accepts, cuda_memory_feature());
  append(caps.get(), kSystemFormats, accepts, nullptr);
  append(caps.get(), kDeepFormats, accepts, nullptr);
  return caps;
}

/// Returns the same caps for pictures of any format and colour.
CapsPtr without_format(const CapsPtr& caps) {
  CapsPtr result(gst_caps_copy(caps.get()));
  for (guint i = 0; i < gst_caps_get_size(result.get()); ++i) {
    gst_structure_remove_fields(gst_caps_get_structure(result.get(), i), "format", "colorimetry",
                                "chroma-site", nullptr);
  }
  return result;
}

/// Returns a copy of the caps, only with what others have as well.
CapsPtr intersection(GstCaps* first, const CapsPtr& second) {
  return CapsPtr(gst_caps_intersect_full(first, second.get(), GST_CAPS_INTERSECT_FIRST));
}

/// Returns the caps of the other side for `caps` on one side, for frames of any size that a recipe
/// takes; null = one that is not known yet.
CapsPtr transformed_caps(GstEqualuxFilter* self, const FilterRecipe* recipe,
                         GstPadDirection direction, GstCaps* caps) {
  const auto output = recipe != nullptr ? recipe->output_format() : std::nullopt;
  const bool cuda = !output && settings_of(self).backend != Backend::cpu && cuda_memory_starts();
  const CapsPtr in = element_caps(
      [&](PixelFormat format) {
        return recipe != nullptr ? recipe->accepts(format)
                                 : traits(format).model != ColorModel::real;
      },
      cuda);
  if (!output) return intersection(caps, in);
  const CapsPtr out = element_caps([&](PixelFormat format) { return format == *output; }, false);
  const bool forward = direction == GST_PAD_SINK;
  const CapsPtr taken = intersection(caps, forward ? in : out);
  return intersection(without_format(taken).get(), forward ? out : in);
}

GstCaps* transform_caps(GstBaseTransform* transform, GstPadDirection direction, GstCaps* caps,
                        GstCaps* filter) {
  auto* self = GST_EQUALUX_FILTER(transform);
  RunningStream running;
  {
    const ObjectLock lock(self);
    running = *self->running;
  }
  RecipePtr recipe = running.recipe;
  try {
    recipe = recipe_of(self);
  } catch (const std::exception& error) {
    GST_DEBUG_OBJECT(self, "%s", error.what());  // set_caps() will say so where users see it
  }
  CapsPtr result = transformed_caps(self, recipe.get(), direction, caps);
  // A running stream goes on in its format, with the recipe that it has.
  if (running.recipe && !running.fits(*recipe) &&
      (gst_caps_is_empty(result.get()) != FALSE || gst_caps_is_fixed(caps) == FALSE)) {
    CapsPtr more = transformed_caps(self, running.recipe.get(), direction, caps);
    result.reset(gst_caps_merge(result.release(), more.release()));
  }
  if (filter != nullptr) result = intersection(filter, result);
  return result.release();
}

gboolean set_caps(GstBaseTransform* transform, GstCaps* in, GstCaps* out) {
  return stream_of(transform).set_caps(in, out) ? TRUE : FALSE;
}

gboolean get_unit_size(GstBaseTransform*, GstCaps* caps, gsize* size) {
  GstVideoInfo info;
  if (gst_video_info_from_caps(&info, caps) == FALSE) return FALSE;
  *size = GST_VIDEO_INFO_SIZE(&info);
  return TRUE;
}

/// Returns the size of the other side's frames by their caps, as a padded input has another size
/// than the output with the same caps.
gboolean transform_size(GstBaseTransform* transform, GstPadDirection, GstCaps*, gsize,
                        GstCaps* other_caps, gsize* other_size) {
  return get_unit_size(transform, other_caps, other_size);
}

gboolean start(GstBaseTransform* transform) {
  return stream_of(transform).start() ? TRUE : FALSE;
}

gboolean stop(GstBaseTransform* transform) {
  stream_of(transform).stop();
  return TRUE;
}

GstFlowReturn submit_input_buffer(GstBaseTransform* transform, gboolean discont, GstBuffer* input) {
  stream_of(transform).follow_output_format(nullptr);
  const GstFlowReturn flow = parent()->submit_input_buffer(transform, discont, input);
  if (flow == GST_BASE_TRANSFORM_FLOW_DROPPED) stream_of(transform).count_dropped();
  return flow;
}

GstFlowReturn generate_output(GstBaseTransform* transform, GstBuffer** out) {
  return stream_of(transform).generate(out);
}

/// Tells the base class that this is no in-place filter; generate_output() does the work.
GstFlowReturn transform_frame(GstBaseTransform*, GstBuffer*, GstBuffer*) {
  return GST_FLOW_NOT_SUPPORTED;
}

/// Takes the mark of a discontinuity off a buffer that is none.
GstPadProbeReturn mend_mark(GstPad*, GstPadProbeInfo* info, gpointer transform) {
  GstBuffer* buffer = GST_PAD_PROBE_INFO_BUFFER(info);
  if (GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_DISCONT) &&
      !stream_of(GST_BASE_TRANSFORM(transform)).pushes_discontinuity()) {
    buffer = gst_buffer_make_writable(buffer);
    GST_BUFFER_FLAG_UNSET(buffer, GST_BUFFER_FLAG_DISCONT);
    GST_PAD_PROBE_INFO_DATA(info) = buffer;
  }
  return GST_PAD_PROBE_OK;
}

gboolean sink_event(GstBaseTransform* transform, GstEvent* event) {
  if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP) {
    stream_of(transform).drop();
  } else if ((gst_event_type_get_flags(GST_EVENT_TYPE(event)) & GST_EVENT_TYPE_SERIALIZED) != 0) {
    stream_of(transform).drain();
  }
  if (GST_EVENT_TYPE(event) == GST_EVENT_STREAM_START) {
    const gchar* id = nullptr;
    gst_event_parse_stream_start(event, &id);
    stream_of(transform).begin(id);
  } else if (GST_EVENT_TYPE(event) == GST_EVENT_SEGMENT) {
    stream_of(transform).begin_segment();
  } else if (GST_EVENT_TYPE(event) == GST_EVENT_CAPS) {
    GstCaps* caps = nullptr;
    gst_event_parse_caps(event, &caps);
    stream_of(transform).follow_output_format(caps);
  }
  return parent()->sink_event(transform, event);
}

gboolean answer_latency(GstBaseTransform* transform, GstQuery* query) {
  if (parent()->query(transform, GST_PAD_SRC, query) == FALSE) return FALSE;
  gboolean live = FALSE;
  GstClockTime least = 0;
  GstClockTime most = 0;
  gst_query_parse_latency(query, &live, &least, &most);
  const GstClockTime ours = stream_of(transform).latency();
  if (GST_CLOCK_TIME_IS_VALID(most)) most += ours;
  gst_query_set_latency(query, live, least + ours, most);
  return TRUE;
}

gboolean query(GstBaseTransform* transform, GstPadDirection direction, GstQuery* query) {
  FilterStream& stream = stream_of(transform);
  switch (GST_QUERY_TYPE(query)) {
    case GST_QUERY_LATENCY:
      if (direction == GST_PAD_SRC) return answer_latency(transform, query);
      break;
    case GST_QUERY_CONTEXT:
      if (stream.cuda() != nullptr && stream.cuda()->answer_context(query)) return TRUE;
      break;
    case GST_QUERY_DRAIN:
    case GST_QUERY_ALLOCATION:
      if (direction != GST_PAD_SINK) break;
      stream.drain();
      stream.follow_output_format(nullptr);
      break;
    default:
      break;
  }
  return parent()->query(transform, direction, query);
}

/// Proposes metas upstream that downstream accepts, since they hold for our frames, too.
gboolean filter_meta(GstBaseTransform*, GstQuery*, GType, const GstStructure*) {
  return TRUE;
}

/// Copies metas: the size stays, so all stay valid, except those of colours where the format
/// changes.
gboolean transform_meta(GstBaseTransform* transform, GstBuffer*, GstMeta* meta, GstBuffer*) {
  static const GQuark colours = g_quark_from_static_string(GST_META_TAG_VIDEO_COLORSPACE_STR);
  if (!stream_of(transform).converts()) return TRUE;
  return gst_meta_api_type_has_tag(meta->info->api, colours) != FALSE ? FALSE : TRUE;
}

gboolean propose_allocation(GstBaseTransform* transform, GstQuery* decided, GstQuery* query) {
  if (parent()->propose_allocation(transform, decided, query) == FALSE) return FALSE;
  if (decided != nullptr) stream_of(transform).propose(query);
  return TRUE;
}

gboolean decide_allocation(GstBaseTransform* transform, GstQuery* query) {
  if (!stream_of(transform).decide(query)) return FALSE;
  return parent()->decide_allocation(transform, query);
}

void set_context(GstElement* element, GstContext* context) {
  auto* self = GST_EQUALUX_FILTER(element);
  if (CudaMemory* cuda = self->stream->cuda(); cuda != nullptr) {
    cuda->set_context(context, settings_of(self).device);
  }
  GST_ELEMENT_CLASS(gst_equalux_filter_parent_class)->set_context(element, context);
}

void finalize(GObject* object) {
  auto* self = GST_EQUALUX_FILTER(object);
  delete self->stream;
  delete self->texts;
  delete self->kept;
  delete self->running;
  delete self->changes;
  delete self->report;
  delete self->settings;
  G_OBJECT_CLASS(gst_equalux_filter_parent_class)->finalize(object);
}

}  // namespace

RecipePtr recipe_of(GstEqualuxFilter* self) {
  unsigned changes = 0;
  FilterSpec spec;
  {
    const ObjectLock lock(self);
    changes = self->changes->recipe.load();
    if (self->kept->recipe && self->kept->changes == changes) return self->kept->recipe;
    spec = spec_of(*GST_EQUALUX_FILTER_GET_CLASS(self)->filter, *self->texts);
  }
  RecipePtr recipe = read_recipe(spec);  // without the lock, since it may read files
  const ObjectLock lock(self);
  // Another thread may have made or refused it meanwhile.
  if (self->kept->recipe && self->kept->changes == changes) return self->kept->recipe;
  *self->kept = {recipe, changes};
  return recipe;
}

void keep_recipe(GstEqualuxFilter* self, RecipePtr recipe, unsigned changes) {
  const ObjectLock lock(self);
  *self->kept = {std::move(recipe), changes};
}

void tell_running(GstEqualuxFilter* self, RunningStream running) {
  const ObjectLock lock(self);
  *self->running = std::move(running);
}

FilterSettings settings_of(GstEqualuxFilter* self) {
  const ObjectLock lock(self);
  return *self->settings;
}

namespace {

void add_pad_templates(GstElementClass* klass, const FilterRecipe& recipe) {
  const CapsPtr caps = element_caps([&](PixelFormat format) { return recipe.accepts(format); },
                                    cuda_memory_starts());
  gst_element_class_add_pad_template(
      klass, gst_pad_template_new("sink", GST_PAD_SINK, GST_PAD_ALWAYS, caps.get()));
  gst_element_class_add_pad_template(
      klass, gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps.get()));
}

void element_class_init(gpointer klass, gpointer class_data) {
  const auto& filter = *static_cast<const FilterInfo*>(class_data);
  GST_EQUALUX_FILTER_CLASS(klass)->filter = &filter;
  install_option_properties(G_OBJECT_CLASS(klass), filter);
  GstElementClass* element = GST_ELEMENT_CLASS(klass);
  gst_element_class_set_metadata(element, std::string(filter.title).c_str(), "Filter/Effect/Video",
                                 std::string(filter.description).c_str(),
                                 "The equalux maintainers <maintainers@equalux.example>");
  add_pad_templates(element, *read_recipe(spec_of(filter, first_texts(filter))));
}

// While base classes are initialised, an instance does not have its own class yet.
void element_init(GTypeInstance* instance, gpointer klass) {
  GST_EQUALUX_FILTER(instance)->texts =
      new OptionTexts(first_texts(*GST_EQUALUX_FILTER_CLASS(klass)->filter));
}

}  // namespace

std::string element_name(const FilterInfo& filter) {
  return "equalux" + (filter.name == "equalize" ? "" : std::string(filter.name));
}

GType register_element_type(const FilterInfo& filter) {
  std::string name = element_name(filter).substr(std::string_view("equalux").size());
  if (!name.empty()) name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
  GTypeInfo info{};
  info.class_size = sizeof(GstEqualuxFilterClass);
  info.class_init = element_class_init;
  info.class_data = &filter;
  info.instance_size = sizeof(GstEqualuxFilter);
  info.instance_init = element_init;
  return g_type_register_static(GST_TYPE_EQUALUX_FILTER, ("GstEqualux" + name).c_str(), &info,
                                GTypeFlags{});
}

}  // namespace equalux::gst

static void gst_equalux_filter_class_init(GstEqualuxFilterClass* klass) {
  using namespace equalux::gst;
  G_OBJECT_CLASS(klass)->finalize = finalize;
  install_filter_properties(G_OBJECT_CLASS(klass));
  GST_ELEMENT_CLASS(klass)->set_context = set_context;

  GstBaseTransformClass* transform = GST_BASE_TRANSFORM_CLASS(klass);
  transform->transform_caps = transform_caps;
  transform->set_caps = set_caps;
  transform->get_unit_size = get_unit_size;
  transform->transform_size = transform_size;
  transform->start = start;
  transform->stop = stop;
  transform->submit_input_buffer = submit_input_buffer;
  transform->generate_output = generate_output;
  transform->transform = transform_frame;
  transform->sink_event = sink_event;
  transform->query = query;
  transform->filter_meta = filter_meta;
  transform->transform_meta = transform_meta;
  transform->propose_allocation = propose_allocation;
  transform->decide_allocation = decide_allocation;
}

static void gst_equalux_filter_init(GstEqualuxFilter* self) {
  using namespace equalux::gst;
  self->settings = new FilterSettings();
  self->kept = new KeptRecipe();
  self->running = new RunningStream();
  self->report = new FilterReport();
  self->changes = new PropertyChanges();
  self->stream = new FilterStream(self);
  GstBaseTransform* transform = GST_BASE_TRANSFORM(self);
  gst_pad_add_probe(transform->srcpad, GST_PAD_PROBE_TYPE_BUFFER, mend_mark, self, nullptr);
  gst_base_transform_set_qos_enabled(transform, TRUE);
  gst_base_transform_set_gap_aware(transform, TRUE);
}
