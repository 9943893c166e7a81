#pragma once

#include <string>

#include <equalux/hessian.h>
#include <glib-object.h>

/// The vessel filter's parameters as properties, in the options' names and spellings.
namespace equalux::gst {

/// Values of the properties, as they were set. Who puts the filter into a video wants to see it:
/// the element's output is an overlay unless told otherwise, the program's a mask.
struct VesselSettings {
  VesselParams params = [] {
    VesselParams defaults;
    defaults.output = VesselOutput::overlay;
    return defaults;
  }();                           ///< all but sigmas, low and high
  std::string sigmas = "2,3,4";  ///< "s,s,s..."
  double low = -1;               ///< below 0 = the measure's own
  double high = -1;

  friend bool operator==(const VesselSettings&, const VesselSettings&) = default;
};

/// Throws Error(usage) where sigmas cannot be read.
[[nodiscard]] VesselParams params_of(const VesselSettings& settings);

void install_vessel_properties(GObjectClass* klass);
/// False for a number that is none of these properties'.
bool set_property(VesselSettings& settings, guint id, const GValue* value);
bool get_property(const VesselSettings& settings, guint id, GValue* value);

}  // namespace equalux::gst
