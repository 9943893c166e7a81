#pragma once

#include <string>
#include <vector>

#include "src/cli/command.h"

/// Tab completions of shells for `equalux`, made from the table of commands: scripts that a shell
/// reads when the program's name is first completed.
namespace equalux::cli {

/// Returns the script for bash 4 or newer; independent of the package bash-completion.
[[nodiscard]] std::string bash_completion(const std::vector<Command>& commands);
/// Returns the script for zsh, to be installed as _equalux in its function path.
[[nodiscard]] std::string zsh_completion(const std::vector<Command>& commands);
/// Returns the script for fish 3 or newer.
[[nodiscard]] std::string fish_completion(const std::vector<Command>& commands);

}  // namespace equalux::cli
