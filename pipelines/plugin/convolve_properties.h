#pragma once

#include <string>

#include <equalux/convolve.h>
#include <glib-object.h>

/// Convolution's parameters as properties, in the options' names and spellings.
namespace equalux::gst {

/// Values of the properties, as they were set.
struct ConvolveSettings {
  ConvolveParams params;  ///< all but weights
  std::string weights;    ///< "w,w,w..."; empty = none

  friend bool operator==(const ConvolveSettings&, const ConvolveSettings&) = default;
};

/// With weights, the kernel is custom whatever `kernel` says.
[[nodiscard]] ConvolveParams params_of(const ConvolveSettings& settings);

void install_convolve_properties(GObjectClass* klass);
/// False for a number that is none of these properties'.
bool set_property(ConvolveSettings& settings, guint id, const GValue* value);
bool get_property(const ConvolveSettings& settings, guint id, GValue* value);

}  // namespace equalux::gst
