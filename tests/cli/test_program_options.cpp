#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include <equalux/filter.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/cli/command.h"
#include "src/cli/commands.h"
#include "src/cli/config_file.h"
#include "src/cli/settings.h"
#include "tests/support/program.h"

/// Help, config files and presets.
namespace equalux::test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

/// Folder of the program's own configs, as the program finds it.
std::string config_path(const std::string& name) {
  return (std::filesystem::path(EQUALUX_PROGRAM_FOLDER) / ".." / "configs" / name).string();
}

std::set<std::string> long_options(const std::string& help) {
  std::set<std::string> options;
  for (const std::string& line : lines_of(help)) {
    const std::size_t at = line.find("--");
    // Only the first column holds options; what stands further right is help text.
    if (at == std::string::npos || at > 6 || line[0] != ' ') continue;
    options.insert(line.substr(at + 2, line.find_first_of(" [=", at) - at - 2));
  }
  return options;
}

TEST(Presets, BatchHasTheCurveOfStable) {
  std::map<std::string, std::vector<std::string>> batch;
  for (const cli::ConfigEntry& entry : cli::read_config(config_path("batch.toml")))
    batch[entry.key] = entry.values;
  const std::vector<cli::ConfigEntry> stable = cli::read_config(config_path("stable.toml"));
  ASSERT_FALSE(stable.empty());
  for (const cli::ConfigEntry& entry : stable)
    EXPECT_EQ(batch[entry.key], entry.values) << entry.key;
}

TEST(Help, EveryLongOptionIsAKeyOfAConfigFile) {
  std::map<std::string, std::set<std::string>> keys;  // by table; "" holds for all
  for (const char* name : {"default.toml", "webcam.toml", "batch.toml"}) {
    for (const auto& entry : cli::read_config(config_path(name))) {
      keys[entry.table].insert(entry.key);
    }
  }
  for (const char* command : {"run", "image", "batch", "measure", "lab", "devices", "doctor"}) {
    const ProgramResult help = run_program({command, "--help-all"});
    ASSERT_EQ(help.exit_code, 0) << help.err;
    std::set<std::string> options = long_options(help.out);
    EXPECT_THAT(options, Contains("config"));
    options.erase("help");
    options.erase("help-all");
    for (const std::string& option : options) {
      EXPECT_TRUE(keys[""].contains(option) || keys[command].contains(option))
          << "--" << option << " of equalux " << command;
    }
  }
}

TEST(Help, EveryConfigLineIsCommented) {
  for (const char* name : {"default.toml", "stable.toml", "webcam.toml", "low-light.toml",
                           "fog.toml", "haze.toml", "underwater.toml", "endoscopy.toml",
                           "surveillance.toml", "archive-film.toml", "batch.toml"}) {
    const TempFolder folder;
    std::filesystem::copy(config_path(name), folder.path() / "copy.toml");
    for (const std::string& line : lines_of(folder.read("copy.toml"))) {
      if (line[0] == '#' || line[0] == '[' || line[0] == ' ') continue;
      EXPECT_THAT(line, HasSubstr("# ")) << name;
    }
  }
}

/// What --help says of an option's default, which goes without saying for a flag; empty where it
/// tells of none.
std::string default_in_help(const cli::Option& option) {
  constexpr std::string_view kBefore = "(default: ";
  const std::size_t at = option.help.rfind(kBefore);
  if (at == std::string::npos) return option.value.empty() ? "off" : "";
  const std::size_t from = at + kBefore.size();
  return option.help.substr(from, option.help.find_first_of(";)", from) - from);
}

TEST(Help, DefaultConfigSaysTheDefaultsThatHelpSays) {
  std::map<std::string, std::map<std::string, std::string>> values;  // by table and key
  for (const auto& entry : cli::read_config(config_path("default.toml")))
    values[entry.table][entry.key] = entry.values.size() == 1 ? entry.values.front() : "";
  int compared = 0;
  for (const cli::Command& command : cli::all_commands()) {
    for (const std::string& name : command.option_names()) {
      const auto& own = values[command.name];
      const auto& table = own.contains(name) ? own : values[""];
      const auto found = table.find(name);
      // "" stands for a default in words.
      if (found == table.end() || found->second.empty()) continue;
      std::string expected = found->second;
      if (expected == "true") expected = "on";
      if (expected == "false") expected = "off";
      const std::string said = default_in_help(*command.find(name));
      EXPECT_EQ(said.substr(0, said.find(',')), expected) << command.name << " --" << name;
      ++compared;
    }
  }
  EXPECT_GT(compared, 50);
}

