#include "src/lab/options.h"

#include <utility>

#include "src/cli/values.h"

namespace equalux::cli::lab {
namespace {

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

}  // namespace

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
  command.groups = {lab_group(*options), knob_group(*options), machine_group(options->common),
                    config_group()};
  return command;
}

}  // namespace equalux::cli::lab
