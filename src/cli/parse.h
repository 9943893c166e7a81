#pragma once

#include <string>
#include <vector>

#include "src/cli/command.h"

/// Command line parser. A command line without a command is one of `run`.
namespace equalux::cli {

/// Parses the words behind the program's name, applies config files, and runs the command. Help and
/// version are printed on stdout and return ExitCode::done. Throws Error. Does not return where the
/// command is a separate program.
[[nodiscard]] ExitCode parse_and_run(std::vector<std::string> words,
                                     const std::vector<Command>& commands);

}  // namespace equalux::cli
