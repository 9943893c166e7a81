#include "src/cli/settings.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <new>
#include <sstream>

#include <dirent.h>
#include <equalux/error.h>
#include <equalux/params.h>
#include <unistd.h>

#include "src/cli/config_file.h"
#include "src/cli/values.h"
#include "src/common/log.h"
#include "src/options/idle_options.h"
#include "src/options/nearest_name.h"
#include "src/options/option_values.h"

namespace fs = std::filesystem;

namespace equalux::cli {
namespace {

constexpr int kMaxIncludes = 8;
constexpr const char* kPlain = "plain";

struct CloseFolder {
  void operator()(DIR* folder) const noexcept { ::closedir(folder); }
};

bool is_shared(const std::vector<Command>& commands, const std::string& key) {
  for (const Command& command : commands) {
    for (const OptionGroup& group : command.groups) {
      const bool has = std::any_of(group.options.begin(), group.options.end(),
                                   [&](const Option& option) { return option.name == key; });
      if (has && group.shared) return true;
    }
  }
  return false;
}

/// Entries of one file; those of the command's table take precedence over those at the top.
class Layer {
 public:
  Layer(Settings& settings, const Command& command, const std::vector<Command>& commands,
        GivenBy by, std::vector<std::string>& files)
      : settings_(settings), command_(command), commands_(commands), by_(by), files_(files) {}

  void add_file(const std::string& path, int depth = 0) {
    if (depth > kMaxIncludes) {
      throw_usage("config file " + path + " is included more than " + std::to_string(kMaxIncludes) +
                  " deep, must not include itself");
    }
    const std::vector<ConfigEntry> entries = read_config(path);
    files_.push_back(path);
    for (const ConfigEntry& entry : entries)
      check(entry, path);
    std::string included = add_table(entries, command_.name, path);
    const std::string at_top = add_table(entries, "", path);
    if (included.empty()) included = at_top;
    if (!included.empty()) add_file((fs::path(path).parent_path() / included).string(), depth + 1);
  }

 private:
  static std::string origin(const ConfigEntry& entry, const std::string& path) {
    return path + ":" + std::to_string(entry.line);
  }

  void check(const ConfigEntry& entry, const std::string& path) const {
    const Command* owner = entry.table.empty() ? &command_ : find_command(commands_, entry.table);
    if (owner == nullptr) {
      std::vector<std::string> names;
      for (const Command& command : commands_)
        names.push_back(command.name);
      throw_usage(origin(entry, path) + ": table [" + entry.table + "] is unknown, must be " +
                  list_of_names(names));
    }
    const Option* option = owner->find(entry.key);
    if (option == nullptr) {
      if (entry.table.empty() && is_shared(commands_, entry.key)) return;
      throw_usage(origin(entry, path) + ": " +
                  unknown_option_text("key " + entry.key, entry.key, *owner, commands_));
    }
    if (entry.is_array && option->value.empty()) {
      throw_usage(origin(entry, path) + ": " + entry.key + " is an array, must be true or false");
    }
  }

  /// Returns the file to include, if the table names one.
  std::string add_table(const std::vector<ConfigEntry>& entries, const std::string& table,
                        const std::string& path) {
    std::string included;
    for (const ConfigEntry& entry : entries) {
      const Option* option = command_.find(entry.key);
      if (entry.table != table || option == nullptr) continue;
      if (entry.key == "config") {
        included = entry.values.empty() ? "" : entry.values.front();
        continue;
      }
      Setting setting{entry.values, origin(entry, path), by_};
      if (!option->repeatable) setting.values = {joined(entry.values, ",")};
      const auto [held, is_new] = settings_.try_emplace(entry.key, setting);
      if (!is_new && is_of_preset(by_) && held->second.by != by_ &&
          held->second.values != setting.values) {
        held->second.changes_preset = true;
      }
    }
    return included;
  }

  Settings& settings_;
  const Command& command_;
  const std::vector<Command>& commands_;
  GivenBy by_;
  std::vector<std::string>& files_;  // files read so far
};

/// Returns the folders of presets: the user's, a build tree's, the installed one.
std::vector<fs::path> preset_folders() {
  std::vector<fs::path> folders;
  if (const char* path = std::getenv("EQUALUX_CONFIG_PATH")) {
    std::istringstream parts(path);
    for (std::string part; std::getline(parts, part, ':');) {
      if (!part.empty()) folders.emplace_back(part);
    }
  }
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  if (!program.empty()) {
    const fs::path prefix = program.parent_path().parent_path();
    folders.push_back(prefix / "configs");
    folders.push_back(prefix / EQUALUX_DATA_FOLDER / "equalux" / "configs");
  }
  return folders;
}

/// Returns where presets are looked for, for messages.
std::string preset_places() {
  std::string places;
  for (const fs::path& folder : preset_folders())
    places += (places.empty() ? "" : " or ") + folder.string();
  return places;
}

std::string find_preset(const std::string& name) {
  const bool plain_name =
      !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '-' || c == '_';
      });
  if (plain_name) {
    for (const fs::path& folder : preset_folders()) {
      const fs::path file = folder / (name + ".toml");
      std::error_code ignored;
      if (fs::is_regular_file(file, ignored)) return file.string();
    }
  }
  const std::vector<std::string> names = preset_names();
  const std::string reason = names.size() > 1 ? ""
                                              : ": no presets are in " + preset_places() +
                                                    "; EQUALUX_CONFIG_PATH may name their folder";
  throw_usage("preset is '" + name + "', must be " + nearest_or_all(name, names) + reason);
}

