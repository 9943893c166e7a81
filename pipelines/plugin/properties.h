#pragma once

#include <span>
#include <string>
#include <vector>

#include <equalux/filter.h>
#include <glib-object.h>
#include <gst/gst.h>

/// Properties: those that all of our elements have, and those of their filter's options.
namespace equalux::gst {

/// Values of a filter's options as text, in the order of their table. Guarded by the object's lock.
using OptionTexts = std::vector<std::string>;

/// Returns the values of a new element, chosen for a visible result.
[[nodiscard]] OptionTexts first_texts(const FilterInfo& filter);
/// Returns the spec for the properties: the options that differ from their defaults, without those
/// that another one replaces.
[[nodiscard]] FilterSpec spec_of(const FilterInfo& filter, const OptionTexts& texts);

/// Holds an object's lock.
class ObjectLock {
 public:
  explicit ObjectLock(gpointer object) : object_(GST_OBJECT_CAST(object)) {
    GST_OBJECT_LOCK(object_);
  }
  ~ObjectLock() { GST_OBJECT_UNLOCK(object_); }
  ObjectLock(const ObjectLock&) = delete;
  ObjectLock& operator=(const ObjectLock&) = delete;

 private:
  GstObject* object_;
};

/// Installs the base class's properties, which do not depend on a filter.
void install_filter_properties(GObjectClass* klass);
/// Installs a filter's options, whose keys are the property names. For a subclass of the base
/// class.
void install_option_properties(GObjectClass* klass, const FilterInfo& filter);

}  // namespace equalux::gst
