#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Manifest: a text file with a batch's inputs and names of results.
namespace equalux::cli {

/// Line of a manifest.
struct ManifestEntry {
  std::string input;
  std::string output;  ///< path below the folder of results; empty = the input's file name
};

/// Parses a manifest: one input a line, or an input, a tab and the name of its result. Empty lines
/// and lines that begin with # are skipped; relative inputs are relative to `folder`. Throws
/// Error(usage) with `name` and the line.
[[nodiscard]] std::vector<ManifestEntry> parse_manifest(std::string_view text,
                                                        const std::string& folder,
                                                        const std::string& name);
/// Reads a manifest. Throws Error(no_input) where the file cannot be read, and as parse_manifest().
[[nodiscard]] std::vector<ManifestEntry> read_manifest(const std::string& path);

}  // namespace equalux::cli
