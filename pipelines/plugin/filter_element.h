#pragma once

#include <atomic>
#include <memory>

#include <equalux/params.h>
#include <gst/base/gstbasetransform.h>

#include "pipelines/plugin/element_kind.h"
#include "pipelines/plugin/frame_queue.h"

/// The base of our elements: everything of an element that does not depend on which filter it runs.
namespace equalux::gst {

class FilterStream;

/// Properties that every element has. Guarded by the object's lock.
struct FilterSettings {
  Backend backend = Backend::automatic;
  int device = -1;
  int threads = 0;
  unsigned queue_depth = 0;
  bool enabled = true;
  double split = 0;
  bool regions = false;
  bool message_timings = false;
};

/// What get_property tells of the stream. Guarded by the object's lock.
struct FilterReport {
  std::string device_used;  ///< empty before the first caps
  FinishedFrame last;       ///< without its buffer
};

/// What the element's own properties ask for, kept from one change of them to the next. Guarded by
/// the object's lock.
struct KeptRecipe {
  RecipePtr recipe;      ///< null where it is not made yet
  unsigned changes = 0;  ///< PropertyChanges::recipe that it was made at
};

/// Count changes, so that the streaming thread sees that there are any.
struct PropertyChanges {
  std::atomic<unsigned> settings{0};
  std::atomic<unsigned> recipe{0};
};

}  // namespace equalux::gst

// GObject takes its types' names from these.

struct GstEqualuxFilter {
  GstBaseTransform parent;
  equalux::gst::FilterSettings* settings;
  equalux::gst::OwnProperties* own;
  equalux::gst::KeptRecipe* kept;
  equalux::gst::FilterReport* report;
  equalux::gst::FilterStream* stream;
  equalux::gst::PropertyChanges* changes;
};

struct GstEqualuxFilterClass {
  GstBaseTransformClass parent_class;
  const equalux::gst::ElementKind* kind;
};

GType gst_equalux_filter_get_type();
#define GST_TYPE_EQUALUX_FILTER (gst_equalux_filter_get_type())
#define GST_EQUALUX_FILTER(object) \
  (G_TYPE_CHECK_INSTANCE_CAST((object), GST_TYPE_EQUALUX_FILTER, GstEqualuxFilter))
#define GST_EQUALUX_FILTER_CLASS(klass) \
  (G_TYPE_CHECK_CLASS_CAST((klass), GST_TYPE_EQUALUX_FILTER, GstEqualuxFilterClass))
#define GST_EQUALUX_FILTER_GET_CLASS(object) \
  (G_TYPE_INSTANCE_GET_CLASS((object), GST_TYPE_EQUALUX_FILTER, GstEqualuxFilterClass))

GST_DEBUG_CATEGORY_EXTERN(equalux_debug);

namespace equalux::gst {

/// Installs pad templates for the formats that `accepts` is true for.
void add_pad_templates(GstElementClass* klass, const std::function<bool(PixelFormat)>& accepts);

/// The properties of this moment.
[[nodiscard]] FilterSettings settings_of(GstEqualuxFilter* self);
/// What the element's own properties ask for, or, where that was refused, what is kept instead.
/// Throws Error where one cannot be read.
[[nodiscard]] RecipePtr recipe_of(GstEqualuxFilter* self);
/// Makes `recipe` what recipe_of() returns as long as no property changes; a null one has it made
/// anew.
void keep_recipe(GstEqualuxFilter* self, RecipePtr recipe, unsigned changes);

}  // namespace equalux::gst
