#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "pipelines/gstreamer/encode/encode_bin.h"
#include "pipelines/live/stream_address.h"

/// One stream of packets for clients of RTSP.
namespace equalux::gst {

/// Whom the server tells what its clients need. Called from its threads.
class PacketMaker {
 public:
  virtual ~PacketMaker() = default;
  /// Whether packets are wanted at all.
  virtual void set_wanted(bool wanted) = 0;
  /// Somebody new looks on, and sees nothing before a key frame.
  virtual void force_keyframe() = 0;
};

class RtspServer {
 public:
  virtual ~RtspServer() = default;
  /// Hands a packet to whoever looks on; waits for nobody. The encoder's thread. `maker` may be
  /// called at once.
  virtual void send(const EncodedPicture& picture) = 0;
  /// Tells the clients that the stream has ended, and waits a moment for what is on its way to
  /// them.
  virtual void end() = 0;
  /// The port that it listens at.
  [[nodiscard]] virtual int port() const = 0;
  /// How many clients have been shown pictures.
  [[nodiscard]] virtual std::uint64_t viewers() const = 0;
  /// Packets that clients' connections did not take in time.
  [[nodiscard]] virtual std::uint64_t not_taken() const = 0;
};

/// Serves by UDP and TCP, for as long as it lives; `maker` lives longer. `name` starts messages.
/// Throws Error(cannot_create) where it cannot listen there, Error(unavailable) in a build without
/// the server and where a plugin is missing.
[[nodiscard]] std::unique_ptr<RtspServer> make_rtsp_server(const std::string& name,
                                                           const ServedStream& stream,
                                                           PacketMaker& maker);

}  // namespace equalux::gst
