#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>

#include <equalux/error.h>

#include "backend.h"
#include "batch_plan.h"
#include "commands.h"
#include "log.h"
#include "paths.h"
#include "run_stream.h"
#include "signals.h"

namespace fs = std::filesystem;

/// `equalux batch`: many files, each as `run` would do it.
namespace equalux::cli {
namespace {

struct BatchOptions {
  StreamOptions stream;  ///< but for input and output
  std::vector<std::string> inputs;
  std::string out;
  std::string extension;
};

/// What became of one file.
struct Outcome {
  BatchJob job;
  std::string status;  ///< "done", "partial", "failed", "stopped"
  RunResult result;
  std::string reason;
};

void check(const BatchOptions& options) {
  static constexpr std::array<std::string_view, 5> kContainers{"mp4", "mov", "m4v", "mkv", "y4m"};
  if (options.inputs.empty()) {
    throw Error(ExitCode::usage, "INPUT is missing, must be files or folders");
  }
  if (options.out.empty()) {
    throw Error(ExitCode::usage, "--out is missing, must be the folder of the results");
  }
  if (!options.extension.empty() &&
      std::find(kContainers.begin(), kContainers.end(), options.extension) == kContainers.end()) {
    throw Error(ExitCode::usage,
                "--extension is '" + options.extension + "', must be mp4, mov, m4v, mkv or y4m");
  }
  std::error_code ignored;
  if (fs::exists(options.out, ignored) && !fs::is_directory(options.out, ignored)) {
    throw Error(ExitCode::cannot_create, "--out " + options.out + " is a file, must be a folder");
  }
  check_filters(options.stream.common);
  check_output("x." + (options.extension.empty() ? "mkv" : options.extension), options.stream.out);
}

void make_folder_of(const std::string& output) {
  std::error_code failed;
  const fs::path folder = fs::path(output).parent_path();
  if (!folder.empty()) fs::create_directories(folder, failed);
  if (failed) {
    throw Error(ExitCode::cannot_create, "folder " + folder.string() + " cannot be made (" +
                                             failed.message() + "), must be writable");
  }
}

/// Name of a per-file result: timings.jsonl becomes timings-3.jsonl.
std::string numbered(const std::string& path, std::size_t number) {
  const fs::path file(path);
  return (file.parent_path() /
          (file.stem().string() + "-" + std::to_string(number) + file.extension().string()))
      .string();
}

/// A line for each file as it ends; the table comes when all have.
void tell(const StreamOptions& stream, const Outcome& outcome) {
  if (outcome.status != "done") {
    logger().warn("{}{}: {}", stream.label, outcome.status, outcome.reason);
  } else {
    logger().info("{}done, {} frames", stream.label, outcome.result.frames_out);
  }
}

Outcome run_job(const BatchOptions& options, const BatchJob& job, std::size_t number,
                std::size_t count) {
  Outcome outcome{job, "failed", {}, ""};
  StreamOptions stream = options.stream;
  stream.input = job.input;
  stream.output = job.output;
  stream.in.threads = stream.common.threads;
  stream.label = "[" + std::to_string(number) + "/" + std::to_string(count) + "] " +
                 fs::path(job.input).filename().string() + ": ";
  stream.announce = number == 1;
  stream.always_summarise = false;
  if (count > 1 && !stream.common.timings.empty()) {
    stream.common.timings = numbered(stream.common.timings, number);
  }
  if (count > 1 && stream.common.verify && *stream.common.verify != "-") {
    stream.common.verify = numbered(*stream.common.verify, number);
  }
  try {
    require_input(job.input);
    make_folder_of(job.output);
    check_stream(stream);
    outcome.result = run_stream(stream);
    switch (outcome.result.code) {
      case ExitCode::done:
        outcome.status = "done";
        break;
      case ExitCode::partial:
        outcome.status = "partial";
        break;
      default:
        outcome.status = "stopped";
        break;
    }
    outcome.reason =
        outcome.status == "partial" ? outcome.result.partial_reason : ending_text(outcome.result);
  } catch (const Error& error) {
    outcome.reason = error.what();
  } catch (const std::exception& error) {
    outcome.reason = std::string("unexpected failure: ") + error.what();
  }
  tell(stream, outcome);
  return outcome;
}

std::string table(const std::vector<Outcome>& outcomes) {
  std::size_t width = 4;
  for (const Outcome& outcome : outcomes)
    width = std::max(width, outcome.job.input.size());
  const auto padded = [width](std::string text) {
    text.resize(width, ' ');
    return text;
  };
  std::string text = padded("file") + "  status    frames   time s      fps  reason\n";
  for (const Outcome& outcome : outcomes) {
    const RunResult& result = outcome.result;
    char row[96];
    const double fps =
        result.elapsed_s > 0 ? static_cast<double>(result.frames_out) / result.elapsed_s : 0.0;
    std::snprintf(row, sizeof row, "  %-7s %8llu %8.2f %8.1f  ", outcome.status.c_str(),
                  static_cast<unsigned long long>(result.frames_out), result.elapsed_s, fps);
    text += padded(outcome.job.input) + row + outcome.reason;
    text.erase(text.find_last_not_of(' ') + 1);
    text += "\n";
  }
  return text;
}

ExitCode run_batch(const BatchOptions& options) {
  start_logging(options.stream.common);
  check(options);
  const BatchPlan plan = plan_batch(options.inputs, options.out, options.extension);
  if (plan.jobs.empty()) {
    throw Error(ExitCode::no_input, "no media file is in " + options.inputs.front() +
                                        ", must hold at least one (" +
                                        std::to_string(plan.skipped) + " other files skipped)");
  }
  // A backend that is not there would fail every file alike: said once.
  (void)make_processor(options.stream.common);
  catch_signals();
  std::vector<Outcome> outcomes;
  for (std::size_t i = 0; i < plan.jobs.size() && stop_token().signal == 0; ++i) {
    outcomes.push_back(run_job(options, plan.jobs[i], i + 1, plan.jobs.size()));
  }
  if (!options.stream.common.quiet) {
    std::fputs(table(outcomes).c_str(), stderr);
    if (plan.skipped > 0) {
      std::fprintf(stderr, "equalux: skipped in folders, no media by their names: %zu\n",
                   plan.skipped);
    }
  }
  if (const int signal = stop_token().signal; signal != 0)
    return static_cast<ExitCode>(128 + signal);
  const bool all_done = std::all_of(outcomes.begin(), outcomes.end(), [](const Outcome& outcome) {
    return outcome.status == "done";
  });
  return all_done ? ExitCode::done : ExitCode::partial;
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
      "  does not stop the rest. With several files, --timings and --verify files are numbered.\n";
  command.positionals = {{"INPUT", "video files, and folders that are searched through",
                          [options](const std::string& text) { options->inputs.push_back(text); },
                          true}};
  OptionGroup group{"Batch", {}, false};
  group.options = {
      text_option("out", "DIR", "folder of the results, made if missing; needed", options->out),
      text_option("extension", "EXT",
                  "container of the results: mp4, mov, m4v, mkv or y4m (default: the input's, or "
                  "mkv where it is another)",
                  options->extension),
      frames_option(stream.frames), decoder_option(stream.in)};
  command.groups = {group,
                    output_group(stream.out),
                    filter_group(stream.common),
                    measuring_group(stream.common),
                    machine_group(stream.common),
                    config_group()};
  command.run = [options] { return run_batch(*options); };
  command.usual_preset = [] { return std::string("stable"); };
  return command;
}

}  // namespace equalux::cli
