#include <cstdlib>
#include <filesystem>

#include <equalux/error.h>

#include "src/cli/backend.h"
#include "src/cli/batch/worker.h"
#include "src/cli/paths.h"
#include "src/cli/signals.h"

namespace fs = std::filesystem;

namespace equalux::cli {
namespace {

/// Frames that are tried.
constexpr std::uint64_t kSample = 48;

class SampleFolder {
 public:
  SampleFolder() {
    std::string name = (fs::temp_directory_path() / "equalux-estimate-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
      throw Error(ExitCode::cannot_create, name + ": cannot be made, must be writable");
    }
    path_ = name;
  }
  ~SampleFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  SampleFolder(const SampleFolder&) = delete;
  SampleFolder& operator=(const SampleFolder&) = delete;
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// Remembers what the source told.
class NotingSource final : public Source {
 public:
  NotingSource(std::unique_ptr<Source> source, FileEstimate& estimate)
      : source_(std::move(source)), estimate_(estimate) {}
  void offer_device(int device) override { source_->offer_device(device); }
  StreamInfo open(const FormatPredicate& accepts) override {
    StreamInfo info = source_->open(accepts);
    estimate_.width = info.desc.width;
    estimate_.height = info.desc.height;
    estimate_.frames = info.frames;
    if (info.duration_ns) estimate_.media_s = static_cast<double>(*info.duration_ns) * 1e-9;
    if (!estimate_.frames && estimate_.media_s && info.frame_rate.num > 0) {
      estimate_.frames =
          static_cast<std::uint64_t>(*estimate_.media_s * info.frame_rate.value() + 0.5);
    }
    // A sample of a few frames must not copy all sound and subtitles.
    info.container_path.clear();
    return info;
  }
  [[nodiscard]] bool lends_buffers() const override { return source_->lends_buffers(); }
  bool read(Frame& frame) override { return source_->read(frame); }
  void cancel() noexcept override { source_->cancel(); }

 private:
  std::unique_ptr<Source> source_;
  FileEstimate& estimate_;
};

}  // namespace

FileEstimate estimate_file(const BatchJob& job, const BatchOptions& options) {
  require_file(job.input);
  FileEstimate estimate;
  const SampleFolder folder;
  StreamOptions stream = options.stream;
  stream.input = job.input;
  stream.output = (folder.path() / fs::path(job.output).filename()).string();
  stream.in.threads = stream.common.threads;
  stream.common.timings.clear();
  stream.common.verify.reset();
  stream.announce = stream.always_summarise = false;
  stream.common.quiet = true;
  stream.common.progress = "text";
  stream.frames = stream.frames == 0 ? kSample : std::min(kSample, stream.frames);
  stream.wrap_source = [&](std::unique_ptr<Source> source) {
    return std::make_unique<NotingSource>(std::move(source), estimate);
  };
  const RunResult run = run_stream(stream);
  std::error_code ignored;
  const auto bytes = static_cast<double>(fs::file_size(stream.output, ignored));
  if (run.frames_out > 0 && !ignored) {
    estimate.seconds_a_frame = run.elapsed_s / static_cast<double>(run.frames_out);
    estimate.bytes_a_frame = bytes / static_cast<double>(run.frames_out);
  }
  if (options.stream.frames > 0 && estimate.frames) {
    estimate.frames = std::min(*estimate.frames, options.stream.frames);
  }
  return estimate;
}

nlohmann::json to_json(const FileEstimate& estimate) {
  nlohmann::json json{{"width", estimate.width},
                      {"height", estimate.height},
                      {"seconds_a_frame", estimate.seconds_a_frame},
                      {"bytes_a_frame", estimate.bytes_a_frame}};
  if (estimate.frames) json["frames"] = *estimate.frames;
  if (estimate.media_s) json["media_s"] = *estimate.media_s;
  return json;
}

FileEstimate estimate_from(const nlohmann::json& json) {
  FileEstimate estimate;
  json.at("width").get_to(estimate.width);
  json.at("height").get_to(estimate.height);
  json.at("seconds_a_frame").get_to(estimate.seconds_a_frame);
  json.at("bytes_a_frame").get_to(estimate.bytes_a_frame);
  if (json.contains("frames")) estimate.frames = json.at("frames").get<std::uint64_t>();
  if (json.contains("media_s")) estimate.media_s = json.at("media_s").get<double>();
  return estimate;
}

}  // namespace equalux::cli
