#pragma once

#include <vector>

#include "src/cli/command.h"

/// From argv to a command that ran. A command line without a command is one of `run`.
namespace equalux::cli {

/// Parses, applies config files, and runs the command. Throws Error; help and version are printed
/// to stdout and end in ExitCode::done.
[[nodiscard]] ExitCode parse_and_run(int argc, const char* const* argv,
                                     const std::vector<Command>& commands);

}  // namespace equalux::cli
