#pragma once

#include <atomic>
#include <memory>

#include <equalux/filter.h>
#include <gst/base/gstbasetransform.h>

#include "pipelines/plugin/frame_queue.h"
#include "pipelines/plugin/properties.h"

/// Our elements: one class for each filter of the list that has a title. They share a base class,
/// which has everything that does not depend on the filter.
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

/// Values of the stream that get_property reports. Guarded by the object's lock.
struct FilterReport {
  std::string device_used;  ///< empty before the first caps
  FinishedFrame last;       ///< without its buffer
};

/// The recipe for the filter's properties, kept until one of them changes. Guarded by the object's
/// lock.
struct KeptRecipe {
  RecipePtr recipe;      ///< null where it is not made yet
  unsigned changes = 0;  ///< PropertyChanges::recipe at which it was made
};

/// What a running stream has, which caps go on allowing while a changed property refuses it.
/// Guarded by the object's lock.
struct RunningStream {
  RecipePtr recipe;  ///< of the frames now; null where no stream runs
  PixelFormat format{};
  bool in_cuda_memory = false;

  /// Returns true where another recipe takes the stream's frames.
  [[nodiscard]] bool fits(const FilterRecipe& other) const {
    return other.accepts(format) && !(in_cuda_memory && other.output_format());
  }
};

/// Counters of changes, by which the streaming thread notices them.
struct PropertyChanges {
  std::atomic<unsigned> settings{0};
  std::atomic<unsigned> recipe{0};
};

}  // namespace equalux::gst

// GObject derives type names from these.

struct GstEqualuxFilter {
  GstBaseTransform parent;
  equalux::gst::FilterSettings* settings;
  equalux::gst::OptionTexts* texts;
  equalux::gst::KeptRecipe* kept;
  equalux::gst::RunningStream* running;
  equalux::gst::FilterReport* report;
  equalux::gst::FilterStream* stream;
  equalux::gst::PropertyChanges* changes;
};

struct GstEqualuxFilterClass {
  GstBaseTransformClass parent_class;
  const equalux::FilterInfo* filter;
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

/// Returns the element's name: "equalux" for equalize, "equaluxclahe" and so on for others.
[[nodiscard]] std::string element_name(const FilterInfo& filter);
/// Registers the GObject type of a filter's element, a subclass of GstEqualuxFilter. `filter` must
/// live as long as the program. Once for each filter.
[[nodiscard]] GType register_element_type(const FilterInfo& filter);

/// Returns the current properties.
[[nodiscard]] FilterSettings settings_of(GstEqualuxFilter* self);
/// Returns the recipe for the filter's properties, or, if that was refused, the one kept instead.
/// Throws Error where one cannot be read.
[[nodiscard]] RecipePtr recipe_of(GstEqualuxFilter* self);
/// Makes recipe_of() return `recipe` as long as no property changes; with null the recipe is made
/// again.
void keep_recipe(GstEqualuxFilter* self, RecipePtr recipe, unsigned changes);
/// Tells what the stream has, for caps; one without a recipe where it has ended.
void tell_running(GstEqualuxFilter* self, RunningStream running);

}  // namespace equalux::gst
