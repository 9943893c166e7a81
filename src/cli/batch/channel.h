#pragma once

#include <mutex>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

/// How a batch and its worker processes talk: JSON objects, one a line, over a socket.
///
/// To a worker: {"do": "job", "job": N} or {"do": "estimate", "job": N}; the socket's end means
/// that nothing more comes. From it: {"say": "ready"} or {"say": "refused", "code", "text"} first,
/// then {"say": "progress", "job", ...}, {"say": "phase", "job", "text"} and {"say": "log",
/// "level", "text"} at any time, and {"say": "result", "job", ...} for each order.
namespace equalux::cli {

/// send() may be called by several threads; the rest by one.
class Channel {
 public:
  explicit Channel(int descriptor) : descriptor_(descriptor) {}
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  [[nodiscard]] int descriptor() const { return descriptor_; }

  /// False where nobody listens any more.
  bool send(const nlohmann::json& message);

  /// Reads what is there, or waits for something; false once the other side has closed.
  bool fill();
  /// The next whole message; nothing where there is none yet. What is no JSON object is left out.
  [[nodiscard]] std::optional<nlohmann::json> next();

 private:
  int descriptor_;
  std::mutex sending_;
  std::string received_;
};

}  // namespace equalux::cli