/// What an option is by default where filters that share its key differ: " (0 of equalize, 2 of
/// clahe)"; empty where they do not.
std::string own_defaults(const Option& option) {
  std::string text;
  bool differ = false;
  for (const FilterInfo& filter : filter_list()) {
    const Option* other = find_option(filter.options, option.key);
    if (other == nullptr || other->type != option.type) continue;
    differ = differ || other->fallback != option.fallback;
    text += (text.empty() ? " (" : ", ") + other->fallback + " of " + std::string(filter.name);
  }
  return differ ? text + ")" : "";
}

/// A key's lines at the top of default.toml, on one line with single blanks.
std::string config_lines(const std::vector<std::string>& lines, const std::string& key) {
  std::string text;
  for (const std::string& line : lines) {
    if (line.starts_with('[')) break;
    const bool continues = line.starts_with(' ');
    if (!continues && !text.empty()) break;
    if (!continues && !line.starts_with(key + " = ")) continue;
    if (continues && text.empty()) continue;
    std::istringstream words(continues ? line.substr(line.find('#') + 1) : line);
    for (std::string word; words >> word;)
      text += (text.empty() ? "" : " ") + word;
  }
  return text;
}

TEST(Help, DefaultConfigSaysOfEachKnobWhatItsTableSays) {
  const TempFolder folder;
  std::filesystem::copy(config_path("default.toml"), folder.path() / "copy.toml");
  const std::vector<std::string> lines = lines_of(folder.read("copy.toml"));
  for (const Option& option : equalize_options()) {
    const std::string own = own_defaults(option);
    const bool bare = option.type == OptionType::number || option.type == OptionType::whole;
    const std::string value = own.empty() ? option.fallback : "";
    const std::string key(option.key);
    std::string expected =
        key + " = " + (bare && own.empty() && !value.empty() ? value : '"' + value + '"');
    expected += " # " + option_help(option);
    if (!option.unset.empty()) expected += "; \"\" = " + std::string(option.unset);
    if (!own.empty()) expected += "; \"\" = the filter's own" + own;
    EXPECT_EQ(config_lines(lines, key), expected);
  }
}

TEST(Help, DefaultConfigHoldsTheDefaults) {
  const TempFolder folder;
  folder.write("in.y4m", dim_y4m(64, 48, 4));
  ProgramOptions options;
  options.folder = folder.path();
  const auto plain = run_program(
      {"run", "in.y4m", "-o", "null", "--preset", "plain", "--verify", "--quiet"}, options);
  const auto with_file = run_program({"run", "in.y4m", "-o", "null", "--verify", "--quiet",
                                      "--config", config_path("default.toml")},
                                     options);
  ASSERT_EQ(plain.exit_code, 0) << plain.err;
  EXPECT_EQ(with_file.exit_code, 0) << with_file.err;
  EXPECT_EQ(plain.out, with_file.out);
  // What is written follows from keys that hashes of frames do not see: encoder, quality,
  // container.
  for (const auto& [name, how] : {std::pair<std::string, std::string>{"plain", "--preset=plain"},
                                  {"file", "--config=" + config_path("default.toml")}}) {
    const auto made = run_program({"run", "in.y4m", "-o", name + ".mp4", how}, options);
    if (made.exit_code == 69) GTEST_SKIP() << made.err;
    ASSERT_EQ(made.exit_code, 0) << made.err;
    folder.write(name + ".lines", std::to_string(lines_of(made.err).size()));
  }
  EXPECT_TRUE(folder.read("plain.mp4") == folder.read("file.mp4")) << "other bytes";
  EXPECT_EQ(folder.read("plain.lines"), folder.read("file.lines")) << "says more, or less";
}

TEST(Help, EveryCommandLoadsTheDefaultConfig) {
  for (cli::Command& command : cli::all_commands()) {
    cli::Settings settings{{"config", {{config_path("default.toml")}, ""}}};
    const auto commands = cli::all_commands();
    cli::add_config_layers(settings, command, commands);
    EXPECT_NO_THROW(cli::apply_settings(settings, command)) << command.name;
    for (const std::string& option : command.option_names()) {
      EXPECT_TRUE(settings.contains(option)) << command.name << " " << option;
    }
  }
}

TEST(Help, ShortHelpHasExamplesAndLessThanAll) {
  for (const char* command : {"run", "image", "batch"}) {
    const std::string brief = run_program({command, "--help"}).out;
    const std::string all = run_program({command, "--help-all"}).out;
    EXPECT_LT(lines_of(brief).size(), lines_of(all).size() * 2 / 3) << command;
    EXPECT_THAT(brief, HasSubstr("Examples:\n  equalux " + std::string(command)));
    EXPECT_THAT(brief, HasSubstr("--preset NAME"));
    EXPECT_THAT(brief, HasSubstr("--help-all"));
    EXPECT_EQ(run_program({"help", command}).out, brief);
  }
}

