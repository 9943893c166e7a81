#pragma once

#include <cstdint>
#include <optional>

#include <gst/app/gstappsrc.h>

#include "pipelines/gstreamer/encode/encode_bin.h"
#include "pipelines/gstreamer/gst_common.h"
#include "pipelines/gstreamer/stream/live_sound.h"

/// The start of a pipeline that sends packets: an appsrc that plays them as they come.
namespace equalux::gst {

/// Computes timestamps of packets on a pipeline's clock: spaced as the frames' own times, and near
/// the time at which they arrive.
class StreamStamps {
 public:
  /// Returns the running time for a packet of `pts_ns` that arrives at running time `now_ns`;
  /// always rising.
  [[nodiscard]] std::int64_t at(std::int64_t pts_ns, std::int64_t now_ns);
  /// Returns the running time for sound of `pts_ns`; nothing before the first picture's packet.
  [[nodiscard]] std::optional<std::int64_t> beside(std::int64_t pts_ns) const {
    return started_ ? std::optional(pts_ns + shift_ns_) : std::nullopt;
  }

 private:
  bool started_ = false;
  std::int64_t shift_ns_ = 0;
  std::int64_t last_ns_ = 0;
};

/// Feeds packets to an appsrc. One thread at a time.
class PacketSource {
 public:
  /// Sets up the appsrc, whose pipeline must not have started and must live as long as this object.
  explicit PacketSource(GstElement* appsrc);

  /// Passes a packet on; never waits. Returns false where it was dropped, because the pipeline does
  /// not take earlier ones; then all packets up to the next key frame are dropped.
  bool push(const EncodedPicture& picture);
  void end() { gst_app_src_end_of_stream(source()); }
  [[nodiscard]] const StreamStamps& stamps() const { return stamps_; }

  /// Returns true where too many packets are waiting.
  [[nodiscard]] bool is_full() const { return waiting() >= kMostWaiting; }
  [[nodiscard]] std::uint64_t waiting() const {
    return gst_app_src_get_current_level_buffers(source());
  }

 private:
  /// About a second of packets.
  static constexpr std::uint64_t kMostWaiting = 32;

  [[nodiscard]] GstAppSrc* source() const { return GST_APP_SRC_CAST(element_.get()); }

  ElementPtr element_;
  CapsPtr caps_;
  StreamStamps stamps_;
  bool broken_ = true;  // packets before the next key frame are useless
};

/// Feeds the sound beside it. One thread at a time.
class SoundSource {
 public:
  explicit SoundSource(GstElement* appsrc);

  /// Passes a packet on, at its time by the pictures' timestamps; never waits. Returns false where
  /// it was dropped, because earlier ones are not taken, or no picture has gone first.
  bool push(const EncodedSound& sound, const StreamStamps& stamps);
  void end() { gst_app_src_end_of_stream(source()); }

 private:
  /// About a second of packets.
  static constexpr std::uint64_t kMostWaiting = 48;

  [[nodiscard]] GstAppSrc* source() const { return GST_APP_SRC_CAST(element_.get()); }

  ElementPtr element_;
  bool has_caps_ = false;
  std::int64_t last_ns_ = -1;
};

}  // namespace equalux::gst
