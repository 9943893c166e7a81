#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "batch/manifest.h"

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
