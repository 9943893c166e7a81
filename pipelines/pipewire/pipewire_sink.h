#pragma once

#include <memory>
#include <string>

#include "pipelines/core/sink.h"

/// `pipewire:NAME` as an output: a camera for other programs, without a kernel module.
namespace equalux {

struct PipewireSinkOptions {
  std::string camera;  ///< what programs list it as; not empty
};

/// Gives the newest frame to whoever reads, as many as there are, and wants none while nobody does.
/// write() waits for no reader, but, with frames that are not live, for the time at which each one
/// is due. A daemon that goes away is waited for, and the camera made again. open() throws
/// Error(unavailable) where no daemon runs, Error(cannot_create) where there is a camera of that
/// name, Error(usage) for frames that are no pictures.
[[nodiscard]] std::unique_ptr<Sink> make_pipewire_sink(const PipewireSinkOptions& options);

}  // namespace equalux
