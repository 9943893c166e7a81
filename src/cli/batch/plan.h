#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// Which files a batch takes, and what their results are called.
namespace equalux::cli {

struct BatchJob {
  std::string input;
  std::string output;
};

struct BatchPlan {
  std::vector<BatchJob> jobs;  ///< in natural order within each argument
  std::size_t skipped = 0;     ///< files of folders that are no media by their name
};

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

/// Folders are searched through and mirrored below `out`; where that is empty, outputs are "null".
/// `extension` is the container of the results; empty keeps the input's where we write it, else
/// mkv. An argument that does not exist becomes a job, whose failure the table then tells. Throws
/// Error(usage) where two inputs would have one output, or an output is an input.
[[nodiscard]] BatchPlan plan_batch(const std::vector<std::string>& inputs,
                                   const std::vector<ManifestEntry>& manifest,
                                   const std::string& out, const std::string& extension);

/// One of several shares of a plan: jobs index, index + count, index + 2 count ...
struct Shard {
  std::size_t index = 0;  ///< from 0
  std::size_t count = 1;
};

/// "i/n" with i from 0; "/n", whose index is that of the array task or indexed job this runs in;
/// "auto", where the array tells both. Throws Error(usage).
[[nodiscard]] Shard parse_shard(const std::string& text);

/// The numbers of the shard's jobs in the plan.
[[nodiscard]] std::vector<std::size_t> jobs_of(const BatchPlan& plan, const Shard& shard);

}  // namespace equalux::cli
