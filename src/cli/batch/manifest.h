#pragma once

#include <string>
#include <string_view>
#include <vector>

/// The text file that names a batch's inputs and results.
namespace equalux::cli {

/// A line of a manifest.
struct ManifestEntry {
  std::string input;
  std::string output;  ///< below the folder of the results; empty = the input's file name
};

/// The text of a manifest: an input a line, or an input, a tab and its result's name. Empty lines
/// and those that begin with # are left out; relative inputs are relative to `folder`.
/// Throws Error(usage) that names `name` and the line.
[[nodiscard]] std::vector<ManifestEntry> parse_manifest(std::string_view text,
                                                        const std::string& folder,
                                                        const std::string& name);
/// Throws Error(no_input) where the file cannot be read, and as parse_manifest.
[[nodiscard]] std::vector<ManifestEntry> read_manifest(const std::string& path);

}  // namespace equalux::cli
