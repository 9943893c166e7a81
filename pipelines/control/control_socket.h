#pragma once

#include <memory>
#include <string>

#include "pipelines/control/control_api.h"

/// `--control PATH`: a Unix socket that takes a JSON object a line and answers with one a line.
namespace equalux {

/// Serves until it is destroyed, in a thread of its own, up to eight callers at a time; the
/// socket's file goes with it. Only its owner may connect (mode 0600).
class ControlSocket {
 public:
  virtual ~ControlSocket() = default;
};

/// Throws Error(usage) where the path is too long for a socket or something else than a socket lies
/// there, Error(cannot_create) where it cannot be made or another program listens on it. `api` must
/// outlive it.
[[nodiscard]] std::unique_ptr<ControlSocket> open_control_socket(const std::string& path,
                                                                 ControlApi& api);

}  // namespace equalux
