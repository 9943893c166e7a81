#include "whole_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <equalux/error.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace equalux {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBytes = 0x7fffffff;

std::string reason(int error) {
  return std::generic_category().message(error);
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return fd_; }
  /// Network file systems report a full disk here first.
  [[nodiscard]] int close() {
    const int fd = fd_;
    fd_ = -1;
    return ::close(fd);
  }

 private:
  int fd_;
};

fs::path partial_name(const fs::path& path) {
  return path.parent_path() / (path.stem().string() + ".partial" + path.extension().string());
}

[[noreturn]] void throw_cannot_create(const fs::path& path, int error) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::error_code ignored;
  if (error == ENOENT || !fs::exists(folder, ignored))
    throw Error(ExitCode::cannot_create, path.string() + ": cannot be created, the folder " +
                                             folder.string() + " does not exist; make it first");
  if (error == EACCES || error == EROFS)
    throw Error(ExitCode::cannot_create, path.string() + ": cannot be created, the folder " +
                                             folder.string() + " may not be written (" +
                                             reason(error) + ")");
  throw Error(ExitCode::cannot_create, path.string() + ": cannot be created: " + reason(error));
}

/// 0, or the errno of the write that failed.
int write_all(int fd, std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace

std::vector<std::uint8_t> read_whole_file(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) {
    if (errno == ENOENT || errno == ENOTDIR)
      throw Error(ExitCode::no_input, path + ": no such file");
    throw Error(ExitCode::bad_input, path + ": cannot be read: " + reason(errno));
  }
  struct stat status {};
  if (::fstat(file.get(), &status) == 0 && S_ISDIR(status.st_mode))
    throw Error(ExitCode::bad_input, path + ": is a folder, where an image file is needed");

  std::vector<std::uint8_t> bytes;
  if (status.st_size > 0 && static_cast<std::size_t>(status.st_size) <= kMostBytes)
    bytes.reserve(static_cast<std::size_t>(status.st_size) + 1);
  for (;;) {
    const std::size_t have = bytes.size();
    bytes.resize(std::max(have + 65536, bytes.capacity()));
    const ssize_t got = ::read(file.get(), bytes.data() + have, bytes.size() - have);
    bytes.resize(have + (got > 0 ? static_cast<std::size_t>(got) : 0));
    if (got == 0) break;
    if (got < 0 && errno != EINTR)
      throw Error(ExitCode::bad_input, path + ": cannot be read: " + reason(errno));
    if (bytes.size() > kMostBytes)
      throw Error(ExitCode::bad_input, path + ": is longer than 2 GiB, too long for a still");
  }
  if (bytes.empty()) throw Error(ExitCode::bad_input, path + ": is empty, there is no image in it");
  return bytes;
}

void write_whole_file(const std::string& path, std::span<const std::uint8_t> bytes) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored))
    throw Error(ExitCode::cannot_create, path + ": is a folder, where a file name is needed");

  const fs::path partial = partial_name(path);
  Descriptor file(::open(partial.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (file.get() < 0) throw_cannot_create(path, errno);

  int error = write_all(file.get(), bytes);
  if (file.close() != 0 && error == 0) error = errno;
  if (error == 0 && ::rename(partial.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) {
    ::unlink(partial.c_str());
    throw Error(ExitCode::write_failed, path + ": writing " + std::to_string(bytes.size()) +
                                            " bytes failed: " + reason(error) +
                                            (error == ENOSPC ? "; free some space" : ""));
  }
}

}  // namespace equalux
