#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "pipelines/gstreamer/encode/encode_bin.h"
#include "pipelines/gstreamer/stream/live_sound.h"
#include "pipelines/live/stream_address.h"

/// Destinations of a stream's packets.
namespace equalux::gst {

/// Maker of packets, which a sender tells whether it needs any. Called from the sender's threads.
class PacketMaker {
 public:
  virtual ~PacketMaker() = default;
  /// Sets whether packets are wanted at all.
  virtual void set_wanted(bool wanted) = 0;
  /// Requests a key frame for a new viewer, who sees nothing before it.
  virtual void force_keyframe() = 0;
};

/// Tracks of a stream.
enum class Tracks { pictures, pictures_and_sound };

/// Counts of packets and viewers.
struct SenderCounts {
  std::optional<std::uint64_t> viewers;  ///< that received pictures, where that is known
  std::uint64_t reconnects = 0;
  std::uint64_t not_taken = 0;  ///< packets that a connection did not take in time
};

/// Sends packets during its lifetime; its maker must outlive it, and may be called at once.
class PacketSender {
 public:
  virtual ~PacketSender() = default;
  /// Passes a packet on, without waiting. Called by the encoder's thread.
  virtual void send(const EncodedPicture& picture) = 0;
  /// Passes a packet of sound on, for a stream that has sound. Called by the sound encoder's
  /// thread.
  virtual void send_sound(const EncodedSound& sound) = 0;
  /// Throws Error(cannot_create) where the other end has refused the stream altogether. One thread
  /// at a time, as for end().
  virtual void check() {}
  /// Signals the end of the stream, and waits a moment for packets in transit.
  virtual void end() = 0;
  [[nodiscard]] virtual SenderCounts counts() const = 0;
};

/// Makes an RTSP server, over UDP and TCP. `name` starts messages. Throws Error(cannot_create)
/// where it cannot listen there, Error(unavailable) in a build without the server and where a
/// plugin is missing.
[[nodiscard]] std::unique_ptr<PacketSender> make_rtsp_server(const std::string& name,
                                                             const ServedStream& stream,
                                                             Tracks tracks, PacketMaker& maker);

/// Makes a sender that connects to a server, or listens, and again whenever the connection is lost.
/// Throws Error(cannot_create) where nobody answers, Error(unavailable) where a plugin is missing.
[[nodiscard]] std::unique_ptr<PacketSender> make_pusher(const std::string& name,
                                                        const PushedStream& stream, Tracks tracks,
                                                        PacketMaker& maker);

}  // namespace equalux::gst
