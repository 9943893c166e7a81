#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>

#include "pipelines/core/sound.h"
#include "pipelines/gstreamer/gst_common.h"

/// The sound of a stream, encoded while somebody hears it.
namespace equalux::gst {

/// One packet of AAC, without a header of its own.
struct EncodedSound {
  SamplePtr sample;
  std::int64_t pts_ns = 0;
  std::int64_t duration_ns = 0;
};

/// Pulls a feed in a thread of its own and encodes what it gives. Where it gives nothing for a
/// while, silence takes its place, so that no muxer or player waits. Any thread may call.
class LiveSound {
 public:
  /// Whether sound lies still until the frames have come that far, as a file's does.
  enum class Pace { as_it_comes, with_frames };

  /// `take` gets each packet, in this object's thread.
  LiveSound(std::shared_ptr<SoundFeed> feed, Pace pace,
            std::function<void(const EncodedSound&)> take);
  ~LiveSound() { stop(); }
  LiveSound(const LiveSound&) = delete;
  LiveSound& operator=(const LiveSound&) = delete;

  /// The frames have come up to here.
  void set_position(std::int64_t pts_ns);
  /// Whether somebody hears it; nobody does at first.
  void set_wanted(bool wanted);
  /// Ends the thread; no packet comes from then on.
  void stop() noexcept;

  /// Empty where GStreamer encodes AAC here, else what to install.
  [[nodiscard]] static std::string why_absent();

 private:
  /// AAC out of samples; the thread's own.
  class Encoder;

  void work();
  void turn(Encoder& encoder);
  bool take_chunk(std::int64_t position_ns);
  void encode(Encoder& encoder, const SoundChunk& chunk);
  void fill_gap(Encoder& encoder, std::int64_t position_ns);

  std::shared_ptr<SoundFeed> feed_;
  Pace pace_;
  std::function<void(const EncodedSound&)> take_;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool wanted_ = false;
  bool stop_ = false;
  std::optional<std::int64_t> position_ns_;

  // The thread's own.
  std::optional<SoundChunk> waiting_;
  std::optional<std::int64_t> end_ns_;  // of what has been encoded since the last pause
  std::thread thread_;
};

}  // namespace equalux::gst