TEST(Help, DefaultsAreThoseThatWouldBeUsed) {
  const auto strength = [](std::vector<std::string> arguments) {
    arguments.emplace_back("--help-all");
    const std::string help = run_program(arguments).out;
    const std::size_t at = help.find("(default: ", help.find("    --strength"));
    // Lines are broken where they are full.
    return std::regex_replace(help.substr(at, help.find(')', at) - at + 1), std::regex("\\s+"),
                              " ");
  };
  EXPECT_EQ(strength({"run"}), "(default: auto, from preset stable)");
  EXPECT_EQ(strength({"run", "camera:0"}), "(default: 0.95, from preset webcam)");
  EXPECT_EQ(strength({"run", "--preset", "underwater"}), "(default: 0.85, from preset underwater)");
  EXPECT_EQ(strength({"batch"}), "(default: auto, from preset stable)");
  EXPECT_EQ(strength({"image"}), "(default: 1)");
  EXPECT_EQ(strength({"run", "--preset", "plain"}), "(default: 1)");
}

TEST(Help, TellsOfTheDefaultPresetOfCameras) {
  for (const char* help : {"--help", "--help-all"}) {
    const std::string text =
        std::regex_replace(run_program({"run", help}).out, std::regex("\\s+"), " ");
    EXPECT_THAT(text, HasSubstr("(default: stable for run and batch, webcam for run camera:N"))
        << help;
  }
}

TEST(Help, ShortHelpSaysWhatADefaultOfZeroIs) {
  EXPECT_THAT(run_program({"run", "--help"}).out,
              HasSubstr("stop after N frames (default: 0 = all)\n"));
  EXPECT_THAT(run_program({"batch", "--help"}).out,
              HasSubstr("1 to 256 (default: 0 = one for every four"));
  EXPECT_THAT(run_program({"run", "--help-all"}).out, HasSubstr("0 = all (default: 0)\n"));
}

/// The shell of a test is not needed: the reading end is closed before the program writes.
TEST(Help, AReaderThatGoesEndsItQuietly) {
  const TempFolder folder;
  folder.write("in.y4m", dim_y4m(32, 16, 3));
  for (const char* arguments : {"--help", "run --help-all", "run --list-encoders", "--list-presets",
                                "devices", "measure in.y4m", "measure in.y4m --json -"}) {
    const std::string command = "cd '" + folder.path().string() + "' && exec 3>&1; (" +
                                EQUALUX_PROGRAM_FOLDER "/equalux " + arguments +
                                " 2>said; echo $? >code) | exec true";
    for (int i = 0; i < 3; ++i) {
      ASSERT_EQ(std::system(("bash -c \"" + command + "\"").c_str()), 0) << command;
      EXPECT_EQ(folder.read("said"), "") << arguments;
      const std::string code = folder.read("code");
      EXPECT_TRUE(code == "0\n" || code == "141\n") << arguments << ": " << code;
    }
  }
}

TEST(Help, NamesVersionAndCommands) {
  const ProgramResult help = run_program({"--help"});
  EXPECT_EQ(help.exit_code, 0);
  for (const char* name :
       {"run", "image", "batch", "measure", "lab", "devices", "doctor", "Exit codes"}) {
    EXPECT_THAT(help.out, HasSubstr(name));
  }
  const ProgramResult version = run_program({"--version"});
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_THAT(version.out, HasSubstr("equalux "));
  EXPECT_EQ(version.err, "");
}

class Layers : public ::testing::Test {
 protected:
  Layers() { folder_.write("in.ppm", dim_ppm(40, 30)); }

