#include "pipelines/pipewire/daemon_state.h"

#include <chrono>
#include <optional>

#include <equalux/error.h>

#include "pipelines/pipewire/connection.h"
#include "pipelines/pipewire/registry.h"
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
  std::string manager;
  const pipewire::Registry registry(*connection, [&](const pipewire::Object& object) {
    if (pipewire::is_camera(object)) {
      state.cameras.push_back(
          {object.property(PW_KEY_NODE_NAME), object.property(PW_KEY_NODE_DESCRIPTION)});
    }
    if (pipewire::is_session_manager(object) && manager.empty()) manager = "a session manager";
    const std::string client = object.property(PW_KEY_APP_NAME);
    if (object.type == PW_TYPE_INTERFACE_Client && client.starts_with("WirePlumber"))
      manager = "WirePlumber";
  });
  if (!connection->round_trip(kAnswerLimit)) {
    state.trouble = "it does not answer";
    return state;
  }
  state.version = connection->daemon_version();
  state.session_manager = manager;
  return state;
}

}  // namespace equalux
