#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "pipelines/gstreamer/encode/encode_bin.h"
#include "pipelines/gstreamer/stream/live_sound.h"
#include "pipelines/live/stream_address.h"

/// Where the packets of a stream go.
namespace equalux::gst {

/// Who makes packets; a sender says whether it needs any. Called from the sender's threads.
class PacketMaker {
 public:
  virtual ~PacketMaker() = default;
  /// Whether packets are wanted at all.
  virtual void set_wanted(bool wanted) = 0;
  /// Somebody new looks on, and sees nothing before a key frame.
  virtual void force_keyframe() = 0;
};

/// What a stream is made of.
enum class Tracks { pictures, pictures_and_sound };

/// What became of the packets.
struct SenderCounts {
  std::optional<std::uint64_t> viewers;  ///< that were shown pictures, where that is known
  std::uint64_t reconnects = 0;
  std::uint64_t not_taken = 0;  ///< packets that a connection did not take in time
};

/// Sends for as long as it lives; its maker lives longer, and may be called at once.
class PacketSender {
 public:
  virtual ~PacketSender() = default;
  /// Hands a packet on; waits for nobody. The encoder's thread.
  virtual void send(const EncodedPicture& picture) = 0;
  /// The same for sound, of a stream that has it. Its encoder's thread.
  virtual void send_sound(const EncodedSound& sound) = 0;
  /// Throws Error(cannot_create) where the other end has turned out not to take the stream at all.
  /// One thread at a time, as for the rest.
  virtual void check() {}
  /// Says that the stream has ended, and waits a moment for what is on its way.
  virtual void end() = 0;
  [[nodiscard]] virtual SenderCounts counts() const = 0;
};

/// Serves by RTSP, over UDP and TCP. `name` starts messages. Throws Error(cannot_create) where it
/// cannot listen there, Error(unavailable) in a build without the server and where a plugin is
/// missing.
[[nodiscard]] std::unique_ptr<PacketSender> make_rtsp_server(const std::string& name,
                                                             const ServedStream& stream,
                                                             Tracks tracks, PacketMaker& maker);

/// Calls a server, or listens, and does so again whenever the connection is lost. Throws
/// Error(cannot_create) where nobody is there, Error(unavailable) where a plugin is missing.
[[nodiscard]] std::unique_ptr<PacketSender> make_pusher(const std::string& name,
                                                        const PushedStream& stream, Tracks tracks,
                                                        PacketMaker& maker);

}  // namespace equalux::gst
