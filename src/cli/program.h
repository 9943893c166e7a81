#pragma once

#include <string>
#include <vector>

#include "src/cli/command.h"

/// The programs equalux and equalux-lab: how they begin and end, and how the first becomes the
/// second.
namespace equalux::cli {

/// What main() does: runs the command that the arguments name, and says in one line what went
/// wrong. `first` is put before the arguments. Returns the exit code.
[[nodiscard]] int run_program(int argc, char** argv, std::vector<Command> (*commands)(),
                              const std::vector<std::string>& first = {});

/// Has this process become the program `name` with these arguments, as equalux does for a command
/// of a program of its own: the one beside this program's file, or the first in PATH. Throws
/// Error(unavailable) where there is none.
[[noreturn]] void become_program(const std::string& name, std::vector<std::string> arguments);

}  // namespace equalux::cli
