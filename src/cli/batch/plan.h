#pragma once

#include <cstddef>
#include <string>
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

/// Folders are searched through and mirrored below `out`. `extension` is the container of the
/// results; empty keeps the input's where we write it, else mkv. An argument that does not exist
/// becomes a job, whose failure the table then tells.
/// Throws Error(usage) where two inputs would have one output, or an output is an input.
[[nodiscard]] BatchPlan plan_batch(const std::vector<std::string>& inputs, const std::string& out,
                                   const std::string& extension);

}  // namespace equalux::cli
