#include "src/cli/command.h"

#include <algorithm>
#include <sstream>
#include <string_view>

#include "src/cli/values.h"

namespace equalux::cli {
namespace {

constexpr std::size_t kTextWidth = 100;
constexpr std::size_t kHelpColumn = 34;

/// Wraps one line of a text at `width`, the later lines indented.
std::string wrapped_line(const std::string& text, std::size_t width, std::size_t indent) {
  std::istringstream words(text);
  std::string result;
  std::string word;
  std::size_t column = 0;
  while (words >> word) {
    if (column > 0 && column + 1 + word.size() > width) {
      result += "\n" + std::string(indent, ' ');
      column = 0;
    } else if (column > 0) {
      result += ' ';
      ++column;
    }
    result += word;
    column += word.size();
  }
  return result;
}

/// Wraps a text of several lines.
std::string wrapped(const std::string& text, std::size_t width, std::size_t indent) {
  std::istringstream lines(text);
  std::string result;
  for (std::string line; std::getline(lines, line);) {
    if (!result.empty()) result += "\n" + std::string(indent, ' ');
    result += wrapped_line(line, width, indent);
  }
  return result;
}

std::string help_row(const std::string& left, const std::string& help) {
  std::string row = "  " + left;
  if (row.size() + 2 > kHelpColumn) {
    row += "\n" + std::string(kHelpColumn, ' ');
  } else {
    row.resize(kHelpColumn, ' ');
  }
  return row + wrapped(help, kTextWidth - kHelpColumn, kHelpColumn) + "\n";
}

std::string option_usage(const Option& option) {
  std::string text = option.letter != 0 ? std::string{'-', option.letter} + ", " : "    ";
  text += "--" + option.name;
  if (option.value.empty()) return text;
  return text + (option.value_optional ? " [" + option.value + "]" : " " + option.value);
}

constexpr const char* kDefault = "(default: ";

/// Returns an option's help, with the configured value in place of its default.
std::string option_help(const Option& option, const Settings& settings) {
  const auto setting = settings.find(option.name);
  const std::size_t at = option.help.rfind(kDefault);
  if (at == std::string::npos || setting == settings.end()) return option.help;
  const auto& [values, origin, by, changes] = setting->second;
  if (by == GivenBy::flag || values.empty() || values.back().empty()) return option.help;
  // The default preset depends on the input, which help is mostly asked for without.
  if (by == GivenBy::usual_preset && option.name == "preset") return option.help;
  std::string value = joined(values, ", ");
  if (by != GivenBy::config && option.name != "preset") {
    value += ", from preset " + settings.at("preset").values.back();
  } else if (by == GivenBy::config) {
    value += ", from " + origin;
  }
  return option.help.substr(0, at) + kDefault + value + ")";
}

/// Returns the first clause of a help text, up to its range, reasons or default. What stands in
/// parentheses ends no clause.
std::string first_clause(const std::string& help) {
  std::size_t end = 0;
  int depth = 0;
  for (; end < help.size(); ++end) {
    const char c = help[end];
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    const bool before_blank = end + 1 < help.size() && help[end + 1] == ' ';
    if (c == '\n' || (depth == 0 && before_blank && (c == ';' || c == ':'))) break;
  }
  std::string clause = help.substr(0, std::min(end, help.rfind(kDefault)));
  clause.erase(clause.find_last_not_of(' ') + 1);
  return clause;
}

/// Returns the first clause of an option's help, with its default.
std::string in_short(const std::string& help) {
  const std::size_t at = help.rfind(kDefault);
  const std::string clause = first_clause(help);
  if (at == std::string::npos) return clause;
  const std::string usual = help.substr(at, help.find('\n', at) - at);
  const std::size_t end = usual.rfind(')');
  // What a 0 stands for is said behind the first clause.
  constexpr std::string_view kZero = "; 0 = ";
  const std::size_t zero = help.find(kZero);
  if (usual == std::string(kDefault) + "0)" && zero != std::string::npos) {
    const std::size_t from = zero + kZero.size();
    const std::string meaning = help.substr(from, std::min(help.find(';', from), at) - from);
    return clause + " " + kDefault + "0 = " + meaning.substr(0, meaning.find_last_not_of(' ') + 1) +
           ")";
  }
  return clause + " " + usual.substr(0, end == std::string::npos ? end : end + 1);
}

}  // namespace

std::string in_a_clause(const Option& option) {
  if (option.scope.empty()) return first_clause(option.help);
  const std::size_t after_scope = option.scope.size() + sizeof(": ") - 1;
  return first_clause(option.help.substr(after_scope)) + " (" + option.scope + ")";
}

const Option* Command::find(const std::string& option) const {
  for (const OptionGroup& group : groups) {
    for (const Option& candidate : group.options) {
      if (candidate.name == option) return &candidate;
    }
  }
  return nullptr;
}

std::vector<std::string> Command::option_names() const {
  std::vector<std::string> names;
  for (const OptionGroup& group : groups) {
    for (const Option& option : group.options)
      names.push_back(option.name);
  }
  return names;
}

const Command* find_command(const std::vector<Command>& commands, const std::string& name) {
  const auto at = std::find_if(commands.begin(), commands.end(),
                               [&](const Command& command) { return command.name == name; });
  return at == commands.end() ? nullptr : &*at;
}

std::vector<ExitStatus> exit_statuses() {
  return {{"0", "done"},
          {"2", "usage"},
          {"3", "output is partial"},
          {"65", "input cannot be decoded"},
          {"66", "input missing"},
          {"69", "not usable here"},
          {"73", "output cannot be created"},
          {"74", "write failed"},
          {"130 and 143", "stopped by a signal with the output closed and playable"}};
}

std::vector<Option> program_options() {
  Option help{"help", "", "the commands in short", {}};
  help.letter = 'h';
  return {help,
          {"list-presets", "", "the presets of --preset", {}},
          {"version", "", "the version", {}}};
}

std::string program_description() {
  return "makes low-contrast video readable, by histogram equalization of the value channel.";
}

std::string program_help(const std::vector<Command>& commands) {
  std::string text = "equalux: " + program_description() +
                     "\n\nUsage: equalux COMMAND [OPTION...]\n"
                     "       equalux INPUT [OPTION...]    as equalux run\n\nCommands:\n";
  for (const Command& command : commands)
    text += help_row(command.name, command.summary);
  text += help_row("help [COMMAND]", "this text, or a command's");
  text += "\nOptions:\n";
  for (const Option& option : program_options()) {
    text += help_row(option_usage(option),
                     option.name == "help"
                         ? "this text; `equalux COMMAND --help` tells a command's options"
                         : option.help);
  }
  text +=
      "\nEvery long option of a command is a key of its config file too (--config FILE, TOML).\n";
  std::string codes = "Exit codes:";
  for (const ExitStatus& each : exit_statuses())
    codes += (codes.back() == ':' ? " " : ", ") + each.code + " " + each.meaning;
  constexpr std::size_t kLine = 88;
  return text + wrapped_line(codes + ".", kLine, 0) + "\n";
}

std::string command_help(const Command& command, const Settings& settings, bool all) {
  std::string text =
      "equalux " + command.name + ": " + command.summary + "\n\nUsage: equalux " + command.name;
  for (const Positional& positional : command.positionals) {
    const std::string name = positional.optional ? "[" + positional.name + "]" : positional.name;
    text += " " + name + (positional.repeatable ? "..." : "");
  }
  text += " [OPTION...]\n";
  if (!command.positionals.empty()) text += "\n";
  for (const Positional& positional : command.positionals) {
    text += help_row(positional.name, positional.help);
  }
  if (!command.details.empty()) text += "\n" + command.details;
  if (!command.examples.empty()) {
    std::istringstream lines(command.examples);
    text += "\nExamples:\n";
    for (std::string line; std::getline(lines, line);)
      text += "  " + line + "\n";
  }
  const std::vector<std::string>& usual = command.usual_options;
  all = all || usual.empty();
  if (!all) text += "\nThe options used most, in part; --help-all tells all, in full:\n";
  for (const OptionGroup& group : command.groups) {
    if (all) text += "\n" + group.title + ":\n";
    for (const Option& option : group.options) {
      if (!all && std::find(usual.begin(), usual.end(), option.name) == usual.end()) continue;
      const std::string help = option_help(option, settings);
      text += help_row(option_usage(option), all ? help : in_short(help));
    }
  }
  text += "\n" + help_row("-h, --help", all && usual.empty() ? "this text" : "the short help");
  if (!usual.empty()) text += help_row("    --help-all", "every option, in full");
  return text;
}

}  // namespace equalux::cli
