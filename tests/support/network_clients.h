#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/// What tests of streams need: commands of other programs, and ports of this machine.
namespace equalux::test {

/// Live pictures that are all alike, of a gray with this luma in limited range.
inline constexpr int kLuma = 140;
inline constexpr const char* kGray =
    "gst:videotestsrc is-live=true pattern=solid-color foreground-color=0xff909090 ! "
    "video/x-raw,format=I420,width=320,height=240,framerate=30/1";

struct ShellResult {
  int exit_code = -1;
  std::string output;
};

/// Returns true where a program is installed.
inline bool has_program(const std::string& name) {
  return std::system(("command -v " + name + " > /dev/null").c_str()) == 0;
}

/// Runs a command for 20 s at most.
inline ShellResult shell_result(const std::string& command) {
  ShellResult result;
  std::FILE* pipe = ::popen(("timeout 20 " + command + " 2>&1").c_str(), "r");
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe))
    result.output += static_cast<char>(c);
  const int status = ::pclose(pipe);
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

/// A clip of black and silence, but for 0.4 s of white and of a tone from second 2 of 3 on.
inline void make_flash_and_tone(const std::string& path) {
  const ShellResult made = shell_result(
      "ffmpeg -v error -f lavfi -i \"color=black:s=64x48:r=25:d=3,"
      "drawbox=enable='between(t,2,2.4)':color=white:t=fill\" -f lavfi -i \"sine=f=1000:d=3,"
      "volume=enable='not(between(t,2,2.4))':volume=0\" -pix_fmt yuv420p -c:v ffv1 "
      "-c:a pcm_s16le '" +
      path + "'");
  EXPECT_EQ(made.exit_code, 0) << made.output;
}

/// When its flash and its tone begin in a copy, in seconds; -1 where there is none.
struct FlashAndTone {
  double flash_s = -1;
  double tone_s = -1;
};

inline FlashAndTone flash_and_tone(const std::string& path) {
  const std::string said =
      shell_result("ffmpeg -v info -i '" + path +
                   "' -vf blackdetect=d=0.1 -af silencedetect=n=-40dB:d=0.1 -f null -")
          .output;
  const auto number_behind = [&](const std::string& key) {
    const std::size_t at = said.find(key);
    return at == std::string::npos ? -1 : std::atof(said.c_str() + at + key.size());
  };
  return {number_behind("black_end:"), number_behind("silence_end: ")};
}

inline sockaddr_in loopback_address(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

/// A socket at a port of this machine.
class Listener {
 public:
  explicit Listener(int type = SOCK_STREAM) : fd_(::socket(AF_INET, type, 0)) {
    sockaddr_in address = loopback_address(0);
    socklen_t size = sizeof address;
    ::bind(fd_, reinterpret_cast<sockaddr*>(&address), size);
    ::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
    ::listen(fd_, 1);
    port_ = ntohs(address.sin_port);
  }
  ~Listener() { ::close(fd_); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  [[nodiscard]] int port() const { return port_; }

 private:
  int fd_;
  int port_ = 0;
};

/// A port that was free a moment ago; of TCP, or of UDP with SOCK_DGRAM.
inline int free_port_of(int type = SOCK_STREAM) {
  return Listener(type).port();
}

/// True once somebody listens there, by TCP.
inline bool wait_for_port(int port) {
  for (int i = 0; i < 1000; ++i) {
    const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
    const sockaddr_in address = loopback_address(port);
    const bool there =
        ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    ::close(fd);
    if (there) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

}  // namespace equalux::test
