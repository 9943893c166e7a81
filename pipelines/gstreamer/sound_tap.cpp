#include "pipelines/gstreamer/sound_tap.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <utility>

#include <equalux/error.h>

#include "src/common/log.h"

namespace equalux::gst {
namespace {

using namespace std::chrono_literals;

/// Limit for a file's first sound.
constexpr auto kFirstSound = 3s;
/// Distance up to which sound is read and dropped instead of seeking.
constexpr std::int64_t kNearNs = 2'000'000'000;

/// Returns the samples of a buffer, without a time.
std::optional<SoundChunk> samples_of(GstSample* sample) {
  GstBuffer* buffer = gst_sample_get_buffer(sample);
  GstMapInfo map{};
  if (buffer == nullptr || gst_buffer_map(buffer, &map, GST_MAP_READ) == FALSE) return std::nullopt;
  SoundChunk chunk;
  chunk.samples.resize(map.size / sizeof(std::int16_t));
  std::memcpy(chunk.samples.data(), map.data, chunk.samples.size() * sizeof(std::int16_t));
  gst_buffer_unmap(buffer, &map);
  return chunk;
}

using ToTime = guint64 (*)(const GstSegment*, GstFormat, guint64);

/// Returns what an appsink has; `to_time` converts its timestamps.
std::optional<SoundChunk> pull_from(GstElement* sink, ToTime to_time) {
  while (const SamplePtr sample{gst_app_sink_try_pull_sample(GST_APP_SINK(sink), 0)}) {
    const GstBuffer* buffer = gst_sample_get_buffer(sample.get());
    if (buffer == nullptr || !GST_BUFFER_PTS_IS_VALID(buffer)) continue;
    const GstClockTime time =
        to_time(gst_sample_get_segment(sample.get()), GST_FORMAT_TIME, GST_BUFFER_PTS(buffer));
    std::optional<SoundChunk> chunk = samples_of(sample.get());
    if (!chunk || !GST_CLOCK_TIME_IS_VALID(time)) continue;
    chunk->pts_ns = static_cast<std::int64_t>(time);
    return chunk;
  }
  return std::nullopt;
}

std::string uri_of(const std::string& path) {
  if (path.find("://") != std::string::npos) return path;
  GError* raw = nullptr;
  const StringPtr uri(gst_filename_to_uri(path.c_str(), &raw));
  const ErrorPtr error(raw);
  return uri ? uri.get() : "";
}

class FileSound final : public SoundFeed {
 public:
  FileSound(std::string name, std::string path, std::int64_t shift_ns)
      : name_(std::move(name)), path_(std::move(path)), shift_ns_(shift_ns) {}

  std::optional<SoundChunk> pull() override {
    if (!pipeline_) return std::nullopt;
    std::optional<SoundChunk> chunk = pull_from(sink_, gst_segment_to_stream_time);
    if (chunk) {
      chunk->pts_ns += shift_ns_;
      return chunk;
    }
    messages_->poll();
    if (messages_->failed()) give_up(messages_->reason());
    return std::nullopt;
  }

  void skip_towards(std::int64_t pts_ns) override {
    if (std::exchange(started_, true)) return;
    try {
      start(std::max<std::int64_t>(pts_ns - shift_ns_, 0));
    } catch (const Error& error) {
      give_up(error.what());
    }
  }

 private:
  void start(std::int64_t from_ns) {
    pipeline_ = std::make_unique<Pipeline>(
        parse_launch("uridecodebin name=file expose-all-streams=false caps=audio/x-raw file. ! " +
                         std::string(kSoundChain),
                     "the sound of " + path_, "it cannot be decoded"));
    sink_ = element_of(pipeline_->get(), "equalux_sound");
    // A file's sound waits until it is pulled.
    g_object_set(sink_, "drop", FALSE, "max-buffers", 20U, "async", TRUE, nullptr);
    g_object_set(element_of(pipeline_->get(), "file"), "uri", uri_of(path_).c_str(), nullptr);
    messages_ = std::make_unique<Messages>(pipeline_->get());
    GstElement* pipeline = pipeline_->get();
    gst_element_set_state(pipeline, GST_STATE_PAUSED);
    const auto limit = static_cast<GstClockTime>(std::chrono::nanoseconds(kFirstSound).count());
    if (gst_element_get_state(pipeline, nullptr, nullptr, limit) != GST_STATE_CHANGE_SUCCESS) {
      messages_->poll();
      give_up(messages_->failed() ? messages_->reason() : "none of it comes");
      return;
    }
    if (from_ns > kNearNs) {
      gst_element_seek_simple(
          pipeline, GST_FORMAT_TIME,
          static_cast<GstSeekFlags>(GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE), from_ns);
    }
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
  }

  void give_up(const std::string& reason) {
    logger().warn("{}: the sound of {} is not streamed: {}", name_, path_, reason);
    messages_.reset();
    pipeline_.reset();
  }

  std::string name_;
  std::string path_;
  std::int64_t shift_ns_;
  bool started_ = false;
  GstElement* sink_ = nullptr;  // owned by the pipeline
  std::unique_ptr<Pipeline> pipeline_;
  std::unique_ptr<Messages> messages_;
};

}  // namespace

std::shared_ptr<SoundTap> SoundTap::of(GstElement* pipeline) {
  const PadPtr pad(gst_element_get_static_pad(element_of(pipeline, "equalux_sound_in"), "sink"));
  if (gst_pad_is_linked(pad.get()) == FALSE) return nullptr;
  return std::make_shared<SoundTap>(element_of(pipeline, "equalux_sound"));
}

std::optional<SoundChunk> SoundTap::pull() {
  return pull_from(sink_.get(), gst_segment_to_running_time);
}

std::shared_ptr<SoundFeed> make_file_sound(const std::string& name, const std::string& path,
                                           std::int64_t shift_ns) {
  return std::make_shared<FileSound>(name, path, shift_ns);
}

}  // namespace equalux::gst