  /// The result of `equalux image` with these arguments.
  std::string picture(std::vector<std::string> more) {
    std::vector<std::string> arguments{"image", "in.ppm", "out.ppm", "-y", "--quiet"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    ProgramOptions options;
    options.folder = folder_.path();
    options.environment = {{"EQUALUX_CONFIG_PATH", folder_.path().string()}};
    const ProgramResult result = run_program(arguments, options);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return folder_.read("out.ppm");
  }

  TempFolder folder_;
};

TEST_F(Layers, FlagsWinOverConfigOverIncludeOverPreset) {
  const std::string with_2 = picture({"--bins", "2"});
  const std::string with_5 = picture({"--bins", "5"});
  const std::string with_9 = picture({"--bins", "9"});
  ASSERT_NE(with_2, with_5);
  ASSERT_NE(with_5, with_9);
  folder_.write("two.toml", "bins = 2\n");
  folder_.write("five.toml", "config = \"two.toml\"\n[image]\nbins = 5\n");
  folder_.write("includes.toml", "config = \"two.toml\"\n");
  EXPECT_EQ(picture({"--preset", "two"}), with_2);
  EXPECT_EQ(picture({"--config", "five.toml"}), with_5);
  EXPECT_EQ(picture({"--config", "includes.toml"}), with_2);
  EXPECT_EQ(picture({"--config", "five.toml", "--preset", "two"}), with_5);
  EXPECT_EQ(picture({"--config", "five.toml", "--bins", "9"}), with_9);
  EXPECT_EQ(picture({"--filter", "equalize:bins=9", "--config", "five.toml"}), with_9);
  EXPECT_EQ(picture({"--preset", "plain"}), picture({}));
}

TEST_F(Layers, AnEmptyValueUndoesWhatIsBelowAndIsSaidWhereNothingIs) {
  folder_.write("five.toml", "bins = 5\n");
  EXPECT_EQ(picture({"--config", "five.toml", "--bins", ""}), picture({}));
  const auto said = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"image", "in.ppm", "out.ppm", "-y"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    ProgramOptions options;
    options.folder = folder_.path();
    options.environment = {{"EQUALUX_CONFIG_PATH", folder_.path().string()}};
    const ProgramResult result = run_program(arguments, options);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.err;
  };
  const std::string line = "--bins is empty, which counts as not given\n";
  EXPECT_THAT(said({"--bins="}), HasSubstr(line));
  EXPECT_THAT(said({"--bins", "", "--preset="}), HasSubstr("--preset is empty, which"));
  EXPECT_THAT(said({"--config", "five.toml", "--strength", ""}), HasSubstr("--strength is empty"));
  EXPECT_THAT(said({"--config", "five.toml", "--bins", ""}), Not(HasSubstr("is empty")));
  EXPECT_THAT(said({"--preset", "five", "--bins", ""}), Not(HasSubstr("is empty")));
  EXPECT_THAT(said({"--bins=", "--quiet"}), Not(HasSubstr("is empty")));
}

TEST_F(Layers, OfOptionsThatAreGivenAgainTheLastCountsAndALineSaysSo) {
  const auto said = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"image", "in.ppm", "out.ppm", "-y"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    ProgramOptions options;
    options.folder = folder_.path();
    return run_program(arguments, options).err;
  };
  EXPECT_EQ(picture({"--bins", "5", "--bins", "9"}), picture({"--bins", "9"}));
  const std::string line = "--bins is given more than once, the last one counts\n";
  EXPECT_THAT(said({"--bins", "5", "--bins=9"}), HasSubstr(line));
  EXPECT_THAT(said({"--bins", "9", "--bins=9"}), Not(HasSubstr("more than once")));
  EXPECT_THAT(said({"--bins", "5", "--bins=9", "--quiet"}), Not(HasSubstr("more than once")));
  EXPECT_THAT(said({"--filter", "denoise", "--filter", "equalize"}),
              Not(HasSubstr("more than once")));
}

TEST_F(Layers, ListsComeAsArrays) {
  folder_.write("twice.toml", "filter = [\"equalize\", \"equalize:bins=9\"]\n");
  EXPECT_EQ(picture({"--config", "twice.toml"}),
            picture({"--filter", "equalize", "--filter", "equalize:bins=9"}));
}

TEST_F(Layers, KeysOfOtherCommandsStandUnderTheirTable) {
  folder_.write("shared.toml", "bins = 9\n[run]\nframes = 3\noutput = \"null\"\n");
  EXPECT_EQ(picture({"--config", "shared.toml"}), picture({"--bins", "9"}));
}

TEST(Presets, OursLoad) {
  const TempFolder folder;
  folder.write("in.y4m", dim_y4m(32, 16, 2));
  ProgramOptions options;
  options.folder = folder.path();
  for (const char* name : {"stable", "webcam", "low-light", "fog", "underwater", "endoscopy",
                           "surveillance", "archive-film"}) {
    const auto result =
        run_program({"run", "in.y4m", "-o", "null", "--preset", name, "--quiet"}, options);
    EXPECT_EQ(result.exit_code, 0) << name << ": " << result.err;
  }
  const auto batch = run_program(
      {"batch", "in.y4m", "--out", "results", "--preset", "batch", "--extension", "y4m", "--quiet"},
      options);
  EXPECT_EQ(batch.exit_code, 0) << batch.err;
  EXPECT_THAT(folder.names(), Contains("results/in.y4m"));
}

