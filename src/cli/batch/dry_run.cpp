#include "src/cli/batch/dry_run.h"

#include <algorithm>
#include <array>
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
#include "src/common/log.h"

namespace fs = std::filesystem;

namespace equalux::cli {
namespace {

// ---- a sample of a file -------------------------------------------------------------------------

/// Frames of the sample.
constexpr std::uint64_t kSample = 48;

/// Source that passes everything on, and notes what a file declares.
class NotingSource final : public Source {
 public:
  NotingSource(std::unique_ptr<Source> source, FileEstimate& estimate)
      : source_(std::move(source)), estimate_(estimate) {}
  void offer_device(int device) override { source_->offer_device(device); }
  StreamInfo open(const FormatPredicate& accepts) override {
    StreamInfo info = source_->open(accepts);
    estimate_.width = info.desc.width;
    estimate_.height = info.desc.height;
    estimate_.frames = info.frames;
    if (info.duration_ns) estimate_.media_s = static_cast<double>(*info.duration_ns) * 1e-9;
    if (!estimate_.frames && estimate_.media_s && info.frame_rate.num > 0) {
      estimate_.frames =
          static_cast<std::uint64_t>(*estimate_.media_s * info.frame_rate.value() + 0.5);
    }
    return info;
  }
  [[nodiscard]] bool lends_buffers() const override { return source_->lends_buffers(); }
  bool read(Frame& frame) override { return source_->read(frame); }
  void cancel() noexcept override { source_->cancel(); }

 private:
  std::unique_ptr<Source> source_;
  FileEstimate& estimate_;
};

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
      estimates.files[job] = estimate_from(message);
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
  std::array<char, 32> text{};
  const bool large = bytes >= 1e9;
  std::snprintf(text.data(), text.size(), large ? "%.2f GB" : "%.1f MB",
                bytes / (large ? 1e9 : 1e6));
  return text.data();
}

struct Sum {
  double seconds = 0;
  double bytes = 0;
  std::size_t unknown = 0;  ///< number of files that declare no length

  void add(const FileEstimate& file) {
    if (!file.frames || file.seconds_a_frame <= 0) {
      ++unknown;
      return;
    }
    seconds += static_cast<double>(*file.frames) * file.seconds_a_frame;
    bytes += static_cast<double>(*file.frames) * file.bytes_a_frame;
  }
};

void print_row(const BatchJob& job, const std::string& action, const FileEstimate* file,
               const std::string& trouble) {
  std::array<char, 128> row{};
  if (file != nullptr) {
    const std::string frames = file->frames ? std::to_string(*file->frames) : "?";
    const std::string size = std::to_string(file->width) + "x" + std::to_string(file->height);
    std::snprintf(row.data(), row.size(), "%-14s %10s %11s  ", action.c_str(), frames.c_str(),
                  size.c_str());
  } else {
    std::snprintf(row.data(), row.size(), "%-14s %10s %11s  ", action.c_str(), "", "");
  }
  std::printf("%s%s -> %s%s%s\n", row.data(), printable(job.input).c_str(),
              printable(job.output).c_str(), trouble.empty() ? "" : ": ",
              printable(trouble).c_str());
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
  stream.wrap_source = [&](std::unique_ptr<Source> source) {
    return std::make_unique<NotingSource>(std::move(source), estimate);
  };
  const RunResult run = run_stream(stream);
  std::error_code ignored;
  const auto bytes = static_cast<double>(fs::file_size(stream.output, ignored));
  if (run.frames_out > 0 && !ignored) {
    estimate.seconds_a_frame = run.elapsed_s / static_cast<double>(run.frames_out);
    estimate.bytes_a_frame = bytes / static_cast<double>(run.frames_out);
  }
  if (options.stream.frames > 0 && estimate.frames) {
    estimate.frames = std::min(*estimate.frames, options.stream.frames);
  }
  return estimate;
}

nlohmann::json to_json(const FileEstimate& estimate) {
  nlohmann::json json{{"width", estimate.width},
                      {"height", estimate.height},
                      {"seconds_a_frame", estimate.seconds_a_frame},
                      {"bytes_a_frame", estimate.bytes_a_frame}};
  if (estimate.frames) json["frames"] = *estimate.frames;
  if (estimate.media_s) json["media_s"] = *estimate.media_s;
  return json;
}

FileEstimate estimate_from(const nlohmann::json& json) {
  FileEstimate estimate;
  json.at("width").get_to(estimate.width);
  json.at("height").get_to(estimate.height);
  json.at("seconds_a_frame").get_to(estimate.seconds_a_frame);
  json.at("bytes_a_frame").get_to(estimate.bytes_a_frame);
  if (json.contains("frames")) estimate.frames = json.at("frames").get<std::uint64_t>();
  if (json.contains("media_s")) estimate.media_s = json.at("media_s").get<double>();
  return estimate;
}

}  // namespace equalux::cli
