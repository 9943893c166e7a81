#include "batch/plan.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
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

/// A result's name must stay below the folder of the results.
bool leads_outside(const fs::path& name) {
  const fs::path normal = name.lexically_normal();
  return normal.is_absolute() || normal.empty() || *normal.begin() == ".." || normal == ".";
}

void refuse_shared_outputs(const std::vector<BatchJob>& jobs) {
  std::map<std::string, std::string> taken;
  for (const BatchJob& job : jobs) {
    const auto [other, is_new] = taken.emplace(job.output, job.input);
    if (!is_new) {
      throw Error(ExitCode::usage, "inputs " + other->second + " and " + job.input +
                                       " would both become " + job.output +
                                       ", must have different names or run apart");
    }
    refuse_same_file(job.input, job.output);
  }
}

}  // namespace

std::vector<ManifestEntry> parse_manifest(std::string_view text, const std::string& folder,
                                          const std::string& name) {
  std::vector<ManifestEntry> entries;
  for (std::size_t number = 1; !text.empty(); ++number) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line.front() == '#') continue;
    const auto refuse = [&](const std::string& what) {
      throw Error(ExitCode::usage, name + ":" + std::to_string(number) + ": " + what);
    };
    if (line.find('\0') != std::string_view::npos) refuse("holds a zero byte, must be text");
    const std::size_t tab = line.find('\t');
    ManifestEntry entry;
    entry.input = line.substr(0, tab);
    if (tab != std::string_view::npos) entry.output = line.substr(tab + 1);
    if (entry.input.empty()) refuse("has no input, must be INPUT or INPUT<tab>RESULT");
    if (entry.output.find('\t') != std::string::npos) {
      refuse("has two tabs, must be INPUT or INPUT<tab>RESULT");
    }
    if (tab != std::string_view::npos && leads_outside(entry.output)) {
      refuse("result '" + entry.output + "' must be a name below the folder of the results");
    }
    entry.input = (fs::path(folder) / entry.input).string();
    entries.push_back(std::move(entry));
  }
  return entries;
}

std::vector<ManifestEntry> read_manifest(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::error_code ignored;
  if (!file || fs::is_directory(path, ignored)) {
    throw Error(ExitCode::no_input, "--manifest " + path + " cannot be read, must be a text file");
  }
  return parse_manifest(text, fs::path(path).parent_path().string(), path);
}

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
