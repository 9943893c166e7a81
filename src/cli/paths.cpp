#include "paths.h"

#include <algorithm>
#include <filesystem>

#include <equalux/error.h>
#include <sys/stat.h>

#include "partial_file.h"

namespace fs = std::filesystem;

namespace equalux::cli {
namespace {

Error grows_in_place_of(const std::string& input, const std::string& output) {
  return {ExitCode::usage, "output " + output + " would first be written as the input " + input +
                               ", must have another name"};
}

}  // namespace

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
  if (fs::equivalent(input, partial_path(output), ignored)) throw grows_in_place_of(input, output);
}

InputFiles::InputFiles(const std::vector<std::string>& paths) {
  for (const std::string& path : paths)
    add(path);
}

void InputFiles::add(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || S_ISCHR(status.st_mode)) return;
  names_.emplace(std::pair(status.st_dev, status.st_ino), path);
}

void InputFiles::refuse(const std::string& output) const {
  const auto input_at = [&](const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return names_.end();
    return names_.find(std::pair(status.st_dev, status.st_ino));
  };
  if (const auto same = input_at(output); same != names_.end()) {
    throw Error(ExitCode::usage, "output " + output + " is the input " +
                                     (same->second == output ? "" : same->second + " ") +
                                     "itself, must be another file");
  }
  if (const auto grown = input_at(partial_path(output)); grown != names_.end()) {
    throw grows_in_place_of(grown->second, output);
  }
}

void require_input(const std::string& path) {
  std::error_code ignored;
  if (path.empty() || !fs::exists(path, ignored)) {
    throw Error(ExitCode::no_input, "input '" + path + "' does not exist, must be a readable file");
  }
}

}  // namespace equalux::cli
