#include "src/cli/parse.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <list>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <equalux/filter.h>

#include "pipelines/files/still.h"
#include "src/cli/program.h"
#include "src/cli/settings.h"
#include "src/cli/stream/io_factory.h"
#include "src/common/log.h"
#include "src/options/nearest_name.h"
#include "src/options/option_values.h"

namespace equalux::cli {
namespace {

using Words = std::vector<std::string>;

enum class Help { none, usual, all };

const Option* find_letter(const Command& command, char letter) {
  for (const OptionGroup& group : command.groups) {
    for (const Option& option : group.options) {
      if (letter != 0 && (option.letter == letter || option.off_letter == letter)) return &option;
    }
  }
  return nullptr;
}

/// Returns true for an existing video or still, which nobody is likely to want as an output.
bool holds_pictures(const std::string& word) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(word, ignored) &&
         (is_media_name(word) || knows_still(word));
}

/// Option of ours with CLI11's of the same name.
struct Bound {
  const Option* option;
  CLI::Option* parsed;
};

// CLI11 converts nothing: each option reads its value as text.
CLI::Option* add_value(CLI::App& app, const std::string& names) {
  return app.add_option(names, [](const CLI::results_t&) { return true; })
      ->type_size(1)
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

Bound bind(CLI::App& app, const Option& option, std::list<std::string>& flag_values) {
  std::string names = "--" + option.name;
  if (option.value_optional) names += "{-}";
  if (option.letter != 0) names = std::string{'-', option.letter, ','} + names;
  if (option.off_letter != 0) names += std::string{',', '-', option.off_letter} + "{false}";
  const bool is_flag = option.value.empty() || option.value_optional;
  CLI::Option* parsed = is_flag ? app.add_flag(names, flag_values.emplace_back())
                                      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
                                : add_value(app, names);
  return {&option, parsed};
}

/// Words after a command's name.
class CommandLine {
 public:
  CommandLine(const Command& command, const std::vector<Command>& commands, const Words& words)
      : command_(command), commands_(commands) {
    // After -- every word is an argument, even one with a dash.
    const auto end = std::find(words.begin(), words.end(), "--");
    const Words before(words.begin(), end);
    spare_ = spare_arguments(before, std::max<std::ptrdiff_t>(0, words.end() - end - 1));
    parse(spelled_out(before));
    for (auto word = end; word != words.end(); ++word) {
      if (word == end) continue;
      refuse_misplaced(*word);
      arguments.push_back(*word);
    }
    refuse_too_many();
  }

  Settings flags;
  Words arguments;   ///< without dashes, in order
  Words overridden;  ///< options that were given again with another value
  Help help = Help::none;

 private:
  /// Rewrites the words for CLI11, which takes an option after another for its value, an empty
  /// value for a missing one, and an optional value only after an equals sign.
  [[nodiscard]] Words spelled_out(const Words& words) {
    Words plain;
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::string& word = words[i];
      const std::size_t equals = word.find('=');
      const Option* option = option_of(word.substr(0, equals));
      if (option == nullptr) {
        plain.push_back(word);
        continue;
      }
      const bool has_next = i + 1 < words.size() && !is_option(words[i + 1]);
      const bool needs_value = !option->value.empty() && !option->value_optional;
      if (needs_value && equals != std::string::npos) {
        plain.insert(plain.end(), {word.substr(0, equals), word.substr(equals + 1)});
      } else if (needs_value && !has_next) {
        throw_usage(word +
                    " has no value, must be followed by one; one that begins with - is written " +
                    "--" + option->name + "=VALUE");
      } else if (needs_value) {
        plain.insert(plain.end(), {word, words[++i]});
      } else if (option->value_optional && equals == std::string::npos && has_next &&
                 takes(*option, words[i + 1])) {
        plain.push_back("--" + option->name + "=" + words[++i]);
      } else {
        plain.push_back(word);
      }
    }
    return plain;
  }

  /// Counts the words without a dash beyond those that the command needs; `behind` more follow --.
  [[nodiscard]] std::ptrdiff_t spare_arguments(const Words& words, std::ptrdiff_t behind) const {
    std::ptrdiff_t spare = behind;
    Words given;
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::string& word = words[i];
      if (word.size() < 2 || word[0] != '-') {
        ++spare;
        continue;
      }
      const Option* option = option_of(word.substr(0, word.find('=')));
      const bool alone = option != nullptr && word.find('=') == std::string::npos;
      // The letter's value may follow at once: -oFILE.
      if (option == nullptr && word[1] != '-') option = find_letter(command_, word[1]);
      if (option == nullptr) continue;
      given.push_back(option->name);
      if (alone && !option->value.empty() && !option->value_optional) ++i;
    }
    for (const Positional& positional : command_.positionals) {
      const bool may_miss = positional.optional ||
                            std::any_of(given.begin(), given.end(), [&](const std::string& name) {
                              const Words& all = positional.stand_ins;
                              return std::find(all.begin(), all.end(), name) != all.end();
                            });
      if (!may_miss) --spare;
    }
    return spare;
  }

