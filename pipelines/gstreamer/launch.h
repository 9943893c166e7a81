#pragma once

#include <memory>
#include <string>

#include "../sink.h"
#include "../source.h"

/// GStreamer launch strings as sources and sinks: `gst:<launch string>`, `v4l2:/dev/videoN`.
namespace equalux {

/// Frames of a launch string that ends in a source pad ("videotestsrc ! videoscale"). Timestamps
/// are running times. A live pipeline makes a live source; any other never drops a frame.
/// open() throws Error(usage) with GStreamer's message where the string is wrong,
/// Error(no_input, unavailable) where a device, file or plugin is missing.
[[nodiscard]] std::unique_ptr<Source> make_launch_source(const std::string& launch);

/// Feeds frames to a launch string that starts with a sink pad ("videoconvert ! autovideosink").
[[nodiscard]] std::unique_ptr<Sink> make_launch_sink(const std::string& launch);

/// Feeds frames to a V4L2 output device, as v4l2loopback makes them. open() throws
/// Error(no_input) where the node is missing, Error(cannot_create) where it is no output device.
[[nodiscard]] std::unique_ptr<Sink> make_v4l2_sink(const std::string& device);

}  // namespace equalux