/// Finds a preset; an error names its `origin`, empty = the command line.
std::string find_named_preset(const std::string& name, const std::string& origin) {
  try {
    return find_preset(name);
  } catch (const Error& error) {
    throw Error(error.code(), (origin.empty() ? "--" : origin + ": ") + error.what());
  }
}

/// Describes a preset: its file's first comment, and the commands that know all keys at its top.
Preset describe_preset(const std::string& name, const std::string& path,
                       const std::vector<Command>& commands) {
  Preset preset{name, "", {}};
  std::ifstream file(path);
  if (std::string line; std::getline(file, line) && line.starts_with("# ")) {
    // The comment may end with an example command, which is left out.
    preset.summary = line.substr(2, line.find(": equalux ") - 2);
  }
  const std::vector<ConfigEntry> entries = read_config(path);
  for (const Command& command : commands) {
    const bool knows_all =
        std::all_of(entries.begin(), entries.end(), [&](const ConfigEntry& entry) {
          return !entry.table.empty() || command.find(entry.key) != nullptr ||
                 is_shared(commands, entry.key);
        });
    if (knows_all) preset.commands.push_back(command.name);
  }
  if (preset.commands.size() == commands.size()) preset.commands.clear();
  return preset;
}

/// Throws where the preset belongs to other commands.
void refuse_foreign_preset(const std::string& name, const std::string& path, const Command& command,
                           const std::vector<Command>& commands) {
  const Preset preset = describe_preset(name, path, commands);
  const std::vector<std::string>& owners = preset.commands;
  if (owners.empty() || std::find(owners.begin(), owners.end(), command.name) != owners.end()) {
    return;
  }
  std::vector<std::string> others;
  for (const Preset& each : list_presets(commands)) {
    const bool holds =
        each.commands.empty() ||
        std::find(each.commands.begin(), each.commands.end(), command.name) != each.commands.end();
    if (holds) others.push_back(each.name);
  }
  throw_usage("--preset " + name + " is one of equalux " + list_of_names(owners) + ", must be " +
              list_of_names(others) + " for equalux " + command.name);
}

/// Returns true where --curve-from or --compatible, or a filter's key of that name, is set: no
/// preset fits them.
bool stands_alone(const Settings& settings) {
  const auto given = [&settings](const std::string& key, const auto& holds) {
    const auto setting = settings.find(key);
    return setting != settings.end() &&
           std::any_of(setting->second.values.begin(), setting->second.values.end(), holds);
  };
  return given("curve-from", [](const std::string& value) { return !value.empty(); }) ||
         given("compatible",
               [](const std::string& value) { return value == enum_name(Compatible::opencv); }) ||
         given("filter", [](const std::string& value) {
           return value.find("curve-from=") != std::string::npos ||
                  value.find("compatible=opencv") != std::string::npos;
         });
}

/// Returns the preset where none is chosen. The staged chain has none of the presets' options, a
/// given tone curve replaces them, and --compatible excludes them: all these get none.
std::string usual_preset(const Settings& settings, const Command& command) {
  if (!command.usual_preset) return kPlain;
  if (stands_alone(settings)) return kPlain;
  if (const auto chain = settings.find("chain");
      chain != settings.end() && chain->second.values.back() == enum_name(Chain::staged)) {
    return kPlain;
  }
  if (const auto filters = settings.find("filter"); filters != settings.end()) {
    for (const std::string& filter : filters->second.values)
      if (filter.find("chain=staged") != std::string::npos) return kPlain;
  }
  const std::string name = command.usual_preset();
  const std::vector<std::string> names = preset_names();
  if (std::find(names.begin(), names.end(), name) != names.end()) return name;
  logger().warn("preset {} is not in {}, going on with {}", name, preset_places(), kPlain);
  return kPlain;
}

/// Erases settings of a preset that mean nothing beside what the user set: the bound of automatic
/// saturation beside a number, the time constants of the two directions beside a --temporal-ms of
/// 0.
void leave_out_idle(Settings& settings) {
  OptionValues asked;
  for (const auto& [key, setting] : settings)
    if (!is_of_preset(setting.by) && !setting.values.empty())
      asked.emplace_back(key, setting.values.back());
  for (const auto& [key, value] : idle_beside(equalize_options(), asked)) {
    const auto idle = settings.find(key);
    if (idle != settings.end() && is_of_preset(idle->second.by)) settings.erase(idle);
  }
}

}  // namespace

