#pragma once

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string>

namespace equalux {

/// What a file's name ends with: in lower case, without the dot; empty where there is none.
[[nodiscard]] inline std::string extension_of(const std::string& path) {
  std::string extension = std::filesystem::path(path).extension().string();
  if (!extension.empty()) extension.erase(0, 1);
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return extension;
}

}  // namespace equalux
