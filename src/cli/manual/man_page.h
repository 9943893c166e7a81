#pragma once

#include <string>
#include <vector>

#include "src/cli/command.h"

/// Manual pages, section 1, in macros of man(7), made from the table of commands.
namespace equalux::cli {

/// Returns the page equalux(1), with a list of commands. `date` is year-month-day.
[[nodiscard]] std::string program_page(const std::vector<Command>& commands,
                                       const std::string& date);
/// Returns the page equalux-COMMAND(1), with all options of the command.
[[nodiscard]] std::string command_page(const Command& command, const std::string& date);

}  // namespace equalux::cli
