#pragma once

#include <memory>

#include "pipelines/core/processor.h"
#include "src/cli/options.h"

/// Choice of the backend by --backend, the filters and the machine.
namespace equalux::cli {

/// Makes the processor of the filters that the options name. With `auto` it is CUDA where a device
/// answers; if that fails before the first result, the CPU takes over with a warning. Throws
/// Error(unavailable) where CUDA, or an option that only CUDA has, is asked for and no device
/// answers; and Error(usage).
[[nodiscard]] std::unique_ptr<Processor> make_processor(const CommonOptions& options);

}  // namespace equalux::cli
