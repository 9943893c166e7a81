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

/// The sound of a stream, encoded while somebody listens.
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
  /// Pace of sound: at once, or when the frames reach its time, as for a file.
  enum class Pace { as_it_comes, with_frames };

  /// `take` gets each packet, in this object's thread.
  LiveSound(std::shared_ptr<SoundFeed> feed, Pace pace,
            std::function<void(const EncodedSound&)> take);
  ~LiveSound() { stop(); }
  LiveSound(const LiveSound&) = delete;
  LiveSound& operator=(const LiveSound&) = delete;

  /// Sets the time that the frames have reached.
  void set_position(std::int64_t pts_ns);
  /// Sets whether somebody listens; initially nobody does.
  void set_wanted(bool wanted);
  /// Ends the thread; no packet comes after that.
  void stop() noexcept;

  /// Empty where GStreamer can encode AAC here, else what to install.
  [[nodiscard]] static std::string why_absent();

 private:
  /// Encodes samples as AAC; used by the thread only.
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

  // Used by the thread only.
  std::optional<SoundChunk> waiting_;
  std::optional<std::int64_t> end_ns_;  // of what has been encoded since the last pause
  std::thread thread_;
};

}  // namespace equalux::gst
