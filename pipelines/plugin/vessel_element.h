#pragma once

#include "pipelines/plugin/element_kind.h"

namespace equalux::gst {

/// The element `equaluxvessel`: vessels and other lines.
extern const ElementKind kVesselElement;

}  // namespace equalux::gst