TEST(Presets, NoiseReductionComesWithThoseForTheDark) {
  const TempFolder folder;
  folder.write("in.y4m", dim_y4m(64, 48, 4));
  ProgramOptions options;
  options.folder = folder.path();
  const auto run = [&](std::vector<std::string> arguments) {
    // Whatever presets bring beside filters, what runs is said.
    std::vector<std::string> all{"run", "in.y4m", "-o", "null", "--backend", "cpu"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return run_program(all, options);
  };
  for (const char* name : {"webcam", "low-light", "endoscopy", "surveillance", "archive-film"}) {
    const ProgramResult result = run({"--preset", name});
    EXPECT_THAT(result.err, HasSubstr("equalize ! denoise:strength=0.")) << name;
    EXPECT_THAT(result.err, HasSubstr("preset " + std::string(name) + "\n")) << name;
    // Who asks for filters gets those.
    const ProgramResult without = run({"--preset", name, "--filter", "equalize"});
    EXPECT_THAT(without.err, Not(HasSubstr("denoise"))) << name;
    EXPECT_THAT(without.err, HasSubstr("preset " + std::string(name) + "\n")) << name;
  }
  for (const char* name : {"stable", "fog", "underwater", "plain"})
    EXPECT_THAT(run({"--preset", name}).err, Not(HasSubstr("denoise"))) << name;
}

TEST(Presets, OptionsOfTheirFiltersHaveTheNamesThatSteerThem) {
  const auto options = cli::preset_options("low-light");
  EXPECT_THAT(options, Contains(std::pair<std::string, std::string>("denoise-strength", "0.95")));
  EXPECT_THAT(options, Contains(std::pair<std::string, std::string>("clip-limit", "2.6")));
}

TEST(Presets, EndoscopyLeavesOutTheBlackAroundARoundPicture) {
  using Given = std::pair<std::string, std::string>;
  EXPECT_THAT(cli::preset_options("endoscopy"), Contains(Given("surround", "ignore")));
  EXPECT_THAT(cli::preset_options("stable"), Not(Contains(Given("surround", "ignore"))));
}

/// Square of the distance of a pixel from the middle of a picture of 96 x 96.
int from_middle(int x, int y) {
  return (x - 48) * (x - 48) + (y - 48) * (y - 48);
}

/// Round picture of 96 x 96 pixels on black, bright in the middle, as by the lamp of an endoscope.
std::string lamplit_pgm() {
  std::string text = "P5 96 96 255\n";
  for (int y = 0; y < 96; ++y) {
    for (int x = 0; x < 96; ++x) {
      const int far = from_middle(x, y);
      text += static_cast<char>(far < 44 * 44 ? std::lround(10 + 150 * std::exp(-far / 900.0)) : 0);
    }
  }
  return text;
}

/// What is far from the lamp is dark and much of the picture, which a curve makes darker still.
TEST(Presets, EndoscopyKeepsTheEdgeOfThePicture) {
  const TempFolder folder;
  const std::string before = lamplit_pgm();
  folder.write("in.pgm", before);
  ProgramOptions options;
  options.folder = folder.path();
  const auto done =
      run_program({"image", "in.pgm", "out.pgm", "-y", "--preset", "endoscopy"}, options);
  ASSERT_EQ(done.exit_code, 0) << done.err;
  const std::string after = folder.read("out.pgm");
  ASSERT_EQ(after.size(), before.size());
  const auto mean_of_edge = [](const std::string& pgm) {
    double sum = 0;
    int count = 0;
    for (int y = 0; y < 96; ++y) {
      for (int x = 0; x < 96; ++x) {
        if (from_middle(x, y) < 38 * 38 || from_middle(x, y) >= 44 * 44) continue;
        sum += static_cast<unsigned char>(pgm[pgm.size() - 96 * 96 + std::size_t{96} * y + x]);
        ++count;
      }
    }
    return sum / count;
  };
  EXPECT_GT(mean_of_edge(after), 0.86 * mean_of_edge(before));
  // The middle gains contrast all the same.
  const std::size_t middle = after.size() - 96 * 96 + std::size_t{48} * 96 + 48;
  EXPECT_GT(static_cast<unsigned char>(after[middle]), 180);
}

/// Round picture of 96 x 96 pixels on black, of red with a saturation of 0.5.
std::string reddish_ppm() {
  std::string text = "P6 96 96 255\n";
  for (int y = 0; y < 96; ++y) {
    for (int x = 0; x < 96; ++x) {
      const int red = from_middle(x, y) < 44 * 44 ? 150 + (3 * x + 5 * y) % 60 : 0;
      for (const int channel : {red, red * 3 / 4, red / 2})
        text += static_cast<char>(channel);
    }
  }
  return text;
}

/// Mean saturation of the pixels of a 96 x 96 PPM that are not black.
double mean_saturation(const std::string& ppm) {
  int pixels = 0;
  double sum = 0;
  for (std::size_t at = ppm.size() - 96 * 96 * 3; at < ppm.size(); at += 3) {
    const int red = static_cast<unsigned char>(ppm[at]);
    if (red < 40) continue;
    ++pixels;
    sum += 1 - static_cast<unsigned char>(ppm[at + 2]) / static_cast<double>(red);
  }
  EXPECT_GT(pixels, 4000);
  return sum / pixels;
}

/// Where saturation is 1, the picture has lost what two of its three channels showed.
TEST(Presets, GiveColoursBackButDoNotDrownPicturesInThem) {
  const TempFolder folder;
  folder.write("in.ppm", reddish_ppm());
  ProgramOptions options;
  options.folder = folder.path();
  for (const auto& [preset, most] :
       {std::pair{"endoscopy", 0.56}, {"archive-film", 0.64}, {"underwater", 0.76}}) {
    const auto done =
        run_program({"image", "in.ppm", "out.ppm", "-y", "--preset", preset}, options);
    ASSERT_EQ(done.exit_code, 0) << done.err;
    const double saturation = mean_saturation(folder.read("out.ppm"));
    EXPECT_GT(saturation, 0.52) << preset;
    EXPECT_LT(saturation, most) << preset;
  }
}

TEST(Presets, CurvesAreForAllCommandsThoseOfACommandForIt) {
  const TempFolder folder;
  folder.write("in.y4m", dim_y4m(32, 16, 2));
  folder.write("in.ppm", dim_ppm(32, 16));
  ProgramOptions options;
  options.folder = folder.path();
  const std::vector<std::vector<std::string>> calls{{"run", "in.y4m", "-o", "null"},
                                                    {"image", "in.ppm", "out.ppm", "-y"},
                                                    {"batch", "in.y4m", "--out", "results"},
                                                    {"measure", "in.y4m"}};
  for (const std::vector<std::string>& call : calls) {
    for (const char* name : {"plain", "stable", "low-light", "fog", "underwater", "endoscopy",
                             "surveillance", "archive-film", "webcam", "batch"}) {
      std::vector<std::string> arguments = call;
      arguments.insert(arguments.end(), {"--preset", name, "--quiet"});
      const ProgramResult result = run_program(arguments, options);
      const std::string owner = std::string(name) == "webcam"  ? "run"
                                : std::string(name) == "batch" ? "batch"
                                                               : call[0];
      EXPECT_EQ(result.exit_code, owner == call[0] ? 0 : 2) << call[0] << " " << name << result.err;
      if (owner == call[0]) {
        EXPECT_EQ(result.err, "");
        continue;
      }
      EXPECT_EQ(lines_of(result.err).size(), 1U);
      EXPECT_THAT(result.err, HasSubstr("--preset " + std::string(name) + " is one of equalux " +
                                        owner + ", must be plain, "));
    }
  }
  const ProgramResult idle = run_program({"measure", "in.y4m", "--preset", "fog"}, options);
  EXPECT_THAT(idle.err, HasSubstr("preset fog sets nothing that equalux measure has"));
}

TEST(Presets, AreListedEachWithALine) {
  for (const std::vector<std::string>& call :
       {std::vector<std::string>{"--list-presets"}, {"run", "--list-presets"}}) {
    const ProgramResult result = run_program(call);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    for (const char* row :
         {"  plain         Each frame", "  stable        What run", "  fog           Fog,",
          "  webcam        A webcam", "  batch         "}) {
      EXPECT_THAT(result.out, HasSubstr(row));
    }
    EXPECT_THAT(result.out, HasSubstr("(equalux run)"));
    EXPECT_THAT(result.out, Not(HasSubstr("default")));
    for (const std::string& line : lines_of(result.out))
      EXPECT_GT(line.size(), 20U) << line;
  }
}

TEST(Help, NamesTheKeysOfTheWindow) {
  const std::string brief = run_program({"run", "--help"}).out;
  for (const FilterInfo& filter : filter_list()) {
    for (const Option& option : filter.options) {
      if (option.keys.empty()) continue;
      const std::string keys{option.keys[0], ' ', option.keys[1], ' '};
      EXPECT_THAT(brief, HasSubstr(keys)) << option.key;
    }
  }
}

TEST(Presets, ColoursComeBackInEverySpaceAndByTiles) {
  const TempFolder folder;
  folder.write("in.y4m", dim_y4m(32, 16, 3));
  const std::string in = (folder.path() / "in.y4m").string();
  const auto said = [&in](std::vector<std::string> more) {
    more.insert(more.begin(), {"run", in, "-o", "null", "--preset", "fog"});
    const ProgramResult result = run_program(more);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.err;
  };
  EXPECT_THAT(said({}), Not(HasSubstr("left out")));
  EXPECT_THAT(said({"--space", "luma"}), Not(HasSubstr("left out")));
  EXPECT_THAT(said({"--filter", "clahe"}), Not(HasSubstr("left out")));
  EXPECT_THAT(said({"--saturation", "2"}), Not(HasSubstr("left out")));
  // A preset's bound goes with its auto.
  folder.write("bound.toml", "# For a test.\nsaturation = \"auto\"\nsaturation-max = 3\n");
  ProgramOptions options;
  options.environment.emplace_back("EQUALUX_CONFIG_PATH", folder.path().string());
  for (const auto& [key, value] : {std::pair{"--saturation", "2"}, {"--space", "luma"}}) {
    const ProgramResult result =
        run_program({"run", in, "-o", "null", "--preset", "bound", key, value}, options);
    EXPECT_EQ(result.exit_code, 0) << result.err;
  }
}

TEST(Presets, WhatAPresetBringsGivesWayToWhatLeavesItNoMeaning) {
  const TempFolder folder;
  folder.write("in.y4m", dim_y4m(32, 16, 3));
  ProgramOptions options;
  options.folder = folder.path();
  const auto hashes = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"run", "in.y4m", "-o", "null", "--verify", "--quiet"});
    const ProgramResult result = run_program(more, options);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.out;
  };
  // haze has a bound of saturation, surveillance a time constant for what gets brighter.
  const std::string pale = hashes({"--preset", "haze", "--saturation", "0.5"});
  EXPECT_EQ(hashes({"--preset", "haze", "--filter", "equalize:saturation=0.5"}), pale);
  EXPECT_NE(hashes({"--preset", "haze"}), pale);
  EXPECT_NE(hashes({"--preset", "haze", "--filter", "clahe:saturation=0.5"}), pale);
  const std::string each = hashes({"--preset", "surveillance", "--temporal-ms", "0"});
  EXPECT_EQ(hashes({"--preset", "surveillance", "--temporal-ms", "0.0", "--brighten-ms", "0"}),
            each);
  EXPECT_EQ(hashes({"--preset", "surveillance", "--temporal-ms", ""}), each);
  EXPECT_EQ(hashes({"--preset", "surveillance", "--filter", "equalize:temporal-ms=0", "--filter",
                    "denoise:strength=0.9"}),
            each);
  // What was asked for does not.
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{"--preset", "haze", "--saturation", "2", "--saturation-max", "3"},
        {"--preset", "surveillance", "--temporal-ms", "0", "--brighten-ms", "50"},
        {"--filter", "equalize:temporal-ms=0,darken-ms=50"}}) {
    std::vector<std::string> arguments{"run", "in.y4m", "-o", "null"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProgramResult result = run_program(arguments, options);
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_THAT(result.err, HasSubstr("must stand with it"));
  }
}

