#include "pipelines/plugin/element_kind.h"

#include "pipelines/plugin/element_caps.h"
#include "pipelines/plugin/filter_element.h"
#include "pipelines/plugin/filter_properties.h"

namespace equalux::gst {

namespace {

void class_init(gpointer klass, gpointer class_data) {
  const auto& kind = *static_cast<const ElementKind*>(class_data);
  GST_EQUALUX_FILTER_CLASS(klass)->kind = &kind;
  take_properties(G_OBJECT_CLASS(klass));
  kind.install_properties(G_OBJECT_CLASS(klass));

  GstElementClass* element = GST_ELEMENT_CLASS(klass);
  gst_element_class_set_static_metadata(element, kind.long_name, "Filter/Effect/Video",
                                        kind.description,
                                        "The equalux maintainers <maintainers@equalux.example>");
  const RecipePtr defaults = kind.make_properties()->recipe()();
  add_pad_templates(element, [&](PixelFormat format) { return defaults->accepts(format); });
}

// In the initialisers of base classes an instance is not yet of its own class.
void instance_init(GTypeInstance* instance, gpointer klass) {
  const ElementKind& kind = *GST_EQUALUX_FILTER_CLASS(klass)->kind;
  GST_EQUALUX_FILTER(instance)->own = kind.make_properties().release();
}

}  // namespace

GType register_element_type(const ElementKind& kind) {
  GTypeInfo info{};
  info.class_size = sizeof(GstEqualuxFilterClass);
  info.class_init = class_init;
  info.class_data = &kind;
  info.instance_size = sizeof(GstEqualuxFilter);
  info.instance_init = instance_init;
  return g_type_register_static(GST_TYPE_EQUALUX_FILTER, kind.type_name, &info, GTypeFlags{});
}

}  // namespace equalux::gst
