#pragma once

#include "pipelines/container/av_handles.h"
#include "pipelines/container/container.h"
#include "pipelines/container/output/stream_plan.h"

/// The encoded video's stream: the encoder's format with the input's tags.
namespace equalux {

/// Adds the stream; `input` is the video stream that was filtered, or null.
AVStream& add_encoded_stream(AVFormatContext& muxer, ContainerKind kind,
                             const EncodedVideoFormat& video, const AVStream* input);

}  // namespace equalux