TEST(Presets, StableIsWhatRunDoes) {
  const TempFolder folder;
  folder.write("in.y4m", dim_y4m(64, 48, 4));
  ProgramOptions options;
  options.folder = folder.path();
  const auto hashes = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments{"run", "in.y4m", "-o", "null", "--verify", "--quiet"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProgramResult result = run_program(arguments, options);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.out;
  };
  EXPECT_EQ(hashes({}), hashes({"--preset", "stable"}));
  EXPECT_NE(hashes({}), hashes({"--preset", "plain"}));
  // The user's own option wins over the preset's.
  EXPECT_NE(hashes({}), hashes({"--strength", "0.1"}));
  // The staged chain has nothing of what the presets are about.
  folder.write("in.ppm", "P6 2 1 255\n\x10\x20\x30\x40\x50\x60");
  const auto staged =
      run_program({"run", "in.ppm", "-o", "null", "--chain", "staged", "--quiet"}, options);
  EXPECT_EQ(staged.exit_code, 0) << staged.err;
}

TEST(Presets, WithoutTheirFilesRunIsPlainAndSaysSoBesideTheFrames) {
  const TempFolder folder;
  std::filesystem::create_directory(folder / "bin");
  std::filesystem::copy_file(std::filesystem::path(EQUALUX_PROGRAM_FOLDER) / "equalux",
                             folder / "bin/equalux");
  folder.write("in.y4m", dim_y4m(32, 16, 2));
  ProgramOptions options;
  options.folder = folder.path();
  const auto plain = run_program({"run", "in.y4m", "-o", "-", "--preset", "plain"}, options);
  options.program = folder / "bin/equalux";
  options.environment = {{"EQUALUX_CONFIG_PATH", ""}};
  const auto alone = run_program({"run", "in.y4m", "-o", "-"}, options);
  EXPECT_EQ(alone.exit_code, 0);
  EXPECT_EQ(alone.out, plain.out);
  const std::string places = (folder / "configs") + " or " + (folder / "share/equalux/configs");
  EXPECT_THAT(alone.err,
              HasSubstr("equalux: preset stable is not in " + places + ", going on with plain"));
  const auto chosen = run_program({"run", "in.y4m", "-o", "null", "--preset", "webcam"}, options);
  EXPECT_EQ(chosen.exit_code, 2);
  EXPECT_THAT(chosen.err, HasSubstr("--preset is 'webcam', must be plain: no presets are in " +
                                    places + "; EQUALUX_CONFIG_PATH may name their folder"));
}

