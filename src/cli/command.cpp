#include "command.h"

#include <algorithm>
#include <sstream>

namespace equalux::cli {
namespace {

constexpr std::size_t kTextWidth = 100;
constexpr std::size_t kHelpColumn = 34;

/// Words of one line of a text on lines of at most `width`, the later ones indented.
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

/// The same of a text of lines.
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
  return text + (option.value_optional ? "[=" + option.value + "]" : " " + option.value);
}

}  // namespace

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

std::string program_help(const std::vector<Command>& commands) {
  std::string text =
      "equalux: makes low-contrast video readable, by histogram equalization of the value "
      "channel.\n\nUsage: equalux COMMAND [OPTION...]\n\nCommands:\n";
  for (const Command& command : commands)
    text += help_row(command.name, command.summary);
  text += "\nOptions:\n";
  text += help_row("-h, --help", "this text; `equalux COMMAND --help` tells a command's options");
  text += help_row("    --version", "the version");
  text +=
      "\nEvery long option of a command is a key of its config file too (--config FILE, TOML).\n"
      "Exit codes: 0 done, 2 usage, 3 output is partial, 65 input cannot be decoded, 66 input\n"
      "missing, 69 not usable here, 73 output cannot be created, 74 write failed, 130 and 143\n"
      "stopped by a signal with the output closed and playable.\n";
  return text;
}

std::string command_help(const Command& command) {
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
  for (const OptionGroup& group : command.groups) {
    text += "\n" + group.title + ":\n";
    for (const Option& option : group.options) {
      text += help_row(option_usage(option), option.help);
    }
  }
  text += "\n" + help_row("-h, --help", "this text");
  return text;
}

}  // namespace equalux::cli
