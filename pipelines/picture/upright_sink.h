#pragma once

#include <memory>

#include "pipelines/core/sink.h"

/// Turns frames for outputs that cannot say how theirs have to be turned.
namespace equalux {

/// Gives `sink` upright frames where the stream's are not and Sink::keeps_orientation() is false;
/// everything else passes. One copy of each frame, in the sink's thread. Frames are as before when
/// write() returns.
[[nodiscard]] std::unique_ptr<Sink> make_upright_sink(std::unique_ptr<Sink> sink);

}  // namespace equalux
