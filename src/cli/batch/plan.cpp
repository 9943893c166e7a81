#include "batch/plan.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include <equalux/error.h>

#include "io_factory.h"
#include "natural_order.h"
#include "paths.h"

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

std::vector<fs::path> files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  const auto options = fs::directory_options::skip_permission_denied;
  std::error_code failed;
  for (auto it = fs::recursive_directory_iterator(folder, options, failed);
       !failed && it != fs::recursive_directory_iterator(); it.increment(failed)) {
    std::error_code ignored;
    if (it->is_regular_file(ignored)) files.push_back(it->path());
  }
  std::sort(files.begin(), files.end(), [](const fs::path& a, const fs::path& b) {
    return natural_less(a.string(), b.string());
  });
  return files;
}

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
      plan.jobs.push_back({input.string(), "null"});
      return;
    }
    fs::path output = fs::path(out) / below;
    output.replace_extension(result_extension(below, extension));
    plan.jobs.push_back({input.string(), output.lexically_normal().string()});
  };
  for (const std::string& input : inputs) {
    std::error_code ignored;
    if (!fs::is_directory(input, ignored)) {
      add(input, fs::path(input).filename());
      continue;
    }
    for (const fs::path& file : files_below(input)) {
      if (!is_media_name(file.string()) || is_partial(file)) {
        ++plan.skipped;
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
