#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "pipelines/core/sink.h"
#include "pipelines/core/source.h"

/// GStreamer launch strings as sources and sinks: `gst:<launch string>`, `v4l2:/dev/videoN`.
namespace equalux {

/// A live source that gives no picture for so long has stalled.
inline constexpr std::chrono::milliseconds kLiveStall{5000};

/// Frames of a launch string that ends in a source pad ("videotestsrc ! videoscale"). Timestamps
/// are running times. A live pipeline makes a live source; any other never drops a frame.
/// A live source gives the newest picture and counts those before it that nobody took; `stall` is
/// how long it may go without one. open() throws Error(usage) with GStreamer's message where the
/// string is wrong, Error(no_input, unavailable) where a device, file or plugin is missing.
[[nodiscard]] std::unique_ptr<Source> make_launch_source(
    const std::string& launch, std::chrono::milliseconds stall = kLiveStall);

/// What of a stream of the network is taken beside its pictures.
enum class NetworkSound { left, taken };

/// Frames of an rtsp, rtspt (over TCP), rtsps, http or https URL. Live where its length is not
/// known. Messages do not show a password that it holds. StreamInfo::sound has what a live one is
/// heard to say, if it is to be taken and there is any. Throws as above.
[[nodiscard]] std::unique_ptr<Source> make_network_source(
    const std::string& url, NetworkSound sound = NetworkSound::left,
    std::chrono::milliseconds stall = kLiveStall);

/// Feeds frames to a launch string that starts with a sink pad ("videoconvert ! autovideosink").
[[nodiscard]] std::unique_ptr<Sink> make_launch_sink(const std::string& launch);

/// Feeds frames to a V4L2 output device, as v4l2loopback makes them: in the format and size that
/// its driver tells to take, see set_v4l2_output(), scaled within borders where the size is
/// another; one warning says so. open() throws Error(no_input) where the node is missing,
/// Error(cannot_create) where it is no output device.
[[nodiscard]] std::unique_ptr<Sink> make_v4l2_sink(const std::string& device);

}  // namespace equalux
