#pragma once

/// GStreamer's library of CUDA memory.
namespace equalux::gst {

/// Loads the driver through it; true where that is there with a device. Asked once.
[[nodiscard]] bool cuda_library_starts();

}  // namespace equalux::gst
