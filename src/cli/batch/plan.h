#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "src/cli/batch/manifest.h"
#include "src/cli/folder_files.h"

/// Which files a batch takes, and what their results are called.
namespace equalux::cli {

struct BatchJob {
  std::string input;
  std::string output;
  std::string name{};  ///< its path below the argument that it is of, which decides about its shard
};

/// What folders hold under a name of media, and no batch takes.
struct LeftOut {
  std::vector<std::string> partial;       ///< half-written results of an earlier batch
  std::vector<std::string> broken_links;  ///< that lead to no file
  std::vector<std::string> folder_links;  ///< to folders, whatever their name: not followed
  std::vector<std::string> special;       ///< neither files nor folders: pipes, devices, sockets
};

struct BatchPlan {
  std::vector<BatchJob> jobs;  ///< in natural order within each argument
  std::size_t skipped = 0;     ///< files of folders that are no media by their name
  LeftOut left_out;
  std::vector<Unreadable> unreadable;
};

/// Folders are searched through and mirrored below `out`; where that is empty, outputs are "null".
/// `extension` is the container of the results; empty keeps the input's where we write it, else
/// mkv. An argument that does not exist becomes a job, whose failure the table then tells. Throws
/// Error(usage) where two inputs would have one output, an output is an input, or lies in the
/// folder of what a batch remembers.
[[nodiscard]] BatchPlan plan_batch(const std::vector<std::string>& inputs,
                                   const std::vector<ManifestEntry>& manifest,
                                   const std::string& out, const std::string& extension);

/// One of several shares of a plan. Whose share a job is, its name alone decides: machines that do
/// not see the same files still agree about each.
struct Shard {
  std::size_t index = 0;  ///< from 0
  std::size_t count = 1;
};

/// "i/n" with i from 0; "/n", whose index is that of the array task or indexed job this runs in;
/// "auto", where the array tells both. Throws Error(usage).
[[nodiscard]] Shard parse_shard(const std::string& text);

/// The share of `count` that a name falls to, from 0; the same on every machine, for ever.
[[nodiscard]] std::size_t shard_of(std::string_view name, std::size_t count);

/// The numbers of the shard's jobs in the plan.
[[nodiscard]] std::vector<std::size_t> jobs_of(const BatchPlan& plan, const Shard& shard);

}  // namespace equalux::cli
