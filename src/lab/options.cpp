#include "src/lab/options.h"

#include <algorithm>
#include <array>
#include <utility>

#include "src/cli/values.h"

namespace equalux::cli::lab {
namespace {

constexpr std::array kExperiments{
    ExperimentLine{"sweep", "time over blocks and threads of a block: Tables 3 to 6"},
    ExperimentLine{"threads", "time over the total of threads, beside the CPU: Figures 12 to 15"},
    ExperimentLine{"scans", "every scan over n, and at the geometries of Figures 16 and 17"},
    ExperimentLine{"stages", "a profiler's table of kernels and copies, beside their floor"},
    ExperimentLine{"access", "coalesced and uncoalesced rgb_to_hsv: Figure 2"},
    ExperimentLine{"histograms",
                   "global and shared memory atomics over 16 to 65536 bins: Figure 3"},
    ExperimentLine{"scalers", "V shifted, then every scaler: section 4.1.3"},
    ExperimentLine{"hashes", "pixel MD5 of each backend, chain and scaler: Tables 1 and 2"},
    ExperimentLine{"load", "CPU and GPU use over ten calls: Figures 10 and 11"},
    ExperimentLine{"timeline", "uploads, kernels and downloads on three lanes: the overlap"},
    ExperimentLine{"convolution",
                   "every mode and block over five sizes: the convolution report's Tables 1 to 8"},
    ExperimentLine{
        "hessian",
        "eigenvalues by every strategy, step by step: the Hessian report's Tables 3 and 4"},
    ExperimentLine{"vessel", "the whole chain to a mask of vessels: the Hessian report's Table 5"},
};

constexpr int kMaxRepeats = 1000000;
constexpr double kMaxCellSeconds = 3600;
constexpr int kMaxCallMs = 60000;
constexpr int kMaxFrames = 1000;
constexpr int kMaxImages = 100;
constexpr int kMaxShift = 255;

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
         options.sizes = text.empty() ? std::vector<FrameSize>() : read_sizes("sizes", text);
       }},
      {"kernel", "SPEC",
       "convolution: a filter of that family with its keys, as of --filter (default: sharpen)",
       [&](const std::string& text) {
         if (text.empty()) return;
         options.kernel = read_kernel(text);
         options.kernel_text = text;
       }},
      {"eigenvalues", "KEYS",
       "hessian: keys of the filter eigenvalues, key=value[,key=value...] (default: "
       "channel=green, else the filter's)",
       [&](const std::string& text) {
         if (text.empty()) return;
         options.hessian = read_hessian(text);
         options.hessian_text = text;
       }},
      {"vessel", "KEYS",
       "vessel: keys of the filter vessel but output (default: channel=green, else the filter's)",
       [&](const std::string& text) {
         if (text.empty()) return;
         options.vessel = read_vessel(text);
         options.vessel_text = text;
       }},
      integer_option("images", "hessian, vessel: pictures of each size, 1 to 100 (default: 10)", 1,
                     kMaxImages, options.images)};
  return group;
}

/// Returns the options of the chain without those that experiments set themselves.
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

/// Returns true for the name of an experiment.
bool is_experiment(std::string_view name) {
  return std::any_of(kExperiments.begin(), kExperiments.end(),
                     [name](const ExperimentLine& line) { return line.name == name; });
}

/// Notes the experiments with which an option's help begins, as "scans, histograms: most bins".
void set_scope(Option& option) {
  const std::string head = option.help.substr(0, option.help.find(": "));
  std::string_view rest = head;
  while (is_experiment(rest.substr(0, rest.find(", ")))) {
    if (rest.find(", ") == std::string_view::npos) {
      option.scope = head;
      return;
    }
    rest.remove_prefix(rest.find(", ") + 2);
  }
}

/// Returns the options of the experiments and of the chain that the command line gives a value.
/// Config files give theirs to all experiments.
std::vector<GivenOption> given_options(const OptionGroup& experiments, const OptionGroup& chain,
                                       const Settings& settings) {
  std::vector<GivenOption> given;
  const auto add = [&](const Option& option, GivenOption::Of of) {
    const auto setting = settings.find(option.name);
    if (setting == settings.end() || setting->second.by != GivenBy::flag) return;
    if (!setting->second.values.back().empty()) given.push_back({option.name, of});
  };
  for (const Option& option : experiments.options)
    add(option, GivenOption::Of::experiment);
  for (const Option& option : chain.options) {
    add(option, option.scope.starts_with("staged chain") ? GivenOption::Of::staged
                                                         : GivenOption::Of::curve);
  }
  return given;
}

std::string details() {
  std::string text = "Experiments, as the reports have them:\n";
  for (const ExperimentLine& line : kExperiments) {
    std::string row = "  " + std::string(line.name);
    row.resize(15, ' ');
    text += row + std::string(line.summary) + "\n";
  }
  text +=
      "  plot FILE.csv  Markdown and plots again, from a CSV alone; needs no GPU\n\n"
      "Each writes DIR/EXPERIMENT.csv row by row while it measures, then .md, .png and .svg "
      "from it.\n";
  return text;
}

}  // namespace

std::span<const ExperimentLine> experiment_lines() {
  return kExperiments;
}

Command lab_command(const std::shared_ptr<LabOptions>& options) {
  options->common.equalize.scaler = Scaler::min_max;  // as in the report's tables
  Command command;
  command.name = "lab";
  command.summary = "repeat the reports' experiments: tables, sweeps and plots";
  command.positionals = {
      {"EXPERIMENT", "what to measure, or plot",
       [options](const std::string& text) { options->experiment = text; }},
      {"IMAGE",
       "a still, or test:WxH (default: test:961x640, or the same scene at every size); for plot "
       "the CSV",
       [options](const std::string& text) { options->input = text; }, false, true}};
  for (const ExperimentLine& line : kExperiments)
    command.positionals.front().choices.emplace_back(line.name);
  command.positionals.front().choices.emplace_back(kPlot);
  command.details = details();
  command.groups = {lab_group(*options), knob_group(*options), machine_group(options->common),
                    config_group()};
  for (OptionGroup& group : command.groups)
    std::for_each(group.options.begin(), group.options.end(), set_scope);
  command.note = [options, experiments = command.groups[0],
                  chain = command.groups[1]](const Settings& settings) {
    options->given = given_options(experiments, chain, settings);
  };
  return command;
}

}  // namespace equalux::cli::lab
