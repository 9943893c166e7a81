#pragma once

#include "src/cli/command.h"

namespace equalux::cli::lab {

/// Makes the measuring `equalux lab`, that of the program equalux-lab.
[[nodiscard]] Command measuring_command();

}  // namespace equalux::cli::lab
