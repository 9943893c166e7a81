#include "parse.h"

#include <iostream>
#include <list>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <equalux/filter.h>

#include "nearest_name.h"
#include "settings.h"

namespace equalux::cli {
namespace {

[[noreturn]] void usage(const std::string& message) {
  throw Error(ExitCode::usage, message);
}

/// An option of ours with CLI11's of the same name.
struct Bound {
  const Option* option = nullptr;
  const Positional* positional = nullptr;
  CLI::Option* parsed = nullptr;
};

struct BoundCommand {
  const Command* command = nullptr;
  CLI::App* app = nullptr;
  std::vector<Bound> options;
};

// Values are kept as text and read by the options themselves, so CLI11 has nothing to convert.
CLI::Option* add_value(CLI::App& app, const std::string& names) {
  return app
      .add_option(
          names, [](const CLI::results_t&) { return true; }, "")
      ->type_size(1)
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

BoundCommand bind_command(CLI::App& app, const Command& command,
                          std::list<std::string>& flag_values) {
  BoundCommand bound{&command, app.add_subcommand(command.name, command.summary), {}};
  bound.app->allow_extras();
  for (const Positional& positional : command.positionals) {
    CLI::Option* parsed = add_value(*bound.app, positional.name);
    if (positional.repeatable) parsed->allow_extra_args();
    bound.options.push_back({nullptr, &positional, parsed});
  }
  for (const OptionGroup& group : command.groups) {
    for (const Option& option : group.options) {
      std::string names = "--" + option.name;
      if (option.value_optional) names += "{-}";
      if (option.letter != 0) names = std::string{'-', option.letter, ','} + names;
      if (option.off_letter != 0) names += std::string{',', '-', option.off_letter} + "{false}";
      const bool is_flag = option.value.empty() || option.value_optional;
      CLI::Option* parsed = is_flag ? bound.app->add_flag(names, flag_values.emplace_back(), "")
                                          ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
                                    : add_value(*bound.app, names);
      bound.options.push_back({&option, nullptr, parsed});
    }
  }
  return bound;
}

/// CLI11 writes "--bins: 1 required TEXT missing".
std::string reworded(const CLI::ParseError& error) {
  std::string text = error.what();
  if (const auto end = text.find_first_of("\r\n"); end != std::string::npos) text.resize(end);
  if (error.get_name() == "ArgumentMismatch" && text.find(':') != std::string::npos) {
    return text.substr(0, text.find(':')) + " has no value, must be followed by one";
  }
  return text;
}

void refuse_leftovers(const std::vector<std::string>& leftovers, const Command& command,
                      const std::vector<Command>& commands) {
  for (const std::string& left : leftovers) {
    if (left.size() < 2 || left[0] != '-') continue;
    const std::string name = left.substr(0, left.find('='));
    usage(unknown_option_text("option " + name, name.substr(name.find_first_not_of('-')), command,
                              commands));
  }
  if (leftovers.empty()) return;
  std::string form = "equalux " + command.name;
  for (const Positional& positional : command.positionals)
    form += " " + positional.name;
  usage("argument '" + leftovers.front() + "' is one too many, must be " + form + " [OPTION...]");
}

void refuse_unknown_command(const std::vector<std::string>& leftovers,
                            const std::vector<Command>& commands) {
  std::vector<std::string> names;
  for (const Command& command : commands)
    names.push_back(command.name);
  if (leftovers.empty()) {
    usage("no command is given, must be " + list_of_names(names) + "; see equalux --help");
  }
  const std::string& first = leftovers.front();
  if (first.starts_with('-')) {
    usage("option " + first + " stands before the command, must be --help, --version, or after " +
          list_of_names(names));
  }
  const std::string nearest = nearest_name(first, names);
  usage("command '" + first + "' is unknown, must be " +
        (nearest.empty() ? list_of_names(names) : nearest));
}

Settings flags_of(const BoundCommand& bound) {
  Settings settings;
  for (const Bound& entry : bound.options) {
    if (entry.option == nullptr || entry.parsed->count() == 0) continue;
    std::vector<std::string> values = entry.parsed->results();
    if (!entry.option->repeatable) values = {values.back()};
    settings[entry.option->name] = {std::move(values), ""};
  }
  return settings;
}

/// CLI11 takes what stands in square brackets for a list; a folder may be called so. Last one
/// first, as CLI11 wants them.
std::vector<std::string> arguments_of(int argc, const char* const* argv) {
  std::vector<std::string> arguments;
  for (int i = argc - 1; i > 0; --i) {
    std::string argument = argv[i];
    if (argument.starts_with('[') && argument.ends_with(']')) argument.insert(0, "./");
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

}  // namespace

ExitCode parse_and_run(int argc, const char* const* argv, const std::vector<Command>& commands) {
  CLI::App app;
  app.set_help_flag("-h,--help");
  app.set_version_flag("--version", std::string(version()));
  app.require_subcommand(0, 1);
  app.allow_extras();
  std::list<std::string> flag_values;
  std::list<BoundCommand> all;
  for (const Command& command : commands)
    all.push_back(bind_command(app, command, flag_values));

  const auto chosen = [&]() -> const BoundCommand* {
    for (const BoundCommand& bound : all) {
      if (app.got_subcommand(bound.app)) return &bound;
    }
    return nullptr;
  };
  try {
    app.parse(arguments_of(argc, argv));
  } catch (const CLI::CallForHelp&) {
    const BoundCommand* bound = chosen();
    std::cout << (bound == nullptr ? program_help(commands) : command_help(*bound->command));
    return ExitCode::done;
  } catch (const CLI::CallForVersion&) {
    std::cout << "equalux " << version() << "\n";
    return ExitCode::done;
  } catch (const CLI::ParseError& error) {
    usage(reworded(error));
  }

  const BoundCommand* bound = chosen();
  if (bound == nullptr || !app.remaining().empty()) {
    refuse_unknown_command(app.remaining(), commands);
  }
  refuse_leftovers(bound->app->remaining(), *bound->command, commands);
  for (const Bound& entry : bound->options) {
    if (entry.positional == nullptr) continue;
    for (const std::string& value : entry.parsed->results())
      entry.positional->set(value);
  }
  Settings settings = flags_of(*bound);
  add_config_layers(settings, *bound->command, commands);
  apply_settings(settings, *bound->command);
  return bound->command->run();
}

}  // namespace equalux::cli
