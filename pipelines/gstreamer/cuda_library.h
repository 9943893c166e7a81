#pragma once

#include "pipelines/gstreamer/gst_common.h"

/// GStreamer's library of CUDA memory.
namespace equalux::gst {

/// Loads the CUDA driver through it; true where a driver and a device exist. The answer is kept.
[[nodiscard]] bool cuda_library_starts();

/// Returns how buffers in CUDA memory are mapped for use on the device. Since GStreamer 1.24, other
/// elements may still write or read them on streams of their own, and mapping uploads on these.
[[nodiscard]] MapMode cuda_map_mode();

}  // namespace equalux::gst
