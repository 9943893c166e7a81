#include "src/cli/batch/job.h"

#include <chrono>
#include <cmath>
#include <exception>
#include <filesystem>
#include <thread>

#include <equalux/curve.h>
#include <equalux/error.h>
#include <equalux/filter.h>

#include "pipelines/core/sink.h"
#include "pipelines/files/file_names.h"
#include "pipelines/files/partial_file.h"
#include "src/cli/batch/contact_sheet.h"
#include "src/cli/batch/state.h"
#include "src/cli/paths.h"
#include "src/cli/signals.h"
#include "src/cli/stream/io_factory.h"
#include "src/common/json_text.h"
#include "src/common/log.h"

namespace fs = std::filesystem;

namespace equalux::cli {
namespace {

/// Tolerance of durations: a container's time base, and the guessed length of the last frame.
constexpr double kDurationToleranceS = 0.1;
/// Period of a wait's looks at the lock of another process.
constexpr std::chrono::milliseconds kLockPeriod{100};

void make_folder_of(const std::string& file) {
  std::error_code failed;
  const fs::path folder = fs::path(file).parent_path();
  if (!folder.empty()) fs::create_directories(folder, failed);
  if (failed) {
    throw Error(ExitCode::cannot_create, "folder " + folder.string() + " cannot be made (" +
                                             failed.message() + "), must be writable");
  }
}

/// Returns hashes of the files that filters read, masks of regions and curves: their contents shape
/// the result as options do.
nlohmann::json file_hashes(const CommonOptions& common) {
  std::vector<std::string> files{common.equalize.region};
  for (const FilterSpec& spec : common.filters) {
    for (const auto& [key, value] : spec.options) {
      if (key == "region" || key == "curve-from") files.push_back(value);
    }
  }
  nlohmann::json hashes = nlohmann::json::array();
  std::error_code ignored;
  for (const std::string& file : files) {
    if (fs::is_regular_file(file, ignored)) hashes.push_back(file_md5(file, stop_token()));
  }
  return hashes;
}

/// Version of the entries that are written. Version 2: working files are named by working_path(),
/// and "input" names the input.
constexpr int kEntryVersion = 2;

/// Takes up what an interrupted run left under the names NAME.before.partial.EXT and
/// NAME.closing.partial.EXT, where entries had version 1. Another result may have the former as its
/// partial file; then its entry is there.
void take_up_old_names(const BatchOptions& options, const std::string& output,
                       const nlohmann::json& entry) {
  if (entry.value("version", 0) != 1 || entry.value("status", "") != "running") return;
  const fs::path name(output);
  for (const auto& [kind, file] :
       {std::pair(".before", Working::before), std::pair(".closing", Working::closing)}) {
    const std::string other =
        (name.parent_path() / name.stem()).string() + kind + name.extension().string();
    const std::string old = partial_path(other);
    std::error_code ignored;
    if (!fs::exists(old, ignored) || fs::exists(state_paths(options.out, other).entry, ignored)) {
      continue;
    }
    if (file == Working::before) {
      fs::rename(old, working_path(output, file), ignored);
    } else {
      fs::remove(old, ignored);  // made again from the partial file
    }
  }
}

/// Returns an input's name as entries have it, without links: what a link leads to may change.
std::string entry_name(const std::string& input) {
  std::error_code ignored;
  const fs::path path = fs::absolute(input, ignored);
  const nlohmann::json name = fs::weakly_canonical(path, ignored).string();
  return parse_json(json_text(name)).get<std::string>();  // bytes that are no UTF-8 are replaced
}

struct FileStamp {
  std::uintmax_t bytes = 0;
  fs::file_time_type written;
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};
FileStamp stamp_of(const std::string& path) {
  std::error_code ignored;
  return {fs::file_size(path, ignored), fs::last_write_time(path, ignored)};
}

/// What keeps an interrupted file from being continued.
std::string change_text(const nlohmann::json& before, const nlohmann::json& now) {
  const auto differs = [&](const char* key) {
    return before.value(key, nlohmann::json()) != now.value(key, nlohmann::json());
  };
  if (differs("md5")) return "and the input has changed since";
  if (differs("program")) return "by another version of equalux";
  return "and the options have changed since";
}

class Job {
 public:
  Job(const BatchJob& job, const JobContext& context)
      : job_(job),
        context_(context),
        options_(context.options),
        paths_(state_paths(options_.out, job.output)) {}

