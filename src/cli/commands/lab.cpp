#include "src/lab/lab.h"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <equalux/error.h>

#include "src/cli/commands.h"
#include "src/cli/options.h"
#include "src/cli/paths.h"
#include "src/cli/values.h"
#include "src/common/log.h"
#include "src/common/nearest_name.h"
#include "src/lab/convolution/kernel.h"
#include "src/lab/experiment.h"

namespace fs = std::filesystem;

/// `equalux lab`: the experiments of the three reports, on any image and card.
namespace equalux::cli {
namespace {

using lab::Experiment;
using lab::LabOptions;

constexpr std::string_view kPlot = "plot";
constexpr int kMaxRepeats = 1000000;
constexpr double kMaxCellSeconds = 3600;
constexpr int kMaxCallMs = 60000;
constexpr int kMaxFrames = 1000;
constexpr int kMaxImages = 100;
constexpr int kMaxShift = 255;

[[noreturn]] void refuse_experiment(const std::string& name) {
  std::vector<std::string_view> names;
  for (const Experiment& experiment : lab::experiments())
    names.push_back(experiment.name);
  names.push_back(kPlot);
  if (name.empty()) {
    throw Error(ExitCode::usage, "EXPERIMENT is missing, must be " + list_of_names(names));
  }
  const std::string nearest = nearest_name(name, names);
  throw Error(ExitCode::usage, "experiment '" + name + "' is unknown, must be " +
                                   (nearest.empty() ? list_of_names(names) : nearest));
}

/// What an experiment varies is not the user's to fix.
void refuse_varied(const std::string& experiment, const char* option, bool given) {
  if (!given) return;
  throw Error(ExitCode::usage, std::string("--") + option + " is what lab " + experiment +
                                   " varies, must be left out");
}

void check(const LabOptions& options) {
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
  EqualizeParams params = options.common.equalize;
  params.chain = Chain::staged;  // Else every knob of it would be one too many.
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
  const lab::Table table = lab::read_table(options.input);
  const Experiment* experiment = lab::find_experiment(table.experiment);
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
  lab::write_report(table, experiment->report(table), stem);
  return ExitCode::done;
}

ExitCode run_experiment(const Experiment& experiment, const LabOptions& options) {
  check(options);
  lab::Lab run(experiment, options);
  experiment.measure(run);
  const lab::Table& table = run.finish();
  const lab::Report report = experiment.report(table);
  std::string written = run.stem() + ".csv, .md";
  try {
    lab::write_report(table, report, run.stem());
    if (!report.panels.empty()) written += ", .png, .svg";
  } catch (const Error& error) {
    // What was measured is there; `lab plot` draws it wherever gnuplot is.
    if (error.code() != ExitCode::unavailable) throw;
    logger().warn("{}; equalux lab plot {}.csv draws later", error.what(), run.stem());
  }
  logger().info("{}", written);
  return ExitCode::done;
}

ExitCode run_lab(const LabOptions& options) {
  start_logging(options.common);
  if (options.experiment == kPlot) return run_plot(options);
  const Experiment* experiment = lab::find_experiment(options.experiment);
  if (experiment == nullptr) refuse_experiment(options.experiment);
  return run_experiment(*experiment, options);
}

Option integer_option(std::string name, std::string help, int least, int most, int& target) {
  const auto set = [name, least, most, &target](const std::string& text) {
    if (!text.empty()) target = static_cast<int>(read_integer(name, text, least, most));
  };
  return {name, "N", std::move(help), set};
}

OptionGroup lab_group(LabOptions& options) {
  OptionGroup group{"Experiment", {}, false};
  group.options = {
      text_option("out", "DIR", "folder of the results, made where it is missing (default: lab)",
                  options.out),
      integer_option("repeat",
                     "how often each value is measured, or calls of load, 1 to 1000000; 0 = as "
                     "the experiment has it (default: 0)",
                     0, kMaxRepeats, options.repeat),
      {"cell-seconds", "S",
       "seconds after which a value is measured no more, however few its repeats, 0 to 3600 "
       "(default: 0.5)",
       [&](const std::string& text) {
         if (!text.empty())
           options.cell_seconds = read_number("cell-seconds", text, 0, kMaxCellSeconds);
       }},
      integer_option("most-bins", "scans, histograms: most bins, 2 to 65536 (default: 65536)",
                     kMinBins, kMaxBins, options.most_bins),
      integer_option("shift-value",
                     "scalers: levels by which V is shifted first, -255 to 255 (default: -120)",
                     -kMaxShift, kMaxShift, options.shift_value),
      integer_option("call-ms",
                     "load: milliseconds of a call, and of the pause before it, 1 to 60000 "
                     "(default: 1000)",
                     1, kMaxCallMs, options.call_ms),
      integer_option("frames", "timeline: frames, 1 to 1000 (default: 16)", 1, kMaxFrames,
                     options.frames),
      {"sizes", "WxH,...",
       "convolution, hessian, vessel: sizes of frames, sides of 1 to 65535 (default: the "
       "report's)",
       [&](const std::string& text) {
         options.sizes =
             text.empty() ? std::vector<lab::FrameSize>() : lab::read_sizes("sizes", text);
       }},
      {"kernel", "SPEC",
       "convolution: a filter of that family with its keys, as of --filter (default: sharpen)",
       [&](const std::string& text) {
         if (text.empty()) return;
         options.kernel = lab::read_kernel(text);
         options.kernel_text = text;
       }},
      {"eigenvalues", "KEYS",
       "hessian: keys of the filter eigenvalues, key=value[,key=value...] (default: "
       "channel=green, else the filter's)",
       [&](const std::string& text) {
         if (text.empty()) return;
         options.hessian = lab::read_hessian(text);
         options.hessian_text = text;
       }},
      {"vessel", "KEYS",
       "vessel: keys of the filter vessel but output (default: channel=green, else the filter's)",
       [&](const std::string& text) {
         if (text.empty()) return;
         options.vessel = lab::read_vessel(text);
         options.vessel_text = text;
       }},
      integer_option("images", "hessian, vessel: pictures of each size, 1 to 100 (default: 10)", 1,
                     kMaxImages, options.images)};
  return group;
}

/// The knobs of the chain; what the experiment varies or is about is not among those it takes.
OptionGroup knob_group(LabOptions& options) {
  OptionGroup group = filter_group(options.common);
  group.title = "Chain";
  std::erase_if(group.options, [](const Option& option) {
    return option.name == "filter" || option.name == "curve-from";
  });
  for (Option& option : group.options) {
    if (option.name == "scaler") {
      option.help = "max-abs, min-max or min-max-nonzero (default: min-max)";
    }
    if (option.name == "chain") {
      option.help =
          "stages, scalers, load, timeline: fused or staged (default: staged for stages, "
          "else fused)";
      option.set = [&](const std::string& text) {
        EqualizeParams params;
        if (!text.empty()) set_option(params, "chain", text);
        options.chain = text.empty() ? std::nullopt : std::optional(params.chain);
      };
    }
  }
  return group;
}

std::string details() {
  std::string text = "Experiments, as the reports have them:\n";
  for (const Experiment& experiment : lab::experiments()) {
    std::string row = "  " + std::string(experiment.name);
    row.resize(15, ' ');
    text += row + std::string(experiment.summary) + "\n";
  }
  text +=
      "  plot FILE.csv  Markdown and plots again, from a CSV alone; needs no GPU\n\n"
      "Each writes DIR/EXPERIMENT.csv row by row while it measures, then .md, .png and .svg "
      "from it.\n";
  return text;
}

}  // namespace

Command make_lab_command() {
  const auto options = std::make_shared<LabOptions>();
  options->common.equalize.scaler = Scaler::min_max;  // As the report's tables have it.
  Command command;
  command.name = "lab";
  command.summary = "repeat the reports' experiments: tables, sweeps and plots";
  command.details = details();
  command.positionals = {
      {"EXPERIMENT", "what to measure, or plot",
       [options](const std::string& text) { options->experiment = text; }},
      {"IMAGE",
       "a still, or test:WxH (default: test:961x640, or the same scene at every size); for plot "
       "the CSV",
       [options](const std::string& text) { options->input = text; }, false, true}};
  command.groups = {lab_group(*options), knob_group(*options), machine_group(options->common),
                    config_group()};
  command.run = [options] { return run_lab(*options); };
  return command;
}

}  // namespace equalux::cli
