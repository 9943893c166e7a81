#include "pipelines/pipewire/daemon_state.h"

#include <chrono>
#include <optional>

#include <equalux/error.h>

#include "pipelines/pipewire/camera_list.h"
#include "pipelines/pipewire/connection.h"
#include "src/common/log.h"

namespace equalux {
namespace {

using namespace std::chrono_literals;

constexpr auto kAnswerLimit = 3000ms;

}  // namespace

PipewireState look_at_pipewire() {
  PipewireState state;
  const pipewire::Loop loop("pipewire");
  const pipewire::Loop::Lock lock(loop);
  std::optional<pipewire::Connection> connection;
  try {
    connection.emplace(loop, "pipewire", nullptr);
  } catch (const Error& error) {
    logger().debug("{}", error.what());
    state.trouble = "no daemon runs for this user";
    return state;
  }
  pipewire::CameraList list(*connection);
  if (!list.fill(kAnswerLimit)) {
    state.trouble = "it does not answer";
    return state;
  }
  state.version = connection->daemon_version();
  state.session_manager = list.session_manager();
  const auto usual = list.usual();
  for (const pipewire::ListedCamera& camera : list.cameras()) {
    state.cameras.push_back({camera.name, camera.description, usual && usual->id == camera.id,
                             list.modes(camera, kAnswerLimit)});
  }
  return state;
}

}  // namespace equalux
