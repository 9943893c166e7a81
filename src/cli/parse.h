#pragma once

#include <vector>

#include "command.h"

/// From argv to a command that ran. The only file that knows CLI11.
namespace equalux::cli {

/// Parses, applies config files, and runs the command. Throws Error; help and version are printed
/// to stdout and end in ExitCode::done.
[[nodiscard]] ExitCode parse_and_run(int argc, const char* const* argv,
                                     const std::vector<Command>& commands);

}  // namespace equalux::cli
