#pragma once

#include <memory>

#include "pipelines/core/sink.h"

/// `null`: takes every frame and keeps none, to time everything before the sink.
namespace equalux {

[[nodiscard]] std::unique_ptr<Sink> make_null_sink();

}  // namespace equalux
