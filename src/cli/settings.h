#pragma once

#include <map>
#include <string>
#include <vector>

#include "command.h"

/// What the options of one command were given, and by whom: flags win over the config file, the
/// file over what it includes, that over the preset.
namespace equalux::cli {

struct Setting {
  std::vector<std::string> values;
  std::string origin;  ///< "FILE:LINE"; empty for the command line
};
using Settings = std::map<std::string, Setting>;

/// Adds what --config and --preset bring to the settings that the flags left open. Throws
/// Error(usage) for keys that the command does not know, naming the command that does.
void add_config_layers(Settings& settings, const Command& command,
                       const std::vector<Command>& commands);

/// Hands every setting to its option, in the order of --help.
void apply_settings(const Settings& settings, const Command& command);

/// "option --x is unknown to equalux run, must be --y" with the nearest name or the command that
/// knows it.
[[nodiscard]] std::string unknown_option_text(const std::string& what, const std::string& name,
                                              const Command& command,
                                              const std::vector<Command>& commands);

/// Presets that --preset finds: "plain" and the files NAME.toml beside the program's own.
[[nodiscard]] std::vector<std::string> preset_names();

/// The options of a preset for `run`, name and value, without those of files it includes; of plain,
/// none. Throws Error(usage) for a name that is none.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> preset_options(
    const std::string& name);

}  // namespace equalux::cli