std::vector<std::string> preset_names() {
  std::vector<std::string> names{kPlain};
  for (const fs::path& folder : preset_folders()) {
    // fs::directory_iterator would terminate the process where memory is short.
    const std::unique_ptr<DIR, CloseFolder> files(::opendir(folder.c_str()));
    if (!files && errno == ENOMEM) throw std::bad_alloc();
    while (const dirent* entry = files ? ::readdir(files.get()) : nullptr) {
      const fs::path file(entry->d_name);
      // default.toml, the list of all keys, is a file to copy from, no preset.
      if (file.extension() == ".toml" && file.stem() != "default") {
        names.push_back(file.stem().string());
      }
    }
  }
  std::sort(names.begin() + 1, names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::vector<Preset> list_presets(const std::vector<Command>& commands) {
  std::vector<Preset> presets;
  for (const std::string& name : preset_names()) {
    if (name == kPlain) {
      presets.push_back({name, "Each frame by itself, in full; flickers, and enlarges noise.", {}});
      continue;
    }
    try {
      presets.push_back(describe_preset(name, find_preset(name), commands));
    } catch (const Error&) {
      // The error appears where the preset is chosen by name.
    }
  }
  return presets;
}

std::string preset_table(const std::vector<Command>& commands) {
  const std::vector<Preset> presets = list_presets(commands);
  std::size_t width = 0;
  for (const Preset& preset : presets)
    width = std::max(width, preset.name.size());
  const auto row = [width](const Preset& preset) {
    std::string text = "  " + preset.name;
    text.resize(width + 4, ' ');
    return text + preset.summary;
  };
  std::string curves = "Curves, for every command that filters:\n";
  std::string others;
  for (const Preset& preset : presets) {
    if (preset.commands.empty()) {
      curves += row(preset) + "\n";
    } else {
      others += row(preset) + " (equalux " + list_of_names(preset.commands) + ")\n";
    }
  }
  return curves + (others.empty() ? "" : "For one command, with more than a curve:\n" + others);
}

std::vector<std::pair<std::string, std::string>> preset_options(const std::string& name) {
  std::vector<std::pair<std::string, std::string>> options;
  if (name == kPlain) return options;
  for (const ConfigEntry& entry : read_config(find_preset(name))) {
    const bool holds = entry.table.empty() || entry.table == "run";
    if (!holds) continue;
    options.emplace_back(entry.key, joined(entry.values, ","));
    if (entry.key != "filter") continue;
    for (const std::string& text : entry.values) {
      const FilterSpec spec = parse_filter_spec(text);
      for (const auto& [key, value] : spec.options)
        options.emplace_back(spec.name + "-" + key, value);
    }
  }
  return options;
}

std::vector<std::string> preset_filters(const std::string& name) {
  std::vector<std::string> filters;
  if (name == kPlain) return filters;
  for (const ConfigEntry& entry : read_config(find_preset(name))) {
    const bool holds = entry.table.empty() || entry.table == "run";
    if (holds && entry.key == "filter") filters = entry.values;
  }
  return filters;
}

void add_config_layers(Settings& settings, const Command& command,
                       const std::vector<Command>& commands) {
  std::vector<std::string> files;
  if (const auto config = settings.find("config"); config != settings.end()) {
    const std::string path = config->second.values.back();
    if (!path.empty()) Layer(settings, command, commands, GivenBy::config, files).add_file(path);
  }
  std::string name;
  std::string origin;
  GivenBy by = GivenBy::preset;
  if (const auto preset = settings.find("preset"); preset != settings.end()) {
    name = preset->second.values.back();
    origin = preset->second.origin;
  }
  if (name.empty()) {
    name = usual_preset(settings, command);
    by = GivenBy::usual_preset;
  }
  if (command.find("preset") != nullptr) settings["preset"] = {{name}, origin, by};
  if (name != kPlain) {
    const std::string path = find_named_preset(name, origin);
    refuse_foreign_preset(name, path, command, commands);
    Layer(settings, command, commands, by, files).add_file(path);
  }
  leave_out_idle(settings);
  if (!files.empty()) settings["config"].values = files;
}

void apply_settings(const Settings& settings, const Command& command) {
  if (command.note) command.note(settings);
  for (const OptionGroup& group : command.groups) {
    for (const Option& option : group.options) {
      const auto setting = settings.find(option.name);
      if (setting == settings.end()) continue;
      try {
        for (const std::string& value : setting->second.values)
          option.set(value);
      } catch (const Error& error) {
        if (setting->second.origin.empty()) throw;
        throw Error(error.code(), setting->second.origin + ": " + error.what());
      }
    }
  }
}

std::string unknown_option_text(const std::string& what, const std::string& name,
                                const Command& command, const std::vector<Command>& commands) {
  std::string text = what + " is unknown to equalux " + command.name;
  std::vector<std::string> owners;
  for (const Command& other : commands) {
    if (other.find(name) != nullptr) owners.push_back("equalux " + other.name);
  }
  if (!owners.empty()) return text + ", it belongs to " + list_of_names(owners);
  const std::string nearest = nearest_name(name, command.option_names());
  if (!nearest.empty()) return text + ", must be " + (what[0] == 'k' ? "" : "--") + nearest;
  return text + ", must be one that equalux " + command.name + " --help names";
}

}  // namespace equalux::cli