/// What a filter has of the flags and the preset, it takes; its own spec wins.
TEST(Knobs, ReachEveryFilterThatHasThem) {
  const TempFolder folder;
  folder.write("in.y4m", dim_y4m(64, 48, 4));
  folder.write("partly.toml", "strength = 0.3\nregion = \"0,0,8,8\"\n");
  ProgramOptions options;
  options.folder = folder.path();
  const auto hashes = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments{"run", "in.y4m", "-o", "null", "--verify", "--quiet"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProgramResult result = run_program(arguments, options);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.out;
  };
  const std::string stable = "strength=0.8,clip-limit=3,floor=0.5,max-gain=8,temporal-ms=2000";
  const std::string plain = hashes({"--filter", "clahe", "--preset", "plain"});
  EXPECT_EQ(hashes({"--filter", "clahe"}),
            hashes({"--filter", "clahe:" + stable, "--preset", "plain"}));
  EXPECT_NE(hashes({"--filter", "clahe"}), plain);
  EXPECT_EQ(hashes({"--filter", "clahe", "--preset", "plain", "--clip-limit", "5"}),
            hashes({"--filter", "clahe:clip-limit=5", "--preset", "plain"}));
  EXPECT_EQ(hashes({"--filter", "clahe:clip-limit=5", "--preset", "plain", "--clip-limit", "9"}),
            hashes({"--filter", "clahe:clip-limit=5", "--preset", "plain"}));
  EXPECT_EQ(hashes({"--filter", "clahe", "--filter", "sharpen", "--preset", "fog"}),
            hashes({"--filter",
                    "clahe:clip-limit=1.5,floor=0.1,ceiling=99.9,"
                    "temporal-ms=3000,saturation=auto",
                    "--filter", "sharpen", "--preset", "plain"}));
  const auto said = run_program({"run", "in.y4m", "-o", "null", "--filter", "clahe"}, options);
  EXPECT_THAT(said.err, HasSubstr("; clahe; preset stable\n"));
  // A config's other keys are said to be idle, and the list of all keys changes nothing.
  EXPECT_EQ(hashes({"--filter", "clahe", "--config", config_path("default.toml")}), plain);
  const ProgramResult partly = run_program(
      {"run", "in.y4m", "-o", "null", "--filter", "clahe", "--config", "partly.toml"}, options);
  EXPECT_EQ(partly.exit_code, 0);
  EXPECT_THAT(partly.err, HasSubstr("partly.toml:2 region: nothing that the chain clahe has"));
  EXPECT_THAT(partly.err, Not(HasSubstr("strength:")));
  // So are those of a preset that was asked for: without its line haze leaves the picture as it is.
  const auto hazy = run_program(
      {"run", "in.y4m", "-o", "null", "--filter", "clahe", "--preset", "haze"}, options);
  EXPECT_EQ(hazy.exit_code, 0);
  EXPECT_THAT(hazy.err, HasSubstr("preset haze stretch: nothing that the chain clahe has"));
  const auto foggy =
      run_program({"run", "in.y4m", "-o", "null", "--filter", "clahe", "--preset", "fog"}, options);
  EXPECT_THAT(foggy.err, Not(HasSubstr("nothing that the chain")));
  // What nobody asked for may be without effect.
  EXPECT_EQ(hashes({"--filter", "identity"}),
            hashes({"--filter", "identity", "--preset", "plain"}));
}

TEST(Presets, CamerasHaveTheirOwn) {
  const auto usual = [](const std::string& input) {
    for (cli::Command& command : cli::all_commands()) {
      if (command.name != "run") continue;
      command.positionals.front().set(input);
      return command.usual_preset();
    }
    return std::string("no command run");
  };
  EXPECT_EQ(usual("camera:0"), "webcam");
  EXPECT_EQ(usual("in.mp4"), "stable");
  EXPECT_EQ(usual("-"), "stable");
}

}  // namespace
}  // namespace equalux::test
