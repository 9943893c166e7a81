#include "tests/cli/small_disk.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

namespace fs = std::filesystem;

namespace equalux::test {
namespace {

std::string size_option(std::size_t kilobytes) {
  return "size=" + std::to_string(kilobytes) + "k";
}

bool put(const char* file, const std::string& text) {
  std::ofstream stream(file);
  stream << text;
  return static_cast<bool>(stream.flush());
}

/// Mounts of this process become its own. Only root may do that as it is; others as the root of a
/// user namespace.
bool leave_others_alone() {
  const unsigned user = ::geteuid();
  const unsigned group = ::getegid();
  if (::unshare(CLONE_NEWNS) != 0) {
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
    put("/proc/self/setgroups", "deny");
    if (!put("/proc/self/uid_map", "0 " + std::to_string(user) + " 1")) return false;
    if (!put("/proc/self/gid_map", "0 " + std::to_string(group) + " 1")) return false;
  }
  return ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

}  // namespace

SmallDisk::SmallDisk(std::size_t kilobytes) {
  std::string pattern = (fs::temp_directory_path() / "equalux-disk-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
  path_ = pattern;
  errno = 0;
  if (!leave_others_alone() ||
      ::mount("tmpfs", path_.c_str(), "tmpfs", 0, size_option(kilobytes).c_str()) != 0) {
    missing_ = std::string("no tmpfs can be mounted: ") + std::strerror(errno);
  }
}

SmallDisk::~SmallDisk() {
  if (missing_.empty()) ::umount2(path_.c_str(), MNT_DETACH);
  std::error_code ignored;
  fs::remove(path_, ignored);
}

void SmallDisk::resize(std::size_t kilobytes) const {
  if (::mount(nullptr, path_.c_str(), nullptr, MS_REMOUNT, size_option(kilobytes).c_str()) != 0) {
    throw std::runtime_error(std::string("remount failed: ") + std::strerror(errno));
  }
}

}  // namespace equalux::test
