#include <algorithm>

#include "src/cli/commands.h"
#include "src/cli/program.h"
#include "src/lab/command.h"

namespace {

/// Returns equalux's commands with the measuring `lab`; config files may have tables for all of
/// them.
std::vector<equalux::cli::Command> commands() {
  std::vector<equalux::cli::Command> all = equalux::cli::all_commands();
  equalux::cli::Command measuring = equalux::cli::lab::measuring_command();
  std::replace_if(
      all.begin(), all.end(), [&](const auto& command) { return command.name == measuring.name; },
      measuring);
  return all;
}

}  // namespace

/// Program equalux-lab, which `equalux lab` starts.
int main(int argc, char** argv) {
  return equalux::cli::run_program(argc, argv, commands, {"lab"});
}
