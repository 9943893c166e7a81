#include <algorithm>
#include <cstdio>
#include <memory>
#include <utility>

#include <equalux/error.h>

#include "backend.h"
#include "commands.h"
#include "curve_file.h"
#include "frame_pool.h"
#include "gnuplot.h"
#include "log.h"
#include "measurements.h"
#include "options.h"
#include "paths.h"
#include "plot.h"
#include "processor.h"
#include "still.h"
#include "values.h"

/// `equalux image`: one still through the filters, and the reports' plots of it.
namespace equalux::cli {
namespace {

constexpr int kMaxPlotBins = 256;
constexpr int kMaxRepeats = 1000000;
constexpr Rational kStillRate{25, 1};  // As FFmpeg reads a still, so that its framemd5 is ours.

struct ImageOptions {
  CommonOptions common;
  std::string input;
  std::string output;
  std::string plot;
  std::string plot_scalers;
  bool plot_channels = false;
  Overwrite overwrite = Overwrite::ask;
  int repeat = 1;
};

void check(const ImageOptions& options) {
  if (options.input.empty() || options.output.empty()) {
    throw Error(ExitCode::usage, std::string(options.input.empty() ? "IN" : "OUT") +
                                     " is missing, must be equalux image IN OUT");
  }
  if (!writes_still(options.output)) {
    throw Error(ExitCode::usage, "output " + options.output +
                                     " has no extension of a still that this build writes, must "
                                     "be like .png or .ppm");
  }
  for (const auto& [option, path] :
       {std::pair("plot", options.plot), std::pair("plot-scalers", options.plot_scalers)}) {
    if (path.empty()) continue;
    if (extension_of(path) != "png") {
      throw Error(ExitCode::usage,
                  std::string("--") + option + " is '" + path + "', must be a name with .png");
    }
    refuse_same_file(options.input, path);
    refuse_same_file(options.output, path);
  }
  refuse_same_file(options.input, options.output);
  if (!options.common.curve_to.empty()) {
    refuse_same_file(options.input, options.common.curve_to);
    refuse_same_file(options.output, options.common.curve_to);
  }
  if (!options.plot_scalers.empty() && options.common.equalize.curve) {
    throw Error(ExitCode::usage,
                "--plot-scalers compares scalers, must be left out with --curve-from");
  }
  check_filters(options.common);
}

/// A still that was filtered, and the memory it lies in.
struct Result {
  std::unique_ptr<FramePool> pool;
  FramePtr frame;
  std::string backend;  ///< what ran, for the log
  std::optional<CurveSum> curves;
};

Result filter_still(const ConstImageView& still, const CommonOptions& common, int repeat,
                    double read_ms, Measurements* measurements) {
  const std::unique_ptr<Processor> processor =
      make_processor(common);
  if (!processor->accepts(still.desc.format)) {
    const bool deep = has_deep_samples(still.desc.format);
    throw Error(ExitCode::usage, "filter " + filters_text(common) + " does not take " +
                                     std::string(to_string(still.desc.format)) + " stills" +
                                     (deep ? ", must have 8 bits a sample" : ""));
  }
  const ImageDesc desc = processor->configure(still.desc);
  if (measurements != nullptr) {
    StreamInfo info;
    info.desc = desc;
    info.frame_rate = kStillRate;
    measurements->open(info);
  }
  FramePool inputs(still.desc, 1, true);
  Result result{std::make_unique<FramePool>(desc, 1), nullptr, processor->description(), {}};
  for (int i = 0; i < repeat; ++i) {
    result.frame.reset();
    FramePtr in = inputs.acquire();
    in->image = still;
    in->captured = Clock::now();
    in->timings.capture_ms = read_ms;
    processor->submit(std::move(in), result.pool->acquire(), true, false);
    result.frame = processor->collect(true);
    result.frame->index = static_cast<std::uint64_t>(i);
    result.frame->timings.latency_ms = milliseconds(Clock::now() - result.frame->captured);
    if (measurements != nullptr && i + 1 < repeat) measurements->add_frame(*result.frame);
  }
  result.curves = processor->curve_sum();
  return result;
}

int plot_bins(const EqualizeParams& params) {
  return params.bins == 0 ? kMaxPlotBins : std::min(params.bins, kMaxPlotBins);
}

std::string result_title(const CommonOptions& common, PixelFormat format) {
  if (!common.filters.empty()) return filters_text(common);
  const EqualizeParams& params = common.equalize;
  if (common.preset != "plain") return "Equalized, preset " + common.preset;
  const bool plain = params.strength == 1 && params.clip_limit == 0 && params.floor == 0 &&
                     params.ceiling == 100 && params.max_gain == 0 && !params.curve;
  const int bins = params.bins == 0 ? 1 << traits(format).depth : params.bins;
  return std::string("Equalized, ") + (plain ? "plain, " : "") +
         std::string(enum_name(params.scaler)) + ", " + std::to_string(bins) + " bins";
}

void plot_scalers(const ConstImageView& still, const ImageOptions& options) {
  std::vector<Result> results;
  std::vector<PlotColumn> columns{{"Original", still}};
  for (const Scaler scaler : {Scaler::max_abs, Scaler::min_max}) {
    CommonOptions common = options.common;
    common.equalize.scaler = scaler;
    std::erase_if(common.knobs, [](const GivenKnob& knob) { return knob.name == "scaler"; });
    common.knobs.push_back({"scaler", std::string(enum_name(scaler)), "", GivenBy::flag});
    for (FilterSpec& spec : common.filters) {
      std::erase_if(spec.options, [](const auto& option) { return option.first == "scaler"; });
    }
    results.push_back(filter_still(still, common, 1, 0, nullptr));
    columns.push_back({std::string(enum_name(scaler)), results.back().frame->image});
  }
  draw_plot(columns,
            {options.plot_scalers, plot_bins(options.common.equalize), options.plot_channels});
}

ExitCode run_image(const ImageOptions& options) {
  check(options);
  start_logging(options.common);
  require_input(options.input);
  require_free_output(options.output, options.overwrite);
  warn_of_idle_keys(options.common);
  const auto start = Clock::now();
  StillNotes notes;
  const Image still = read_still(options.input, notes);
  if (notes.pages > 1) {
    logger().warn("{}: holds {} pages or frames, only the first is taken", options.input,
                  notes.pages);
  }
  const double read_ms = milliseconds(Clock::now() - start);
  if (!options.plot.empty() || !options.plot_scalers.empty()) check_gnuplot();

  Measurements measurements(options.common);
  CurveFile curves(options.common.curve_to);
  const ConstImageView view = still.view();
  const auto filtering = Clock::now();
  const Result result = filter_still(view, options.common, options.repeat, read_ms, &measurements);
  const double filter_s = milliseconds(Clock::now() - filtering) / 1000;
  measurements.add_result(*result.frame);
  if (!options.plot.empty()) {
    draw_plot(
        {{"Original", view}, {result_title(options.common, view.desc.format), result.frame->image}},
        {options.plot, plot_bins(options.common.equalize), options.plot_channels});
  }
  if (!options.plot_scalers.empty()) plot_scalers(view, options);
  const auto writing = Clock::now();
  const std::string lost = write_still(options.output, result.frame->image, notes, {});
  if (!lost.empty()) logger().warn("{}: does not keep the input's {}", options.output, lost);
  result.frame->timings.sink_ms = milliseconds(Clock::now() - writing);
  measurements.add_frame(*result.frame);
  measurements.finish();
  curves.add(result.curves);
  curves.finish();
  logger().info("{}; {}", result.backend, filters_text(options.common));
  if (options.common.wants_timings()) {
    const auto times = static_cast<std::uint64_t>(options.repeat);
    RunResult summary;
    summary.frames_in = summary.frames_out = times;
    summary.elapsed_s = filter_s;
    std::fputs(measurements.table(summary).c_str(), stderr);
  }
  return ExitCode::done;
}

OptionGroup image_group(ImageOptions& options) {
  OptionGroup group{"Still", {}, false};
  group.options = {
      overwrite_option(options.overwrite),
      text_option("plot", "FILE.png",
                  "draw original and result above their histograms of V, with the cumulative sum "
                  "in red (default: none)",
                  options.plot),
      switch_option("plot-rgb",
                    "draw the histograms of R, G and B behind those of V (default: off)",
                    options.plot_channels),
      text_option("plot-scalers", "FILE.png",
                  "draw original, max-abs and min-max side by side (default: none)",
                  options.plot_scalers),
      {"repeat", "N", "filter the still N times, 1 to 1000000, to time it (default: 1)",
       [&](const std::string& text) {
         options.repeat = static_cast<int>(read_integer("repeat", text, 1, kMaxRepeats));
       }},
      curve_to_option(options.common)};
  return group;
}

}  // namespace

Command make_image_command() {
  const auto options = std::make_shared<ImageOptions>();
  Command command;
  command.name = "image";
  command.summary = "filter one still";
  command.positionals = {
      {"IN", "a still: PNM always; PNG, JPEG, BMP, TIFF and WebP where OpenCV is built in",
       [options](const std::string& text) { options->input = text; }},
      {"OUT", "the filtered still; its extension is its format; .npy or .tif where the result is floats",
       [options](const std::string& text) { options->output = text; }}};
  command.groups = {image_group(*options), filter_group(options->common),
                    measuring_group(options->common), machine_group(options->common),
                    config_group(&options->common)};
  command.examples =
      "equalux image in.png out.png --plot figure.png    a still, and its histograms\n"
      "equalux image in.png out.png --preset stable      less noise than plain equalization\n"
      "equalux image in.png out.png --filter clahe       a curve for each part of the picture\n"
      "equalux image eye.jpg mask.png --filter vessel:channel=green\n";
  command.usual_options = {"overwrite", "preset", "list-presets", "filter", "strength",
                           "clip-limit", "plot",  "backend",      "config", "quiet"};
  command.note = [options](const Settings& given) { note_knobs(options->common, given); };
  command.run = [options] { return run_image(*options); };
  return command;
}

}  // namespace equalux::cli
