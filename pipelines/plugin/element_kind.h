#pragma once

#include <functional>
#include <memory>

#include <glib-object.h>

#include "pipelines/plugin/filter_recipe.h"

/// What tells one of our elements from another. Everything else is the base class's.
namespace equalux::gst {

enum class PropertyResult { unknown, unchanged, changed };

/// Values of the properties that one element has beside the base class's. Guarded by the object's
/// lock.
class OwnProperties {
 public:
  virtual ~OwnProperties() = default;
  virtual PropertyResult set(guint id, const GValue* value) = 0;
  /// False for a number that is none of these properties'.
  [[nodiscard]] virtual bool get(guint id, GValue* value) const = 0;
  /// Makes what they ask for, from a copy of them: it may read files, and runs without the lock.
  /// Throws Error where one cannot be read.
  [[nodiscard]] virtual std::function<RecipePtr()> recipe() const = 0;
};

/// A constant for each element.
struct ElementKind {
  const char* name;                                 ///< in launch lines, "equaluxconvolve"
  const char* type_name;                            ///< GObject's, "GstEqualuxConvolve"
  const char* long_name;                            ///< gst-inspect's first line
  const char* description;                          ///< one sentence without its stop
  void (*install_properties)(GObjectClass* klass);  ///< numbers from kFirstOwnProperty on
  std::unique_ptr<OwnProperties> (*make_properties)();
};

/// The GObject type of a kind, a subclass of GstEqualuxFilter. Once for each kind.
[[nodiscard]] GType register_element_type(const ElementKind& kind);

/// Properties held by a struct with ==, for which set_property(), get_property() and params_of()
/// are overloaded; a Recipe is made of what the last one returns.
template <typename Settings, typename Recipe>
class OwnPropertiesOf final : public OwnProperties {
 public:
  PropertyResult set(guint id, const GValue* value) override {
    const Settings before = settings_;
    if (!set_property(settings_, id, value)) return PropertyResult::unknown;
    return settings_ == before ? PropertyResult::unchanged : PropertyResult::changed;
  }
  [[nodiscard]] bool get(guint id, GValue* value) const override {
    return get_property(settings_, id, value);
  }
  [[nodiscard]] std::function<RecipePtr()> recipe() const override {
    return [settings = settings_] { return std::make_shared<Recipe>(params_of(settings)); };
  }

  /// For ElementKind::make_properties.
  static std::unique_ptr<OwnProperties> make() { return std::make_unique<OwnPropertiesOf>(); }

 private:
  Settings settings_;
};

}  // namespace equalux::gst
