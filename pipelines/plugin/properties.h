#pragma once

#include <span>
#include <string>
#include <vector>

#include <equalux/filter.h>
#include <glib-object.h>
#include <gst/gst.h>

/// Properties: those that all of our elements have, and those of their filter's options.
namespace equalux::gst {

/// Values of the options of an element's filter as they are written, in the order of their table.
/// Guarded by the object's lock.
using OptionTexts = std::vector<std::string>;

/// What a new element begins with: a result that can be looked at.
[[nodiscard]] OptionTexts first_texts(const FilterInfo& filter);
/// What properties ask for: the options that are not as by default, without those that another one
/// replaces.
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

/// The base class's, which are not a filter's.
void install_filter_properties(GObjectClass* klass);
/// A filter's options, whose names are their keys. For a subclass of the base class.
void install_option_properties(GObjectClass* klass, const FilterInfo& filter);

}  // namespace equalux::gst
