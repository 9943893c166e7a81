#pragma once

#include <string>
#include <vector>

#include "pipelines/live/camera_mode.h"

/// State of the user's PipeWire.
namespace equalux {

struct PipewireCamera {
  std::string name;         ///< as after `pipewire:`
  std::string description;  ///< as programs list it
  bool is_default = false;  ///< what `pipewire:` without a name takes
  std::vector<CameraMode> modes;
};

struct PipewireState {
  std::string trouble;          ///< why no daemon answers; empty where one does
  std::string version;          ///< of the daemon
  std::string session_manager;  ///< program that connects programs with cameras; empty = none runs
  std::vector<PipewireCamera> cameras;
};

/// Asks the daemon. Throws Error(unavailable) where libpipewire does not start.
[[nodiscard]] PipewireState look_at_pipewire();

}  // namespace equalux
