#pragma once

#include "pipelines/gst-plugin/element_kind.h"

namespace equalux::gst {

/// The element `equalux`: histogram equalization of the value channel.
extern const ElementKind kEqualizeElement;

}  // namespace equalux::gst
