#include "src/cli/batch/plan.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include <equalux/error.h>

#include "pipelines/files/extension.h"
#include "pipelines/files/natural_order.h"
#include "src/cli/batch/state.h"
#include "src/cli/io_factory.h"
#include "src/cli/paths.h"

namespace fs = std::filesystem;

namespace equalux::cli {
namespace {

std::string result_extension(const fs::path& input, const std::string& extension) {
  if (!extension.empty()) return extension;
  const std::string own = extension_of(input.string());
  const bool kept = own == "mp4" || own == "mov" || own == "m4v" || own == "mkv" || own == "y4m";
  return kept ? own : "mkv";
}

/// Half-written outputs of an earlier run are no inputs.
bool is_partial(const fs::path& file) {
  return file.stem().extension() == ".partial";
}

/// Everything below a folder: its files, and what is to be said of the rest.
class Listing {
 public:
  Listing(const fs::path& folder, BatchPlan& plan) : plan_(plan) {
    for (folders_.push_back(folder); !folders_.empty();) {
      const fs::path next = std::move(folders_.back());
      folders_.pop_back();
      list(next);
    }
    std::sort(files_.begin(), files_.end(), [](const fs::path& a, const fs::path& b) {
      return natural_less(a.string(), b.string());
    });
  }
  [[nodiscard]] const std::vector<fs::path>& files() const { return files_; }

 private:
  void list(const fs::path& folder) {
    std::error_code failed;
    std::size_t entries = 0;
    for (fs::directory_iterator it(folder, failed), end; !failed && it != end;
         it.increment(failed), ++entries) {
      take(*it);
    }
    if (!failed) return;
    const std::string after =
        entries == 0 ? "" : " after " + std::to_string(entries) + " of its entries";
    plan_.unreadable.push_back({folder.string(), failed.message() + after});
  }

  void take(const fs::directory_entry& entry) {
    std::error_code ignored;
    const fs::path& path = entry.path();
    const bool link = entry.is_symlink(ignored);
    if (entry.is_directory(ignored)) {
      if (link) {
        plan_.left_out.folder_links.push_back(path.string());
      } else {
        folders_.push_back(path);
      }
    } else if (entry.is_regular_file(ignored) || !is_media_name(path.string())) {
      files_.push_back(path);
    } else if (link && !entry.exists(ignored)) {
      plan_.left_out.broken_links.push_back(path.string());
    } else {
      plan_.left_out.special.push_back(path.string());
    }
  }

  BatchPlan& plan_;
  std::vector<fs::path> folders_;
  std::vector<fs::path> files_;
};

/// True for paths inside `folder`, so that a second batch does not take the results of the first.
bool is_below(const fs::path& path, const fs::path& folder) {
  std::error_code ignored;
  const fs::path relative =
      fs::weakly_canonical(path, ignored).lexically_relative(fs::weakly_canonical(folder, ignored));
  return !relative.empty() && *relative.begin() != "..";
}

void refuse_shared_outputs(const std::vector<BatchJob>& jobs) {
  std::map<std::string, std::string> taken;
  InputFiles inputs;
  for (const BatchJob& job : jobs)
    inputs.add(job.input);
  for (const BatchJob& job : jobs) {
    const auto [other, is_new] = taken.emplace(job.output, job.input);
    if (!is_new) {
      throw Error(ExitCode::usage, "inputs " + other->second + " and " + job.input +
                                       " would both become " + job.output +
                                       ", must have different names or run apart");
    }
    refuse_same_file(job.input, job.output);
    inputs.refuse(job.output);
  }
}

}  // namespace

BatchPlan plan_batch(const std::vector<std::string>& inputs,
                     const std::vector<ManifestEntry>& manifest, const std::string& out,
                     const std::string& extension) {
  BatchPlan plan;
  const auto add = [&](const fs::path& input, const fs::path& below) {
    if (out.empty()) {
      plan.jobs.push_back({input.string(), "null", below.generic_string()});
      return;
    }
    const fs::path normal = below.lexically_normal();
    if (!normal.empty() && *normal.begin() == kStateFolder) {
      throw Error(ExitCode::usage, "input " + input.string() + " would become " +
                                       (fs::path(out) / normal).string() + ", in the folder of " +
                                       "what a batch remembers, must have another result");
    }
    fs::path output = fs::path(out) / below;
    output.replace_extension(result_extension(below, extension));
    plan.jobs.push_back(
        {input.string(), output.lexically_normal().string(), below.generic_string()});
  };
  for (const std::string& input : inputs) {
    std::error_code ignored;
    if (!fs::is_directory(input, ignored)) {
      add(input, fs::path(input).filename());
      continue;
    }
    const Listing listing(input, plan);
    for (const fs::path& file : listing.files()) {
      if (!is_media_name(file.string())) {
        ++plan.skipped;
      } else if (is_partial(file)) {
        plan.left_out.partial.push_back(file.string());
      } else if (out.empty() || !is_below(file, out) || is_below(input, out)) {
        add(file, file.lexically_relative(input));
      }
    }
  }
  for (const ManifestEntry& entry : manifest) {
    add(entry.input,
        entry.output.empty() ? fs::path(entry.input).filename() : fs::path(entry.output));
  }
  if (!out.empty()) refuse_shared_outputs(plan.jobs);
  return plan;
}

}  // namespace equalux::cli