  /// Returns true where the word after an option with an optional value is that value: a word that
  /// the command needs as an argument is not, nor an existing input where the command takes any
  /// number of them.
  [[nodiscard]] bool takes(const Option& option, const std::string& word) {
    if (spare_ <= 0) return false;
    std::error_code ignored;
    if (takes_any_number() &&
        (holds_pictures(word) || std::filesystem::is_directory(word, ignored))) {
      return false;
    }
    if (holds_pictures(word)) {
      throw_usage("--" + option.name + " would overwrite " + word + ", must be another file; --" +
                  option.name + "=" + word + " does it");
    }
    --spare_;
    return true;
  }

  [[nodiscard]] bool takes_any_number() const {
    return !command_.positionals.empty() && command_.positionals.back().repeatable;
  }

  void parse(Words words) {
    CLI::App app;
    app.set_help_flag();
    app.allow_extras();
    const CLI::Option* usual_help = app.add_flag("-h,--help");
    const CLI::Option* whole_help = app.add_flag("--help-all");
    std::list<std::string> flag_values;
    std::vector<Bound> bound;
    for (const OptionGroup& group : command_.groups) {
      for (const Option& option : group.options)
        bound.push_back(bind(app, option, flag_values));
    }
    // CLI11 takes a word in square brackets for a list; a folder may have such a name.
    for (std::string& word : words) {
      if (word.starts_with('[') && word.ends_with(']')) word.insert(0, "./");
    }
    std::reverse(words.begin(), words.end());  // CLI11 wants the last word first
    try {
      app.parse(words);
    } catch (const CLI::ParseError& error) {
      const std::string text = error.what();
      throw_usage(text.substr(0, text.find_first_of("\r\n")));
    }
    for (const std::string& left : app.remaining()) {
      if (left.size() < 2 || left[0] != '-') {
        arguments.push_back(left);
        continue;
      }
      std::error_code unknown;
      if (std::filesystem::exists(left, unknown)) {
        throw_usage("option " + left + " is unknown to equalux " + command_.name +
                    "; the file of that name must be written ./" + left);
      }
      const std::string name = left.substr(0, left.find('='));
      const std::size_t dashes = std::min(name.find_first_not_of('-'), name.size());
      throw_usage(unknown_option_text("option " + name, name.substr(dashes), command_, commands_));
    }
    if (usual_help->count() > 0) help = Help::usual;
    if (whole_help->count() > 0) help = Help::all;
    for (const Bound& each : bound) {
      if (each.parsed->count() == 0) continue;
      Words values = each.parsed->results();
      if (!each.option->repeatable) {
        const auto differs = [&](const std::string& value) { return value != values.back(); };
        // A switch that is turned on and off again is no mistake.
        if (!each.option->value.empty() && std::any_of(values.begin(), values.end(), differs))
          overridden.push_back(each.option->name);
        values = {values.back()};
      }
      flags[each.option->name].values = std::move(values);
    }
  }

  /// Returns the option that a word without its value names; null where there is none.
  [[nodiscard]] const Option* option_of(const std::string& word) const {
    if (word.starts_with("--")) return command_.find(word.substr(2));
    return word.size() == 2 && word[0] == '-' ? find_letter(command_, word[1]) : nullptr;
  }

  /// Returns true for --x and for letters of the command's options; -5 and - are values.
  [[nodiscard]] bool is_option(const std::string& word) const {
    return word.starts_with("--") || word == "-h" || option_of(word) != nullptr;
  }

  void refuse_misplaced(const std::string& word) const {
    if (!is_option(word) || arguments.empty()) return;
    throw_usage("option " + word +
                " stands behind --, which ends the options, must stand before it; ./" + word +
                " is a file of that name");
  }

  void refuse_too_many() const {
    const std::vector<Positional>& all = command_.positionals;
    if (takes_any_number() || arguments.size() <= all.size()) return;
    std::string form = "equalux " + command_.name;
    for (const Positional& positional : all)
      form += " " + positional.name;
    throw_usage("argument '" + arguments[all.size()] + "' is one too many, must be " + form +
                " [OPTION...]" + command_.too_many);
  }

  const Command& command_;
  const std::vector<Command>& commands_;
  std::ptrdiff_t spare_ = 0;  // arguments that may be values
};

/// Returns true where a first word that is no command looks like an input of `run`.
bool names_input(const std::string& word) {
  std::error_code ignored;
  // What a camera may be called is answered with its name.
  const bool camera = word == "camera" || word == "webcam";
  return camera || word == "-" || word.find_first_of("/.:%*") != std::string::npos ||
         std::filesystem::exists(word, ignored);
}

[[noreturn]] void refuse_unknown_command(const std::string& first,
                                         const std::vector<Command>& commands) {
  Words names;
  for (const Command& command : commands)
    names.push_back(command.name);
  if (first.empty()) {
    throw_usage("no command is given, must be " + list_of_names(names) + "; see equalux --help");
  }
  if (first.starts_with('-')) {
    throw_usage("option " + first +
                " stands before the command, must be --help, --version, or after " +
                list_of_names(names));
  }
  throw_usage("command '" + first + "' is unknown, must be " + nearest_or_all(first, names));
}

