// Prints what the program's own tables hold of what docs/compatibility.md promises, a line each,
// for compatibility.py: promised_tables options|filters|presets|exit-codes
#include <cstdio>
#include <string>

#include <equalux/filter.h>
#include <equalux/options.h>

#include "src/cli/commands.h"
#include "src/cli/settings.h"

namespace equalux {
namespace {

void print_options() {
  for (const cli::Command& command : cli::all_commands()) {
    for (const cli::Positional& positional : command.positionals)
      std::printf("%s %s%s%s\n", command.name.c_str(), positional.name.c_str(),
                  positional.repeatable ? " ..." : "", positional.optional ? " optional" : "");
    for (const cli::OptionGroup& group : command.groups) {
      for (const cli::Option& option : group.options) {
        const char* value = option.value.empty()    ? "without a value"
                            : option.value_optional ? "with or without a value"
                                                    : "with a value";
        std::printf("%s --%s %s%s", command.name.c_str(), option.name.c_str(), value,
                    option.repeatable ? ", repeated" : "");
        if (option.letter != 0) std::printf(", -%c", option.letter);
        if (option.off_letter != 0) std::printf(", not: -%c", option.off_letter);
        std::printf("\n");
      }
    }
  }
}

void print_filters() {
  for (const FilterInfo& filter : filter_list()) {
    const std::string name(filter.name);
    if (filter.options.empty()) std::printf("%s\n", name.c_str());
    for (const Option& option : filter.options) {
      std::string takes = option.type == OptionType::number  ? "a number"
                          : option.type == OptionType::whole ? "a whole number"
                          : option.type == OptionType::onoff ? "true or false"
                          : option.type == OptionType::file  ? "a file"
                                                             : "text";
      for (const OptionName& each : option.names)
        takes += (takes == "text" ? ": " : ", ") + std::string(each.name);
      if (!option.word.empty()) takes += ", or " + std::string(option.word);
      const std::string otherwise = option_default(option);
      std::printf("%s:%s %s; otherwise %s\n", name.c_str(), std::string(option.key).c_str(),
                  takes.c_str(), otherwise.c_str());
    }
  }
}

}  // namespace
}  // namespace equalux

int main(int argc, char** argv) {
  const std::string what = argc == 2 ? argv[1] : "";
  if (what == "options") {
    equalux::print_options();
  } else if (what == "filters") {
    equalux::print_filters();
  } else if (what == "presets") {
    for (const equalux::cli::Preset& preset :
         equalux::cli::list_presets(equalux::cli::all_commands()))
      std::printf("%s\n", preset.name.c_str());
  } else if (what == "exit-codes") {
    for (const equalux::cli::ExitStatus& each : equalux::cli::exit_statuses())
      std::printf("%s %s\n", each.code.c_str(), each.meaning.c_str());
  } else {
    std::fprintf(stderr, "usage: promised_tables options|filters|presets|exit-codes\n");
    return 2;
  }
  return 0;
}
