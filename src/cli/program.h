#pragma once

#include <string>
#include <vector>

#include "src/cli/command.h"

/// Start and end of the programs equalux and equalux-lab, and the switch from the first to the
/// second.
namespace equalux::cli {

/// Body of main(): runs the command that the arguments name and reports an error in one line.
/// `first` is put before the arguments. Returns the exit code.
[[nodiscard]] int run_program(int argc, char** argv, std::vector<Command> (*commands)(),
                              const std::vector<std::string>& first = {});

/// Replaces this process by the program `name` with these arguments, for commands that are separate
/// programs: the one beside this program's file, or the first in PATH. Throws Error(unavailable)
/// where there is none.
[[noreturn]] void become_program(const std::string& name, std::vector<std::string> arguments);

}  // namespace equalux::cli
