#include "src/cli/manual/man_page.h"

#include <algorithm>
#include <sstream>

#include <equalux/filter.h>

namespace equalux::cli {
namespace {

/// Escapes a line so that roff reads no macro or escape in it.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else {
      result += c;
    }
  }
  if (!result.empty() && (result.front() == '.' || result.front() == '\'')) result.insert(0, "\\&");
  return result;
}

/// Wraps a line of text, the first output line already `column` characters long.
std::string filled(const std::string& text, std::size_t column = 0) {
  constexpr std::size_t kWidth = 78;
  std::istringstream words(text);
  std::string result;
  for (std::string word; words >> word;) {
    const std::string next = escaped(word);
    if (column != 0 && column + 1 + next.size() > kWidth) {
      result += '\n';
      column = 0;
    } else if (column != 0) {
      result += ' ';
      ++column;
    }
    result += next;
    column += next.size();
  }
  return result;
}

/// Wraps a text, each of whose lines begins a new one.
std::string paragraph(const std::string& text) {
  std::istringstream lines(text);
  std::string result;
  for (std::string line; std::getline(lines, line);) {
    const std::string next = filled(line);
    if (next.empty()) continue;
    if (!result.empty()) result += ".br\n";
    result += next + "\n";
  }
  return result;
}

/// Returns lines that roff does not fill.
std::string verbatim(const std::string& text) {
  std::istringstream lines(text);
  std::string result = ".nf\n";
  for (std::string line; std::getline(lines, line);) {
    line.erase(line.find_last_not_of(' ') + 1);
    result += line.empty() ? ".sp\n" : escaped(line) + "\n";
  }
  return result + ".fi\n";
}

std::string bold(const std::string& text) {
  return "\\fB" + escaped(text) + "\\fR";
}

std::string italic(const std::string& text) {
  return "\\fI" + escaped(text) + "\\fR";
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return text;
}

std::string header(const std::string& name, const std::string& date) {
  return ".TH " + upper(name) + " 1 " + date + " \"equalux " + std::string(version()) +
         "\" \"User Commands\"\n";
}

/// Returns a term with its description below.
std::string entry(const std::string& term, const std::string& text) {
  return ".TP\n" + term + "\n" + paragraph(text);
}

std::string option_term(const Option& option) {
  std::string term;
  for (const char letter : {option.letter, option.off_letter}) {
    if (letter != 0) term += bold(std::string{'-', letter}) + ", ";
  }
  term += bold("--" + option.name);
  if (option.value.empty()) return term;
  return term +
         (option.value_optional ? " [" + italic(option.value) + "]" : " " + italic(option.value));
}

std::string exit_status() {
  std::string text = ".SH EXIT STATUS\n";
  for (const ExitStatus& each : exit_statuses())
    text += entry(bold(each.code), each.meaning);
  return text;
}

std::string examples(const std::string& lines) {
  return lines.empty() ? "" : ".SH EXAMPLES\n" + verbatim(lines);
}

}  // namespace

std::string program_page(const std::vector<Command>& commands, const std::string& date) {
  std::string text = header("equalux", date);
  text += ".SH NAME\nequalux \\- make low\\-contrast video readable\n";
  text += ".SH SYNOPSIS\n" + bold("equalux") + " " + italic("COMMAND") + " [" + italic("OPTION") +
          "...]\n.br\n" + bold("equalux") + " " + italic("INPUT") + " [" + italic("OPTION") +
          "...]\n";
  text += ".SH DESCRIPTION\n" + paragraph("equalux " + program_description());
  text += ".PP\nThe second form is that of " + bold("equalux run") + ".\n";
  text += ".SH COMMANDS\n";
  for (const Command& command : commands) {
    text += entry(bold(command.name), command.summary + "; see equalux-" + command.name + "(1)");
  }
  text += entry(bold("help") + " [" + italic("COMMAND") + "]", "a short help, or a command's");
  text += ".SH OPTIONS\n";
  for (const Option& option : program_options())
    text += entry(option_term(option), option.help);
  text += ".SH FILES\n";
  text += entry(italic("FILE.toml"),
                "options by their long names, for --config FILE.toml; every long option of a "
                "command is a key");
  text += ".SH ENVIRONMENT\n";
  text += entry(bold("EQUALUX_CONFIG_PATH"),
                "folders, with colons between them, where --preset NAME looks for NAME.toml first");
  text += exit_status();
  text += ".SH SEE ALSO\n";
  for (const Command& command : commands) {
    text +=
        ".BR equalux\\-" + command.name + " (1)" + (&command == &commands.back() ? "\n" : ",\n");
  }
  return text;
}

std::string command_page(const Command& command, const std::string& date) {
  const std::string name = "equalux-" + command.name;
  std::string text = header(name, date);
  const std::string begin = escaped(name) + " \\-";
  text += ".SH NAME\n" + begin + filled(command.summary, begin.size()) + "\n";
  text += ".SH SYNOPSIS\n" + bold("equalux " + command.name);
  for (const Positional& positional : command.positionals) {
    const std::string term = italic(positional.name) + (positional.repeatable ? "..." : "");
    text += " " + (positional.optional ? "[" + term + "]" : term);
  }
  text += " [" + italic("OPTION") + "...]\n";
  if (!command.positionals.empty() || !command.details.empty()) text += ".SH DESCRIPTION\n";
  for (const Positional& positional : command.positionals)
    text += entry(italic(positional.name), positional.help);
  if (!command.details.empty()) {
    if (!command.positionals.empty()) text += ".PP\n";
    text += verbatim(command.details);
  }
  text += ".SH OPTIONS\n";
  for (const OptionGroup& group : command.groups) {
    text += ".SS " + escaped(group.title) + "\n";
    for (const Option& option : group.options)
      text += entry(option_term(option), option.help);
  }
  text += ".SS Help\n";
  text += entry(bold("-h") + ", " + bold("--help"), "the short help");
  if (!command.usual_options.empty()) {
    text += entry(bold("--help-all"), "every option, in full");
  }
  text += examples(command.examples);
  text += exit_status();
  text += ".SH SEE ALSO\n.BR equalux (1)\n";
  return text;
}

}  // namespace equalux::cli
