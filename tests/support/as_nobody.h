#pragma once

#include <unistd.h>

/// What root may do and others may not.
namespace equalux::test {

/// While it lives, a process of root's opens files as somebody who has no rights to them; one of
/// another user's stays as it is. Programs that it starts then are that user's too.
class AsNobody {
 public:
  AsNobody() : was_root_(::geteuid() == 0) {
    if (was_root_ && ::seteuid(kNobody) != 0) ::_exit(1);
  }
  ~AsNobody() {
    if (was_root_ && ::seteuid(0) != 0) ::_exit(1);
  }
  AsNobody(const AsNobody&) = delete;
  AsNobody& operator=(const AsNobody&) = delete;

 private:
  static constexpr uid_t kNobody = 65534;
  bool was_root_;
};

}  // namespace equalux::test
