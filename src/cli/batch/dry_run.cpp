#include "src/cli/batch/dry_run.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>

#include <equalux/error.h>

#include "pipelines/files/scratch_folder.h"
#include "src/cli/batch/job.h"
#include "src/cli/batch/state.h"
#include "src/cli/batch/worker.h"
#include "src/cli/paths.h"
#include "src/cli/signals.h"
#include "src/cli/stream/progress_line.h"
#include "src/common/formatting.h"
#include "src/common/log.h"
#include "src/common/size_text.h"

namespace fs = std::filesystem;

namespace equalux::cli {
namespace {

// ---- a sample of a file -------------------------------------------------------------------------

/// Frames of the sample.
constexpr std::uint64_t kSample = 48;

/// Returns the number of frames that a file declares, or that its duration gives; 0 = unknown.
std::uint64_t frames_of(const StreamInfo& info) {
  const double media_s = static_cast<double>(info.duration_ns.value_or(0)) * 1e-9;
  return info.frames.value_or(static_cast<std::uint64_t>(media_s * info.frame_rate.value() + 0.5));
}

// ---- all files ----------------------------------------------------------------------------------

struct Estimates {
  std::map<std::size_t, FileEstimate> files;
  std::map<std::size_t, std::string> failures;
};

Estimates ask(const std::vector<std::size_t>& jobs, const WorkerMain& worker) {
  Estimates estimates;
  PoolEvents events;
  events.on_result = [&](std::size_t job, const nlohmann::json& message) {
    try {
      estimates.files[job] = message;
    } catch (const nlohmann::json::exception&) {
      estimates.failures[job] = message.value("reason", "cannot be read");
    }
  };
  // One file at a time, so that each has the machine to itself while it is measured.
  WorkerPool pool({{"a worker process", -1, false, true}}, std::nullopt, worker, std::move(events));
  pool.run(kEstimateOrder, jobs, stop_token());
  return estimates;
}

/// Returns what the batch would do with a file that it may filter, as far as that is known without
/// reading it.
std::string action_for(const BatchJob& job, const nlohmann::json& entry) {
  std::error_code ignored;
  if (entry.is_null()) return fs::exists(job.output, ignored) ? "replace" : "make";
  if (text_of(entry, "status") == "done" && fs::exists(job.output, ignored)) return "check";
  if (const auto place = checkpoint_from(entry.value("checkpoint", nlohmann::json()))) {
    return "go on at " + std::to_string(place->checkpoint.frames);
  }
  return "make";
}

std::string amount_text(double bytes) {
  return bytes >= 1e9 ? fmt::format("{:.2f} GB", bytes / 1e9)
                      : fmt::format("{:.1f} MB", bytes / 1e6);
}

struct Sum {
  double seconds = 0;
  double bytes = 0;
  std::size_t unknown = 0;  ///< number of files that declare no length

  void add(const FileEstimate& file) {
    if (file.frames == 0 || file.seconds_a_frame <= 0) {
      ++unknown;
      return;
    }
    seconds += static_cast<double>(file.frames) * file.seconds_a_frame;
    bytes += static_cast<double>(file.frames) * file.bytes_a_frame;
  }
};

void print_row(const BatchJob& job, const std::string& action, const FileEstimate* file,
               const std::string& trouble) {
  std::string frames;
  std::string size;
  if (file != nullptr) {
    frames = file->frames > 0 ? std::to_string(file->frames) : "?";
    size = size_text(file->width, file->height);
  }
  std::printf("%-14s %10s %11s  %s -> %s%s%s\n", action.c_str(), frames.c_str(), size.c_str(),
              printable(job.input).c_str(), printable(job.output).c_str(),
              trouble.empty() ? "" : ": ", printable(trouble).c_str());
}

double free_bytes(const std::string& out) {
  std::error_code failure;
  fs::path folder = fs::absolute(out, failure);
  while (!fs::exists(folder, failure) && folder.has_relative_path())
    folder = folder.parent_path();
  const fs::space_info space = fs::space(folder, failure);
  return failure ? -1 : static_cast<double>(space.available);
}

}  // namespace

ExitCode dry_run(const BatchOptions& options, const BatchPlan& plan,
                 const std::vector<std::size_t>& jobs, const WorkerMain& worker) {
  const Estimates estimates = ask(jobs, worker);
  std::printf("%-14s %10s %11s  %s\n", "would", "frames", "size", "file");
  Sum sum;
  for (const std::size_t job : jobs) {
    const auto file = estimates.files.find(job);
    const auto failure = estimates.failures.find(job);
    const BatchJob& one = plan.jobs[job];
    if (file == estimates.files.end()) {
      print_row(one, "fail", nullptr, failure == estimates.failures.end() ? "" : failure->second);
      continue;
    }
    const nlohmann::json entry = read_entry(state_paths(options.out, one.output).entry);
    const auto md5 = [&one] { return file_md5(one.input, stop_token()); };
    const std::string foreign = foreign_output(options, one, entry, md5);
    if (foreign.empty()) sum.add(file->second);
    print_row(one, foreign.empty() ? action_for(one, entry) : "refuse", &file->second, foreign);
  }
  std::printf("\n%s, about %s of work for one file at a time, %s of results; %s free\n",
              counted(jobs.size(), "file").c_str(), clock_text(sum.seconds).c_str(),
              amount_text(sum.bytes).c_str(),
              amount_text(std::max(0.0, free_bytes(options.out))).c_str());
  if (sum.unknown > 0) {
    std::printf("not in these sums: %s without a number of frames\n",
                counted(sum.unknown, "file").c_str());
  }
  if (const double free = free_bytes(options.out); free >= 0 && sum.bytes > free) {
    std::fprintf(stderr, "equalux: the results will not fit, %s is short by %s\n",
                 printable(options.out).c_str(), amount_text(sum.bytes - free).c_str());
  }
  if (const int signal = stop_token().signal; signal != 0)
    return static_cast<ExitCode>(128 + signal);
  return ExitCode::done;
}

FileEstimate estimate_file(const BatchJob& job, const BatchOptions& options) {
  require_file(job.input);
  FileEstimate estimate;
  const ScratchFolder folder("estimate");
  StreamOptions stream = options.stream;
  stream.input = job.input;
  stream.output = (folder.path() / fs::path(job.output).filename()).string();
  stream.in.threads = stream.common.threads;
  stream.common.timings.clear();
  stream.common.verify.reset();
  stream.announce = stream.always_summarise = false;
  stream.common.quiet = true;
  stream.common.progress = "text";
  stream.frames = stream.frames == 0 ? kSample : std::min(kSample, stream.frames);
  stream.on_source = [&](const StreamInfo& info) {
    estimate.width = info.desc.width;
    estimate.height = info.desc.height;
    estimate.frames = frames_of(info);
  };
  const RunResult run = run_stream(stream);
  std::error_code ignored;
  const auto bytes = static_cast<double>(fs::file_size(stream.output, ignored));
  if (run.frames_out > 0 && !ignored) {
    estimate.seconds_a_frame = run.elapsed_s / static_cast<double>(run.frames_out);
    estimate.bytes_a_frame = bytes / static_cast<double>(run.frames_out);
  }
  if (options.stream.frames > 0) estimate.frames = std::min(estimate.frames, options.stream.frames);
  return estimate;
}

}  // namespace equalux::cli
