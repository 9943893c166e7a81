#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include <equalux/error.h>

/// A subcommand as data: the parser, `--help` and the config files all read the same table.
namespace equalux::cli {

/// Who gave an option its value, from the strongest on.
enum class GivenBy {
  flag,
  config,
  preset,        ///< one that was asked for
  usual_preset,  ///< the one that holds where none was asked for
};

[[nodiscard]] constexpr bool is_of_preset(GivenBy by) {
  return by == GivenBy::preset || by == GivenBy::usual_preset;
}

/// What an option was given, and by whom.
struct Setting {
  std::vector<std::string> values;
  std::string origin;  ///< "FILE:LINE"; empty for the command line
  GivenBy by = GivenBy::flag;
  bool changes_preset = false;  ///< the preset has another value, which this one hides
};
using Settings = std::map<std::string, Setting>;

/// A long option, which is also a config key.
struct Option {
  std::string name;   ///< without dashes, "bins"
  std::string value;  ///< what stands for the value in --help, "N"; empty for a flag
  std::string help;   ///< with unit, range and default
  /// Called for each value in order; a flag's are "true" and "false". An empty value means "as if
  /// not given", so that a config can undo a preset. Throws Error(usage).
  std::function<void(const std::string&)> set;
  char letter = 0;          ///< "-o", 0 = none
  char off_letter = 0;      ///< "-n", which says false, 0 = none
  bool repeatable = false;  ///< keeps every value, not the last
  /// `--verify`, `--verify FILE` or `--verify=FILE`: the next word is its value unless the command
  /// needs that for itself.
  bool value_optional = false;
  /// What the Tab key offers as its value: these words. Empty = files, where the value is one.
  std::vector<std::string> choices = {};
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
  bool optional = false;  ///< may be left out
  /// Options that it may be left out beside.
  std::vector<std::string> stand_ins = {};
};

struct Command {
  std::string name;
  std::string summary;  ///< one line
  std::string details;  ///< the forms of its inputs and outputs, for its --help
  std::vector<Positional> positionals;
  std::vector<OptionGroup> groups;
  std::function<ExitCode()> run;
  /// A program of its own that has the command, and gets the words behind its name; empty = run()
  /// has it.
  std::string program;
  /// Lines of --help: a command, and behind two blanks what it does.
  std::string examples;
  /// Options that --help shows; --help-all shows all. Empty = it does, too.
  std::vector<std::string> usual_options;
  /// What an argument too many may have been meant for; "" = nothing is known.
  std::string too_many;
  /// Called with what was given, by whomever, before the options' set(). May be null.
  std::function<void(const Settings&)> note;
  /// The preset that holds where none is asked for, once the positionals are set; null = plain.
  std::function<std::string()> usual_preset;

  [[nodiscard]] const Option* find(const std::string& option) const;
  [[nodiscard]] std::vector<std::string> option_names() const;
};

/// What an option's help begins with: up to its range, its reasons or its default.
[[nodiscard]] std::string first_clause(const std::string& help);

/// An exit code, or several, as help and manual name it.
struct ExitStatus {
  std::string code;  ///< "130 and 143"
  std::string meaning;
};
[[nodiscard]] std::vector<ExitStatus> exit_statuses();

/// What the program does, behind its name.
[[nodiscard]] std::string program_description();

/// The command of a name; null where there is none.
[[nodiscard]] const Command* find_command(const std::vector<Command>& commands,
                                          const std::string& name);

/// The text of `equalux --help` and of `equalux COMMAND --help`.
[[nodiscard]] std::string program_help(const std::vector<Command>& commands);
/// The text of `equalux COMMAND --help`; the values that `settings` hold are shown as defaults.
[[nodiscard]] std::string command_help(const Command& command, const Settings& settings, bool all);

}  // namespace equalux::cli
