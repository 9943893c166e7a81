#include "src/cli/batch/channel.h"

#include <array>
#include <cerrno>

#include <nlohmann/json.hpp>
#include <sys/socket.h>

#include "src/common/json_text.h"

namespace equalux::cli {

bool Channel::send(const nlohmann::json& message) {
  const std::string line = json_text(message) + "\n";
  const std::lock_guard lock(sending_);
  for (std::size_t sent = 0; sent < line.size();) {
    const ssize_t got = ::send(socket_.get(), line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return false;
    sent += static_cast<std::size_t>(got);
  }
  return true;
}

bool Channel::fill() {
  std::array<char, 65536> buffer;
  for (;;) {
    const ssize_t got = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    received_.append(buffer.data(), static_cast<std::size_t>(got));
    return true;
  }
}

std::optional<nlohmann::json> Channel::next() {
  for (;;) {
    const std::size_t end = received_.find('\n');
    if (end == std::string::npos) return std::nullopt;
    nlohmann::json message = json_or_discarded(received_.substr(0, end));
    received_.erase(0, end + 1);
    if (message.is_object()) return message;
  }
}

}  // namespace equalux::cli
