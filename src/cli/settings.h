#pragma once

#include <string>
#include <utility>
#include <vector>

#include "src/cli/command.h"

/// What the options of one command were given, and by whom: flags win over the config file, the
/// file over what it includes, that over the preset.
namespace equalux::cli {

/// Adds what --config and --preset bring to the settings that the flags left open, and has all
/// files that were read as the values of config. Throws Error(usage) for keys that the command does
/// not know, naming the command that does.
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

/// A preset: of the curve, for every command, or of all that some commands know.
struct Preset {
  std::string name;
  std::string summary;  ///< the first comment of its file; may be empty
  /// Commands that know all its keys, where not all do; empty = a curve, which holds for all.
  std::vector<std::string> commands;
};

/// What preset_names() names. Files that are no config are left out.
[[nodiscard]] std::vector<Preset> list_presets(const std::vector<Command>& commands);

/// The presets as a table for --list-presets.
[[nodiscard]] std::string preset_table(const std::vector<Command>& commands);

/// The options of a preset for `run`, name and value, without those of files it includes; of plain,
/// none. Throws Error(usage) for a name that no preset has.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> preset_options(
    const std::string& name);
/// Its filters as `--filter` takes them, none where it leaves them open. Throws likewise.
[[nodiscard]] std::vector<std::string> preset_filters(const std::string& name);

}  // namespace equalux::cli
