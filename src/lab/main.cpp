#include <algorithm>

#include "src/cli/commands.h"
#include "src/cli/program.h"
#include "src/lab/command.h"

namespace {

/// Those of equalux, whose tables config files of the lab may have too.
std::vector<equalux::cli::Command> commands() {
  std::vector<equalux::cli::Command> all = equalux::cli::all_commands();
  equalux::cli::Command measuring = equalux::cli::lab::measuring_command();
  std::replace_if(
      all.begin(), all.end(), [&](const auto& command) { return command.name == measuring.name; },
      measuring);
  return all;
}

}  // namespace

/// The program equalux-lab, as which `equalux lab` goes on.
int main(int argc, char** argv) {
  return equalux::cli::run_program(argc, argv, commands, {"lab"});
}
