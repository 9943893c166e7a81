#pragma once

#include <string>
#include <vector>

#include "src/cli/command.h"

/// What a shell's Tab key offers behind `equalux`, from the table of commands: scripts that the
/// shells read when the program's name is first completed.
namespace equalux::cli {

/// For bash 4 or newer; needs nothing of the package bash-completion.
[[nodiscard]] std::string bash_completion(const std::vector<Command>& commands);
/// For zsh, to stand as _equalux in a folder of its function path.
[[nodiscard]] std::string zsh_completion(const std::vector<Command>& commands);
/// For fish 3 or newer.
[[nodiscard]] std::string fish_completion(const std::vector<Command>& commands);

}  // namespace equalux::cli