  FileResult run();

 private:
  [[nodiscard]] const std::string& input_md5();
  void identify();
  void wait_for(FileLock& lock) const;
  [[nodiscard]] FileResult stopped() const;
  [[nodiscard]] bool is_finished(const nlohmann::json& entry);
  [[nodiscard]] bool output_is_whole(const FileResult& finished);
  [[nodiscard]] std::optional<SavedCheckpoint> place_to_resume(const nlohmann::json& entry) const;
  [[nodiscard]] StreamOptions stream_options() const;
  void run_from(std::optional<SavedCheckpoint> place);
  void filter(const std::optional<SavedCheckpoint>& place);
  void conclude(const RunResult& run);
  void save(const std::string& status, const std::optional<SavedCheckpoint>& place) const;

  const BatchJob& job_;
  const JobContext& context_;
  const BatchOptions& options_;
  const StatePaths paths_;
  nlohmann::json identity_;  // a result is reused only where all of these are equal
  FileResult result_;
};

const std::string& Job::input_md5() {
  if (!result_.input_md5.empty()) return result_.input_md5;
  if (context_.on_phase) context_.on_phase("reading");
  return result_.input_md5 = file_md5(job_.input, stop_token());
}

void Job::identify() {
  identity_ = {{"program", version()},
               {"parameters", options_.parameters},
               {"md5", input_md5()},
               {"masks", file_hashes(options_.stream.common)}};
  // The curve itself counts, as its file may have changed.
  const std::optional<ToneCurve>& curve = options_.stream.common.equalize.curve;
  if (curve) identity_["curve"] = curve_text(*curve);
}

FileResult Job::run() {
  require_file(job_.input);
  make_folder_of(job_.output);
  require_room_beside(job_.output);
  make_folder_of(paths_.entry);
  FileLock lock(paths_.lock);
  if (!lock.held() && context_.waits) wait_for(lock);
  if (!lock.held() && stop_token().signal != 0) return stopped();
  if (!lock.held()) {
    result_.held = true;
    result_.status = "skipped";
    result_.reason = "another equalux is at work on it";
    result_.code = static_cast<int>(ExitCode::partial);
    return result_;
  }
  const FileStamp before = stamp_of(job_.input);
  const nlohmann::json entry = read_entry(paths_.entry);
  const std::string foreign = foreign_output(options_, job_, entry, [this] { return input_md5(); });
  if (!foreign.empty() && stop_token().signal == 0) throw Error(ExitCode::cannot_create, foreign);
  identify();
  // An MD5 that was not read to its end tells nothing.
  if (stop_token().signal != 0) return stopped();
  std::optional<SavedCheckpoint> place;
  try {
    if (entry.is_object()) take_up_old_names(options_, job_.output, entry);
    if (entry.is_object() && entry.at("of") == identity_) {
      if (is_finished(entry)) return result_;
      place = place_to_resume(entry);
    } else if (entry.is_object() && checkpoint_from(entry.value("checkpoint", nlohmann::json()))) {
      logger().warn("{}: was interrupted, {}; is made again", job_.input,
                    change_text(entry.at("of"), identity_));
    }
  } catch (const nlohmann::json::exception& error) {
    logger().debug("{}: {}", paths_.entry, error.what());  // damaged: treated as missing
  }
  if (stop_token().signal != 0) return stopped();
  run_from(place);
  if (result_.status == "done" && stamp_of(job_.input) != before) {
    result_.status = "partial";
    result_.code = static_cast<int>(ExitCode::partial);
    result_.reason = "the input changed while it was read";
    save(result_.status, std::nullopt);
  }
  return result_;
}

void Job::wait_for(FileLock& lock) const {
  if (context_.on_phase) context_.on_phase("waiting");
  while (!lock.held() && stop_token().signal == 0) {
    std::this_thread::sleep_for(kLockPeriod);
    lock.take();
  }
}

FileResult Job::stopped() const {
  FileResult result;
  result.status = "stopped";
  result.code = kSignalExitBase + stop_token().signal;
  result.reason = "stopped by a signal before it began";
  result.input_md5 = result_.input_md5;
  return result;
}

bool Job::is_finished(const nlohmann::json& entry) {
  if (entry.value("status", "") != "done") return false;
  std::error_code ignored;
  if (!fs::exists(job_.output, ignored)) return false;
  // Hashes asked for now may not have been then.
  if (options_.stream.common.verify && !fs::exists(paths_.hashes, ignored)) return false;
  FileResult finished = entry.at("result");
  if (context_.on_phase) context_.on_phase("checking");
  if (!output_is_whole(finished)) return false;
  finished.status = "skipped";
  finished.reason = "was done before, and is whole";
  finished.elapsed_s = 0;
  finished.resumed_at = finished.frames_out;
  result_ = std::move(finished);
  return true;
}

/// Decodes the whole result; true where frames and duration are those recorded.
bool Job::output_is_whole(const FileResult& finished) {
  try {
    InputOptions in = options_.stream.in;
    in.decoder = "software";
    const std::unique_ptr<Source> source = make_source(job_.output, in);
    const std::unique_ptr<Processor> processor = make_cpu_processor({}, 1);
    const std::unique_ptr<Sink> sink = make_null_sink();
    const RunResult run = equalux::run(*source, *processor, *sink, {}, stop_token());
    if (stop_token().signal != 0) return false;
    // YUV4MPEG2 has no timestamps.
    const bool timed = extension_of(job_.output) != "y4m";
    const bool lasts = !timed || std::abs(run.media_s - finished.media_s) <= kDurationToleranceS;
    if (run.code == ExitCode::done && run.frames_out == finished.frames_out && lasts) return true;
    logger().warn("{}: holds {} frames and {:.2f} s, not {} and {:.2f}; is made again", job_.output,
                  run.frames_out, run.media_s, finished.frames_out, finished.media_s);
  } catch (const Error& error) {
    logger().warn("{}; is made again", error.what());
  }
  return false;
}

std::optional<SavedCheckpoint> Job::place_to_resume(const nlohmann::json& entry) const {
  if (options_.segment_frames == 0) return std::nullopt;
  std::optional<SavedCheckpoint> place =
      checkpoint_from(entry.value("checkpoint", nlohmann::json()));
  if (!place || !options_.stream.common.verify) return place;
  std::error_code failure;
  const bool hashed =
      place->hash_bytes > 0 && fs::file_size(paths_.hashes, failure) >= place->hash_bytes;
  if (!hashed || failure) return std::nullopt;
  fs::resize_file(paths_.hashes, place->hash_bytes, failure);
  return failure ? std::nullopt : place;
}

StreamOptions Job::stream_options() const {
  StreamOptions stream = options_.stream;
  stream.input = job_.input;
  stream.output = job_.output;
  stream.in.threads = stream.common.threads;
  stream.label = "[" + std::to_string(context_.number) + "/" + std::to_string(context_.count) +
                 "] " + title_of(job_) + ": ";
  stream.announce = context_.number == 1;
  stream.always_summarise = false;
  if (!stream.common.timings.empty()) {
    stream.common.timings = numbered(stream.common.timings, context_.number, context_.count);
  }
  if (stream.common.verify) stream.common.verify = paths_.hashes;
  return stream;
}

void Job::run_from(std::optional<SavedCheckpoint> place) {
  try {
    filter(place);
  } catch (const CannotResume& error) {
    logger().warn("{}; is made again", error.what());
    filter(std::nullopt);
  }
}

void Job::filter(const std::optional<SavedCheckpoint>& place) {
  StreamOptions stream = stream_options();
  check_stream(stream);
  StillTap tap(stream.frames, place ? place->checkpoint.frames : 0);
  stream.wrap_source = [&](std::unique_ptr<Source> source) { return tap.wrap(std::move(source)); };
  stream.on_result = [&](const Frame& frame) { tap.add_result(frame); };
  stream.on_progress = context_.on_progress;
  if (options_.segment_frames > 0) {
    stream.checkpoint_every = options_.segment_frames;
    stream.out.journal = paths_.journal;
    stream.on_checkpoint = [this](const Checkpoint& checkpoint, std::uint64_t hash_bytes) {
      save("running", SavedCheckpoint{checkpoint, hash_bytes});
    };
  }
  // Hashes that are there are those of another result, which this one replaces.
  std::error_code ignored;
  if (!options_.stream.common.verify) fs::remove(paths_.hashes, ignored);
  result_.resumed_at = place ? place->checkpoint.frames : 0;
  if (place) {
    stream.resume_from = place->checkpoint;
    stream.out.resume = place->checkpoint.sink;
    logger().info("{}goes on behind frame {}", stream.label, place->checkpoint.frames);
  } else {
    save("running", std::nullopt);
  }
  conclude(run_stream(stream));
  if (result_.status != "done" && result_.status != "partial") return;
  save(result_.status, std::nullopt);
  // A failed picture for the contact sheet does not fail the finished file.
  try {
    InputOptions software = stream.in;
    software.decoder = "software";
    tap.write(paths_.still, [&] { return make_source(job_.input, software); });
  } catch (const Error& error) {
    logger().info("{}has no picture for the contact sheet: {}", stream.label, error.what());
  }
}

void Job::conclude(const RunResult& run) {
  result_.frames_in = run.frames_in;
  result_.frames_out = run.frames_out;
  result_.media_s = run.media_s;
  result_.elapsed_s = run.elapsed_s;
  result_.code = static_cast<int>(run.code);
  result_.device_lost = run.processor_failed;
  switch (run.code) {
    case ExitCode::done:
      result_.status = "done";
      break;
    case ExitCode::partial:
      result_.status = run.suspended ? "failed" : "partial";
      result_.reason = run.partial_reason;
      break;
    default:
      result_.status = "stopped";
      result_.reason = "stopped by a signal; the same command goes on with it";
      break;
  }
}

void Job::save(const std::string& status, const std::optional<SavedCheckpoint>& place) const {
  nlohmann::json entry{{"version", kEntryVersion},
                       {"input", entry_name(job_.input)},
                       {"of", identity_},
                       {"status", status}};
  if (place) entry["checkpoint"] = to_json(*place);
  if (status != "running") entry["result"] = result_;
  replace_file(paths_.entry, json_text(entry, 1) + "\n");
}

}  // namespace

std::string foreign_output(const BatchOptions& options, const BatchJob& job,
                           const nlohmann::json& entry, const std::function<std::string()>& md5) {
  const bool there = is_taken(job.output);
  if (options.overwrite || (!there && !is_taken(partial_path(job.output)))) return {};
  const std::string must = ", must have another folder; -y replaces it";
  std::error_code ignored;
  if (!fs::exists(state_paths(options.out, job.output).entry, ignored)) {
    if (!there) return {};
    return "output " + job.output + " is there already, and nothing tells that a batch made it" +
           must;
  }
  // Damaged notes tell nothing, and what they told of is made again.
  if (!entry.is_object()) return {};
  const nlohmann::json of = entry.value("of", nlohmann::json());
  if (!of.is_object()) return {};
  const std::string input = text_of(entry, "input");
  if (input == entry_name(job.input) || text_of(of, "md5") == md5()) return {};
  return "output " + job.output + " is " +
         (there ? "there already, the result of " : "the unfinished result of ") +
         (input.empty() ? "another input" : input) + must;
}

std::string numbered(const std::string& path, std::size_t number, std::size_t count) {
  if (count == 1 || path.empty() || path == "-") return path;
  const fs::path file(path);
  return (file.parent_path() /
          (file.stem().string() + "-" + std::to_string(number) + file.extension().string()))
      .string();
}

FileResult process_file(const BatchJob& job, const JobContext& context) {
  FileResult failed;
  try {
    return Job(job, context).run();
  } catch (const Error& error) {
    failed.reason = error.what();
    failed.code = static_cast<int>(error.code());
    failed.device_lost = dynamic_cast<const ProcessorFailed*>(&error) != nullptr;
  } catch (const std::exception& error) {
    failed.reason = std::string("unexpected failure: ") + error.what();
    failed.code = static_cast<int>(ExitCode::unavailable);
  }
  return failed;
}

}  // namespace equalux::cli
