#pragma once

#include <memory>

#include "pipelines/container/container.h"

/// The writer that this build has.
namespace equalux::gst {

/// libavformat's, which copies the other streams; without it GStreamer's muxers, which write the
/// video alone: a warning says so. Throws as make_container_writer().
[[nodiscard]] std::unique_ptr<ContainerWriter> make_video_writer(
    const ContainerWriterOptions& options);

}  // namespace equalux::gst
