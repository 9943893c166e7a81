#include <algorithm>
#include <memory>
#include <set>

#include <equalux/error.h>

#include "src/cli/batch/batch.h"
#include "src/cli/commands.h"
#include "src/cli/values.h"

/// `equalux batch`: its options.
namespace equalux::cli {
namespace {

constexpr int kMostDevices = 64;
constexpr std::uint64_t kMostSegmentFrames = 10'000'000;

void read_devices(const std::string& text, std::vector<int>& devices) {
  devices.clear();
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const auto device =
        static_cast<int>(read_integer("devices", text.substr(at, comma - at), 0, kMostDevices - 1));
    if (std::find(devices.begin(), devices.end(), device) != devices.end()) {
      throw Error(ExitCode::usage, "--devices names " + std::to_string(device) +
                                       " twice, must name each once; --jobs gives them more files");
    }
    devices.push_back(device);
    at = comma + 1;
    if (comma + 1 == text.size()) {
      throw Error(ExitCode::usage, "--devices is '" + text + "', must be like 0,1");
    }
  }
}

/// Remembers what is set, but for what does not show in the results.
void note_parameters(Command& command, BatchOptions& options) {
  static const std::set<std::string> kOfThisRun{
      "out",     "manifest", "jobs",      "devices",  "shard",        "dry-run", "decoder",
      "config",  "preset",   "backend",   "device",   "threads",      "quiet",   "summary",
      "timings", "verify",   "log-level", "curve-to", "list-presets", "progress"};
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
      {"jobs", "N",
       "files at a time, 1 to 256; 0 = one for every four cores, or one a device (default: 0)",
       [&options](const std::string& text) {
         options.jobs = static_cast<int>(read_integer("jobs", text, 0, kMostJobs));
       }},
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
  command.positionals = {{"INPUT", "video files, and folders that are searched through",
                          [options](const std::string& text) { options->inputs.push_back(text); },
                          true}};
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
  command.usual_options = {"out",      "manifest",   "extension",    "jobs",
                           "dry-run",  "preset",     "list-presets", "filter",
                           "strength", "clip-limit", "temporal-ms",  "encoder",
                           "quality",  "backend",    "config",       "quiet"};
  command.note = [options](const Settings& given) { note_knobs(options->stream.common, given); };
  command.run = [options] { return run_batch(*options); };
  command.usual_preset = [] { return std::string("stable"); };
  return command;
}

}  // namespace equalux::cli
