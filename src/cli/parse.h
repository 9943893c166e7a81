#pragma once

#include <string>
#include <vector>

#include "src/cli/command.h"

/// Words become a command that ran. A command line without a command is one of `run`.
namespace equalux::cli {

/// Parses the words behind the program's name, applies config files, and runs the command. Throws
/// Error; help and version are printed to stdout and end in ExitCode::done. Does not return where
/// the command has a program of its own.
[[nodiscard]] ExitCode parse_and_run(std::vector<std::string> words,
                                     const std::vector<Command>& commands);

}  // namespace equalux::cli
