#include "src/cli/stream/record.h"

#include <array>
#include <charconv>
#include <filesystem>
#include <string_view>

#include <equalux/error.h>

#include "pipelines/live/record_names.h"
#include "src/cli/values.h"
#include "src/common/log.h"
#include "src/options/option_values.h"

namespace equalux::cli {
namespace {

/// Unit of --record-split.
struct Unit {
  std::string_view name;
  std::int64_t size;  ///< nanoseconds or bytes
  bool is_time;
};
constexpr std::array<Unit, 8> kUnits{{{"s", 1'000'000'000, true},
                                      {"min", 60'000'000'000, true},
                                      {"h", 3'600'000'000'000, true},
                                      {"kB", 1'000, false},
                                      {"MB", 1'000'000, false},
                                      {"GB", 1'000'000'000, false},
                                      {"MiB", std::int64_t{1} << 20U, false},
                                      {"GiB", std::int64_t{1} << 30U, false}}};
constexpr std::int64_t kMostOfAUnit = 100'000;

[[noreturn]] void refuse_split(const std::string& text) {
  throw_usage("--record-split is '" + text +
              "', must be a time, a size or both, 1 to 100000 of s, min, h, "
              "kB, MB, GB, MiB or GiB, as 10min, 500MB or 1h,2GB");
}

void read_split(const std::string& text, RecordingOptions& options) {
  options.split_ns.reset();
  options.split_bytes.reset();
  if (text.empty()) return;
  for (const std::string_view part : split(text, ',')) {
    std::int64_t count = 0;
    const char* const last = part.data() + part.size();
    const auto [end, error] = std::from_chars(part.data(), last, count);
    if (error != std::errc{} || count < 1 || count > kMostOfAUnit) refuse_split(text);
    const std::string_view name(end, static_cast<std::size_t>(last - end));
    bool known = false;
    for (const Unit& unit : kUnits) {
      if (unit.name != name) continue;
      known = !(unit.is_time ? options.split_ns.has_value() : options.split_bytes.has_value());
      if (unit.is_time) options.split_ns = count * unit.size;
      if (!unit.is_time) options.split_bytes = static_cast<std::uint64_t>(count * unit.size);
    }
    if (!known) refuse_split(text);
  }
}

/// Returns where unfiltered frames are recorded: rec.mkv -> rec-original.mkv.
std::string path_of_originals(const std::string& recording) {
  std::filesystem::path path(recording);
  const std::string extension = path.extension().string();
  path.replace_extension();
  return path.string() + "-original" + extension;
}

}  // namespace

OptionGroup recording_group(RecordingOptions& options) {
  OptionGroup group{"Recording", {}, false};
  group.options = {
      text_option("record", "FILE",
                  "record the filtered frames too, whatever the output is, into FILE-00001.mkv and "
                  "so on for FILE.mkv (or mp4, mov, m4v, webm), behind those that are there; "
                  "encoder, quality and lossless hold for it; the live picture never waits for it "
                  "(default: none)",
                  options.path),
      {"record-split", "TIME|SIZE",
       "begin a new file after so long or once it has so many bytes, as 10min, 500MB or 1h,2GB, "
       "units s, min, h, kB, MB, GB, MiB, GiB (default: one file)",
       [&options](const std::string& text) { read_split(text, options); }},
      switch_option("record-standby",
                    "begin only when the key r, the control socket or the page says so (default: "
                    "off)",
                    options.standby),
      switch_option("record-original",
                    "record the unfiltered frames too, into FILE-original-00001.mkv and so on "
                    "(default: off)",
                    options.original)};
  return group;
}

void check_recording(const RecordingOptions& options, const OutputOptions& out) {
  if (options.path.empty()) {
    const bool split = options.split_ns || options.split_bytes;
    if (!split && !options.standby && !options.original) return;
    throw_usage(std::string(split             ? "--record-split"
                            : options.standby ? "--record-standby"
                                              : "--record-original") +
                " has nothing to record into, must stand with --record FILE");
  }
  bool file = false;
  try {
    file = output_kind(options.path) == OutputKind::media_file;
  } catch (const Error&) {
    // The message below replaces this error, which lists all outputs and not only those of
    // recordings.
  }
  if (!file) {
    throw_usage("--record is '" + options.path +
                "', must be a file .mkv, .mp4, .mov, .m4v or .webm");
  }
  check_output(options.path, out);
}

void refuse_output_among_recordings(const RecordingOptions& options, const std::string& output) {
  if (options.path.empty()) return;
  const bool taken =
      is_part_of_recording(options.path, output) ||
      (options.original && is_part_of_recording(path_of_originals(options.path), output));
  if (!taken) return;
  throw_usage("output " + output + " has the name of a file of --record " + options.path +
              ", must have another name");
}

std::unique_ptr<Recorder> make_recorder(const RecordingOptions& options, const OutputOptions& out,
                                        RecordSwitch& wanted) {
  if (options.path.empty()) return nullptr;
  wanted.on = !options.standby;
  OutputOptions file = out;
  file.keep_partial = true;
  RecordOptions record{options.path, options.split_ns, options.split_bytes,
                       [file, pattern = options.path](const std::string& path) mutable {
                         std::unique_ptr<Sink> sink = make_sink(path, file);
                         file.continues = file.continues || path != pattern;
                         return sink;
                       }};
  return std::make_unique<Recorder>(std::move(record), wanted);
}

std::unique_ptr<Recorder> make_original_recorder(const RecordingOptions& options,
                                                 const OutputOptions& out, RecordSwitch& wanted) {
  if (!options.original) return nullptr;
  RecordingOptions original = options;
  original.path = path_of_originals(options.path);
  return make_recorder(original, out, wanted);
}

std::string recording_text(const RecordCounts& counts) {
  return "recorded: " + counted(counts.frames, "frame") + " into " + counted(counts.files, "file") +
         ", " + std::to_string(counts.dropped) + " dropped";
}

}  // namespace equalux::cli
