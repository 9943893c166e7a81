#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include <equalux/error.h>

#include "pipelines/files/file_names.h"
#include "pipelines/files/partial_file.h"
#include "src/cli/commands.h"
#include "src/cli/commands/measure_report.h"
#include "src/cli/options.h"
#include "src/cli/paths.h"
#include "src/cli/signals.h"
#include "src/cli/stream/clip_reader.h"
#include "src/cli/stream/io_factory.h"
#include "src/cli/stream/progress_line.h"
#include "src/cli/stream/run_stream.h"
#include "src/common/log.h"
#include "src/common/size_text.h"
#include "src/options/option_values.h"
#include "src/plot/gnuplot.h"

/// `equalux measure`: measures quality and stability of a clip, or of a result beside its original.
namespace equalux::cli {
namespace {

constexpr double kProgressSeconds = 0.5;
constexpr std::chrono::milliseconds kSignalPeriod{50};

struct MeasureOptions {
  CommonOptions common;
  InputOptions in;
  std::string a;
  std::string b;
  std::string json;
  std::string plot;
  std::uint64_t frames = 0;
};

void check_input(const MeasureOptions& options, const std::string& input) {
  const InputKind kind = input_kind(input);
  if (is_camera(kind) || kind == InputKind::network ||
      (kind == InputKind::test && options.frames == 0)) {
    throw_usage(
        "input " + input + " has no end, must be " +
        (kind == InputKind::test ? "measured with --frames N" : "a file, stills, gst:... or -"));
  }
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(input, ignored)) return;
  for (const std::string& written : {options.json, options.plot}) {
    if (!written.empty() && written != "-") refuse_same_file(input, written);
  }
}

void check(const MeasureOptions& options) {
  if (options.a.empty()) {
    throw_usage("A is missing, must be equalux measure A [B] [OPTION...]");
  }
  if (options.a == "-" && options.b == "-") {
    throw_usage("A and B are both -, must be one on stdin and the other a file");
  }
  check_input(options, options.a);
  if (!options.b.empty()) check_input(options, options.b);
  refuse_shared_outputs({{"--json", options.json}, {"--plot", options.plot}});
  for (const std::string& written : {options.json, options.plot})
    files_of(options.common).refuse(written);
  if (options.plot.empty()) return;
  const std::string extension = extension_of(options.plot);
  if (extension != "png" && extension != "svg") {
    throw_usage("--plot is '" + options.plot + "', must be a name with .png or .svg");
  }
  if (options.json == options.plot) {
    throw_usage("--plot is --json's file, must be another");
  }
}

std::string size_of(const ClipReader& clip) {
  return size_text(clip.info().desc);
}

void refuse_other_size(const ClipReader& a, const ClipReader& b) {
  if (size_of(a) == size_of(b)) return;
  throw_usage("B " + b.input() + " is " + size_of(b) + " and A " + a.input() + " is " + size_of(a) +
              ", must be the same size");
}

/// Thread that cancels both readers on a signal, so that no read waits for its input.
class Watch {
 public:
  Watch(ClipReader& a, ClipReader* b)
      : thread_([&a, b](const std::stop_token& done) {
          while (!done.stop_requested() && stop_token().signal == 0)
            std::this_thread::sleep_for(kSignalPeriod);
          if (done.stop_requested()) return;
          a.cancel();
          if (b != nullptr) b->cancel();
        }) {}

