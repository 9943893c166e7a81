#pragma once

#include <functional>
#include <string>
#include <vector>

#include <equalux/error.h>

/// A subcommand as data: the parser, `--help` and the config files all read the same table.
namespace equalux::cli {

/// A long option, which is also a config key.
struct Option {
  std::string name;   ///< without dashes, "bins"
  std::string value;  ///< what stands for the value in --help, "N"; empty for a flag
  std::string help;   ///< with unit, range and default
  /// Called for each value in order; a flag's are "true" and "false". An empty value means "as if
  /// not given", so that a config can undo a preset. Throws Error(usage).
  std::function<void(const std::string&)> set;
  char letter = 0;              ///< "-o", 0 = none
  char off_letter = 0;          ///< "-n", which says false, 0 = none
  bool repeatable = false;      ///< keeps every value, not the last
  bool value_optional = false;  ///< `--verify` or `--verify=FILE`
};

/// Options under one heading of --help.
struct OptionGroup {
  std::string title;
  std::vector<Option> options;
  /// True where the commands share it: its keys may then stand at the top of any config file.
  bool shared = false;
};

/// What stands without a dash.
struct Positional {
  std::string name;
  std::string help;
  std::function<void(const std::string&)> set;
  bool repeatable = false;
  bool optional = false;  ///< only how --help writes it
};

struct Command {
  std::string name;
  std::string summary;  ///< one line
  std::string details;  ///< the forms of its inputs and outputs, for its --help
  std::vector<Positional> positionals;
  std::vector<OptionGroup> groups;
  std::function<ExitCode()> run;
  /// The preset that holds where none is asked for, once the positionals are set; null = plain.
  std::function<std::string()> usual_preset;

  [[nodiscard]] const Option* find(const std::string& option) const;
  [[nodiscard]] std::vector<std::string> option_names() const;
};

/// The text of `equalux --help` and of `equalux COMMAND --help`.
[[nodiscard]] std::string program_help(const std::vector<Command>& commands);
[[nodiscard]] std::string command_help(const Command& command);

}  // namespace equalux::cli
