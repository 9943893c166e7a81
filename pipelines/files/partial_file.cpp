#include "pipelines/files/partial_file.h"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <utility>

#include <equalux/error.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pipelines/core/sink.h"
#include "src/common/system_error.h"

namespace equalux {
namespace {

constexpr mode_t kMode = 0666;  // Reduced by the umask, as for any new file.
constexpr const char* kPartial = ".partial";
constexpr const char* kBefore = ".before";
constexpr const char* kClosing = ".closing";

/// Inserts an infix before a name's extension.
std::string with_infix(const std::string& final_path, const std::string& infix) {
  const std::filesystem::path path(final_path);
  std::filesystem::path name = path.stem();
  name += infix;
  name += path.extension();
  return (path.parent_path() / name).string();
}

bool is_special(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

Error cannot_create(const std::string& path, int error_number) {
  const bool long_name = error_number == ENAMETOOLONG;
  return {ExitCode::cannot_create,
          path + ": cannot be created: " + system_error_text(error_number) +
              (long_name ? "; must have a shorter name, as files beside it have longer ones"
                         : "; its folder must exist and be writable")};
}

Error write_failed(const std::string& path, int error_number) {
  return {ExitCode::write_failed, path + ": write failed: " + system_error_text(error_number)};
}

/// Returns true where a path still names the open file: its owner may have renamed or removed it
/// while another process opened it.
bool is_at(const std::string& path, const struct stat& open_file) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && status.st_dev == open_file.st_dev &&
         status.st_ino == open_file.st_ino;
}

}  // namespace

OutputBusy::OutputBusy(const std::string& path)
    : Error(ExitCode::cannot_create,
            path +
                ": another equalux is writing it; give another name, or wait until that one "
                "has ended") {}

OutputLock::OutputLock(const std::string& file, const std::string& output) : file_(file) {
  for (;;) {
    descriptor_ = Descriptor(::open(file_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, kMode));
    if (descriptor_.get() < 0) throw cannot_create(output, errno);
    const bool held = ::flock(descriptor_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    struct stat status {};
    const bool known = ::fstat(descriptor_.get(), &status) == 0;
    if (!held && (!known || is_at(file_, status))) return;
    if (held) throw OutputBusy(output);
  }
}

OutputLock::~OutputLock() {
  struct stat status {};
  const bool empty = ::fstat(descriptor_.get(), &status) == 0 && status.st_size == 0;
  if (empty && is_at(file_, status)) ::unlink(file_.c_str());
}

std::string partial_path(const std::string& final_path) {
  return with_infix(final_path, kPartial);
}

std::string working_path(const std::string& final_path, Working file) {
  return with_infix(final_path,
                    std::string(kPartial) + (file == Working::before ? kBefore : kClosing));
}

void require_room_beside(const std::string& output) {
  const std::filesystem::path path(output);
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  const long most = ::pathconf(folder.c_str(), _PC_NAME_MAX);
  const std::size_t longest =
      std::filesystem::path(working_path(output, Working::closing)).filename().native().size();
  if (most <= 0 || longest <= static_cast<std::size_t>(most)) return;
  const std::size_t more = longest - path.filename().native().size();
  throw Error(ExitCode::cannot_create, "output " + output +
                                           ": its name is too long, must have at most " +
                                           std::to_string(static_cast<std::size_t>(most) - more) +
                                           " bytes, as files beside it have longer ones");
}

bool is_partial_path(const std::string& path) {
  const std::filesystem::path stem = std::filesystem::path(path).stem();
  const std::filesystem::path kind = stem.extension();
  return kind == kPartial ||
         ((kind == kBefore || kind == kClosing) && stem.stem().extension() == kPartial);
}

std::string lock_path(const std::string& output) {
  const std::filesystem::path path(output);
  return (path.parent_path() / ("." + path.filename().string() + ".lock")).string();
}

PartialFile::PartialFile(std::string final_path)
    : final_path_(std::move(final_path)), in_place_(is_special(final_path_)) {
  std::error_code ignored;
  if (std::filesystem::is_directory(final_path_, ignored)) throw cannot_create(final_path_, EISDIR);
  if (in_place_) {
    written_path_ = final_path_;
    descriptor_ = Descriptor(::open(written_path_.c_str(), O_WRONLY | O_CLOEXEC));
    if (descriptor_.get() < 0) throw cannot_create(final_path_, errno);
    return;
  }
  written_path_ = partial_path(final_path_);
  lock_.emplace(written_path_, final_path_);
  descriptor_ = Descriptor(::open(written_path_.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
  if (descriptor_.get() < 0) throw cannot_create(final_path_, errno);
}

PartialFile::PartialFile(std::string final_path, std::uint64_t bytes)
    : final_path_(std::move(final_path)), written_path_(partial_path(final_path_)) {
  struct stat status {};
  const auto size = static_cast<off_t>(bytes);
  lock_.emplace(written_path_, final_path_);
  descriptor_ = Descriptor(::open(written_path_.c_str(), O_WRONLY | O_CLOEXEC));
  const int file = descriptor_.get();
  const bool fits = file >= 0 && ::fstat(file, &status) == 0 && status.st_size >= size &&
                    ::ftruncate(file, size) == 0 && ::lseek(file, 0, SEEK_END) == size;
  if (fits) return;
  throw CannotResume(written_path_ + ": does not hold the " + std::to_string(bytes) +
                     " bytes that were written before");
}

PartialFile::~PartialFile() {
  if (!in_place_ && !written_path_.empty()) ::unlink(written_path_.c_str());
}

void PartialFile::write(const void* data, std::size_t size) {
  const auto* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t written = ::write(descriptor_.get(), at, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw write_failed(final_path_, errno);
    at += written;
    size -= static_cast<std::size_t>(written);
  }
}

void PartialFile::commit() {
  // Network file systems and quotas may report a failed write only at close().
  if (!descriptor_.close() && errno != EINTR) throw write_failed(final_path_, errno);
  const std::string written = std::exchange(written_path_, {});
  if (!in_place_ && std::rename(written.c_str(), final_path_.c_str()) != 0) {
    const std::string why = system_error_text(errno);
    throw Error(ExitCode::write_failed,
                final_path_ + ": cannot be given its name: " + why + "; it is left as " + written);
  }
  lock_.reset();
}

void PartialFile::keep() noexcept {
  descriptor_.close();
  written_path_.clear();
  lock_.reset();
}

}  // namespace equalux
