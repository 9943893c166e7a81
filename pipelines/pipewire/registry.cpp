#include "pipelines/pipewire/registry.h"

#include <utility>

namespace equalux::pipewire {

std::string Object::property(const char* key) const {
  const char* value = properties == nullptr ? nullptr : spa_dict_lookup(properties, key);
  return value == nullptr ? "" : value;
}

Registry::Registry(const Connection& connection, Added added, Removed removed)
    : added_(std::move(added)),
      removed_(std::move(removed)),
      registry_(pw_core_get_registry(connection.core(), PW_VERSION_REGISTRY, 0)) {
  events_.version = PW_VERSION_REGISTRY_EVENTS;
  events_.global = [](void* self, std::uint32_t id, std::uint32_t /*permissions*/, const char* type,
                      std::uint32_t /*version*/, const spa_dict* properties) {
    static_cast<Registry*>(self)->added_({id, type, properties});
  };
  events_.global_remove = [](void* self, std::uint32_t id) {
    const auto& me = *static_cast<Registry*>(self);
    if (me.removed_) me.removed_(id);
  };
  pw_registry_add_listener(registry_, &listener_, &events_, this);
}

Registry::~Registry() {
  spa_hook_remove(&listener_);
  pw_proxy_destroy(reinterpret_cast<pw_proxy*>(registry_));
}

bool is_camera(const Object& object) {
  return object.type == PW_TYPE_INTERFACE_Node &&
         object.property(PW_KEY_MEDIA_CLASS) == "Video/Source";
}

bool is_session_manager(const Object& object) {
  return object.type == "PipeWire:Interface:Metadata" &&
         object.property("metadata.name") == "default";
}

}  // namespace equalux::pipewire
