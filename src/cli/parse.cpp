#include "parse.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>

#include <equalux/filter.h>

#include "io_factory.h"
#include "nearest_name.h"
#include "settings.h"
#include "still.h"

namespace equalux::cli {
namespace {

using Words = std::vector<std::string>;

enum class Help { none, usual, all };

[[noreturn]] void usage(const std::string& message) {
  throw Error(ExitCode::usage, message);
}

const Command* find_command(const std::vector<Command>& commands, const std::string& name) {
  const auto at = std::find_if(commands.begin(), commands.end(),
                               [&](const Command& command) { return command.name == name; });
  return at == commands.end() ? nullptr : &*at;
}

const Option* find_letter(const Command& command, char letter) {
  for (const OptionGroup& group : command.groups) {
    for (const Option& option : group.options) {
      if (letter != 0 && (option.letter == letter || option.off_letter == letter)) return &option;
    }
  }
  return nullptr;
}

/// What is there and has frames in it is hardly where hashes are to go.
bool is_an_input(const std::string& word) {
  std::error_code ignored;
  return std::filesystem::is_directory(word, ignored) ||
         (std::filesystem::exists(word, ignored) && (is_media_name(word) || knows_still(word)));
}

/// The words behind a command's name.
class CommandLine {
 public:
  CommandLine(const Command& command, const std::vector<Command>& commands, const Words& words)
      : command_(command), commands_(commands), words_(words) {
    for (at_ = 0; at_ < words_.size(); ++at_)
      read(words_[at_]);
    place();
  }

  Settings flags;
  Words arguments;  ///< without dashes, in order
  Help help = Help::none;

 private:
  /// A word that may be an argument or the value of the option before it.
  struct Argument {
    std::string word;
    const Option* maybe_of = nullptr;
    bool behind_end = false;
  };

  void read(const std::string& word) {
    if (ended_ || word.size() < 2 || word[0] != '-') {
      found_.push_back({word, std::exchange(waiting_, nullptr), ended_});
      return;
    }
    waiting_ = nullptr;
    if (word == "--") {
      ended_ = true;
    } else if (word == "-h" || word == "--help") {
      help = std::max(help, Help::usual);
    } else if (word == "--help-all") {
      help = Help::all;
    } else if (word[1] == '-') {
      read_long(word);
    } else {
      read_letter(word);
    }
  }

  void read_long(const std::string& word) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(2, equals - 2);
    const Option* option = command_.find(name);
    if (option == nullptr) refuse_unknown("--" + name, name);
    std::optional<std::string> value;
    if (equals != std::string::npos) value = word.substr(equals + 1);
    take(*option, word.substr(0, equals), std::move(value), "true");
  }

  /// "-o FILE", "-oFILE", "-o=FILE", "-y".
  void read_letter(const std::string& word) {
    const Option* option = find_letter(command_, word[1]);
    if (option == nullptr) refuse_unknown(word.substr(0, word.find('=')), word.substr(1));
    std::optional<std::string> value;
    if (word.size() > 2) value = word.substr(word[2] == '=' ? 3 : 2);
    if (value && option->value.empty()) refuse_unknown(word, word.substr(1));
    take(*option, word.substr(0, 2), std::move(value),
         option->off_letter == word[1] ? "false" : "true");
  }

  void take(const Option& option, const std::string& as, std::optional<std::string> value,
            const char* flag) {
    if (!value && (option.value.empty() || option.value_optional)) {
      if (option.value_optional) waiting_ = &option;
      value = flag;
    }
    if (!value) {
      if (at_ + 1 == words_.size() || is_option(words_[at_ + 1])) {
        usage(as + " has no value, must be followed by one; one that begins with - is written " +
              "--" + option.name + "=VALUE");
      }
      value = words_[++at_];
    }
    set(option, std::move(*value));
  }

  void set(const Option& option, std::string value) {
    Words& values = flags[option.name].values;
    if (!option.repeatable) values.clear();
    values.push_back(std::move(value));
  }

  /// -5 and - are values, --x and the letters that the command knows are not.
  [[nodiscard]] bool is_option(const std::string& word) const {
    if (word.starts_with("--")) return true;
    return word.size() == 2 && word[0] == '-' &&
           (word[1] == 'h' || find_letter(command_, word[1]) != nullptr);
  }

