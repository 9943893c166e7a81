#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "pipelines/pipewire/connection.h"

/// Objects of a PipeWire daemon.
namespace equalux::pipewire {

/// An object of the daemon: a node, a link, a client.
struct Object {
  std::uint32_t id = 0;
  std::string_view type;  ///< PW_TYPE_INTERFACE_...
  const spa_dict* properties = nullptr;

  /// Returns a property's value; empty where there is none.
  [[nodiscard]] std::string property(const char* key) const;
};

/// Reports existing objects, and those that come and go. Made and destroyed with the loop's lock
/// held.
class Registry {
 public:
  /// Called in the loop's thread; the object is valid during the call only.
  using Added = std::function<void(const Object&)>;
  using Removed = std::function<void(std::uint32_t id)>;

  Registry(const Connection& connection, Added added, Removed removed = nullptr);
  ~Registry();
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  /// Handle for libpipewire's own functions.
  [[nodiscard]] pw_registry* handle() const { return registry_; }

 private:
  Added added_;
  Removed removed_;
  pw_registry* registry_;
  spa_hook listener_{};
  pw_registry_events events_{};
};

/// Returns true for the node of a camera, of class Video/Source.
[[nodiscard]] bool is_camera(const Object& object);

/// Returns true for the metadata of a session manager, which has the default camera.
[[nodiscard]] bool is_session_manager(const Object& object);

}  // namespace equalux::pipewire
