#include "src/cli/stream/run_stream.h"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include <equalux/error.h>

#include "pipelines/files/image_names.h"
#include "pipelines/files/still.h"
#include "pipelines/timings/timing_summary.h"
#include "src/cli/paths.h"
#include "src/cli/signals.h"
#include "src/cli/stream/backend.h"
#include "src/cli/stream/measurements.h"
#include "src/cli/stream/progress_line.h"
#include "src/cli/values.h"
#include "src/common/log.h"

namespace equalux::cli {
namespace {

bool is_file(InputKind kind) {
  return kind == InputKind::media_file || kind == InputKind::y4m;
}
bool is_file(OutputKind kind) {
  return kind == OutputKind::media_file || kind == OutputKind::y4m;
}

void print_summary(const StreamOptions& options, const RunResult& result,
                   const Measurements& measurements) {
  const bool lost = options.always_summarise && result.code == ExitCode::partial;
  if (options.common.quiet) {
    // Missing frames are an error, which --quiet shows.
    if (lost) logger().error("{}{}", options.label, ending_text(result));
    return;
  }
  const bool wanted = options.always_summarise || options.common.wants_timings();
  if (wanted) std::fputs(measurements.table(result).c_str(), stderr);
  if (options.always_summarise && result.code != ExitCode::done) {
    std::fprintf(stderr, "equalux: %s\n", printable(options.label + ending_text(result)).c_str());
  }
}

void check_measuring(const CommonOptions& common, bool stdout_taken) {
  const bool hashes = common.verify == "-";
  const bool timings = common.timings == "-";
  if (hashes && stdout_taken) {
    throw Error(ExitCode::usage,
                "--verify writes to stdout as output - does, must be --verify=FILE");
  }
  if (timings && (stdout_taken || hashes)) {
    throw Error(ExitCode::usage, "--timings - writes to stdout as " +
                                     std::string(hashes ? "--verify" : "output -") +
                                     " does, must be a file");
  }
}

/// Returns the stills to read; empty where they cannot be listed, which the source reports.
std::vector<std::string> stills_of(const std::string& input) {
  try {
    return list_images(input);
  } catch (const Error&) {
    return {};
  }
}

/// Returns true for outputs that cannot hold the metadata of stills.
bool holds_no_still_notes(OutputKind out) {
  return out == OutputKind::media_file || out == OutputKind::y4m ||
         out == OutputKind::standard_output;
}

void warn_of_lost_notes(const std::string& output, const StreamInfo& info) {
  const std::string lost = info.still_notes ? info.still_notes->contents_of_first() : "";
  if (!lost.empty()) logger().warn("{}: is a video, which keeps no {} of stills", output, lost);
}

/// Throws where results would replace stills of the input, some of them before they are read.
void refuse_outputs_over_stills(const StreamOptions& options, OutputKind out) {
  const std::vector<std::string> stills = stills_of(options.input);
  const InputFiles inputs(stills);
  if (out == OutputKind::sequence) {
    const auto name = NumberedName::parse(options.output);
    const std::uint64_t frames =
        options.frames > 0 ? std::min<std::uint64_t>(options.frames, stills.size()) : stills.size();
    for (std::uint64_t i = 0; name && i < frames; ++i)
      inputs.refuse(name->at(i));
  }
  if (is_file(out)) inputs.refuse(options.output);
  for (const std::string& written :
       {options.common.timings, options.common.verify.value_or(""), options.common.curve_to}) {
    if (!written.empty()) inputs.refuse(written);
  }
}

void refuse_outputs_over_files_of_options(const StreamOptions& options, OutputKind out) {
  const InputFiles files = files_of(options.common);
  for (const std::string& written :
       {is_file(out) ? options.output : std::string(), options.common.timings,
        options.common.verify.value_or(""), options.common.curve_to, options.record.path}) {
    files.refuse(written);
  }
  if (out != OutputKind::sequence) return;
  const auto name = NumberedName::parse(options.output);
  for (const std::string& path : files.paths())
    if (name && name->number_of(path)) files.refuse(path);
}

}  // namespace

void check_stream(const StreamOptions& options) {
  const InputKind in = input_kind(options.input);
  check_output(options.output, options.out);
  const OutputKind out = output_kind(options.output);
  if (is_file(in) && is_file(out)) refuse_same_file(options.input, options.output);
  if (in == InputKind::pipewire && options.input == options.output)
    throw Error(ExitCode::usage,
                "output " + options.output + " is the input, must have another name");
  if (in == InputKind::sequence) refuse_outputs_over_stills(options, out);
  check_measuring(options.common, out == OutputKind::standard_output);
  for (const std::string& written :
       {options.common.timings, options.common.verify.value_or(""), options.common.curve_to}) {
    if (is_file(in) && !written.empty()) refuse_same_file(options.input, written);
    if (is_file(out) && !written.empty()) refuse_same_file(options.output, written);
  }
  check_recording(options.record, options.out);
  check_filters(options.common);
  refuse_outputs_over_files_of_options(options, out);
}

RunResult run_stream(const StreamOptions& options) {
  InputOptions in = options.in;
  // GPU decoders give NV12, the CPU mostly I420: equal pictures with different hashes.
  if (options.common.verify && in.decoder == "auto") in.decoder = "software";
  in.sound = output_kind(options.output) == OutputKind::stream && !options.out.mute;
  std::unique_ptr<Source> source = make_source(options.input, in);
  if (options.wrap_source) source = options.wrap_source(std::move(source));
  const std::unique_ptr<Processor> processor = make_processor(options.common);
  OutputOptions out = options.out;
  out.prefers_gpu = options.may_encode_on_gpu && processor->frame_device() >= 0;
  RecordSwitch recording;  // outlives its users below
  const std::unique_ptr<Recorder> recorder = make_recorder(options.record, out, recording);
  const std::unique_ptr<Recorder> originals =
      make_original_recorder(options.record, out, recording);
  std::optional<LiveControl> live;
  if (options.steerable) {
    const Backend backend = processor->frame_device() >= 0 ? Backend::cuda : Backend::cpu;
    live.emplace(options.live, options.common, backend, recorder ? &recording : nullptr);
    if (recorder) live->watch(*recorder, originals.get());
    out.steering = &live->steering();
  }
  const std::unique_ptr<Sink> sink = make_sink(options.output, out);

  Measurements measurements(options.common, options.resume_from.has_value());
  ProgressLine progress(options.common, options.label);
  bool described = !options.announce;
  // The description waits for the first frame, so that a run that cannot start prints its error
  // alone.
  const auto describe = [&] {
    if (std::exchange(described, true)) return;
    std::string preset = live ? live->preset_text() : "";
    const PresetUse use = preset_use(options.common);
    if (preset.empty() || (use.changed && !use.holds)) {
      preset = preset_text(options.common);
    } else if (use.changed && !preset.ends_with(", changed")) {
      preset += ", changed";
    }
    logger().info("{}; {}{}{}", processor->description(), filters_text(options.common),
                  preset.empty() ? "" : "; ", preset);
  };

  RunOptions run_options;
  run_options.max_frames = options.frames;
  run_options.on_open = [&](const StreamInfo& info) {
    if (holds_no_still_notes(output_kind(options.output))) warn_of_lost_notes(options.output, info);
    measurements.open(info);
    if (recorder) recorder->open(info);
  };
  LatencyReport latency;
  if (options.common.wants_timings() || options.latency_report) {
    run_options.on_frame = [&](const Frame& frame) {
      if (options.common.wants_timings()) measurements.add_frame(frame);
      if (options.latency_report) latency.add(frame);
    };
  }
  if (options.common.verify || options.on_result || recorder) {
    run_options.on_result = [&](const Frame& frame) {
      if (recorder) recorder->add(frame);
      if (originals && (frame.original || frame.unseen)) {
        originals->add(frame.unseen ? frame : *frame.original);
      }
      if (options.common.verify) measurements.add_result(frame);
      if (options.on_result) options.on_result(frame);
    };
  }
  run_options.wants_frames = [&] {
    return options.common.verify || options.on_result || !options.common.curve_to.empty() ||
           (recorder && recording.on) || (live && live->wants_frames());
  };
  if (originals) {
    run_options.keep_original = true;
    run_options.on_source = [&](const StreamInfo& info) { originals->open(info); };
  }
  if (recorder) {
    run_options.keep_alpha = true;
    run_options.on_stop = [&] {
      recorder->cancel();
      if (originals) originals->cancel();
    };
  }
  run_options.checkpoint_every = options.checkpoint_every;
  run_options.resume_from = options.resume_from;
  if (options.on_checkpoint) {
    run_options.on_checkpoint = [&](const Checkpoint& checkpoint) {
      options.on_checkpoint(checkpoint, measurements.hash_bytes());
    };
  }
  run_options.on_progress = [&](const RunProgress& now) {
    if (now.frames > 0) describe();
    if (options.on_progress) {
      options.on_progress(now);
    } else {
      progress.update(now);
    }
  };
  if (live) live->attach(run_options);
  RunResult result = run(*source, *processor, *sink, run_options, stop_token());
  progress.clear();
  for (Recorder* each : {recorder.get(), originals.get()})
    if (each != nullptr) each->finish();
  describe();
  // A lost device takes the sum of curves with it; that is an error only where --curve-to asks for
  // it.
  if (options.curves != nullptr && !options.common.curve_to.empty() && !result.processor_failed) {
    options.curves->add(processor->curve_sum());
  }
  measurements.finish();
  if (live) result.code = live->ending(result.code);
  print_summary(options, result, measurements);
  if (options.latency_report) std::fputs(latency.text(result).c_str(), stderr);
  if (const std::string text = sink->summary(); !text.empty() && !options.common.quiet) {
    std::fprintf(stderr, "%s\n", printable(text).c_str());
  }
  for (const Recorder* each : {recorder.get(), originals.get()}) {
    if (each == nullptr) continue;
    const std::string text =
        (each == originals.get() ? "originals " : "") + recording_text(each->counts());
    if (!options.common.quiet) std::fprintf(stderr, "%s\n", printable(text).c_str());
    if (each->code() != ExitCode::done) result.code = each->code();
  }
  if (const std::string text = live ? live->viewers_text() : ""; !text.empty()) {
    if (!options.common.quiet) std::fprintf(stderr, "%s\n", text.c_str());
  }
  if (!options.on_progress) progress.end(result.frames_out, result.elapsed_s, result.code);
  return result;
}

Option frames_option(std::uint64_t& frames) {
  return {"frames", "N", "stop after N frames; 0 = all (default: 0)",
          [&frames](const std::string& text) {
            frames = static_cast<std::uint64_t>(
                read_integer("frames", text, 0, std::numeric_limits<std::int64_t>::max()));
          }};
}

std::string ending_text(const RunResult& result) {
  switch (result.code) {
    case ExitCode::partial:
      return "the output is partial: " + result.partial_reason;
    case ExitCode::interrupted:
    case ExitCode::terminated:
      return "stopped by a signal; the output holds every frame up to then";
    default:
      return {};
  }
}

}  // namespace equalux::cli
