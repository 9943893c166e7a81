#pragma once

#include <memory>

#include "pipelines/core/sink.h"

/// Turning of frames for outputs that cannot store an orientation.
namespace equalux {

/// Makes a sink that gives `sink` upright frames if the stream's are not and
/// Sink::keeps_orientation() is false; everything else passes. Costs one copy of each frame, in the
/// sink's thread. Frames are restored when write() returns.
[[nodiscard]] std::unique_ptr<Sink> make_upright_sink(std::unique_ptr<Sink> sink);

}  // namespace equalux
