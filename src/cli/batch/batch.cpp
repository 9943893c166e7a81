#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <set>
#include <thread>

#include <equalux/error.h>

#include "pipelines/core/text_file.h"
#include "pipelines/files/partial_file.h"
#include "src/cli/batch/contact_sheet.h"
#include "src/cli/batch/dry_run.h"
#include "src/cli/batch/job.h"
#include "src/cli/batch/progress.h"
#include "src/cli/batch/report.h"
#include "src/cli/batch/state.h"
#include "src/cli/batch/worker.h"
#include "src/cli/commands.h"
#include "src/cli/paths.h"
#include "src/cli/signals.h"
#include "src/cli/stream/backend.h"
#include "src/cli/stream/measurements.h"
#include "src/cli/values.h"
#include "src/common/formatting.h"
#include "src/common/log.h"
#include "src/options/option_values.h"

namespace fs = std::filesystem;

/// `equalux batch`: filters many files, each as `run` does. This process plans, distributes and
/// reports; worker processes filter.
namespace equalux::cli {
namespace {

/// Cores that one file keeps busy: its decoder, filters and encoder.
constexpr int kCoresAFile = 4;
constexpr int kMostDevices = 64;
constexpr std::uint64_t kMostSegmentFrames = 10'000'000;

void check(const BatchOptions& options) {
  static constexpr std::array<std::string_view, 6> kContainers{"mp4", "mov",  "m4v",
                                                               "mkv", "webm", "y4m"};
  if (options.inputs.empty() && options.manifest.empty()) {
    throw_usage("INPUT is missing, must be files or folders, or --manifest");
  }
  const bool curve_only = !options.stream.common.curve_to.empty();
  if (options.out.empty() && !curve_only) {
    throw_usage("--out is missing, must be the folder of the results");
  }
  if (!options.out.empty() && curve_only) {
    throw_usage(
        "--curve-to looks at the files alone, must stand without --out; --curve-from with "
        "--out then filters them");
  }
  if (!options.shard.empty() && curve_only) {
    throw_usage("--curve-to is the mean of all files, must stand without --shard");
  }
  if (!options.extension.empty() &&
      std::find(kContainers.begin(), kContainers.end(), options.extension) == kContainers.end()) {
    throw_usage("--extension is '" + options.extension +
                "', must be mp4, mov, m4v, mkv, webm or y4m");
  }
  if (!options.devices.empty() && options.stream.common.backend == Backend::cpu) {
    throw_usage("--devices names GPUs, must not stand beside --backend cpu");
  }
  if (options.stream.common.timings == "-") {
    throw_usage("--timings - mixes the lines of files, must be a file");
  }
  std::error_code ignored;
  if (fs::exists(options.out, ignored) && !fs::is_directory(options.out, ignored)) {
    throw Error(ExitCode::cannot_create, "--out " + options.out + " is a file, must be a folder");
  }
  check_filters(options.stream.common);
  // The workers ask for the device: a process in which CUDA was started cannot be forked.
  if (options.stream.common.backend == Backend::cpu) check_device(options.stream.common);
  refuse_shared_outputs(named_outputs(options.stream.common, ""));
  InputFiles files = files_of(options.stream.common);
  if (!options.manifest.empty()) files.add(options.manifest, "what --manifest reads");
  for (const std::string& written : written_files(options.stream.common))
    files.refuse(written);
}

int cores() {
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

/// Chooses files at a time and threads for each, so that all cores are busy and none is
/// oversubscribed.
void balance(BatchOptions& options, std::size_t files) {
  const int most =
      static_cast<int>(std::min<std::size_t>(std::max<std::size_t>(1, files), kMostJobs));
  int& threads = options.stream.common.threads;
  if (options.jobs == 0 && !options.devices.empty()) {
    options.jobs = static_cast<int>(options.devices.size());
  } else if (options.jobs == 0) {
    options.jobs = std::max(1, cores() / (threads > 0 ? threads : kCoresAFile));
  }
  options.jobs = std::min(options.jobs, most);
  if (threads == 0 && options.jobs > 1) threads = std::max(1, cores() / options.jobs);
}

std::vector<WorkerPlace> places_of(const BatchOptions& options) {
  std::vector<WorkerPlace> places;
  for (int i = 0; i < options.jobs; ++i) {
    if (options.devices.empty()) {
      places.push_back({"a worker process", -1, false, i == 0});
    } else {
      const int device = options.devices[static_cast<std::size_t>(i) % options.devices.size()];
      places.push_back({"device " + std::to_string(device), device});
    }
  }
  return places;
}

std::optional<WorkerPlace> fallback_of(const BatchOptions& options) {
  if (options.stream.common.backend != Backend::automatic) return std::nullopt;
  return WorkerPlace{"the CPU", -1, true};
}

/// Logs a line for each file as it ends; the table follows at the end.
void tell(const Outcome& outcome, std::size_t number, std::size_t count) {
  const FileResult& result = *outcome.result;
  const std::string label = "[" + std::to_string(number) + "/" + std::to_string(count) + "] " +
                            title_of(outcome.job) + ": " + result.status;
  if (result.status == "done") {
    logger().info("{}, {}", label, counted(result.frames_out, "frame"));
  } else if (result.code == 0) {
    logger().info("{}: {}", label, result.reason);
  } else if (result.status == "stopped") {
    logger().warn("{}: {}", label, result.reason);
  } else {  // the cause of the exit code shows under --quiet, too
    logger().error("{}: {}", label, result.reason);
  }
}

/// Refuses lists of hashes and timings that cannot be created, before anything is done. A folder of
/// theirs among the results is made here.
void require_lists(const BatchOptions& options, const std::vector<std::size_t>& jobs,
                   std::size_t count) {
  const CommonOptions& common = options.stream.common;
  for (const std::string& list : {common.timings, common.verify.value_or("")}) {
    if (list.empty() || list == "-") continue;
    std::error_code ignored;
    if (!options.out.empty() && is_below(list, options.out))
      fs::create_directories(fs::path(list).parent_path(), ignored);
    for (const std::size_t job : jobs)
      require_creatable(numbered(list, job + 1, count));
  }
}

/// Prints a file's hashes, kept apart so that those of concurrent files do not mix.
void print_hashes(const BatchOptions& options, const Outcome& outcome, std::size_t number,
                  std::size_t count) {
  const std::string& status = outcome.result->status;
  if (status != "done" && status != "partial" && status != "skipped") return;
  const std::string hashes = state_paths(options.out, outcome.job.output).hashes;
  std::ifstream file(hashes, std::ios::binary);
  if (!file) throw Error(ExitCode::cannot_create, hashes + ": cannot be read, is not listed");
  TextFile copy(numbered(*options.stream.common.verify, number, count));
  std::array<char, 65536> buffer;
  while (file) {
    file.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    copy.append({buffer.data(), static_cast<std::size_t>(file.gcount())});
  }
  copy.finish();
}

// ---- the curve of all files ---------------------------------------------------------------------

FileResult look_at(const BatchOptions& options, const BatchJob& job, std::size_t number,
                   std::size_t count, CurveFile& curves) {
  FileResult result;
  StreamOptions stream = options.stream;
  stream.input = job.input;
  stream.output = job.output;
  stream.curves = &curves;
  CommonOptions& common = stream.common;
  common.timings = numbered(common.timings, number, count);
  if (common.verify) common.verify = numbered(*common.verify, number, count);
  stream.in.threads = stream.common.threads;
  stream.announce = number == 1;
  stream.always_summarise = false;
  stream.label =
      "[" + std::to_string(number) + "/" + std::to_string(count) + "] " + title_of(job) + ": ";
  try {
    const RunResult run = run_stream(stream);
    result.status = run.code == ExitCode::done ? "done" : "partial";
    result.reason = ending_text(run, stream.output);
    result.code = static_cast<int>(run.code);
    result.frames_in = run.frames_in;
    result.frames_out = run.frames_out;
    result.media_s = run.media_s;
    result.elapsed_s = run.elapsed_s;
  } catch (const Error& error) {
    result.reason = error.what();
    result.code = static_cast<int>(error.code());
    logger().error("{}failed: {}", stream.label, result.reason);
  }
  return result;
}

/// Writes the mean tone curve of all files to --curve-to: one file after another in this process,
/// without results. `jobs`: indices in the plan of this shard's files.
ExitCode run_curve_pass(const BatchOptions& options, const BatchPlan& plan,
                        const std::vector<std::size_t>& jobs) {
  // A missing backend would fail every file: reported once.
  check_device(options.stream.common);
  static_cast<void>(make_processor(options.stream.common));
  require_lists(options, jobs, plan.jobs.size());
  catch_signals();
  CurveFile curves(options.stream.common.curve_to);
  std::vector<Outcome> outcomes;
  for (const std::size_t job : jobs) {
    outcomes.push_back({plan.jobs[job], std::nullopt, ""});
    if (stop_token().signal != 0) continue;
    outcomes.back().result = look_at(options, plan.jobs[job], job + 1, plan.jobs.size(), curves);
  }
  // A part's curve would take the place of one of all files.
  if (stop_token().signal == 0) {
    curves.finish();
  } else {
    logger().warn("{} is left as it was: not all files have been seen",
                  options.stream.common.curve_to);
  }
  if (!options.stream.common.quiet) {
    std::fputs((batch_table(outcomes) + left_out_text(plan)).c_str(), stderr);
  }
  if (stop_token().signal == 0 && !plan.unreadable.empty()) return ExitCode::partial;
  return batch_exit_code(outcomes, stop_token().signal);
}

/// Writes a file again while another batch, which has ended at the same time, writes it.
void write_in_turn(const std::function<void()>& write) {
  constexpr std::chrono::seconds kMost{10};
  constexpr std::chrono::milliseconds kPause{50};
  for (const auto limit = Clock::now() + kMost;;) {
    try {
      return write();
    } catch (const OutputBusy&) {
      if (Clock::now() >= limit) throw;
    }
    std::this_thread::sleep_for(kPause);
  }
}

// ---- the batch ----------------------------------------------------------------------------------

class Batch {
 public:
  explicit Batch(const BatchOptions& asked) : options_(asked) {}

  ExitCode run();

 private:
  void plan();
  void work();
  [[nodiscard]] ExitCode conclude();
  void write_reports(const std::vector<Outcome>& ours) const;
  [[nodiscard]] WorkerMain worker() const;
  [[nodiscard]] PoolEvents events();
  void take_result(std::size_t job, const nlohmann::json& message);
  void list_hashes(std::size_t job);

  BatchOptions options_;
  BatchPlan plan_;
  Shard shard_;
  std::vector<std::size_t> jobs_;           // indices in the plan of this shard's files
  std::vector<std::size_t> held_;           // those that another process is at work on
  std::vector<Outcome> outcomes_;           // one for each file of the plan
  ExitCode list_failure_ = ExitCode::done;  // of the first list of --verify that failed
  std::unique_ptr<BatchProgress> progress_;
  Clock::time_point start_ = Clock::now();
};

void Batch::plan() {
  std::vector<ManifestEntry> manifest;
  if (!options_.manifest.empty()) manifest = read_manifest(options_.manifest);
  plan_ = plan_batch(options_.inputs, manifest, options_.out, options_.extension);
  for (const Unreadable& each : plan_.unreadable) {
    logger().error("{}: cannot be read: {}; what it holds is not in this batch", each.folder,
                   each.reason);
  }
  if (!plan_.renamed.empty()) {
    const BatchJob& first = plan_.jobs[plan_.renamed.front()];
    logger().warn(
        "{} becomes {}: without its extension another result has the same name{}", first.input,
        first.output,
        plan_.renamed.size() == 1 ? "" : fmt::format("; so do {} more", plan_.renamed.size() - 1));
  }
  if (plan_.jobs.empty()) {
    const std::string& where =
        options_.inputs.empty() ? options_.manifest : options_.inputs.front();
    throw Error(ExitCode::no_input, "no media file is in " + where + ", must hold at least one (" +
                                        std::to_string(plan_.skipped) + " other files skipped)");
  }
  shard_ = parse_shard(options_.shard);
  jobs_ = jobs_of(plan_, shard_);
  for (const BatchJob& job : plan_.jobs)
    outcomes_.push_back({job, std::nullopt, ""});
  balance(options_, jobs_.size());
}

ExitCode Batch::run() {
  start_logging(options_.stream.common);
  check(options_);
  warn_of_idle_keys(options_.stream.common);
  plan();
  if (!options_.stream.common.curve_to.empty()) return run_curve_pass(options_, plan_, jobs_);
  // Signals often come twice, to the process group and to the process; workers get seconds to end.
  catch_signals_patiently();
  if (options_.dry_run) return dry_run(options_, plan_, jobs_, worker());
  require_lists(options_, jobs_, plan_.jobs.size());
  work();
  return conclude();
}

WorkerMain Batch::worker() const {
  return [this](const WorkerPlace& place, Channel& channel) {
    return run_worker(options_, plan_, place, channel);
  };
}

void Batch::take_result(std::size_t job, const nlohmann::json& message) {
  FileResult result = message;
  if (result.held) {
    held_.push_back(job);
    progress_->put_off(job);
    return;
  }
  outcomes_[job].result = std::move(result);
  progress_->end(job);
  tell(outcomes_[job], job + 1, plan_.jobs.size());
  list_hashes(job);
}

/// A list that fails costs neither its file nor the others.
void Batch::list_hashes(std::size_t job) {
  const std::optional<std::string>& list = options_.stream.common.verify;
  if (!list || (list == "-" && list_failure_ != ExitCode::done)) return;
  try {
    print_hashes(options_, outcomes_[job], job + 1, plan_.jobs.size());
  } catch (const Error& error) {
    logger().error("{}", error.what());
    if (list_failure_ == ExitCode::done) list_failure_ = error.code();
  }
}

PoolEvents Batch::events() {
  PoolEvents events;
  events.on_start = [this](std::size_t job, const WorkerPlace& place) {
    outcomes_[job].place = place.name;
    progress_->start(job, title_of(plan_.jobs[job]));
  };
  events.on_news = [this](const nlohmann::json& message) {
    if (message.value("say", "") != "log") {
      progress_->news(message);
      return;
    }
    logger().write(static_cast<LogLevel>(message.value("level", 2)), message.value("text", ""));
  };
  events.on_result = [this](std::size_t job, const nlohmann::json& message) {
    take_result(job, message);
  };
  events.on_tick = [this] { progress_->tick(); };
  return events;
}

void Batch::work() {
  if (jobs_.empty()) return;  // more shards than files
  std::vector<double> weights;
  for (const BatchJob& job : plan_.jobs) {
    std::error_code unknown;
    const std::uintmax_t bytes = fs::file_size(job.input, unknown);
    weights.push_back(unknown ? 1 : 1 + static_cast<double>(bytes));
  }
  progress_ = std::make_unique<BatchProgress>(jobs_, std::move(weights), options_.stream.common);
  WorkerPool pool(places_of(options_), fallback_of(options_), worker(), events());
  pool.run(kJobOrder, jobs_, stop_token());
  if (!held_.empty() && stop_token().signal == 0) {
    // Shows under --quiet, too: nothing else says why the batch does not end.
    logger().error("waits for {} that another equalux is at work on: {}{}",
                   counted(held_.size(), "file"), plan_.jobs[held_.front()].output,
                   held_.size() > 1 ? " and others" : "");
    pool.run(kWaitOrder, held_, stop_token());
  }
  progress_->clear();
}

ExitCode Batch::conclude() {
  std::vector<Outcome> ours;
  for (const std::size_t job : jobs_)
    ours.push_back(outcomes_[job]);
  if (!options_.stream.common.quiet) {
    std::fputs(batch_table(ours).c_str(), stderr);
    std::fputs(left_out_text(plan_).c_str(), stderr);
  }
  ExitCode code = batch_exit_code(ours, stop_token().signal);
  if (stop_token().signal == 0 && !plan_.unreadable.empty()) code = ExitCode::partial;
  if (code == ExitCode::done) code = list_failure_;
  if (progress_) progress_->finish(code);
  try {
    write_reports(ours);
  } catch (const Error& error) {
    logger().error("{}", error.what());
    if (code == ExitCode::done) return error.code();
  }
  return code;
}

void Batch::write_reports(const std::vector<Outcome>& ours) const {
  // Where the folder itself is the cause, each file has reported it.
  std::error_code ignored;
  if (!fs::is_directory(options_.out, ignored)) return;
  const fs::path out(options_.out);
  const double elapsed_s = milliseconds(Clock::now() - start_) / 1000;
  const std::string report = (out / shard_name("report", ".json", shard_)).string();
  const std::string sheet = (out / shard_name("contact-sheet", ".png", shard_)).string();
  write_in_turn([&] { replace_file(report, batch_report(ours, options_, elapsed_s, plan_)); });
  write_in_turn([&] { write_contact_sheet(sheet, ours, options_.out); });
}

// ---- its options --------------------------------------------------------------------------------

void read_devices(const std::string& text, std::vector<int>& devices) {
  devices.clear();
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const auto device =
        static_cast<int>(read_integer("devices", text.substr(at, comma - at), 0, kMostDevices - 1));
    if (std::find(devices.begin(), devices.end(), device) != devices.end()) {
      throw_usage("--devices names " + std::to_string(device) +
                  " twice, must name each once; --jobs gives them more files");
    }
    devices.push_back(device);
    at = comma + 1;
    if (comma + 1 == text.size()) {
      throw_usage("--devices is '" + text + "', must be like 0,1");
    }
  }
}

/// Records all set options except those that do not change results.
void note_parameters(Command& command, BatchOptions& options) {
  static const std::set<std::string> kOfThisRun{
      "out",     "manifest", "jobs",      "devices",  "shard",        "dry-run",  "decoder",
      "config",  "preset",   "backend",   "device",   "threads",      "quiet",    "summary",
      "timings", "verify",   "log-level", "curve-to", "list-presets", "progress", "overwrite"};
  for (OptionGroup& group : command.groups) {
    for (Option& option : group.options) {
      if (kOfThisRun.contains(option.name)) continue;
      option.set = [&options, name = option.name, repeatable = option.repeatable,
                    set = option.set](const std::string& text) {
        set(text);
        if (text.empty()) {
          options.parameters.erase(name);
        } else if (repeatable) {
          options.parameters[name].push_back(text);
        } else {
          options.parameters[name] = text;
        }
      };
    }
  }
}

OptionGroup batch_group(BatchOptions& options) {
  StreamOptions& stream = options.stream;
  OptionGroup group{"Batch", {}, false};
  Option overwriting = switch_option(
      "overwrite",
      "replace results of other inputs and files that no batch made (-y), or leave them and fail "
      "with 73 (-n) (default: off)",
      options.overwrite);
  overwriting.letter = 'y';
  overwriting.off_letter = 'n';
  group.options = {
      text_option("out", "DIR",
                  "folder of the results, made if missing; needed, but with --curve-to",
                  options.out),
      text_option("manifest", "FILE",
                  "more inputs, one a line; behind a tab, the name of its result below DIR",
                  options.manifest),
      text_option("extension", "EXT",
                  "container of the results: mp4, mov, m4v, mkv, webm or y4m (default: the "
                  "input's where it is one of these but webm, else mkv)",
                  options.extension),
      integer_option(
          "jobs",
          "files at a time, 1 to 256; 0 = one for every four cores, or one a device (default: 0)",
          0, kMostJobs, options.jobs),
      {"devices", "N,N",
       "GPUs to use, as equalux devices numbers them, a worker process each; what a lost one did "
       "goes to the others, and with --backend auto to the CPU (default: what --device says)",
       [&options](const std::string& text) { read_devices(text, options.devices); }},
      {"segment-frames", "N",
       "frames of a segment, up to 10000000: what a kill may cost; 0 = a file is one (default: "
       "300)",
       [&options](const std::string& text) {
         options.segment_frames = static_cast<std::uint64_t>(
             read_integer("segment-frames", text, 0, kMostSegmentFrames));
       }},
      text_option("shard", "I/N",
                  "do the Ith of N shares, from 0, by the files' names; /N takes I from "
                  "SLURM_ARRAY_TASK_ID or JOB_COMPLETION_INDEX, auto takes both from a Slurm array "
                  "(default: all)",
                  options.shard),
      overwriting,
      switch_option("dry-run", "only say what would be done, and about what it takes",
                    options.dry_run),
      frames_option(stream.frames),
      progress_option(stream.common),
      curve_to_option(stream.common),
      decoder_option(stream.in)};
  return group;
}

}  // namespace

Command make_batch_command() {
  const auto options = std::make_shared<BatchOptions>();
  StreamOptions& stream = options->stream;
  Command command;
  command.name = "batch";
  command.summary = "filter many files, as run does each";
  command.details =
      "  Every result stands below DIR under its input's name; folders are mirrored. One failure\n"
      "  does not stop the rest. The same command again skips results that are whole, and goes on\n"
      "  with files that were interrupted. DIR/report.json tells of each file, and\n"
      "  DIR/contact-sheet.png shows it before and after; DIR/.equalux holds what a later run has\n"
      "  to know. With several files, --timings and --verify files are numbered.\n"
      "  One curve for all takes two steps: --curve-to FILE without --out looks at them and\n"
      "  writes their mean curve alone, --curve-from FILE --out DIR then filters them with it.\n";
  command.positionals = {{"INPUT",
                          "video files, and folders that are searched through",
                          [options](const std::string& text) { options->inputs.push_back(text); },
                          true,
                          false,
                          {"manifest"}}};
  command.groups = {batch_group(*options),        output_group(stream.out),
                    filter_group(stream.common),  measuring_group(stream.common),
                    machine_group(stream.common), config_group(&stream.common)};
  note_parameters(command, *options);
  command.examples =
      "equalux batch clips/ --out readable/                  a folder, mirrored\n"
      "equalux batch clips/ --out readable/ --preset fog --extension mkv\n"
      "equalux batch --manifest list.txt --out readable/ --jobs 4\n"
      "equalux batch clips/ --out readable/ --dry-run        what would be done, and what it "
      "takes\n";
  command.usual_options = {"out",        "manifest",    "extension",    "jobs",    "overwrite",
                           "dry-run",    "preset",      "list-presets", "filter",  "strength",
                           "clip-limit", "temporal-ms", "encoder",      "quality", "backend",
                           "config",     "quiet"};
  command.note = [options](const Settings& given) { note_knobs(options->stream.common, given); };
  command.run = [options] { return Batch(*options).run(); };
  command.usual_preset = [] { return std::string("stable"); };
  return command;
}

}  // namespace equalux::cli
