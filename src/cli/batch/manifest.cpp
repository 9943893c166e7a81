#include "src/cli/batch/manifest.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <equalux/error.h>

#include "src/cli/batch/state.h"
#include "src/common/utf8.h"
#include "src/options/option_values.h"

namespace fs = std::filesystem;

namespace equalux::cli {
namespace {

/// Returns true where a result's name would leave the folder of results.
bool leads_outside(const fs::path& name) {
  const fs::path normal = name.lexically_normal();
  return normal.is_absolute() || normal.empty() || *normal.begin() == ".." || normal == ".";
}

bool is_of_state(const fs::path& name) {
  const fs::path normal = name.lexically_normal();
  return !normal.empty() && *normal.begin() == kStateFolder;
}

}  // namespace

std::vector<ManifestEntry> parse_manifest(std::string_view text, const std::string& folder,
                                          const std::string& name) {
  std::vector<ManifestEntry> entries;
  text = without_mark(text);
  for (std::size_t number = 1; !text.empty(); ++number) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line.front() == '#') continue;
    const auto refuse = [&](const std::string& what) {
      throw_usage(name + ":" + std::to_string(number) + ": " + what);
    };
    if (line.find('\0') != std::string_view::npos) refuse("holds a zero byte, must be text");
    const std::size_t tab = line.find('\t');
    ManifestEntry entry;
    entry.input = line.substr(0, tab);
    if (tab != std::string_view::npos) entry.output = line.substr(tab + 1);
    if (entry.input.empty()) refuse("has no input, must be INPUT or INPUT<tab>RESULT");
    if (entry.output.find('\t') != std::string::npos) {
      refuse("has two tabs, must be INPUT or INPUT<tab>RESULT");
    }
    if (tab != std::string_view::npos && leads_outside(entry.output)) {
      refuse("result '" + entry.output + "' must be a name below the folder of the results");
    }
    if (is_of_state(entry.output)) {
      refuse("result '" + entry.output + "' is in " + kStateFolder +
             ", which holds what a batch remembers, must be beside it");
    }
    entry.input = (fs::path(folder) / entry.input).string();
    entries.push_back(std::move(entry));
  }
  return entries;
}

std::vector<ManifestEntry> read_manifest(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::error_code ignored;
  if (!file || fs::is_directory(path, ignored)) {
    throw Error(ExitCode::no_input, "--manifest " + path + " cannot be read, must be a text file");
  }
  return parse_manifest(text, fs::path(path).parent_path().string(), path);
}

}  // namespace equalux::cli