 private:
  std::jthread thread_;
};

void refuse_stopped() {
  const int signal = stop_token().signal;
  if (signal == 0) return;
  throw Error(signal == SIGTERM ? ExitCode::terminated : ExitCode::interrupted,
              "stopped by a signal, nothing was written");
}

/// Outcome of reading the clips to their common end.
struct Ending {
  std::string note;
  std::string partial;  ///< what an input declared and did not hold
};

Ending measure_frames(ClipReader& a, ClipReader* b, const MeasureOptions& options,
                      quality::ClipMeter& meter, ProgressLine& progress) {
  RunProgress now;
  now.expected = a.info().frames;
  if (options.frames > 0) {
    now.expected = std::min(options.frames, now.expected.value_or(options.frames));
  }
  const Clock::time_point start = Clock::now();
  double shown_s = 0;
  bool more_a = true;
  bool more_b = true;
  while (options.frames == 0 || now.frames < options.frames) {
    more_a = a.next();
    more_b = b == nullptr ? more_a : b->next();
    if (!more_a || !more_b || stop_token().signal != 0) break;
    const ConstImageView second = b == nullptr ? ConstImageView{} : b->picture();
    meter.add(a.picture(), b == nullptr ? nullptr : &second);
    ++now.frames;
    now.elapsed_s = milliseconds(Clock::now() - start) / 1000;
    if (now.elapsed_s < shown_s + kProgressSeconds) continue;
    shown_s = now.elapsed_s;
    now.fps = static_cast<double>(now.frames) / now.elapsed_s;
    if (now.expected) {
      now.fraction = static_cast<double>(now.frames) / static_cast<double>(*now.expected);
    }
    progress.update(now);
  }
  Ending ending;
  if (more_a != more_b) ending.note = std::string(more_a ? "A" : "B") + " goes on after them";
  const auto ask = [&](const ClipReader& reader, bool ended) {
    const std::optional<std::string> shortfall = ended ? reader.shortfall() : std::nullopt;
    if (shortfall) ending.partial = reader.input() + " " + *shortfall;
  };
  ask(a, !more_a);
  if (b != nullptr) ask(*b, !more_b);
  return ending;
}

ExitCode run_measure(MeasureOptions& options) {
  start_logging(options.common);
  check(options);
  if (!options.plot.empty()) plot::check_gnuplot();
  options.in.threads = options.common.threads;
  options.in.decoder = "software";
  catch_signals();
  ClipReader a(options.a, options.in);
  std::optional<ClipReader> b;
  if (!options.b.empty()) b.emplace(options.b, options.in);
  const Watch watch(a, b ? &*b : nullptr);
  try {
    a.open();
    if (b) b->open();
  } catch (const Error&) {
    refuse_stopped();  // after a signal, the source's own error is of no interest
    throw;
  }
  refuse_stopped();
  if (b) refuse_other_size(a, *b);
  std::optional<PartialFile> file;
  if (!options.json.empty() && options.json != "-") file.emplace(options.json);

  const ImageDesc& desc = a.info().desc;
  quality::ClipMeter meter(desc.width, desc.height, b.has_value());
  ProgressLine progress(options.common, "");
  const Clock::time_point start = Clock::now();
  const Ending ending = measure_frames(a, b ? &*b : nullptr, options, meter, progress);
  const double elapsed_s = milliseconds(Clock::now() - start) / 1000;
  progress.clear();
  refuse_stopped();
  MeasuredClip clip{options.a, options.b, desc.width, desc.height, ending.note, {}};
  if (meter.frames() == 0) {
    throw Error(ExitCode::bad_input, "there is no frame to measure in " + options.a +
                                         (options.b.empty() ? "" : " and " + options.b));
  }
  clip.figures = meter.figures();
  if (!options.plot.empty()) plot::draw_figure(measure_panels(clip), options.plot);
  const std::string json = options.json.empty() ? "" : measure_json(clip);
  if (file) {
    file->write(json.data(), json.size());
    file->commit();
  }
  const std::string out = options.json == "-" ? json : measure_table(clip);
  std::fputs(out.c_str(), stdout);  // main() checks for errors
  progress.end(meter.frames(), elapsed_s,
               ending.partial.empty() ? ExitCode::done : ExitCode::partial);
  if (ending.partial.empty()) return ExitCode::done;
  throw Error(ExitCode::partial, "the figures are of a partial input: " + ending.partial);
}

OptionGroup measure_group(MeasureOptions& options) {
  OptionGroup group{"Figures", {}, false};
  group.options = {
      text_option("json", "FILE",
                  "write the figures, also each frame's, as one JSON object; - = to stdout, in "
                  "place of the table (default: none)",
                  options.json),
      text_option("plot", "FILE.png",
                  "draw the figures over time, as .png or .svg; needs gnuplot (default: none)",
                  options.plot),
      frames_option(options.frames), progress_option(options.common)};
  return group;
}

/// Returns those of the machine's options that measuring uses.
OptionGroup quiet_machine_group(CommonOptions& common) {
  OptionGroup group = machine_group(common);
  std::erase_if(group.options, [](const Option& option) {
    return option.name == "backend" || option.name == "device";
  });
  return group;
}

constexpr const char* kMeasureForms =
    "  A, B    as INPUT of equalux run: a file, stills, gst:..., test:WxH@FPS with --frames, or -\n"
    "          (YUV4MPEG2 on stdin), of one size; frames are compared in order, as RGB of 8 bits.\n"
    "  Of A, of B: entropy, mean, EME, colourfulness, V of skin, noise in a frame and over time,\n"
    "              steps over time.\n"
    "  Of B to A: brightness error, SSIM, colour difference (CIEDE2000), noise gain, hue error,\n"
    "             flicker, texture kept, ghosting, frames to settle after a cut.\n"
    "  The table goes to stdout. What each figure is: docs/quality.md\n";

}  // namespace

Command make_measure_command() {
  const auto options = std::make_shared<MeasureOptions>();
  Command command;
  command.name = "measure";
  command.summary = "quality and stability figures of a clip or of a pair";
  command.details = kMeasureForms;
  command.positionals = {{"A", "the original, or the only clip",
                          [options](const std::string& text) { options->a = text; }},
                         {"B", "what became of it",
                          [options](const std::string& text) { options->b = text; }, false, true}};
  command.groups = {measure_group(*options), quiet_machine_group(options->common),
                    config_group(&options->common)};
  command.examples =
      "equalux measure dark.mp4                          one clip\n"
      "equalux measure dark.mp4 readable.mp4 --plot figures.png\n"
      "equalux measure - result.mp4 --json - <in.y4m     all figures, for programs\n";
  command.run = [options] { return run_measure(*options); };
  return command;
}

}  // namespace equalux::cli
