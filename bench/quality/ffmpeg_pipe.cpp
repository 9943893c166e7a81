#include "bench/quality/ffmpeg_pipe.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace equalux::bench {
namespace {

/// Both ends of a pipe, closed by the destructor.
struct Pipe {
  std::array<int, 2> ends{-1, -1};
  Pipe() {
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe can be made");
  }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void close_end(std::size_t which) {
    if (ends.at(which) >= 0) ::close(ends.at(which));
    ends.at(which) = -1;
  }
};

pid_t spawn(std::vector<std::string> words, const Pipe& in, const Pipe& out) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.ends[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out.ends[1], STDOUT_FILENO);
  std::vector<char*> arguments;
  for (std::string& word : words)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int failed =
      posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) throw std::runtime_error("ffmpeg cannot be started");
  return child;
}

bool write_all(int descriptor, const std::uint8_t* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t done = ::write(descriptor, bytes, size);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    bytes += done;
    size -= static_cast<std::size_t>(done);
  }
  return true;
}

bool read_all(int descriptor, std::uint8_t* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t done = ::read(descriptor, bytes, size);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    bytes += done;
    size -= static_cast<std::size_t>(done);
  }
  return true;
}

}  // namespace

std::string ffmpeg_version() {
  struct Close {
    void operator()(std::FILE* file) const { ::pclose(file); }
  };
  const std::unique_ptr<std::FILE, Close> said(::popen("ffmpeg -version 2>/dev/null", "r"));
  std::array<char, 200> line{};
  if (!said || std::fgets(line.data(), line.size(), said.get()) == nullptr) return {};
  std::string text = line.data();
  return text.substr(0, text.find(" Copyright"));
}

void filter_by_ffmpeg(const std::string& filters, const ImageDesc& desc, int frames,
                      const std::function<void(int, const ImageView&)>& draw,
                      const std::function<void(int, const ConstImageView&)>& take) {
  Pipe in;
  Pipe out;
  const std::string size = std::to_string(desc.width) + "x" + std::to_string(desc.height);
  const pid_t child =
      spawn({"ffmpeg", "-v", "error", "-f", "rawvideo", "-pix_fmt", "bgr24", "-s", size, "-r", "30",
             "-i", "-", "-vf", filters + ",format=bgr24", "-f", "rawvideo", "-"},
            in, out);
  in.close_end(0);
  out.close_end(1);
  std::thread writer([&] {
    Image frame(desc);
    bool open = true;
    for (int i = 0; i < frames && open; ++i) {
      draw(i, frame.view());
      for (int y = 0; y < desc.height && open; ++y)
        open = write_all(in.ends[1], frame.view().row(0, y), row_bytes(desc, 0));
    }
    in.close_end(1);
  });
  Image result(desc);
  int taken = 0;
  for (bool open = true; open && taken < frames;) {
    for (int y = 0; y < desc.height && open; ++y)
      open = read_all(out.ends[0], result.view().row(0, y), row_bytes(desc, 0));
    if (open) take(taken++, result.view());
  }
  out.close_end(0);  // ends ffmpeg, if it still writes, and then the writer here
  writer.join();
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (status != 0 || taken < frames) {
    throw std::runtime_error("ffmpeg -vf " + filters + " gave " + std::to_string(taken) + " of " +
                             std::to_string(frames) + " frames");
  }
}

}  // namespace equalux::bench
