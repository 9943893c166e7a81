#include "convolve_element.h"

#include <string>

#include "convolve_properties.h"
#include "convolve_recipe.h"
#include "filter_element.h"
#include "filter_properties.h"

struct GstEqualuxConvolve {
  GstEqualuxFilter parent;
  equalux::gst::ConvolveSettings* settings;  // guarded by the object's lock
};
struct GstEqualuxConvolveClass {
  GstEqualuxFilterClass parent_class;
};

G_DEFINE_TYPE(GstEqualuxConvolve, gst_equalux_convolve, gst_equalux_filter_get_type())

namespace equalux::gst {

namespace {

GstEqualuxConvolve* self_of(gpointer object) {
  return G_TYPE_CHECK_INSTANCE_CAST(object, gst_equalux_convolve_get_type(), GstEqualuxConvolve);
}

RecipePtr recipe(GstEqualuxFilter* filter) {
  return std::make_shared<ConvolveRecipe>(params_of(*self_of(filter)->settings));
}

void set_property(GObject* object, guint id, const GValue* value, GParamSpec* spec) {
  if (id < kFirstOwnProperty) {
    set_filter_property(object, id, value, spec);
    return;
  }
  const ObjectLock lock(object);
  ConvolveSettings& settings = *self_of(object)->settings;
  const ConvolveSettings before = settings;
  if (!set_convolve_property(settings, id, value)) {
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  } else if (settings != before) {  // A control source sets the same value for every frame.
    recipe_changed(GST_EQUALUX_FILTER(object));
  }
}

void get_property(GObject* object, guint id, GValue* value, GParamSpec* spec) {
  if (id < kFirstOwnProperty) {
    get_filter_property(object, id, value, spec);
    return;
  }
  const ObjectLock lock(object);
  if (!get_convolve_property(*self_of(object)->settings, id, value)) {
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  }
}

void finalize(GObject* object) {
  delete self_of(object)->settings;
  G_OBJECT_CLASS(gst_equalux_convolve_parent_class)->finalize(object);
}

}  // namespace

}  // namespace equalux::gst

static void gst_equalux_convolve_class_init(GstEqualuxConvolveClass* klass) {
  using namespace equalux::gst;
  GObjectClass* object = G_OBJECT_CLASS(klass);
  object->set_property = set_property;
  object->get_property = get_property;
  object->finalize = finalize;
  install_convolve_properties(object);
  GST_EQUALUX_FILTER_CLASS(klass)->recipe = recipe;

  GstElementClass* element = GST_ELEMENT_CLASS(klass);
  gst_element_class_set_static_metadata(
      element, "Convolution", "Filter/Effect/Video",
      "Blurs, sharpens, finds edges: convolves with a small kernel, on the CPU or a GPU",
      "The equalux maintainers <maintainers@equalux.example>");
  add_pad_templates(element, [](equalux::PixelFormat format) {
    return ConvolveRecipe(equalux::ConvolveParams{}).accepts(format);
  });
}

static void gst_equalux_convolve_init(GstEqualuxConvolve* self) {
  self->settings = new equalux::gst::ConvolveSettings();
}
