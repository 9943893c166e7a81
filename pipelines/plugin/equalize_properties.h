#pragma once

#include <string>

#include <equalux/params.h>
#include <glib-object.h>

/// Equalization's parameters as properties, in the options' names and spellings.
namespace equalux::gst {

/// Values of the properties, as they were set.
struct EqualizeSettings {
  EqualizeParams params;  ///< all but grid, block and curve
  std::string grid;       ///< "x,y,z"; empty = left to the backend
  std::string block;
  std::string curve_from;  ///< a file; empty = each frame's own curve

  friend bool operator==(const EqualizeSettings&, const EqualizeSettings&) = default;
};

/// Throws Error(usage) where grid or block cannot be read, and as read_curve() does. Reads the
/// curve's file.
[[nodiscard]] EqualizeParams params_of(const EqualizeSettings& settings);

void install_equalize_properties(GObjectClass* klass);
/// False for a number that is none of these properties'.
bool set_property(EqualizeSettings& settings, guint id, const GValue* value);
bool get_property(const EqualizeSettings& settings, guint id, GValue* value);

}  // namespace equalux::gst
