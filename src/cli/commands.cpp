#include "src/cli/commands.h"

#include <memory>

#include "src/lab/options.h"

namespace equalux::cli {
namespace {

Command make_lab_command() {
  Command command = lab::lab_command(std::make_shared<lab::LabOptions>());
  command.program = "equalux-lab";
  return command;
}

}  // namespace

std::vector<Command> all_commands() {
  std::vector<Command> commands;
  commands.push_back(make_run_command());
  commands.push_back(make_image_command());
  commands.push_back(make_batch_command());
  commands.push_back(make_measure_command());
  commands.push_back(make_lab_command());
  commands.push_back(make_devices_command());
  commands.push_back(make_doctor_command());
  return commands;
}

}  // namespace equalux::cli
