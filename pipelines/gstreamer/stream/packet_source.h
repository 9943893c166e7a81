#pragma once

#include <cstdint>
#include <optional>

#include <gst/app/gstappsrc.h>

#include "pipelines/gstreamer/encode/encode_bin.h"
#include "pipelines/gstreamer/gst_common.h"
#include "pipelines/gstreamer/stream/live_sound.h"

/// The start of a pipeline that sends packets: an appsrc that plays them as they come.
namespace equalux::gst {

/// Sets the stamps of packets by a pipeline's clock: evenly, as the frames' own times have it, and
/// near the time at which they come.
class StreamStamps {
 public:
  /// The running time of a packet of `pts_ns` that comes at running time `now_ns`; rising.
  [[nodiscard]] std::int64_t at(std::int64_t pts_ns, std::int64_t now_ns);
  /// The running time of sound of `pts_ns`; nothing before the first packet of a picture.
  [[nodiscard]] std::optional<std::int64_t> beside(std::int64_t pts_ns) const {
    return started_ ? std::optional(pts_ns + shift_ns_) : std::nullopt;
  }

 private:
  bool started_ = false;
  std::int64_t shift_ns_ = 0;
  std::int64_t last_ns_ = 0;
};

/// One thread at a time.
class PacketSource {
 public:
  /// Sets the appsrc up, whose pipeline has not started; it lives as long as this.
  explicit PacketSource(GstElement* appsrc);

  /// Hands a packet on; never waits. False where it was dropped, since what is behind the appsrc
  /// does not take those before it: then all that follow up to a key frame are.
  bool push(const EncodedPicture& picture);
  void end() { gst_app_src_end_of_stream(source()); }
  [[nodiscard]] const StreamStamps& stamps() const { return stamps_; }

  /// Packets that nothing has taken yet.
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
  bool broken_ = true;  // what comes is no use before a key frame
};

/// The same for the sound beside it. One thread at a time.
class SoundSource {
 public:
  explicit SoundSource(GstElement* appsrc);

  /// Hands a packet on, at its time by the pictures' stamps; never waits. False where it was
  /// dropped, since those before it are not taken, or no picture has gone first.
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
