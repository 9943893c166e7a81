#include "tests/support/program.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace equalux::test {
namespace {

using SteadyClock = std::chrono::steady_clock;

struct Pipe {
  std::array<int, 2> ends{-1, -1};
  Pipe() {
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe2 failed");
  }
  ~Pipe() {
    close(0);
    close(1);
  }
  void close(std::size_t end) {
    if (ends[end] >= 0) ::close(ends[end]);
    ends[end] = -1;
  }
};

[[noreturn]] void become_program(const std::vector<std::string>& arguments,
                                 const ProgramOptions& options, Pipe& in, Pipe& out, Pipe& err) {
  ::dup2(in.ends[0], STDIN_FILENO);
  ::dup2(out.ends[1], STDOUT_FILENO);
  ::dup2(err.ends[1], STDERR_FILENO);
  if (!options.output.empty()) {
    ::dup2(::open(options.output.c_str(), O_WRONLY | O_CLOEXEC), STDOUT_FILENO);
  }
  if (!options.folder.empty() && ::chdir(options.folder.c_str()) != 0) ::_exit(126);
  for (const auto& [name, value] : options.environment) {
    ::setenv(name.c_str(), value.c_str(), 1);
  }
  std::vector<std::string> words{options.program.empty() ? EQUALUX_PROGRAM : options.program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words)
    argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execv(argv[0], argv.data());
  ::_exit(127);
}

/// Reads both streams until they end; false where the time is over.
bool drain(Pipe& out, Pipe& err, ProgramResult& result, SteadyClock::time_point deadline) {
  std::array<pollfd, 2> waits{{{out.ends[0], POLLIN, 0}, {err.ends[0], POLLIN, 0}}};
  const std::array<std::string*, 2> texts{&result.out, &result.err};
  std::size_t open = waits.size();
  while (open > 0) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - SteadyClock::now());
    if (left.count() <= 0) return false;
    if (::poll(waits.data(), waits.size(), static_cast<int>(left.count())) <= 0) continue;
    for (std::size_t i = 0; i < waits.size(); ++i) {
      if (waits[i].fd < 0 || waits[i].revents == 0) continue;
      std::array<char, 65536> buffer;
      const ssize_t got = ::read(waits[i].fd, buffer.data(), buffer.size());
      if (got > 0) {
        texts[i]->append(buffer.data(), static_cast<std::size_t>(got));
      } else {
        waits[i].fd = -1;
        --open;
      }
    }
  }
  return true;
}

void feed(int descriptor, const std::string& text) {
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t got = ::write(descriptor, text.data() + written, text.size() - written);
    if (got <= 0) return;
    written += static_cast<std::size_t>(got);
  }
}

}  // namespace

ProgramResult run_program(const std::vector<std::string>& arguments,
                          const ProgramOptions& options) {
  std::signal(SIGPIPE, SIG_IGN);
  Pipe in;
  Pipe out;
  Pipe err;
  const auto start = SteadyClock::now();
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child == 0) become_program(arguments, options, in, out, err);
  in.close(0);
  out.close(1);
  err.close(1);
  std::thread feeder([&] {
    feed(in.ends[1], options.input);
    in.close(1);
  });
  std::thread companion([&] {
    if (options.meanwhile) options.meanwhile(child);
  });
  ProgramResult result;
  const auto deadline =
      start + std::chrono::milliseconds(static_cast<std::int64_t>(options.timeout_s * 1000));
  const bool ended = drain(out, err, result, deadline);
  if (!ended) ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  feeder.join();
  companion.join();
  result.seconds = std::chrono::duration<double>(SteadyClock::now() - start).count();
  if (ended) result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) {
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

std::string dim_ppm(int width, int height) {
  std::string text = "P6\n" + std::to_string(width) + " " + std::to_string(height) + "\n255\n";
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      text += static_cast<char>(20 + (x * 60) / width);
      text += static_cast<char>(10 + (y * 50) / height);
      text += static_cast<char>(15 + ((x + y) * 20) / (width + height));
    }
  }
  return text;
}

std::string dim_y4m(int width, int height, int frames) {
  std::string text = "YUV4MPEG2 W" + std::to_string(width) + " H" + std::to_string(height) +
                     " F25:1 Ip A1:1 C420jpeg\n";
  const int chroma = 2 * ((width + 1) / 2) * ((height + 1) / 2);
  for (int frame = 0; frame < frames; ++frame) {
    text += "FRAME\n";
    for (int i = 0; i < width * height; ++i) {
      text += static_cast<char>(20 + (i % width + frame) % 60);
    }
    for (int i = 0; i < chroma; ++i)
      text += static_cast<char>(120 + i % 16);
  }
  return text;
}

}  // namespace equalux::test
