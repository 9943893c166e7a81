#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "src/cli/batch/manifest.h"
#include "src/cli/folder_files.h"

/// Plan of a batch: its files and the names of their results.
namespace equalux::cli {

struct BatchJob {
  std::string input;
  std::string output;
  std::string name{};  ///< path below the argument that it comes from; decides on its shard
};

/// Returns a job's name for people: its input below the argument that it comes from, or without
/// folders where a manifest names the result.
[[nodiscard]] std::string title_of(const BatchJob& job);

/// Entries of folders that are named like media but that no batch takes.
struct LeftOut {
  std::vector<std::string> partial;       ///< partial results of an earlier batch
  std::vector<std::string> broken_links;  ///< links to no file
  std::vector<std::string> folder_links;  ///< links to folders, under any name; not followed
  std::vector<std::string> special;       ///< neither files nor folders: pipes, devices, sockets
};

struct BatchPlan {
  std::vector<BatchJob> jobs;  ///< in natural order within each argument
  /// Indices of jobs whose results keep the input's extension in their name, because others would
  /// have the same name without.
  std::vector<std::size_t> renamed{};
  std::size_t skipped = 0;  ///< files of folders whose names are not those of media
  LeftOut left_out;
  std::vector<Unreadable> unreadable;
};

/// Makes a plan. Folders are searched recursively and mirrored below `out`; if that is empty,
/// outputs are "null". `extension` is the container of results; empty = the input's where it can be
/// written, else mkv. An argument that does not exist becomes a job that fails, and an input that
/// is named twice is one job. Results that would have one name, as of a.avi and a.gif, become
/// a.avi.mkv and a.gif.mkv. Throws Error(usage) where two inputs still have the same output, or an
/// output is an input, lies in the state folder of batches, or is named like a file that is being
/// written.
[[nodiscard]] BatchPlan plan_batch(const std::vector<std::string>& inputs,
                                   const std::vector<ManifestEntry>& manifest,
                                   const std::string& out, const std::string& extension);

/// One of several shares of a plan. The name of a job alone decides on its share, so that machines
/// that see different files still agree.
struct Shard {
  std::size_t index = 0;  ///< counted from 0
  std::size_t count = 1;
};

/// Parses "i/n" with i from 0; "/n", with the index of the array task or indexed job this runs in;
/// or "auto", both from the array. Throws Error(usage).
[[nodiscard]] Shard parse_shard(const std::string& text);

/// Returns the share of `count` that a name belongs to, from 0; the same on every machine and in
/// every version.
[[nodiscard]] std::size_t shard_of(std::string_view name, std::size_t count);

/// Returns the indices of the shard's jobs in the plan.
[[nodiscard]] std::vector<std::size_t> jobs_of(const BatchPlan& plan, const Shard& shard);

}  // namespace equalux::cli
