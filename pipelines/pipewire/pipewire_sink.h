#pragma once

#include <memory>
#include <string>

#include "pipelines/core/sink.h"

/// `pipewire:NAME` as an output: a camera for other programs, without a kernel module.
namespace equalux {

struct PipewireSinkOptions {
  std::string camera;  ///< name under which programs list it; not empty
};

/// Makes a sink that gives the newest frame to all readers, and wants no frames while there are
/// none. write() never waits for readers; frames that are not live wait until they are due. If the
/// daemon goes away, the sink waits for it and makes the camera again. open() throws
/// Error(unavailable) where no daemon runs, Error(cannot_create) where a camera of that name
/// exists, Error(usage) for float planes.
[[nodiscard]] std::unique_ptr<Sink> make_pipewire_sink(const PipewireSinkOptions& options);

}  // namespace equalux
