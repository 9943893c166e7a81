// Tests manifests of a batch: results stay below their folder, and a manifest that is written and
// read again is the same.
#include <filesystem>

#include "fuzz/invariant.h"
#include "src/cli/batch/manifest.h"

namespace {

using namespace equalux;
namespace fs = std::filesystem;

/// Counts the folders of a name, instead of normalising it as the parser does.
bool stays_below(const std::string& name) {
  int depth = 0;
  for (const fs::path& part : fs::path(name)) {
    if (part == "/") return false;
    if (part.empty() || part == ".") continue;
    depth += part == ".." ? -1 : 1;
  }
  return depth > 0;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<cli::ManifestEntry> entries;
  const auto read = [&] { entries = cli::parse_manifest(fuzz::text_of(data, size), "", "fuzz"); };
  if (!fuzz::accepted(ExitCode::usage, "fuzz:", read)) return 0;
  // A comment comes first, since a byte order mark at the beginning of a name must not be at the
  // beginning of the file, which loses it.
  std::string text = "#\r\n";
  for (const cli::ManifestEntry& entry : entries) {
    fuzz::require(!entry.input.empty(), "an input has a name");
    fuzz::require(entry.output.empty() || stays_below(entry.output),
                  "a result stays below the folder of the results", entry.output);
    text += entry.input + (entry.output.empty() ? "" : "\t" + entry.output) + "\r\n";
  }
  const std::vector<cli::ManifestEntry> again = cli::parse_manifest(text, "", "again");
  fuzz::require(again.size() == entries.size(), "as many lines as before", text);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    fuzz::require(again[i].input == entries[i].input && again[i].output == entries[i].output,
                  "the same line as before", text);
  }
  const std::vector<cli::ManifestEntry> inside = cli::parse_manifest(text, "lists", "inside");
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const bool absolute = fs::path(entries[i].input).is_absolute();
    fuzz::require(inside[i].input == (absolute ? "" : "lists/") + entries[i].input,
                  "relative inputs are relative to the manifest's folder", inside[i].input);
  }
  return 0;
}
