#pragma once

#include <memory>
#include <string>

#include "pipelines/control/control_api.h"

/// The Unix socket of `--control PATH`, which takes one JSON object per line and answers with one
/// per line.
namespace equalux {

/// Serves until it is destroyed, in a thread of its own, up to eight callers at a time, and removes
/// the socket's file at the end. Only its owner may connect (mode 0600).
class ControlSocket {
 public:
  virtual ~ControlSocket() = default;
};

/// Opens the socket. Throws Error(usage) where the path is too long for a socket or names something
/// else, and Error(cannot_create) where it cannot be created or another program listens on it.
/// `api` must outlive the result.
[[nodiscard]] std::unique_ptr<ControlSocket> open_control_socket(const std::string& path,
                                                                 ControlApi& api);

}  // namespace equalux
