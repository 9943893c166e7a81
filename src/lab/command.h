#pragma once

#include "src/cli/command.h"

namespace equalux::cli::lab {

/// `equalux lab` where it measures: in the program equalux-lab.
[[nodiscard]] Command measuring_command();

}  // namespace equalux::cli::lab
