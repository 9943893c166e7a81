#pragma once

#include <memory>

#include "pipelines/core/processor.h"
#include "src/cli/options.h"

/// Which backend runs, by --backend, the filters and the machine.
namespace equalux::cli {

/// The processor of the filters that the options name. With `auto` that is CUDA where a device
/// answers; if that device then fails before the first result, the CPU takes over and a warning
/// says why. Throws Error(unavailable) where CUDA is asked for, or a knob that only CUDA has, and
/// no device answers; and Error(usage).
[[nodiscard]] std::unique_ptr<Processor> make_processor(const CommonOptions& options);

}  // namespace equalux::cli
