#include "src/cli/stream/run_stream.h"

#include <algorithm>
#include <array>
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
#include "src/options/option_values.h"

namespace equalux::cli {
namespace {

bool is_file(InputKind kind) {
  return kind == InputKind::media_file || kind == InputKind::y4m;
}
bool is_file(OutputKind kind) {
  return kind == OutputKind::media_file || kind == OutputKind::y4m;
}

/// Returns true for outputs that are there when the run has ended.
bool is_kept(OutputKind kind) {
  return is_file(kind) || kind == OutputKind::sequence;
}

void print_summary(const StreamOptions& options, const RunResult& result,
                   const Measurements& measurements) {
  const bool lost = options.always_summarise && result.code == ExitCode::partial;
  if (options.common.quiet) {
    // Missing frames are an error, which --quiet shows.
    if (lost) logger().error("{}{}", options.label, ending_text(result, options.output));
    return;
  }
  const bool wanted = options.always_summarise || options.common.wants_timings();
  if (wanted) std::fputs(measurements.table(result).c_str(), stderr);
  if (options.always_summarise && result.code != ExitCode::done) {
    std::fprintf(stderr, "equalux: %s\n",
                 printable(options.label + ending_text(result, options.output)).c_str());
  }
}

void check_measuring(const CommonOptions& common, bool stdout_taken) {
  const bool hashes = common.verify == "-";
  const bool timings = common.timings == "-";
  if (hashes && stdout_taken) {
    throw_usage("--verify writes to stdout as output - does, must be --verify=FILE");
  }
  if (timings && (stdout_taken || hashes)) {
    throw_usage("--timings - writes to stdout as " + std::string(hashes ? "--verify" : "output -") +
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

/// Names the streams of a file that an output of pictures alone leaves out.
void warn_of_lost_streams(const std::string& output, const StreamInfo& info) {
  const OutputKind out = output_kind(output);
  const bool pipe = out == OutputKind::standard_output;
  if (info.other_streams.empty() ||
      (!pipe && out != OutputKind::y4m && out != OutputKind::sequence)) {
    return;
  }
  logger().warn("{}: holds pictures alone, without {} of {}", pipe ? "standard output" : output,
                info.other_streams, info.name);
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
  for (const std::string& written : written_files(options.common))
    inputs.refuse(written);
}

void refuse_outputs_over_files_of_options(const StreamOptions& options, OutputKind out) {
  const InputFiles files = files_of(options.common);
  if (is_file(out)) files.refuse(options.output);
  for (const std::string& written : written_files(options.common))
    files.refuse(written);
  files.refuse(options.record.path);
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
    throw_usage("output " + options.output + " is the input, must have another name");
  if (in == InputKind::sequence) refuse_outputs_over_stills(options, out);
  check_measuring(options.common, out == OutputKind::standard_output);
  if (is_file(in)) {
    for (const std::string& written : written_files(options.common))
      refuse_same_file(options.input, written);
  }
  refuse_shared_outputs(named_outputs(options.common, is_file(out) ? options.output : ""));
  check_recording(options.record, options.out);
  if (is_file(out)) refuse_output_among_recordings(options.record, options.output);
  check_filters(options.common);
  refuse_outputs_over_files_of_options(options, out);
}

namespace {

std::unique_ptr<Source> open_source(const StreamOptions& options) {
  InputOptions in = options.in;
  // GPU decoders give NV12, the CPU mostly I420: equal pictures with different hashes.
  if (options.common.verify && in.decoder == "auto") in.decoder = "software";
  in.sound = output_kind(options.output) == OutputKind::stream && !options.out.mute;
  std::unique_ptr<Source> source = make_source(options.input, in);
  return options.wrap_source ? options.wrap_source(std::move(source)) : std::move(source);
}

/// One run of a stream: its parts, what they do with each frame, and what is said at the end.
class StreamRun {
 public:
  explicit StreamRun(const StreamOptions& options);
  RunResult run();

 private:
  [[nodiscard]] OutputOptions output_options() const;
  std::unique_ptr<Sink> open_sink();
  void describe();
  [[nodiscard]] RunOptions run_options();
  void follow_frames(RunOptions& to);
  void follow_recordings(RunOptions& to);
  void finish_files(const RunResult& result);
  void report(RunResult& result);
  /// The recording of results and that of the frames as they came; null where there is none.
  [[nodiscard]] std::array<Recorder*, 2> recorders() const {
    return {recorder_.get(), originals_.get()};
  }

  // In the order in which they are opened: the first that fails ends the run, and later ones
  // create no files.
  const StreamOptions& options_;
  const std::unique_ptr<Source> source_;
  const std::unique_ptr<Processor> processor_;
  OutputOptions out_;
  RecordSwitch recording_;  // outlives its users below
  const std::unique_ptr<Recorder> recorder_;
  const std::unique_ptr<Recorder> originals_;
  std::optional<LiveControl> live_;
  const std::unique_ptr<Sink> sink_;
  Measurements measurements_;
  ProgressLine progress_;
  LatencyReport latency_;
  bool described_;
};

StreamRun::StreamRun(const StreamOptions& options)
    : options_(options),
      source_(open_source(options)),
      processor_(make_processor(options.common)),
      out_(output_options()),
      recorder_(make_recorder(options.record, out_, recording_)),
      originals_(make_original_recorder(options.record, out_, recording_)),
      sink_(open_sink()),
      measurements_(options.common, options.resume_from.has_value()),
      progress_(options.common, options.label),
      described_(!options.announce) {}

OutputOptions StreamRun::output_options() const {
  OutputOptions out = options_.out;
  out.prefers_gpu = options_.may_encode_on_gpu && processor_->frame_device() >= 0;
  return out;
}

/// Opens the output and, where the run can be steered, what steers it, since a window is both.
std::unique_ptr<Sink> StreamRun::open_sink() {
  if (options_.steerable) {
    const Backend backend = processor_->frame_device() >= 0 ? Backend::cuda : Backend::cpu;
    live_.emplace(options_.live, options_.common, backend, recorder_ ? &recording_ : nullptr);
    if (recorder_) live_->watch(*recorder_, originals_.get());
    out_.steering = &live_->steering();
    if (options_.live.watched()) out_.null_pace = NullPace::of_times;
  }
  return make_sink(options_.output, out_);
}

/// Logs the backend, the filters and the preset, once.
void StreamRun::describe() {
  if (std::exchange(described_, true)) return;
  std::string preset = live_ ? live_->preset_text() : "";
  const PresetUse use = preset_use(options_.common);
  if (preset.empty() || (use.changed && !use.holds)) {
    preset = preset_text(options_.common);
  } else if (use.changed && !preset.ends_with(", changed")) {
    preset += ", changed";
  }
  logger().info("{}; {}{}{}", processor_->description(), filters_text(options_.common),
                preset.empty() ? "" : "; ", preset);
}

RunOptions StreamRun::run_options() {
  RunOptions to;
  to.max_frames = options_.frames;
  to.on_open = [this](const StreamInfo& info) {
    if (holds_no_still_notes(output_kind(options_.output))) {
      warn_of_lost_notes(options_.output, info);
    }
    warn_of_lost_streams(options_.output, info);
    measurements_.open(info);
    if (recorder_) recorder_->open(info);
  };
  follow_frames(to);
  follow_recordings(to);
  to.checkpoint_every = options_.checkpoint_every;
  to.resume_from = options_.resume_from;
  if (options_.on_checkpoint) {
    to.on_checkpoint = [this](const Checkpoint& checkpoint) {
      options_.on_checkpoint(checkpoint, measurements_.hash_bytes());
    };
  }
  to.on_progress = [this](const RunProgress& now) {
    // The description waits for the first frame, so that a run that cannot start prints its error
    // alone.
    if (now.frames > 0) describe();
    if (options_.on_progress) {
      options_.on_progress(now);
    } else {
      progress_.update(now);
    }
  };
  if (live_) live_->attach(to);
  return to;
}

/// Sets what measures frames and results, and whether anything wants them.
void StreamRun::follow_frames(RunOptions& to) {
  if (options_.common.wants_timings() || options_.latency_report) {
    to.on_frame = [this](const Frame& frame) {
      if (options_.common.wants_timings()) measurements_.add_frame(frame);
      if (options_.latency_report) latency_.add(frame);
    };
  }
  if (options_.common.verify || options_.on_result || recorder_) {
    to.on_result = [this](const Frame& frame) {
      if (recorder_) recorder_->add(frame);
      if (originals_ && (frame.original || frame.unseen)) {
        originals_->add(frame.unseen ? frame : *frame.original);
      }
      if (options_.common.verify) measurements_.add_result(frame);
      if (options_.on_result) options_.on_result(frame);
    };
  }
  to.wants_frames = [this] {
    return options_.common.verify || options_.on_result || !options_.common.curve_to.empty() ||
           (recorder_ && recording_.on) || (live_ && live_->wants_frames());
  };
}

void StreamRun::follow_recordings(RunOptions& to) {
  to.keep_original = originals_ != nullptr;
  to.on_source = [this](const StreamInfo& info) {
    if (originals_) originals_->open(info);
    if (options_.on_source) options_.on_source(info);
  };
  if (recorder_) {
    to.keep_alpha = true;
    to.on_stop = [this] {
      for (Recorder* each : recorders())
        if (each != nullptr) each->cancel();
    };
  }
}

RunResult StreamRun::run() {
  RunResult result = equalux::run(*source_, *processor_, *sink_, run_options(), stop_token());
  progress_.clear();
  finish_files(result);
  if (live_) result.code = live_->ending(result.code);
  report(result);
  return result;
}

/// Completes everything that the run writes beside its output.
void StreamRun::finish_files(const RunResult& result) {
  for (Recorder* each : recorders())
    if (each != nullptr) each->finish();
  describe();
  // A lost device takes the sum of curves with it; that is an error only where --curve-to asks for
  // it.
  if (options_.curves != nullptr && !options_.common.curve_to.empty() && !result.processor_failed) {
    options_.curves->add(processor_->curve_sum());
  }
  measurements_.finish();
}

/// Prints what there is to say at the end. A recording that failed changes the result's code.
void StreamRun::report(RunResult& result) {
  const bool quiet = options_.common.quiet;
  const auto print = [quiet](const std::string& text) {
    if (!text.empty() && !quiet) std::fprintf(stderr, "%s\n", printable(text).c_str());
  };
  print_summary(options_, result, measurements_);
  if (options_.latency_report) std::fputs(latency_.text(result).c_str(), stderr);
  print(sink_->summary());
  for (const Recorder* each : recorders()) {
    if (each == nullptr) continue;
    print((each == originals_.get() ? "originals " : "") + recording_text(each->counts()));
    if (each->code() != ExitCode::done) result.code = each->code();
  }
  if (live_) print(live_->viewers_text());
  if (!options_.on_progress) progress_.end(result.frames_out, result.elapsed_s, result.code);
}

}  // namespace

RunResult run_stream(const StreamOptions& options) {
  return StreamRun(options).run();
}

Option frames_option(std::uint64_t& frames) {
  return {"frames", "N", "stop after N frames; 0 = all (default: 0)",
          [&frames](const std::string& text) {
            frames = static_cast<std::uint64_t>(
                read_integer("frames", text, 0, std::numeric_limits<std::int64_t>::max()));
          }};
}

std::string ending_text(const RunResult& result, const std::string& output) {
  switch (result.code) {
    case ExitCode::partial:
      return "the output is partial: " + result.partial_reason;
    case ExitCode::interrupted:
    case ExitCode::terminated:
      if (!is_kept(output_kind(output))) return "stopped by a signal";
      if (result.frames_out == 0)
        return "stopped by a signal before the first frame; there is no output";
      return "stopped by a signal; the output holds every frame up to then";
    default:
      return {};
  }
}

}  // namespace equalux::cli
