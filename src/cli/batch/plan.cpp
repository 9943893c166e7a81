#include "src/cli/batch/plan.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <equalux/error.h>

#include "pipelines/files/file_names.h"
#include "pipelines/files/partial_file.h"
#include "src/cli/batch/state.h"
#include "src/cli/folder_files.h"
#include "src/cli/paths.h"
#include "src/cli/stream/io_factory.h"
#include "src/options/option_values.h"

namespace fs = std::filesystem;

namespace equalux::cli {
namespace {

std::string result_extension(const fs::path& input, const std::string& extension) {
  if (!extension.empty()) return extension;
  const std::string own = extension_of(input.string());
  const bool kept = own == "mp4" || own == "mov" || own == "m4v" || own == "mkv" || own == "y4m";
  return kept ? own : "mkv";
}

/// Returns a path that names a file to all readers of inputs, also where its name alone would be a
/// camera or a launch string: ./camera:0.mp4.
std::string as_file(const std::string& input) {
  std::error_code ignored;
  if (!fs::is_regular_file(input, ignored) || fs::path(input).is_absolute()) return input;
  try {
    const InputKind kind = input_kind(input);
    const bool named_as_file =
        kind == InputKind::media_file || kind == InputKind::y4m || kind == InputKind::sequence;
    if (named_as_file) return input;
  } catch (const Error&) {  // a camera that cannot be
  }
  return "./" + input;
}

/// Refuses a result with the name of a file that is being written, `a.partial.mp4` for example: a
/// batch that makes `a.mp4`, now or later, would write into it.
void refuse_working_name(const BatchJob& job) {
  if (!is_partial_path(job.output)) return;
  throw_usage("the result of " + job.input + " would be " + job.output +
              ", the name of a file that is being written, must have another name; a line of "
              "--manifest can give it one");
}

/// Returns true for a name that can only be a folder's.
bool names_folder(const std::string& input) {
  return input.ends_with('/');
}

/// Gives results that would have one name the whole name of their input: a.avi and a.gif become
/// a.avi.mkv and a.gif.mkv. A result that is named like its input keeps its name. All that are
/// named alike are renamed, so that the names do not depend on the order of the inputs.
void keep_apart(BatchPlan& plan, const std::string& out) {
  std::map<std::string, std::vector<std::size_t>> jobs_of;  // by output
  for (std::size_t i = 0; i < plan.jobs.size(); ++i) {
    if (!names_folder(plan.jobs[i].input)) jobs_of[plan.jobs[i].output].push_back(i);
  }
  for (const auto& [output, jobs] : jobs_of) {
    if (jobs.size() == 1) continue;
    for (const std::size_t number : jobs) {
      BatchJob& job = plan.jobs[number];
      const fs::path own = (fs::path(out) / job.name).lexically_normal();
      if (own == output) continue;
      job.output = own.string() + fs::path(output).extension().string();
      plan.renamed.push_back(number);
    }
  }
  std::sort(plan.renamed.begin(), plan.renamed.end());
}

void refuse_shared_outputs(const std::vector<BatchJob>& jobs) {
  InputFiles inputs;
  OutputNames names;
  for (const BatchJob& job : jobs)
    inputs.add(job.input);
  for (const BatchJob& job : jobs) {
    if (names_folder(job.input)) continue;  // It is not there, so it has no result.
    refuse_working_name(job);
    names.take(job.output, job.input);
    refuse_same_file(job.input, job.output);
    inputs.refuse(job.output);
  }
}

/// Adds the files of a folder, and counts what is left out.
template <typename Add>
void add_folder(const std::string& folder, const std::string& out, BatchPlan& plan,
                const Add& add) {
  const FolderListing listing = list_folder(folder);
  const auto append = [](const auto& from, auto& to) {
    to.insert(to.end(), from.begin(), from.end());
  };
  append(listing.unreadable, plan.unreadable);
  append(listing.folder_links, plan.left_out.folder_links);
  // Results of an earlier batch are no inputs.
  const bool all = out.empty() || is_below(folder, out);
  for (const auto& [path, kind] : listing.entries) {
    if (!is_media_name(path.string())) {
      ++plan.skipped;
    } else if (kind == EntryKind::broken_link) {
      plan.left_out.broken_links.push_back(path.string());
    } else if (kind == EntryKind::special) {
      plan.left_out.special.push_back(path.string());
    } else if (is_half_written(path)) {
      plan.left_out.partial.push_back(path.string());
    } else if (all || !is_below(path, out)) {
      add(path, path.lexically_relative(folder));
    }
  }
}

// ---- shares ----

constexpr std::size_t kMostShards = 1'000'000;

[[noreturn]] void refuse_shard(const std::string& text, const std::string& why) {
  throw_usage("--shard is '" + text + "', " + why);
}

std::optional<std::size_t> from_environment(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? std::nullopt : number_from<std::size_t>(text);
}

/// Returns the shard of a task of a Slurm array, which may begin anywhere and have even steps.
/// Throws where it is not one of `count` tasks.
Shard of_slurm_array(const std::string& text, std::size_t id, std::size_t count) {
  const std::size_t first = from_environment("SLURM_ARRAY_TASK_MIN").value_or(0);
  const std::size_t step = from_environment("SLURM_ARRAY_TASK_STEP").value_or(1);
  const bool regular = id >= first && step > 0 && (id - first) % step == 0;
  const std::size_t index = regular ? (id - first) / step : count;
  if (index >= count) {
    refuse_shard(text, "but task " + std::to_string(id) + " is not one of " +
                           std::to_string(count) +
                           " in a row, must be --shard /N with array numbers from 0 to N - 1");
  }
  return {index, count};
}

std::size_t index_from_environment(const std::string& text) {
  if (const auto id = from_environment("SLURM_ARRAY_TASK_ID")) return *id;
  if (const auto index = from_environment("JOB_COMPLETION_INDEX")) return *index;
  refuse_shard(
      text, "but neither SLURM_ARRAY_TASK_ID nor JOB_COMPLETION_INDEX is set, must be INDEX/COUNT");
}

}  // namespace

std::string title_of(const BatchJob& job) {
  if (job.input == job.name || job.input.ends_with("/" + job.name)) return job.name;
  const std::string name = fs::path(job.input).filename().string();
  return name.empty() ? job.input : name;
}

BatchPlan plan_batch(const std::vector<std::string>& inputs,
                     const std::vector<ManifestEntry>& manifest, const std::string& out,
                     const std::string& extension) {
  BatchPlan plan;
  std::map<std::string, std::vector<fs::path>> inputs_of;  // by output
  const auto is_named_twice = [&](const fs::path& output, const fs::path& input) {
    std::vector<fs::path>& others = inputs_of[output.string()];
    std::error_code ignored;
    const bool twice = std::any_of(others.begin(), others.end(), [&](const fs::path& other) {
      return fs::equivalent(other, input, ignored);
    });
    if (!twice) others.push_back(input);
    return twice;
  };
  const auto add = [&](const fs::path& named, const fs::path& below) {
    const fs::path input = as_file(named.string());
    if (out.empty()) {
      if (is_named_twice(below.lexically_normal(), input)) return;
      plan.jobs.push_back({input.string(), "null", below.generic_string()});
      return;
    }
    const fs::path normal = below.lexically_normal();
    if (!normal.empty() && *normal.begin() == kStateFolder) {
      throw_usage("input " + input.string() + " would become " + (fs::path(out) / normal).string() +
                  ", in the folder of what a batch remembers, must have another result");
    }
    fs::path output = fs::path(out) / below;
    output.replace_extension(result_extension(below, extension));
    output = output.lexically_normal();
    if (is_named_twice(output, input)) return;
    plan.jobs.push_back({input.string(), output.string(), below.generic_string()});
  };
  for (const std::string& input : inputs) {
    std::error_code ignored;
    if (!fs::is_directory(input, ignored)) {
      const std::string name = input.substr(0, input.find_last_not_of('/') + 1);
      add(input, fs::path(name).filename());
      continue;
    }
    add_folder(input, out, plan, add);
  }
  for (const ManifestEntry& entry : manifest) {
    add(entry.input,
        entry.output.empty() ? fs::path(entry.input).filename() : fs::path(entry.output));
  }
  if (!out.empty()) {
    keep_apart(plan, out);
    refuse_shared_outputs(plan.jobs);
  }
  return plan;
}

Shard parse_shard(const std::string& text) {
  if (text.empty()) return {};
  if (text == "auto") {
    const auto id = from_environment("SLURM_ARRAY_TASK_ID");
    const auto count = from_environment("SLURM_ARRAY_TASK_COUNT");
    if (id && count && *count > 0) return of_slurm_array(text, *id, *count);
    refuse_shard(
        text,
        "but SLURM_ARRAY_TASK_ID and SLURM_ARRAY_TASK_COUNT are not set, must be /COUNT in an "
        "indexed job, INDEX/COUNT elsewhere");
  }
  const std::size_t slash = text.find('/');
  const std::string_view all = text;
  const auto count =
      slash == std::string::npos ? std::nullopt : number_from<std::size_t>(all.substr(slash + 1));
  if (!count || *count == 0 || *count > kMostShards) {
    refuse_shard(text, "must be INDEX/COUNT, /COUNT or auto, with COUNT from 1 to 1000000");
  }
  const auto index =
      slash == 0 ? index_from_environment(text) : number_from<std::size_t>(all.substr(0, slash));
  if (!index || *index >= *count) {
    const std::string found =
        slash == 0 && index ? "but the index is " + std::to_string(*index) + ", " : "";
    refuse_shard(text, found + "must have an INDEX from 0 to " + std::to_string(*count - 1));
  }
  return {*index, *count};
}

std::size_t shard_of(std::string_view name, std::size_t count) {
  // FNV-1a with a final mix: its low bits alone depend too little on the last letters.
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char letter : name)
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
  hash = (hash ^ (hash >> 33U)) * 0xff51afd7ed558ccd;
  return (hash ^ (hash >> 33U)) % count;
}

std::vector<std::size_t> jobs_of(const BatchPlan& plan, const Shard& shard) {
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < plan.jobs.size(); ++i) {
    if (shard_of(plan.jobs[i].name, shard.count) == shard.index) numbers.push_back(i);
  }
  return numbers;
}

}  // namespace equalux::cli
