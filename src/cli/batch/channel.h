#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include <nlohmann/json_fwd.hpp>

#include "pipelines/files/descriptor_io.h"

/// Protocol between a batch and its worker processes: JSON objects over a socket, one a line.
///
/// Messages to a worker: {"do": "job", "job": N} or {"do": "estimate", "job": N}; the end of the
/// socket means that no more comes. Messages from a worker: first {"say": "ready"} or {"say":
/// "refused", "code", "text"}; then at any time {"say": "progress", "job", ...}, {"say": "phase",
/// "job", "text"} and {"say": "log", "level", "text"}; and one {"say": "result", "job", ...} for
/// each order.
namespace equalux::cli {

/// One end of the socket. send() may be called by several threads; the rest by one.
class Channel {
 public:
  explicit Channel(Descriptor socket) : socket_(std::move(socket)) {}

  [[nodiscard]] int descriptor() const { return socket_.get(); }

  /// Sends a message; returns false where the other side has closed.
  bool send(const nlohmann::json& message);

  /// Reads what has arrived, waiting for at least something; returns false once the other side has
  /// closed.
  bool fill();
  /// Returns the next whole message, or nothing yet. Lines that are no JSON object are skipped.
  [[nodiscard]] std::optional<nlohmann::json> next();

 private:
  Descriptor socket_;
  std::mutex sending_;
  std::string received_;
};

}  // namespace equalux::cli
