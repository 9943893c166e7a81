#include "src/cli/manual/completions.h"

#include <algorithm>
#include <sstream>

#include "src/cli/values.h"

namespace equalux::cli {
namespace {

/// Kinds of an option's value.
enum class ValueKind { none, words, presets, encoders, file, text };

ValueKind kind_of(const Option& option) {
  if (option.value.empty()) return ValueKind::none;
  if (option.name == "preset") return ValueKind::presets;
  if (option.name == "encoder") return ValueKind::encoders;
  if (!option.choices.empty()) return ValueKind::words;
  for (const char* path : {"FILE", "DIR", "PATH", "OUT"}) {
    if (option.value.find(path) != std::string::npos) return ValueKind::file;
  }
  return ValueKind::text;
}

/// Returns an option's spellings, the long one last.
std::vector<std::string> spellings(const Option& option) {
  std::vector<std::string> all;
  for (const char letter : {option.letter, option.off_letter}) {
    if (letter != 0) all.push_back(std::string{'-', letter});
  }
  all.push_back("--" + option.name);
  return all;
}

/// Returns --help and, where the command has it, --help-all.
std::vector<Option> help_options(const Command& command) {
  Option help{"help", "", "the short help", {}};
  help.letter = 'h';
  std::vector<Option> options{help};
  if (!command.usual_options.empty()) {
    options.push_back({"help-all", "", "every option, in full", {}});
  }
  return options;
}

template <typename Use>
void for_each_option(const Command& command, Use use) {
  for (const OptionGroup& group : command.groups)
    std::for_each(group.options.begin(), group.options.end(), use);
  const std::vector<Option> help = help_options(command);
  std::for_each(help.begin(), help.end(), use);
}

std::vector<std::string> spellings(const std::vector<Option>& options) {
  std::vector<std::string> all;
  for (const Option& option : options) {
    for (const std::string& spelling : spellings(option))
      all.push_back(spelling);
  }
  return all;
}

/// Returns the words that a command's first argument may be; empty = files, or there is none.
std::vector<std::string> first_words(const Command& command) {
  return command.positionals.empty() ? std::vector<std::string>()
                                     : command.positionals.front().choices;
}

/// Returns the names of the commands that take no arguments, and thus no files.
std::vector<std::string> without_arguments(const std::vector<Command>& commands) {
  std::vector<std::string> names;
  for (const Command& command : commands) {
    if (command.positionals.empty()) names.push_back(command.name);
  }
  return names;
}

std::vector<std::string> command_names(const std::vector<Command>& commands) {
  std::vector<std::string> names;
  for (const Command& command : commands)
    names.push_back(command.name);
  return names;
}

/// Puts a text in single quotes for a shell; `quote` stands for a single quote in it.
std::string quoted(const std::string& text, const std::string& quote) {
  std::string result = "'";
  for (const char c : text)
    result += c == '\'' ? quote : std::string{c};
  return result + "'";
}

/// Shell code that lists the installed presets or encoders, one word per line.
constexpr const char* kListPresets =
    "equalux --list-presets 2>/dev/null | sed -n 's/^  \\([a-z0-9-]*\\) .*/\\1/p'";
constexpr const char* kListEncoders = "equalux run --list-encoders 2>/dev/null | sed 's/ .*//'";

// Escapes the characters that end a description, or a part of one, for zsh's _arguments.
std::string zsh_escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

std::string zsh_value(const Option& option) {
  const std::string name = zsh_escaped(option.value);
  const std::string begin = (option.value_optional ? "::" : ":") + name + ":";
  switch (kind_of(option)) {
    case ValueKind::none:
      return "";
    case ValueKind::words:
      return begin + "(" + joined(option.choices, " ") + ")";
    case ValueKind::presets:
      return begin + "_equalux_presets";
    case ValueKind::encoders:
      return begin + "_equalux_encoders";
    case ValueKind::file:
      return begin + "_files";
    case ValueKind::text:
      return begin;
  }
  return "";
}

std::string zsh_option(const Option& option) {
  const std::vector<std::string> all = spellings(option);
  const std::string shared =
      quoted("[" + zsh_escaped(in_a_clause(option)) + "]" + zsh_value(option), "'\\''");
  std::string text;
  for (const std::string& spelling : all) {
    const std::string before =
        option.repeatable ? "'*'" : (all.size() > 1 ? "'(" + joined(all, " ") + ")'" : "");
    // A long option's value may follow an equals sign.
    const bool takes_equals = spelling.starts_with("--") && !option.value.empty();
    text += "        " + before + spelling +
            (takes_equals ? (option.value_optional ? "=-" : "=") : "") + shared + " \\\n";
  }
  return text;
}

/// Returns the begin of fish's line for an option of a command.
std::string fish_option(const std::string& command, const Option& option) {
  std::string text = "complete -c equalux -n '__equalux_is " + command + "' -l " + option.name;
  for (const char letter : {option.letter, option.off_letter}) {
    if (letter != 0) text += std::string(" -s ") + letter;
  }
  return text;
}

/// Returns the end of that line.
std::string fish_description(const Option& option) {
  return " -d " + quoted(in_a_clause(option), "\\'") + "\n";
}

}  // namespace

std::string bash_completion(const std::vector<Command>& commands) {
  const std::vector<std::string> names = command_names(commands);
  std::string text = "# Bash completion of equalux.\n\n";
  text += "_equalux_presets() {\n  " + std::string(kListPresets) + "\n}\n\n";
  text += "_equalux_encoders() {\n  " + std::string(kListEncoders) + "\n}\n\n";
  text += "# Options of a command.\n_equalux_options() {\n  case $1 in\n";
  for (const Command& command : commands) {
    std::vector<std::string> all;
    for_each_option(command, [&all](const Option& option) {
      for (const std::string& spelling : spellings(option))
        all.push_back(spelling);
    });
    text += "    " + command.name + ") echo '" + joined(all, " ") + "' ;;\n";
  }
  text += "  esac\n}\n\n";
  text +=
      "# What an option's value is: one of some words, a file or a text; nothing for a switch.\n"
      "_equalux_value() {\n  case \"$1 $2\" in\n";
  for (const Command& command : commands) {
    for_each_option(command, [&](const Option& option) {
      std::string pattern;
      for (const std::string& spelling : spellings(option))
        pattern += (pattern.empty() ? "'" : " | '") + command.name + " " + spelling + "'";
      std::string value;
      switch (kind_of(option)) {
        case ValueKind::none:
          return;
        case ValueKind::words:
          value = "echo 'words " + joined(option.choices, " ") + "'";
          break;
        case ValueKind::presets:
          value = "echo words $(_equalux_presets)";
          break;
        case ValueKind::encoders:
          value = "echo words $(_equalux_encoders)";
          break;
        case ValueKind::file:
          value = "echo file";
          break;
        case ValueKind::text:
          value = "echo text";
          break;
      }
      // An optional value is completed only after an equals sign.
      if (option.value_optional) return;
      text += "    " + pattern + ") " + value + " ;;\n";
    });
  }
  text += "  esac\n}\n\n";
  text +=
      "_equalux() {\n"
      "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}\n"
      "  local command=run value\n"
      "  # --option=value is three words here.\n"
      "  if [[ $current == '=' ]]; then\n"
      "    current=\n"
      "  elif [[ $previous == '=' ]]; then\n"
      "    previous=${COMP_WORDS[COMP_CWORD - 2]}\n"
      "  fi\n"
      "  case ${COMP_WORDS[1]} in\n    " +
      joined(names, " | ") +
      ")\n      if ((COMP_CWORD > 1)); then command=${COMP_WORDS[1]}; fi ;;\n"
      "    help)\n      COMPREPLY=($(compgen -W '" +
      joined(names, " ") +
      "' -- \"$current\"))\n      return ;;\n  esac\n"
      "  COMPREPLY=()\n"
      "  if ((COMP_CWORD == 1)); then\n"
      "    case $current in\n      -*) COMPREPLY=($(compgen -W '" +
      joined(spellings(program_options()), " ") +
      "' -- \"$current\")) ;;\n      *) COMPREPLY=($(compgen -W '" + joined(names, " ") +
      " help' -- \"$current\")) ;;\n    esac\n    return\n  fi\n"
      "  if ((COMP_CWORD == 2)) && [[ $current != -* ]]; then\n"
      "    case $command in\n";
  for (const Command& command : commands) {
    const std::vector<std::string> words = first_words(command);
    if (words.empty()) continue;
    text += "      " + command.name + ") COMPREPLY=($(compgen -W '" + joined(words, " ") +
            "' -- \"$current\"))\n        return ;;\n";
  }
  text +=
      "    esac\n"
      "  fi\n"
      "  value=$(_equalux_value \"$command\" \"$previous\")\n"
      "  case $value in\n"
      "    words*) COMPREPLY=($(compgen -W \"${value#words}\" -- \"$current\")) ;;\n"
      "    text) compopt +o default 2>/dev/null ;;\n"
      "    file) ;;\n"
      "    *)\n"
      "      if [[ $current == -* ]]; then\n"
      "        COMPREPLY=($(compgen -W \"$(_equalux_options \"$command\")\" -- \"$current\"))\n"
      "      elif [[ ' " +
      joined(without_arguments(commands), " ") +
      " ' == *\" $command \"* ]]; then\n"
      "        compopt +o default 2>/dev/null\n"
      "      fi ;;\n"
      "  esac\n"
      "}\n\n"
      "# Where nothing is offered, files are.\n"
      "complete -o bashdefault -o default -F _equalux equalux\n";
  return text;
}

std::string zsh_completion(const std::vector<Command>& commands) {
  std::string text = "#compdef equalux\n# Zsh completion of equalux.\n\n";
  text += "_equalux_presets() {\n  local -a found=($(" + std::string(kListPresets) +
          "))\n  _describe preset found\n}\n\n";
  text += "_equalux_encoders() {\n  local -a found=($(" + std::string(kListEncoders) +
          "))\n  _describe encoder found\n}\n\n";
  text += "_equalux_commands() {\n  local -a commands=(\n";
  for (const Command& command : commands) {
    std::string summary;
    for (const char c : command.summary)
      summary += c == ':' ? "\\:" : std::string{c};
    text += "    " + quoted(command.name + ":" + summary, "'\\''") + "\n";
  }
  text += "    'help:a short help, or a command'\\''s'\n  )\n  _describe command commands\n}\n\n";
  text +=
      "_equalux() {\n"
      "  local command=run\n"
      "  if ((CURRENT == 2)); then\n"
      "    if [[ $words[2] == -* ]]; then\n"
      "      _arguments \\\n";
  for (const Option& option : program_options())
    text += zsh_option(option);
  text +=
      "        && return\n"
      "    else\n"
      "      _equalux_commands\n"
      "      _files\n"
      "    fi\n"
      "    return\n"
      "  fi\n"
      "  case $words[2] in\n    " +
      joined(command_names(commands), "|") +
      ")\n      command=$words[2]\n      shift words\n      ((CURRENT--)) ;;\n"
      "    help)\n      _equalux_commands\n      return ;;\n"
      "  esac\n"
      "  case $command in\n";
  for (const Command& command : commands) {
    text += "    " + command.name + ")\n      _arguments \\\n";
    for_each_option(command, [&text](const Option& option) { text += zsh_option(option); });
    if (const std::vector<std::string> words = first_words(command); !words.empty()) {
      text += "        '1: :(" + joined(words, " ") + ")' \\\n";
    }
    text += command.positionals.empty() ? "        && return ;;\n" : "        '*:file:_files' ;;\n";
  }
  text += "  esac\n}\n\n_equalux \"$@\"\n";
  return text;
}

std::string fish_completion(const std::vector<Command>& commands) {
  const std::vector<std::string> names = command_names(commands);
  std::string text = "# Fish completion of equalux.\n\n";
  text +=
      "# The command under way: none before the first word, run where that names none.\n"
      "function __equalux_command\n"
      "    set -l words (commandline -opc)\n"
      "    if not set -q words[2]\n        echo none\n"
      "    else if contains -- $words[2] " +
      joined(names, " ") +
      " help\n        echo $words[2]\n    else\n        echo run\n    end\nend\n\n"
      "function __equalux_is\n    test (__equalux_command) = $argv[1]\nend\n\n"
      "function __equalux_presets\n    " +
      std::string(kListPresets) + "\nend\n\nfunction __equalux_encoders\n    " +
      std::string(kListEncoders) + "\nend\n\n";
  for (const Command& command : commands) {
    text += "complete -c equalux -n __fish_use_subcommand -a " + command.name + " -d " +
            quoted(command.summary, "\\'") + "\n";
  }
  text += "complete -c equalux -n __fish_use_subcommand -a help -d 'a short help'\n";
  text += "complete -c equalux -n '__equalux_is help' -f -a '" + joined(names, " ") + "'\n";
  for (const Option& option : program_options())
    text += fish_option("none", option) + fish_description(option);
  for (const Command& command : commands) {
    text += "\n";
    if (const std::vector<std::string> words = first_words(command); !words.empty()) {
      text += "complete -c equalux -f -n '__equalux_is " + command.name +
              "; and test (count (commandline -opc)) -eq 2' -a '" + joined(words, " ") + "'\n";
    }
    if (command.positionals.empty()) {
      text += "complete -c equalux -f -n '__equalux_is " + command.name + "'\n";
    }
    for_each_option(command, [&](const Option& option) {
      text += fish_option(command.name, option);
      switch (option.value_optional ? ValueKind::none : kind_of(option)) {
        case ValueKind::none:
          break;
        case ValueKind::words:
          text += " -x -a '" + joined(option.choices, " ") + "'";
          break;
        case ValueKind::presets:
          text += " -x -a '(__equalux_presets)'";
          break;
        case ValueKind::encoders:
          text += " -x -a '(__equalux_encoders)'";
          break;
        case ValueKind::file:
          text += " -r -F";
          break;
        case ValueKind::text:
          text += " -x";
          break;
      }
      text += fish_description(option);
    });
  }
  return text;
}

}  // namespace equalux::cli