/// Prints lines, which may hold a config file's values, with control characters escaped.
ExitCode print(const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::fprintf(stdout, "%s\n", printable(text.substr(at, end - at)).c_str());
    at = end + 1;
  }
  return ExitCode::done;
}

/// Returns a command's help, with the values of config files where these can be read.
std::string help_of(const Command& command, const std::vector<Command>& commands, Settings settings,
                    bool all) {
  try {
    add_config_layers(settings, command, commands);
  } catch (const Error&) {
    settings.clear();
  }
  return command_help(command, settings, all);
}

/// Warns of a chosen preset that sets no option of this command.
void warn_of_idle_preset(const Settings& settings, const Command& command) {
  const auto preset = settings.find("preset");
  if (preset == settings.end() || preset->second.by != GivenBy::preset) return;
  const bool sets = std::any_of(settings.begin(), settings.end(), [](const auto& entry) {
    return entry.first != "preset" && entry.second.by == GivenBy::preset;
  });
  const std::string& name = preset->second.values.back();
  if (sets || name == "plain" || command.note) return;
  const auto quiet = settings.find("quiet");
  if (quiet != settings.end() && quiet->second.values.back() == "true") return;
  std::fprintf(stderr, "equalux: preset %s sets nothing that equalux %s has, not used\n",
               printable(name).c_str(), command.name.c_str());
}

bool is_on(const Settings& settings, const std::string& name) {
  const auto setting = settings.find(name);
  return setting != settings.end() && setting->second.values.back() == "true";
}

/// An empty value counts as not given, so that it undoes what a preset or a config file sets. If
/// none that was asked for sets the option, the value may be a shell's variable that is not set.
void warn_of_empty_values(const Settings& flags, const Command& command,
                          const std::vector<Command>& commands) {
  Settings given;
  std::vector<std::string> empty;
  for (const auto& [name, setting] : flags) {
    const Option* option = command.find(name);
    const bool is_empty = setting.values.size() == 1 && setting.values.front().empty();
    if (!is_empty) {
      given.emplace(name, setting);
    } else if (option != nullptr && !option->value_optional) {
      empty.push_back(name);
    }
  }
  if (empty.empty() || is_on(flags, "quiet")) return;
  add_config_layers(given, command, commands);
  for (const std::string& name : empty) {
    const auto below = given.find(name);
    const bool undoes = below != given.end() && below->second.by != GivenBy::usual_preset &&
                        !below->second.origin.empty();
    if (!undoes) {
      std::fprintf(stderr, "equalux: --%s is empty, which counts as not given\n", name.c_str());
    }
  }
}

void warn_of_repeats(const CommandLine& line) {
  if (is_on(line.flags, "quiet")) return;
  for (const std::string& name : line.overridden)
    std::fprintf(stderr, "equalux: --%s is given more than once, the last one counts\n",
                 name.c_str());
}

ExitCode run_command(const Command& command, const std::vector<Command>& commands,
                     const Words& words) {
  CommandLine line(command, commands, words);
  for (std::size_t i = 0; i < line.arguments.size(); ++i) {
    const std::size_t last = command.positionals.size() - 1;
    command.positionals[std::min(i, last)].set(line.arguments[i]);
  }
  if (line.help != Help::none) {
    return print(help_of(command, commands, line.flags, line.help == Help::all));
  }
  Settings settings = line.flags;
  if (is_on(settings, "list-presets")) return print(preset_table(commands));
  add_config_layers(settings, command, commands);
  if (is_on(settings, "list-presets")) return print(preset_table(commands));
  apply_settings(settings, command);
  warn_of_idle_preset(settings, command);
  warn_of_empty_values(line.flags, command, commands);
  warn_of_repeats(line);
  return command.run();
}

}  // namespace

ExitCode parse_and_run(Words words, const std::vector<Command>& commands) {
  const std::string first = words.empty() ? "" : words.front();
  if (first == "-h" || first == "--help" || first == "--help-all") {
    return print(program_help(commands));
  }
  if (first == "--version") return print("equalux " + std::string(version()) + "\n");
  if (first == "--list-presets") return print(preset_table(commands));
  if (first == "help") {
    if (words.size() == 1) return print(program_help(commands));
    const Command* asked = find_command(commands, words[1]);
    if (asked == nullptr) refuse_unknown_command(words[1], commands);
    if (!asked->program.empty()) become_program(asked->program, {"--help"});
    return print(help_of(*asked, commands, {}, words.back() == "--all"));
  }
  if (const Command* command = find_command(commands, first)) {
    words.erase(words.begin());
    if (!command->program.empty()) become_program(command->program, std::move(words));
    return run_command(*command, commands, words);
  }
  const Command* const run = find_command(commands, "run");
  const bool is_input = first == "-" || (!first.starts_with('-') && names_input(first));
  if (run == nullptr || !(is_input || (first == "--" && words.size() > 1))) {
    refuse_unknown_command(first, commands);
  }
  return run_command(*run, commands, words);
}

}  // namespace equalux::cli
