#include "pipelines/opencv/whole_file.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>

#include <equalux/error.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pipelines/files/descriptor_io.h"
#include "src/common/system_error.h"

namespace equalux {
namespace {

constexpr std::size_t kMostBytes = 0x7fffffff;

}  // namespace

std::vector<std::uint8_t> read_whole_file(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) {
    if (errno == ENOENT || errno == ENOTDIR)
      throw Error(ExitCode::no_input, path + ": no such file");
    throw Error(ExitCode::bad_input, path + ": cannot be read: " + system_error_text(errno));
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
      throw Error(ExitCode::bad_input, path + ": cannot be read: " + system_error_text(errno));
    if (bytes.size() > kMostBytes)
      throw Error(ExitCode::bad_input, path + ": is longer than 2 GiB, too long for a still");
  }
  if (bytes.empty()) throw Error(ExitCode::bad_input, path + ": is empty, there is no image in it");
  return bytes;
}

}  // namespace equalux
