#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include <equalux/error.h>

/// Subcommands as data: parser, --help and config files read the same table.
namespace equalux::cli {

/// Origin of an option's value, strongest first.
enum class GivenBy {
  flag,
  config,
  preset,        ///< preset that was asked for
  usual_preset,  ///< default preset
};

[[nodiscard]] constexpr bool is_of_preset(GivenBy by) {
  return by == GivenBy::preset || by == GivenBy::usual_preset;
}

/// Values of an option, with their origin.
struct Setting {
  std::vector<std::string> values;
  std::string origin;  ///< "FILE:LINE"; empty for the command line
  GivenBy by = GivenBy::flag;
  bool changes_preset = false;  ///< overrides another value of the preset
};
using Settings = std::map<std::string, Setting>;

/// Long option, which is also a config key.
struct Option {
  std::string name;   ///< name without dashes, "bins"
  std::string value;  ///< placeholder of the value in --help, "N"; empty for a flag
  std::string help;   ///< help with unit, range and default
  /// Called for each value in order, "true" and "false" for a flag. An empty value means "not
  /// given", so that a config can undo a preset. Throws Error(usage).
  std::function<void(const std::string&)> set;
  char letter = 0;          ///< "-o"; 0 = none
  char off_letter = 0;      ///< "-n", which means false; 0 = none
  bool repeatable = false;  ///< keeps all values instead of the last
  /// Allows `--verify`, `--verify FILE` or `--verify=FILE`: the next word is the value unless the
  /// command needs it as an argument.
  bool value_optional = false;
  /// Words that the Tab key offers as values; empty = files, where the value is a file.
  std::vector<std::string> choices = {};
  /// What the option is for alone, with which its help begins: "staged chain, CUDA"; may be empty.
  std::string scope = {};
};

/// Options under one heading of --help.
struct OptionGroup {
  std::string title;
  std::vector<Option> options;
  /// True for options that several commands share; their keys may then be at the top of a config
  /// file.
  bool shared = false;
};

/// Argument without a dash.
struct Positional {
  std::string name;
  std::string help;
  std::function<void(const std::string&)> set;
  bool repeatable = false;
  bool optional = false;  ///< may be missing
  /// Options with which it may be missing.
  std::vector<std::string> stand_ins = {};
  /// Words that the Tab key offers in its place; empty = files.
  std::vector<std::string> choices = {};
};

struct Command {
  std::string name;
  std::string summary;  ///< one line
  std::string details;  ///< forms of inputs and outputs, for --help
  std::vector<Positional> positionals;
  std::vector<OptionGroup> groups;
  std::function<ExitCode()> run;
  /// Separate program that implements the command and receives the words behind its name; empty =
  /// run() does.
  std::string program;
  /// Examples of --help: a command, two blanks, what it does.
  std::string examples;
  /// Options that --help shows; --help-all shows all. Empty = all.
  std::vector<std::string> usual_options;
  /// Hint for an argument too many; empty = none.
  std::string too_many;
  /// Called with all settings before the options' set(); may be null.
  std::function<void(const Settings&)> note;
  /// Returns the default preset once positionals are set; null = plain.
  std::function<std::string()> usual_preset;

  [[nodiscard]] const Option* find(const std::string& option) const;
  [[nodiscard]] std::vector<std::string> option_names() const;
};

/// Returns what an option does in short, for shells' completions: its help up to the range, reasons
/// or default, with its scope in parentheses.
[[nodiscard]] std::string in_a_clause(const Option& option);

/// Exit code, or several, for help and manual.
struct ExitStatus {
  std::string code;  ///< "130 and 143"
  std::string meaning;
};
[[nodiscard]] std::vector<ExitStatus> exit_statuses();

/// Returns the options that stand in place of a command, for help, manual and completions.
[[nodiscard]] std::vector<Option> program_options();

/// Describes the program, for help and manual; follows its name.
[[nodiscard]] std::string program_description();

/// Returns the command of a name, or null.
[[nodiscard]] const Command* find_command(const std::vector<Command>& commands,
                                          const std::string& name);

/// Returns the text of `equalux --help`.
[[nodiscard]] std::string program_help(const std::vector<Command>& commands);
/// Returns the text of `equalux COMMAND --help`, with values of `settings` as defaults.
[[nodiscard]] std::string command_help(const Command& command, const Settings& settings, bool all);

}  // namespace equalux::cli
