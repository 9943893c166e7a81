// Manual pages and completions: all of the table of commands is in them, and those who read them
// take them.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/cli/commands.h"
#include "src/cli/manual/completions.h"
#include "src/cli/manual/man_page.h"
#include "tests/support/program.h"

namespace equalux::test {
namespace {

using cli::Command;
using cli::Option;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kDate = "2026-01-31";

/// A program of the system; the test is skipped where it is missing.
#define EQUALUX_NEEDS(path) \
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not installed"

ProgramResult run(const std::string& program, const std::vector<std::string>& arguments) {
  ProgramOptions options;
  options.program = program;
  const char* path = std::getenv("PATH");
  options.environment = {
      {"PATH", std::string(EQUALUX_PROGRAM_FOLDER) + ":" + (path == nullptr ? "" : path)},
      {"TERM", "xterm"}};
  options.timeout_s = 20;
  return run_program(arguments, options);
}

/// A page as a terminal shows it, without the marks of bold and underlined text.
std::vector<std::string> pages() {
  const std::vector<Command> commands = cli::all_commands();
  std::vector<std::string> all{cli::program_page(commands, kDate)};
  for (const Command& command : commands)
    all.push_back(cli::command_page(command, kDate));
  return all;
}

TEST(Manual, EveryOptionHasItsEntry) {
  const std::vector<Command> commands = cli::all_commands();
  for (const Command& command : commands) {
    const std::string page = cli::command_page(command, kDate);
    for (const std::string& name : command.option_names()) {
      std::string escaped;
      for (const char c : "--" + name)
        escaped += c == '-' ? "\\-" : std::string{c};
      EXPECT_THAT(page, HasSubstr("\\fB" + escaped + "\\fR")) << command.name;
    }
    EXPECT_THAT(page, HasSubstr(".SH EXIT STATUS\n.TP\n\\fB0\\fR\ndone\n"));
  }
  const std::string program = cli::program_page(commands, kDate);
  for (const Command& command : commands)
    EXPECT_THAT(program, HasSubstr(".TP\n\\fB" + command.name + "\\fR\n"));
}

TEST(Manual, NothingOfATextIsTakenForAMacro) {
  Command command;
  command.name = "try";
  command.summary = "what '.PP' does";
  command.groups.push_back(
      {"Some", {{"odd", "X", ".TP is no macro here, \\fB no font\n'br neither", {}}}});
  command.examples = ".nf\n'quoted' -o x";
  const std::string page = cli::command_page(command, kDate);
  EXPECT_THAT(page, HasSubstr("\n\\&.TP is no macro here, \\efB no font\n.br\n\\&'br neither\n"));
  EXPECT_THAT(page, HasSubstr(".nf\n\\&.nf\n\\&'quoted' \\-o x\n.fi\n"));
}

TEST(Manual, PagesAreClean) {
  EQUALUX_NEEDS("/usr/bin/mandoc");
  const TempFolder folder;
  for (const std::string& page : pages()) {
    folder.write("page.1", page);
    const ProgramResult result = run("/usr/bin/mandoc", {"-Tlint", folder / "page.1"});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.out + result.err, "");
  }
}

/// What bash offers for words, of which the last is under the cursor. Nothing means files, which
/// compopt forbids.
std::string bash_offers(const TempFolder& folder, const std::string& words) {
  const ProgramResult result =
      run("/bin/bash", {"--norc", "-c",
                        "source " + (folder / "equalux.bash") +
                            "\ncompopt() { [ \"$*\" != '+o default' ] || COMPREPLY=('no files'); }"
                            "\nCOMP_WORDS=(" +
                            words +
                            ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_equalux\n"
                            "echo \"${COMPREPLY[*]}\""});
  EXPECT_EQ(result.err, "") << words;
  return result.out;
}

TEST(Completions, TellWhatAnOptionDoes) {
  const auto told = [](const char* help, const char* scope) {
    Option option{"x", "N", help, {}};
    option.scope = scope;
    return cli::in_a_clause(option);
  };
  EXPECT_EQ(told("threads, 0 to 8; 0 = all (default: 0)", ""), "threads, 0 to 8");
  EXPECT_EQ(told("inputs (rtsp:, live gst: pipelines; all) that end: how long", ""),
            "inputs (rtsp:, live gst: pipelines; all) that end");
  EXPECT_EQ(told("staged chain: how it runs: one or two (default: one)", "staged chain"),
            "how it runs (staged chain)");
  for (const Command& command : cli::all_commands()) {
    for (const cli::OptionGroup& group : command.groups) {
      for (const Option& option : group.options) {
        const std::string clause = cli::in_a_clause(option);
        EXPECT_GE(std::count(clause.begin(), clause.end(), ' '), 1)
            << option.name << ": " << clause;
        EXPECT_EQ(std::count(clause.begin(), clause.end(), '('),
                  std::count(clause.begin(), clause.end(), ')'))
            << option.name << ": " << clause;
      }
    }
  }
}

TEST(Completions, OfBash) {
  EQUALUX_NEEDS("/bin/bash");
  const TempFolder folder;
  const std::vector<Command> commands = cli::all_commands();
  folder.write("equalux.bash", cli::bash_completion(commands));
  const auto offers = [&folder](const std::string& words) { return bash_offers(folder, words); };
  EXPECT_EQ(offers("equalux ba"), "batch\n");
  EXPECT_EQ(offers("equalux --"), "--help --list-presets --version\n");
  EXPECT_THAT(offers("equalux ''"), Not(HasSubstr("-")));
  EXPECT_EQ(offers("equalux run --backe"), "--backend\n");
  EXPECT_EQ(offers("equalux run --backend ''"), "auto cpu cuda\n");
  EXPECT_EQ(offers("equalux run --backend = c"), "cpu cuda\n");
  EXPECT_EQ(offers("equalux run --backend ="), "auto cpu cuda\n");
  EXPECT_EQ(offers("equalux clip.mp4 --preset s"), "stable surveillance\n");
  EXPECT_EQ(offers("equalux help me"), "measure\n");
  EXPECT_EQ(offers("equalux image a.png --out"), "--output --out\n");
  EXPECT_EQ(offers("equalux lab sc"), "scans scalers\n");
  // Files are the shell's own word.
  EXPECT_EQ(offers("equalux run -o ''"), "\n");
  EXPECT_EQ(offers("equalux clip.mp4 ''"), "\n");
  EXPECT_EQ(offers("equalux run --bins ''"), "no files\n");
  EXPECT_EQ(offers("equalux devices ''"), "no files\n");
  EXPECT_EQ(offers("equalux lab plot ''"), "\n");
  const std::string script = folder.read("equalux.bash");
  for (const char* file :
       {"'run -o' | 'run --output') echo file", "'image -o' | 'image --output') echo file"})
    EXPECT_THAT(script, HasSubstr(file));
  for (const Command& command : commands) {
    const std::string all = offers("equalux " + command.name + " -");
    for (const std::string& name : command.option_names())
      EXPECT_THAT(" " + all, HasSubstr(" --" + name)) << command.name;
  }
}

TEST(Completions, OfFish) {
  EQUALUX_NEEDS("/usr/bin/fish");
  const TempFolder folder;
  folder.write("equalux.fish", cli::fish_completion(cli::all_commands()));
  const auto offers = [&folder](const std::string& words) {
    const ProgramResult result = run(
        "/usr/bin/fish",
        {"--no-config", "-c",
         "cd " + folder.path().string() + "; source ./equalux.fish; complete -C '" + words + "'"});
    EXPECT_EQ(result.err, "") << words;
    std::vector<std::string> first;
    for (const std::string& line : lines_of(result.out))
      first.push_back(line.substr(0, line.find('\t')));
    return first;
  };
  EXPECT_THAT(offers("equalux me"), Contains("measure"));
  EXPECT_THAT(offers("equalux --"),
              testing::UnorderedElementsAre("--help", "--list-presets", "--version"));
  EXPECT_THAT(offers("equalux run eq"), testing::ElementsAre("equalux.fish"));
  EXPECT_THAT(offers("equalux eq"), testing::ElementsAre("equalux.fish"));
  EXPECT_THAT(offers("equalux devices "), testing::IsEmpty());
  EXPECT_THAT(offers("equalux devices --config eq"), testing::ElementsAre("equalux.fish"));
  EXPECT_THAT(offers("equalux run --backe"), Contains("--backend"));
  EXPECT_THAT(offers("equalux run --backend c"), testing::ElementsAre("cpu", "cuda"));
  EXPECT_THAT(offers("equalux clip.mp4 --preset s"),
              testing::ElementsAre("stable", "surveillance"));
  EXPECT_THAT(offers("equalux image --rec"), Not(Contains("--record")));
  EXPECT_THAT(offers("equalux lab sca"), testing::ElementsAre("scalers", "scans"));
  EXPECT_THAT(offers("equalux lab plot sca"), Not(Contains("scans")));
}

TEST(Completions, OfZsh) {
  EQUALUX_NEEDS("/bin/zsh");
  const TempFolder folder;
  folder.write("_equalux", cli::zsh_completion(cli::all_commands()));
  // A shell with a terminal of its own, in which Tab is pressed.
  folder.write("ask.zsh", R"(
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PS1=; fpath=($1 \$fpath); autoload -U compinit; compinit -u -D; bindkey '^I' complete-word; echo rea''dy"
zpty -r -m shell text '*ready*'
zpty -w -n shell "$2"$'\t'
sleep 0.5
zpty -w -n shell $'\C-u'
zpty -w shell "echo do''ne"
zpty -r -m shell text '*done*'
print -r -- "$text"
)");
  const auto offers = [&folder](const std::string& words) {
    const ProgramResult result =
        run("/bin/zsh", {"-f", folder / "ask.zsh", folder.path().string(), words});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.out;
  };
  EXPECT_THAT(offers("equalux run --backend c"), testing::ContainsRegex("cpu +cuda"));
  EXPECT_THAT(offers("equalux clip.mp4 --preset s"),
              testing::ContainsRegex("stable +surveillance"));
  EXPECT_THAT(offers("equalux --vers"), HasSubstr("--version"));
  EXPECT_THAT(offers("equalux --reco"), Not(HasSubstr("--record-standby")));
  EXPECT_THAT(offers("equalux run --reco"), HasSubstr("--record-standby"));
  EXPECT_THAT(offers("equalux image --reco"), Not(HasSubstr("--record-standby")));
  EXPECT_THAT(offers("equalux lab s"), testing::ContainsRegex("scalers +scans"));
}

}  // namespace
}  // namespace equalux::test
