#include "src/lab/command.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <equalux/error.h>

#include "src/cli/options.h"
#include "src/cli/paths.h"
#include "src/common/log.h"
#include "src/lab/experiment.h"
#include "src/lab/lab.h"
#include "src/lab/options.h"
#include "src/options/nearest_name.h"

namespace fs = std::filesystem;

/// `equalux lab`: repeats the experiments of the three reports on any image and GPU.
namespace equalux::cli::lab {
namespace {

[[noreturn]] void refuse_experiment(const std::string& name) {
  std::vector<std::string_view> names;
  for (const Experiment& experiment : experiments())
    names.push_back(experiment.name);
  names.push_back(kPlot);
  if (name.empty()) {
    throw Error(ExitCode::usage, "EXPERIMENT is missing, must be " + list_of_names(names));
  }
  throw Error(ExitCode::usage,
              "experiment '" + name + "' is unknown, must be " + nearest_or_all(name, names));
}

/// Throws for an option that the experiment itself varies.
void refuse_varied(const std::string& experiment, const char* option, bool given) {
  if (!given) return;
  throw Error(ExitCode::usage, std::string("--") + option + " is what lab " + experiment +
                                   " varies, must be left out");
}

bool is_given(const LabOptions& options, std::string_view name) {
  return std::any_of(options.given.begin(), options.given.end(),
                     [name](const GivenOption& option) { return option.name == name; });
}

/// Names what of the command line changes nothing, in one line. No experiment = plot.
void name_unread(const LabOptions& options, const Experiment* experiment) {
  std::vector<std::string> names;
  // Scans take numbers of their own.
  if (options.experiment == "scans" && !options.input.empty()) names.push_back("IMAGE");
  for (const GivenOption& option : options.given) {
    if (experiment == nullptr || !experiment->reads(option)) names.push_back("--" + option.name);
  }
  if (names.empty()) return;
  std::string list;
  for (const std::string& name : names)
    list += (list.empty() ? "" : ", ") + name;
  logger().warn("lab {}: {} {} nothing", options.experiment, list,
                names.size() == 1 ? "changes" : "change");
}

void check(const Experiment& experiment, const LabOptions& options) {
  const StagedParams& knobs = options.common.equalize.staged;
  const std::string& name = options.experiment;
  if (name == "sweep" || name == "threads" || name == "access" || name == "convolution") {
    refuse_varied(name, "grid", knobs.grid.has_value());
    refuse_varied(name, "block", knobs.block.has_value());
  }
  if (name == "scans") refuse_varied(name, "scan", knobs.scan.has_value());
  if (name == "histograms") refuse_varied(name, "histogram", knobs.histogram.has_value());
  if (name == "access") {
    refuse_varied(name, "rgb-to-hsv", knobs.rgb_to_hsv.has_value());
    refuse_varied(name, "pixels-per-thread", knobs.pixels_per_thread.has_value());
  }
  if (name == "hashes") refuse_varied(name, "chain", is_given(options, "chain"));
  if (name == "hashes" || name == "scalers")
    refuse_varied(name, "scaler", is_given(options, "scaler"));
  name_unread(options, &experiment);
  EqualizeParams params;
  if (experiment.chain != ChainOptions::none) params = options.common.equalize;
  params.staged = knobs;
  params.bins = options.common.equalize.bins;
  params.chain = Chain::staged;  // other chains refuse the staged chain's options
  validate(params, Backend::automatic);
}

std::string plot_stem(const LabOptions& options) {
  const fs::path csv(options.input);
  return (csv.parent_path() / csv.stem()).string();
}

ExitCode run_plot(const LabOptions& options) {
  if (options.input.empty()) {
    throw Error(ExitCode::usage, "FILE.csv is missing, must be equalux lab plot FILE.csv");
  }
  name_unread(options, nullptr);
  const Table table = read_table(options.input);
  const Experiment* experiment = find_experiment(table.experiment);
  if (experiment == nullptr) {
    throw Error(ExitCode::bad_input, options.input + ": experiment '" + table.experiment +
                                         "' is unknown, must be a CSV that equalux lab wrote");
  }
  if (table.rows.empty()) {
    throw Error(ExitCode::bad_input,
                options.input + ": there are no rows, must be a CSV of a run that measured some");
  }
  const std::string stem = plot_stem(options);
  for (const char* extension : {".md", ".png", ".svg"})
    refuse_same_file(options.input, stem + extension);
  write_report(table, experiment->report(table), stem);
  return ExitCode::done;
}

ExitCode run_experiment(const Experiment& experiment, const LabOptions& options) {
  check(experiment, options);
  Lab run(experiment, options);
  experiment.measure(run);
  const Table& table = run.finish();
  const Report report = experiment.report(table);
  std::string written = run.stem() + ".csv, .md";
  try {
    write_report(table, report, run.stem());
    if (!report.panels.empty()) written += ", .png, .svg";
  } catch (const Error& error) {
    // The measurements are complete; `lab plot` draws them on a machine with gnuplot.
    if (error.code() != ExitCode::unavailable) throw;
    logger().warn("{}; equalux lab plot {}.csv draws later", error.what(), run.stem());
  }
  logger().info("{}", written);
  return ExitCode::done;
}

ExitCode run_lab(const LabOptions& options) {
  start_logging(options.common);
  if (options.experiment == kPlot) return run_plot(options);
  const Experiment* experiment = find_experiment(options.experiment);
  if (experiment == nullptr) refuse_experiment(options.experiment);
  return run_experiment(*experiment, options);
}

}  // namespace

Command measuring_command() {
  const auto options = std::make_shared<LabOptions>();
  Command command = lab_command(options);
  command.run = [options] { return run_lab(*options); };
  return command;
}

}  // namespace equalux::cli::lab
