#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "pipelines/core/sink.h"
#include "pipelines/core/source.h"

/// GStreamer launch strings as sources and sinks: `gst:<launch string>`, `v4l2:/dev/videoN`.
namespace equalux {

/// Time after which a live source that gives no picture counts as stalled.
inline constexpr std::chrono::milliseconds kLiveStall{5000};

/// Makes a source of a launch string that ends in a source pad ("videotestsrc ! videoscale").
/// Timestamps are running times. A live pipeline makes a live source; any other never drops a
/// frame. A live source gives the newest picture and counts earlier ones that were not read;
/// `stall` is the longest time without one. open() throws Error(usage) with GStreamer's message
/// where the string is wrong, Error(no_input, unavailable) where a device, file or plugin is
/// missing.
[[nodiscard]] std::unique_ptr<Source> make_launch_source(
    const std::string& launch, std::chrono::milliseconds stall = kLiveStall);

/// Choice between taking and leaving the sound of a network stream.
enum class NetworkSound { left, taken };

/// Makes a source of an rtsp, rtspt (over TCP), rtsps, http or https URL. Live where its length is
/// unknown. Messages do not show a password in the URL. StreamInfo::sound has the sound of a live
/// stream, if it is to be taken and there is any. Throws as make_launch_source().
[[nodiscard]] std::unique_ptr<Source> make_network_source(
    const std::string& url, NetworkSound sound = NetworkSound::left,
    std::chrono::milliseconds stall = kLiveStall);

/// Makes a sink of a launch string that starts with a sink pad ("videoconvert ! autovideosink").
[[nodiscard]] std::unique_ptr<Sink> make_launch_sink(const std::string& launch);

/// Makes a sink that feeds a V4L2 output device, such as one of v4l2loopback: in the format and
/// size that its driver accepts, see set_v4l2_output(), scaled within borders where the size
/// differs, which one warning tells. open() throws Error(no_input) where the node is missing,
/// Error(cannot_create) where it is no output device.
[[nodiscard]] std::unique_ptr<Sink> make_v4l2_sink(const std::string& device);

}  // namespace equalux
