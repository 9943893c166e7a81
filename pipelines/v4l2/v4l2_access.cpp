#include "pipelines/v4l2/v4l2_access.h"

#include <cerrno>

#include <fcntl.h>
#include <sys/ioctl.h>

namespace equalux {

V4l2Node::V4l2Node(const std::string& path)
    : node_(::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC)),
      error_(node_.get() < 0 ? errno : 0) {}

int V4l2Node::ask(unsigned long request, void* argument) const {
  int result = 0;
  do {
    result = ::ioctl(node_.get(), request, argument);
  } while (result < 0 && errno == EINTR);
  return result < 0 ? errno : 0;
}

}  // namespace equalux
