#include "partial_file.h"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include <equalux/error.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sink.h"

namespace equalux {
namespace {

constexpr mode_t kMode = 0666;  // What the umask leaves of it, as for any new file.

bool is_special(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

Error cannot_create(const std::string& path, int error_number) {
  return {ExitCode::cannot_create, path +
                                       ": cannot be created: " + system_error_text(error_number) +
                                       "; its folder must exist and be writable"};
}

Error write_failed(const std::string& path, int error_number) {
  return {ExitCode::write_failed, path + ": write failed: " + system_error_text(error_number)};
}

}  // namespace

std::string system_error_text(int error_number) {
  return std::generic_category().message(error_number);
}

std::string partial_path(const std::string& final_path) {
  const std::filesystem::path path(final_path);
  std::filesystem::path name = path.stem();
  name += ".partial";
  name += path.extension();
  return (path.parent_path() / name).string();
}

PartialFile::PartialFile(std::string final_path)
    : final_path_(std::move(final_path)), in_place_(is_special(final_path_)) {
  std::error_code ignored;
  if (std::filesystem::is_directory(final_path_, ignored)) throw cannot_create(final_path_, EISDIR);
  written_path_ = in_place_ ? final_path_ : partial_path(final_path_);
  descriptor_ = ::open(written_path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kMode);
  if (descriptor_ < 0) throw cannot_create(final_path_, errno);
}

PartialFile::PartialFile(std::string final_path, std::uint64_t bytes)
    : final_path_(std::move(final_path)), written_path_(partial_path(final_path_)) {
  struct stat status {};
  const auto size = static_cast<off_t>(bytes);
  descriptor_ = ::open(written_path_.c_str(), O_WRONLY | O_CLOEXEC);
  const bool fits = descriptor_ >= 0 && ::fstat(descriptor_, &status) == 0 &&
                    status.st_size >= size && ::ftruncate(descriptor_, size) == 0 &&
                    ::lseek(descriptor_, 0, SEEK_END) == size;
  if (fits) return;
  if (descriptor_ >= 0) ::close(descriptor_);
  throw CannotResume(written_path_ + ": does not hold the " + std::to_string(bytes) +
                     " bytes that were written before");
}

PartialFile::~PartialFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!in_place_ && !written_path_.empty()) ::unlink(written_path_.c_str());
}

void PartialFile::write(const void* data, std::size_t size) {
  const auto* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t written = ::write(descriptor_, at, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw write_failed(final_path_, errno);
    at += written;
    size -= static_cast<std::size_t>(written);
  }
}

void PartialFile::commit() {
  const int descriptor = std::exchange(descriptor_, -1);
  // Network file systems and quotas may report a failed write only here.
  if (::close(descriptor) != 0 && errno != EINTR) throw write_failed(final_path_, errno);
  if (!in_place_ && std::rename(written_path_.c_str(), final_path_.c_str()) != 0) {
    throw write_failed(final_path_, errno);
  }
  written_path_.clear();
}

void PartialFile::keep() noexcept {
  if (const int descriptor = std::exchange(descriptor_, -1); descriptor >= 0) ::close(descriptor);
  written_path_.clear();
}

}  // namespace equalux
