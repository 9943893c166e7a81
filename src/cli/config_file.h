#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Config files: the part of TOML that options need. Keys have strings, numbers, booleans and
/// arrays of them; tables name a command.
namespace equalux::cli {

struct ConfigEntry {
  std::string table;  ///< "run" under [run]; empty at the top
  std::string key;
  std::vector<std::string> values;  ///< one value, or the elements of an array
  bool is_array = false;
  int line = 0;  ///< counted from 1
};

/// Parses a config. Throws Error(usage) "NAME:LINE: ..." for other text and for a repeated key.
[[nodiscard]] std::vector<ConfigEntry> parse_config(std::string_view text, const std::string& name);

/// Reads and parses a file. Throws Error(no_input) where it is missing or unreadable.
[[nodiscard]] std::vector<ConfigEntry> read_config(const std::string& path);

}  // namespace equalux::cli
