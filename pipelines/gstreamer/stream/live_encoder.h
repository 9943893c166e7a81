#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include <equalux/image.h>

#include "pipelines/gstreamer/encode/encode_bin.h"

/// An encoder for which the caller never waits.
namespace equalux::gst {

/// Counts of the frames that were offered while frames were wanted.
struct StreamCounts {
  std::uint64_t frames = 0;   ///< encoded
  std::uint64_t dropped = 0;  ///< replaced by a newer one before the encoder was free
};

/// Encodes the newest frame in a thread of its own, while frames are wanted. Any thread may call.
class LiveEncoder {
 public:
  /// `take` gets each packet, in the encoder's thread. Throws as EncodeBin's constructor.
  LiveEncoder(const EncoderSpec& spec, const StreamInfo& info, const EncodeSettings& settings,
              std::function<void(const EncodedPicture&)> take);
  ~LiveEncoder();
  LiveEncoder(const LiveEncoder&) = delete;
  LiveEncoder& operator=(const LiveEncoder&) = delete;

  /// Copies a frame, which replaces one that still waits. Does nothing while frames are not wanted.
  /// Throws what the encoder has thrown since the last call.
  void offer(const Frame& frame);
  /// Sets whether frames are wanted; initially they are not. The first one after a pause is a key
  /// frame.
  void set_wanted(bool wanted);
  /// Returns true where offer() has something to do.
  [[nodiscard]] bool is_wanted() const;
  /// Makes the next frame that is encoded a key frame.
  void force_keyframe();
  /// Ends the thread; no packet comes after that.
  void stop() noexcept;
  [[nodiscard]] StreamCounts counts() const;

 private:
  void work();
  bool next();
  bool hand_on(std::chrono::milliseconds wait);
  [[nodiscard]] bool is_due() const;

  EncodeBin bin_;
  std::function<void(const EncodedPicture&)> take_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool wanted_ = false;
  bool stop_ = false;
  bool is_waiting_ = false;  // waiting_ has a frame
  bool keyframe_ = false;
  FramePlace waiting_;
  Image waiting_pixels_;
  StreamCounts counts_;
  std::exception_ptr failure_;

  // Used by the thread only.
  Frame now_;
  Image now_pixels_;
  std::thread thread_;
};

}  // namespace equalux::gst
