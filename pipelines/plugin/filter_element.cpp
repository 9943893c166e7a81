#include "pipelines/plugin/filter_element.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "pipelines/plugin/element_caps.h"
#include "pipelines/plugin/filter_properties.h"
#include "pipelines/plugin/filter_stream.h"

#define GST_CAT_DEFAULT equalux_debug

// The methods of the class. What they do with a stream is FilterStream's.

G_DEFINE_ABSTRACT_TYPE(GstEqualuxFilter, gst_equalux_filter, GST_TYPE_BASE_TRANSFORM)

namespace equalux::gst {

namespace {

GstBaseTransformClass* parent() {
  return GST_BASE_TRANSFORM_CLASS(gst_equalux_filter_parent_class);
}

FilterStream& stream_of(GstBaseTransform* transform) {
  return *GST_EQUALUX_FILTER(transform)->stream;
}

/// What an element takes and gives with its present properties, of any size.
struct AllowedCaps {
  CapsPtr in;
  CapsPtr out;
  bool converts = false;  ///< results have another format than their frames
};

AllowedCaps allowed_caps(GstEqualuxFilter* self) {
  RecipePtr recipe;
  try {
    recipe = recipe_of(self);
  } catch (const std::exception& error) {
    GST_DEBUG_OBJECT(self, "%s", error.what());  // set_caps() will say so where users see it
  }
  const auto output = recipe ? recipe->output_format() : std::nullopt;
  const bool cuda = !output && settings_of(self).backend != Backend::cpu && cuda_memory_starts();
  AllowedCaps allowed;
  allowed.in = element_caps(
      [&](PixelFormat format) {
        return recipe ? recipe->accepts(format) : traits(format).model != ColorModel::real;
      },
      cuda);
  allowed.converts = output.has_value();
  allowed.out = output ? element_caps([&](PixelFormat format) { return format == *output; }, false)
                       : CapsPtr(gst_caps_ref(allowed.in.get()));
  return allowed;
}

CapsPtr intersection(GstCaps* first, const CapsPtr& second) {
  return CapsPtr(gst_caps_intersect_full(first, second.get(), GST_CAPS_INTERSECT_FIRST));
}

GstCaps* transform_caps(GstBaseTransform* transform, GstPadDirection direction, GstCaps* caps,
                        GstCaps* filter) {
  const AllowedCaps allowed = allowed_caps(GST_EQUALUX_FILTER(transform));
  const bool forward = direction == GST_PAD_SINK;
  CapsPtr result = intersection(caps, forward ? allowed.in : allowed.out);
  if (allowed.converts) {
    result = intersection(without_format(result).get(), forward ? allowed.out : allowed.in);
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

/// A padded input has another size than the output, though the caps are the same.
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
  stream_of(transform).follow_output_format();
  const GstFlowReturn flow = parent()->submit_input_buffer(transform, discont, input);
  if (flow == GST_BASE_TRANSFORM_FLOW_DROPPED) stream_of(transform).count_dropped();
  return flow;
}

GstFlowReturn generate_output(GstBaseTransform* transform, GstBuffer** out) {
  return stream_of(transform).generate(out);
}

/// Tells the base class that we are no filter in place; generate_output() does the work.
GstFlowReturn transform_frame(GstBaseTransform*, GstBuffer*, GstBuffer*) {
  return GST_FLOW_NOT_SUPPORTED;
}

gboolean sink_event(GstBaseTransform* transform, GstEvent* event) {
  if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP) {
    stream_of(transform).drop();
  } else if (GST_EVENT_IS_SERIALIZED(event)) {
    stream_of(transform).drain();
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
      if (direction == GST_PAD_SINK) stream.drain();
      break;
    default:
      break;
  }
  return parent()->query(transform, direction, query);
}

/// Metas of frames mean the same of ours: whoever takes them downstream may have them upstream.
gboolean filter_meta(GstBaseTransform*, GstQuery*, GType, const GstStructure*) {
  return TRUE;
}

/// The size stays, so every meta stays true, but of colours where the format changes.
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
  delete self->own;
  delete self->kept;
  delete self->changes;
  delete self->report;
  delete self->settings;
  G_OBJECT_CLASS(gst_equalux_filter_parent_class)->finalize(object);
}

}  // namespace

RecipePtr recipe_of(GstEqualuxFilter* self) {
  unsigned changes = 0;
  std::function<RecipePtr()> make;
  {
    const ObjectLock lock(self);
    changes = self->changes->recipe.load();
    if (self->kept->recipe && self->kept->changes == changes) return self->kept->recipe;
    make = self->own->recipe();
  }
  RecipePtr recipe = make();
  const ObjectLock lock(self);
  // Another thread may have made it as well, or refused it meanwhile.
  if (self->kept->recipe && self->kept->changes == changes) return self->kept->recipe;
  *self->kept = {recipe, changes};
  return recipe;
}

void keep_recipe(GstEqualuxFilter* self, RecipePtr recipe, unsigned changes) {
  const ObjectLock lock(self);
  *self->kept = {std::move(recipe), changes};
}

FilterSettings settings_of(GstEqualuxFilter* self) {
  const ObjectLock lock(self);
  return *self->settings;
}

void add_pad_templates(GstElementClass* klass, const std::function<bool(PixelFormat)>& accepts) {
  const CapsPtr caps = element_caps(accepts, cuda_memory_starts());
  gst_element_class_add_pad_template(
      klass, gst_pad_template_new("sink", GST_PAD_SINK, GST_PAD_ALWAYS, caps.get()));
  gst_element_class_add_pad_template(
      klass, gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps.get()));
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
  self->report = new FilterReport();
  self->changes = new PropertyChanges();
  self->stream = new FilterStream(self);
  GstBaseTransform* transform = GST_BASE_TRANSFORM(self);
  gst_base_transform_set_qos_enabled(transform, TRUE);
  gst_base_transform_set_gap_aware(transform, TRUE);
}
