#pragma once

#include <memory>
#include <string>

#include "pipelines/files/descriptor_io.h"

/// The one system call of Video4Linux, so that tests can answer it.
namespace equalux {

class V4l2Access {
 public:
  virtual ~V4l2Access() = default;
  /// Calls ioctl(); returns 0 or the errno. `argument` is what the request needs.
  [[nodiscard]] virtual int ask(unsigned long request, void* argument) const = 0;
};

/// An open node. Opening one neither starts it nor keeps others from using it.
class V4l2Node final : public V4l2Access {
 public:
  explicit V4l2Node(const std::string& path);

  /// Why it could not be opened, an errno; 0 where it is open.
  [[nodiscard]] int error() const { return error_; }
  [[nodiscard]] int ask(unsigned long request, void* argument) const override;

 private:
  Descriptor node_;
  int error_;
};

}  // namespace equalux
