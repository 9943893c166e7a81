// Tests config files: what was read, written as TOML and read again is the same.
#include "fuzz/invariant.h"
#include "src/cli/config_file.h"

namespace {

using namespace equalux;

std::string in_quotes(std::string_view text) {
  constexpr std::string_view kMeanings = "\b\t\n\f\r\"\\";
  constexpr std::string_view kLetters = "btnfr\"\\";
  std::string quoted = "\"";
  for (const char c : text) {
    const std::size_t which = kMeanings.find(c);
    if (which == std::string_view::npos) {
      quoted += c;
    } else {
      quoted += std::string("\\") + kLetters[which];
    }
  }
  return quoted + "\"";
}

std::string as_toml(const std::vector<cli::ConfigEntry>& entries) {
  std::string text;
  std::string table;
  for (const cli::ConfigEntry& entry : entries) {
    if (entry.table != table) text += "[" + in_quotes(table = entry.table) + "] # a table\n";
    text += in_quotes(entry.key) + " = ";
    if (entry.is_array) text += "[\n";
    for (const std::string& value : entry.values)
      text += in_quotes(value) + (entry.is_array ? ",\n" : "");
    text += entry.is_array ? "]\n" : "\n";
  }
  return text;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<cli::ConfigEntry> entries;
  const auto read = [&] { entries = cli::parse_config(fuzz::text_of(data, size), "fuzz"); };
  if (!fuzz::accepted(ExitCode::usage, "fuzz:", read)) return 0;
  const std::string text = as_toml(entries);
  const std::vector<cli::ConfigEntry> again = cli::parse_config(text, "again");
  fuzz::require(again.size() == entries.size(), "as many entries as before", text);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    fuzz::require(again[i].table == entries[i].table && again[i].key == entries[i].key &&
                      again[i].values == entries[i].values &&
                      again[i].is_array == entries[i].is_array,
                  "the same entry as before", text);
    fuzz::require(entries[i].is_array || entries[i].values.size() == 1, "one value", text);
  }
  return 0;
}
