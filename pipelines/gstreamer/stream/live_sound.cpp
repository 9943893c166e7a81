#include "pipelines/gstreamer/stream/live_sound.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include <equalux/error.h>

#include "src/common/log.h"

namespace equalux::gst {
namespace {

using namespace std::chrono_literals;

/// Interval at which a feed is asked; a packet of AAC is 21 ms.
constexpr auto kLook = 10ms;
/// Lead that a file's sound may have over the frames; more would take time from them for encoding.
constexpr std::int64_t kLead = 100'000'000;
/// Delay from which sound counts as missing.
constexpr std::int64_t kMissing = 400'000'000;
constexpr std::int64_t kSilence = 50'000'000;  ///< longest piece of silence
constexpr int kBitsASecond = 128'000;

struct AacEncoder {
  const char* element;
  const char* package;
};
constexpr AacEncoder kEncoders[] = {{"avenc_aac", "gstreamer1.0-libav"},
                                    {"voaacenc", "gstreamer1.0-plugins-bad"},
                                    {"fdkaacenc", "gstreamer1.0-plugins-bad"}};

}  // namespace

class LiveSound::Encoder {
 public:
  Encoder() : messages_(pipeline_.get()) {
    source_ = add_to(pipeline_.get(), make_element("appsrc"));
    GstElement* convert = add_to(pipeline_.get(), make_element("audioconvert"));
    const auto* found = std::find_if(std::begin(kEncoders), std::end(kEncoders),
                                     [](const AacEncoder& e) { return has_element(e.element); });
    GstElement* encoder = add_to(
        pipeline_.get(), make_element((found == std::end(kEncoders) ? kEncoders : found)->element));
    g_object_set(encoder, "bitrate", kBitsASecond, nullptr);
    GstElement* parser = add_to(pipeline_.get(), make_element("aacparse"));
    sink_ = add_to(pipeline_.get(), make_element("appsink"));
    const CapsPtr in(gst_caps_new_simple(
        "audio/x-raw", "format", G_TYPE_STRING, "S16LE", "layout", G_TYPE_STRING, "interleaved",
        "rate", G_TYPE_INT, kSoundRate, "channels", G_TYPE_INT, kSoundChannels, nullptr));
    g_object_set(source_, "caps", in.get(), "format", GST_FORMAT_TIME, "block", FALSE, nullptr);
    const CapsPtr out(gst_caps_from_string("audio/mpeg,mpegversion=4,stream-format=raw"));
    g_object_set(sink_, "caps", out.get(), "sync", FALSE, "enable-last-sample", FALSE, nullptr);
    gst_element_link_many(source_, convert, encoder, parser, sink_, nullptr);
    gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING);
  }

  void push(const SoundChunk& chunk, bool follows_gap) {
    const std::size_t bytes = chunk.samples.size() * sizeof(std::int16_t);
    GstBuffer* buffer = gst_buffer_new_allocate(nullptr, bytes, nullptr);
    gst_buffer_fill(buffer, 0, chunk.samples.data(), bytes);
    GST_BUFFER_PTS(buffer) = static_cast<GstClockTime>(chunk.pts_ns + kBase);
    GST_BUFFER_DURATION(buffer) = static_cast<GstClockTime>(chunk.duration_ns());
    if (follows_gap) GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_DISCONT);
    gst_app_src_push_buffer(GST_APP_SRC(source_), buffer);
  }

  /// Returns the next packet, if one is ready. Throws Error(unavailable, write_failed).
  std::optional<EncodedSound> pull() {
    SamplePtr sample(gst_app_sink_try_pull_sample(GST_APP_SINK(sink_), 0));
    if (!sample) {
      messages_.poll();
      if (messages_.failed()) throw messages_.error("sound", Role::output);
      return std::nullopt;
    }
    const GstBuffer* buffer = gst_sample_get_buffer(sample.get());
    EncodedSound packet;
    packet.pts_ns = static_cast<std::int64_t>(GST_BUFFER_PTS(buffer)) - kBase;
    packet.duration_ns = static_cast<std::int64_t>(GST_BUFFER_DURATION(buffer));
    packet.sample = std::move(sample);
    return packet;
  }

 private:
  /// Offset that keeps times positive, also of sound that begins before the first frame.
  static constexpr std::int64_t kBase = 3'600'000'000'000;

  Pipeline pipeline_;
  Messages messages_;
  GstElement* source_ = nullptr;
  GstElement* sink_ = nullptr;
};

std::string LiveSound::why_absent() {
  if (!has_element("aacparse")) return "install gstreamer1.0-plugins-good";
  const bool any = std::any_of(std::begin(kEncoders), std::end(kEncoders),
                               [](const AacEncoder& e) { return has_element(e.element); });
  return any ? "" : std::string("install ") + kEncoders[0].package;
}

LiveSound::LiveSound(std::shared_ptr<SoundFeed> feed, Pace pace,
                     std::function<void(const EncodedSound&)> take)
    : feed_(std::move(feed)), pace_(pace), take_(std::move(take)), thread_([this] { work(); }) {}

void LiveSound::set_position(std::int64_t pts_ns) {
  const std::lock_guard lock(mutex_);
  position_ns_ = pts_ns;
}

void LiveSound::set_wanted(bool wanted) {
  const std::lock_guard lock(mutex_);
  wanted_ = wanted;
}

void LiveSound::stop() noexcept {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void LiveSound::encode(Encoder& encoder, const SoundChunk& chunk) {
  const std::int64_t end = chunk.pts_ns + chunk.duration_ns();
  if (end_ns_ && end <= *end_ns_) return;  // Silence has taken its place.
  encoder.push(chunk, !end_ns_);
  end_ns_ = end;
}

/// Returns true where a piece of sound is due.
bool LiveSound::take_chunk(std::int64_t position_ns) {
  if (!waiting_) waiting_ = feed_->pull();
  return waiting_ && (pace_ == Pace::as_it_comes || waiting_->pts_ns <= position_ns + kLead);
}

void LiveSound::fill_gap(Encoder& encoder, std::int64_t position_ns) {
  if (!end_ns_) end_ns_ = position_ns - kMissing;
  while (*end_ns_ < position_ns - kMissing) {
    const std::int64_t length = std::min(position_ns - kMissing - *end_ns_, kSilence);
    SoundChunk silence;
    silence.pts_ns = *end_ns_;
    const std::int64_t samples = length * kSoundRate / 1'000'000'000;
    if (samples == 0) return;
    silence.samples.resize(static_cast<std::size_t>(samples) * kSoundChannels);
    encode(encoder, silence);
  }
}

void LiveSound::turn(Encoder& encoder) {
  bool wanted = false;
  std::optional<std::int64_t> position;
  {
    const std::lock_guard lock(mutex_);
    wanted = wanted_;
    position = position_ns_;
  }
  if (!position) return;
  feed_->skip_towards(*position);
  if (!wanted) end_ns_.reset();
  while (take_chunk(*position)) {
    if (wanted) encode(encoder, *waiting_);
    waiting_.reset();
  }
  if (wanted) fill_gap(encoder, *position);
  while (const std::optional<EncodedSound> packet = encoder.pull()) {
    if (wanted) take_(*packet);
  }
}

void LiveSound::work() {
  try {
    Encoder encoder;
    std::unique_lock lock(mutex_);
    while (!stop_) {
      lock.unlock();
      turn(encoder);
      lock.lock();
      changed_.wait_for(lock, kLook, [this] { return stop_; });
    }
  } catch (const Error& error) {
    logger().warn("{}; the stream goes on without sound", error.what());
  }
}

}  // namespace equalux::gst
