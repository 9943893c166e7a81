#pragma once

/// GStreamer's library of CUDA memory.
namespace equalux::gst {

/// Loads the CUDA driver through it; true where a driver and a device exist. The answer is kept.
[[nodiscard]] bool cuda_library_starts();

}  // namespace equalux::gst
