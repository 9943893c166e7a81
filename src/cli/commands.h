#pragma once

#include <vector>

#include "src/cli/command.h"

/// Subcommands, one file each.
namespace equalux::cli {

[[nodiscard]] Command make_run_command();
[[nodiscard]] Command make_image_command();
[[nodiscard]] Command make_batch_command();
[[nodiscard]] Command make_measure_command();
[[nodiscard]] Command make_devices_command();
[[nodiscard]] Command make_doctor_command();

/// Returns all commands in the order of --help.
[[nodiscard]] std::vector<Command> all_commands();

}  // namespace equalux::cli
