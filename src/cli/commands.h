#pragma once

#include <vector>

#include "src/cli/command.h"

/// The subcommands, one file each.
namespace equalux::cli {

[[nodiscard]] Command make_run_command();
[[nodiscard]] Command make_image_command();
[[nodiscard]] Command make_batch_command();
[[nodiscard]] Command make_measure_command();
[[nodiscard]] Command make_devices_command();
[[nodiscard]] Command make_doctor_command();

/// All of them, in the order of --help.
[[nodiscard]] std::vector<Command> all_commands();

}  // namespace equalux::cli