  /// An option whose value may be left out takes the next word unless that is needed as an
  /// argument.
  void place() {
    const auto needed = static_cast<std::size_t>(
        std::count_if(command_.positionals.begin(), command_.positionals.end(),
                      [](const Positional& positional) { return !positional.optional; }));
    std::size_t left = found_.size();
    for (const Argument& each : found_) {
      const bool value = each.maybe_of != nullptr && left > needed && !is_an_input(each.word);
      if (value) {
        set(*each.maybe_of, each.word);
        --left;
        continue;
      }
      refuse_misplaced(each);
      arguments.push_back(each.word);
    }
    const std::vector<Positional>& all = command_.positionals;
    const bool open_end = !all.empty() && all.back().repeatable;
    if (!open_end && arguments.size() > all.size()) refuse_too_many();
  }

  void refuse_misplaced(const Argument& argument) const {
    if (!argument.behind_end || !is_option(argument.word) || arguments.empty()) return;
    usage("option " + argument.word + " stands behind --, which ends the options, must stand " +
          "before it; ./" + argument.word + " is a file of that name");
  }

  void refuse_too_many() const {
    std::string form = "equalux " + command_.name;
    for (const Positional& positional : command_.positionals)
      form += " " + positional.name;
    usage("argument '" + arguments[command_.positionals.size()] + "' is one too many, must be " +
          form + " [OPTION...]" + command_.too_many);
  }

  [[noreturn]] void refuse_unknown(const std::string& as, const std::string& name) const {
    usage(unknown_option_text("option " + as, name, command_, commands_));
  }

  const Command& command_;
  const std::vector<Command>& commands_;
  const Words& words_;
  std::size_t at_ = 0;
  bool ended_ = false;
  const Option* waiting_ = nullptr;  // for a value that may be left out
  std::vector<Argument> found_;
};

/// Whether a first word that is no command names what `run` reads.
bool names_input(const std::string& word) {
  std::error_code ignored;
  return word == "-" || word.find_first_of("/.:%*") != std::string::npos ||
         std::filesystem::exists(word, ignored);
}

[[noreturn]] void refuse_unknown_command(const std::string& first,
                                         const std::vector<Command>& commands) {
  Words names;
  for (const Command& command : commands)
    names.push_back(command.name);
  if (first.empty()) {
    usage("no command is given, must be " + list_of_names(names) + "; see equalux --help");
  }
  if (first.starts_with('-')) {
    usage("option " + first + " stands before the command, must be --help, --version, or after " +
          list_of_names(names));
  }
  const std::string nearest = nearest_name(first, names);
  usage("command '" + first + "' is unknown, must be " +
        (nearest.empty() ? list_of_names(names) : nearest));
}

ExitCode print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  return ExitCode::done;
}

/// With what would be used, as far as that can be told.
std::string help_of(const Command& command, const std::vector<Command>& commands, Settings settings,
                    bool all) {
  try {
    add_config_layers(settings, command, commands);
  } catch (const Error&) {
    settings.clear();
  }
  return command_help(command, settings, all);
}

/// A preset that was asked for and says nothing of what this command does.
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
               name.c_str(), command.name.c_str());
}

bool is_on(const Settings& settings, const std::string& name) {
  const auto setting = settings.find(name);
  return setting != settings.end() && setting->second.values.back() == "true";
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
  Settings settings = std::move(line.flags);
  if (is_on(settings, "list-presets")) return print(preset_table(commands));
  add_config_layers(settings, command, commands);
  if (is_on(settings, "list-presets")) return print(preset_table(commands));
  apply_settings(settings, command);
  warn_of_idle_preset(settings, command);
  return command.run();
}

}  // namespace

ExitCode parse_and_run(int argc, const char* const* argv, const std::vector<Command>& commands) {
  Words words(argv + std::min(argc, 1), argv + argc);
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
    return print(help_of(*asked, commands, {}, words.back() == "--all"));
  }
  if (const Command* command = find_command(commands, first)) {
    words.erase(words.begin());
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
