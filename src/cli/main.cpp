#include "src/cli/commands.h"
#include "src/cli/program.h"

int main(int argc, char** argv) {
  return equalux::cli::run_program(argc, argv, equalux::cli::all_commands);
}
