#pragma once

#include "pipelines/plugin/element_kind.h"

namespace equalux::gst {

/// The element `equaluxconvolve`: convolution with a small kernel.
extern const ElementKind kConvolveElement;

}  // namespace equalux::gst
