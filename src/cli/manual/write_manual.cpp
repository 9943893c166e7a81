// Writes the manual pages and the shells' completions: write_manual DIR YEAR-MONTH-DAY. The build
// runs it and installs its output.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "src/cli/commands.h"
#include "src/cli/manual/completions.h"
#include "src/cli/manual/man_page.h"

namespace {

bool write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) std::fprintf(stderr, "write_manual: %s cannot be written\n", path.c_str());
  return static_cast<bool>(file);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: write_manual DIR YEAR-MONTH-DAY\n");
    return 2;
  }
  const std::filesystem::path folder(argv[1]);
  const std::string date(argv[2]);
  const std::vector<equalux::cli::Command> commands = equalux::cli::all_commands();
  bool written = write(folder / "equalux.1", equalux::cli::program_page(commands, date));
  for (const equalux::cli::Command& command : commands) {
    written = write(folder / ("equalux-" + command.name + ".1"),
                    equalux::cli::command_page(command, date)) &&
              written;
  }
  written = write(folder / "equalux.bash", equalux::cli::bash_completion(commands)) && written;
  written = write(folder / "_equalux", equalux::cli::zsh_completion(commands)) && written;
  written = write(folder / "equalux.fish", equalux::cli::fish_completion(commands)) && written;
  return written ? 0 : 74;
}
