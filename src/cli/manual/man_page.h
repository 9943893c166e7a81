#pragma once

#include <string>
#include <vector>

#include "src/cli/command.h"

/// Manual pages, section 1, in the macros of man(7), from the table of commands.
namespace equalux::cli {

/// The page equalux(1), with a list of the commands. `date` is year-month-day.
[[nodiscard]] std::string program_page(const std::vector<Command>& commands,
                                       const std::string& date);
/// The page equalux-COMMAND(1), with every option of it.
[[nodiscard]] std::string command_page(const Command& command, const std::string& date);

}  // namespace equalux::cli
