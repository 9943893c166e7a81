#pragma once

#include "pipelines/plugin/element_kind.h"

namespace equalux::gst {

/// The element `equalux`: histogram equalization of the value channel.
extern const ElementKind kEqualizeElement;

}  // namespace equalux::gst
