#include "paths.h"

#include <algorithm>
#include <filesystem>

#include <equalux/error.h>

namespace fs = std::filesystem;

namespace equalux::cli {

std::string extension_of(const std::string& path) {
  std::string extension = fs::path(path).extension().string();
  if (!extension.empty()) extension.erase(0, 1);
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return extension;
}

void refuse_same_file(const std::string& input, const std::string& output) {
  std::error_code ignored;
  const bool same = fs::equivalent(input, output, ignored) ||
                    fs::weakly_canonical(input, ignored) == fs::weakly_canonical(output, ignored);
  if (same && !fs::is_character_file(output, ignored)) {
    throw Error(ExitCode::usage, "output " + output + " is the input, must be another file");
  }
}

void require_input(const std::string& path) {
  std::error_code ignored;
  if (path.empty() || !fs::exists(path, ignored)) {
    throw Error(ExitCode::no_input, "input '" + path + "' does not exist, must be a readable file");
  }
}

}  // namespace equalux::cli
