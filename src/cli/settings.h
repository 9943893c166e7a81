#pragma once

#include <string>
#include <utility>
#include <vector>

#include "src/cli/command.h"

/// Values of a command's options and their origins: flags override the config file, the file
/// overrides what it includes, and that overrides the preset.
namespace equalux::cli {

/// Adds the values of --config and --preset for options that flags left open, and sets config to
/// all files that were read. Throws Error(usage) for keys that the command does not know, with the
/// command that does.
void add_config_layers(Settings& settings, const Command& command,
                       const std::vector<Command>& commands);

/// Passes every setting to its option, in the order of --help.
void apply_settings(const Settings& settings, const Command& command);

/// Returns "option --x is unknown to equalux run, must be --y", with the nearest name or the
/// command that has it.
[[nodiscard]] std::string unknown_option_text(const std::string& what, const std::string& name,
                                              const Command& command,
                                              const std::vector<Command>& commands);

/// Returns the names of all presets: "plain" and the files NAME.toml beside the program's own.
[[nodiscard]] std::vector<std::string> preset_names();

/// Preset, either of the curve for every command, or with keys that only some commands have.
struct Preset {
  std::string name;
  std::string summary;  ///< first comment of its file; may be empty
  /// Commands that have all its keys, unless all have; empty = a preset of the curve.
  std::vector<std::string> commands;
};

/// Returns all presets. Files that are no config are left out.
[[nodiscard]] std::vector<Preset> list_presets(const std::vector<Command>& commands);

/// Returns the table of --list-presets.
[[nodiscard]] std::string preset_table(const std::vector<Command>& commands);

/// Returns names and values of a preset's options for `run`, without those of included files; none
/// for plain. Throws Error(usage) for an unknown name.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> preset_options(
    const std::string& name);
/// Returns a preset's filters as for `--filter`; empty where it leaves them open. Throws as
/// preset_options().
[[nodiscard]] std::vector<std::string> preset_filters(const std::string& name);

}  // namespace equalux::cli
