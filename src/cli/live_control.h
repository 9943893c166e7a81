#pragma once

#include <memory>
#include <string>

#include "control_api.h"
#include "control_socket.h"
#include "options.h"
#include "run.h"

/// What looks on and steers while one stream runs: window keys, control socket, page.
namespace equalux::cli {

struct LiveOptions {
  std::string control;  ///< a path; empty = no socket
  [[nodiscard]] bool watched() const { return !control.empty(); }
};

/// --control.
[[nodiscard]] OptionGroup live_group(LiveOptions& options);

/// Stands around a run.
class LiveControl {
 public:
  /// Opens what the options ask for. Throws Error.
  LiveControl(const LiveOptions& options, const CommonOptions& common);

  [[nodiscard]] Steering& steering() { return steering_; }
  /// Adds what it needs to the callbacks that are there already.
  void attach(RunOptions& run);

 private:
  bool watched_;
  Steering steering_;
  LiveMonitor monitor_;
  ControlApi api_{steering_, monitor_};
  std::unique_ptr<ControlSocket> socket_;
};

}  // namespace equalux::cli
