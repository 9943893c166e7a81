#include "pipelines/pipewire/camera_list.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include "pipelines/pipewire/formats.h"
#include "src/common/log.h"

namespace equalux::pipewire {
namespace {

constexpr const char* kDefaultCamera = "default.video.source";
constexpr const char* kProcessOfClient = "pipewire.sec.pid";

/// Collects the answers of one node while it is being asked.
class NodeFormats {
 public:
  NodeFormats(pw_registry* registry, std::uint32_t id)
      : node_(static_cast<pw_proxy*>(
            pw_registry_bind(registry, id, PW_TYPE_INTERFACE_Node, PW_VERSION_NODE, 0))) {
    if (node_ == nullptr) return;
    events_.version = PW_VERSION_NODE_EVENTS;
    events_.param = [](void* self, int /*sequence*/, std::uint32_t /*id*/, std::uint32_t /*index*/,
                       std::uint32_t /*next*/, const spa_pod* param) {
      add_modes(param, static_cast<NodeFormats*>(self)->modes_);
    };
    auto* node = reinterpret_cast<pw_node*>(node_);
    pw_node_add_listener(node, &listener_, &events_, this);
    pw_node_enum_params(node, 0, SPA_PARAM_EnumFormat, 0, UINT32_MAX, nullptr);
  }
  ~NodeFormats() {
    if (node_ == nullptr) return;
    spa_hook_remove(&listener_);
    pw_proxy_destroy(node_);
  }
  NodeFormats(const NodeFormats&) = delete;
  NodeFormats& operator=(const NodeFormats&) = delete;

  [[nodiscard]] const std::vector<CameraMode>& modes() const { return modes_; }

 private:
  pw_proxy* node_;
  spa_hook listener_{};
  pw_node_events events_{};
  std::vector<CameraMode> modes_;
};

}  // namespace

CameraList::CameraList(Connection& connection, std::function<void(std::uint32_t)> removed)
    : connection_(connection), removed_(std::move(removed)) {
  registry_.emplace(
      connection, [this](const Object& object) { on_added(object); },
      [this](std::uint32_t id) { on_removed(id); });
}

CameraList::~CameraList() {
  if (metadata_ == nullptr) return;
  spa_hook_remove(&metadata_listener_);
  pw_proxy_destroy(metadata_);
}

bool CameraList::fill(std::chrono::milliseconds limit) {
  // The second round trip gets the metadata, whose object the first one announces.
  return connection_.round_trip(limit) && connection_.round_trip(limit);
}

void CameraList::on_added(const Object& object) {
  if (object.type == PW_TYPE_INTERFACE_Client) {
    client_processes_[object.id] = object.property(kProcessOfClient);
    if (object.property(PW_KEY_APP_NAME).starts_with("WirePlumber"))
      session_manager_ = "WirePlumber";
    return;
  }
  if (is_session_manager(object)) {
    if (session_manager_.empty()) session_manager_ = "a session manager";
    if (metadata_ != nullptr) return;
    metadata_ = static_cast<pw_proxy*>(pw_registry_bind(
        registry_->handle(), object.id, PW_TYPE_INTERFACE_Metadata, PW_VERSION_METADATA, 0));
    if (metadata_ == nullptr) return;
    metadata_id_ = object.id;
    metadata_events_.version = PW_VERSION_METADATA_EVENTS;
    metadata_events_.property = [](void* self, std::uint32_t /*subject*/, const char* key,
                                   const char* /*type*/, const char* value) {
      static_cast<CameraList*>(self)->on_metadata(key, value);
      return 0;
    };
    auto* metadata = reinterpret_cast<pw_metadata*>(metadata_);
    pw_metadata_add_listener(metadata, &metadata_listener_, &metadata_events_, this);
    return;
  }
  if (!is_camera(object)) return;
  Entry entry;
  entry.camera.id = object.id;
  entry.camera.name = object.property(PW_KEY_NODE_NAME);
  entry.camera.description = object.property(PW_KEY_NODE_DESCRIPTION);
  entry.camera.serial = object.property("object.serial");
  entry.client = static_cast<std::uint32_t>(std::atoi(object.property(PW_KEY_CLIENT_ID).c_str()));
  entry.priority = std::atoi(object.property(PW_KEY_PRIORITY_SESSION).c_str());
  cameras_[object.id] = std::move(entry);
}

void CameraList::on_removed(std::uint32_t id) {
  cameras_.erase(id);
  client_processes_.erase(id);
  if (removed_) removed_(id);
}

void CameraList::on_metadata(const char* key, const char* value) {
  if (key == nullptr || std::string_view(key) != kDefaultCamera) return;
  const auto text = nlohmann::json::parse(value == nullptr ? "" : value, nullptr, false);
  default_ = text.is_object() && text.contains("name") && text["name"].is_string()
                 ? text["name"].get<std::string>()
                 : "";
}

ListedCamera CameraList::completed(const Entry& entry) const {
  ListedCamera camera = entry.camera;
  const auto process = client_processes_.find(entry.client);
  camera.is_ours =
      process != client_processes_.end() && process->second == std::to_string(::getpid());
  return camera;
}

std::vector<ListedCamera> CameraList::cameras() const {
  std::vector<ListedCamera> all;
  for (const auto& [id, entry] : cameras_)
    all.push_back(completed(entry));
  return all;
}

std::optional<ListedCamera> CameraList::find(const std::string& name) const {
  const std::vector<ListedCamera> all = cameras();
  for (const auto field : {&ListedCamera::name, &ListedCamera::description}) {
    const auto at =
        std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.*field == name; });
    if (at != all.end()) return *at;
  }
  return std::nullopt;
}

std::optional<ListedCamera> CameraList::usual() const {
  std::optional<ListedCamera> best;
  int most = 0;
  for (const auto& [id, entry] : cameras_) {
    const ListedCamera camera = completed(entry);
    if (camera.is_ours) continue;
    if (camera.name == default_) return camera;
    if (best && entry.priority <= most) continue;
    best = camera;
    most = entry.priority;
  }
  return best;
}

std::vector<CameraMode> CameraList::modes(const ListedCamera& camera,
                                          std::chrono::milliseconds limit) {
  const NodeFormats formats(registry_->handle(), camera.id);
  if (!connection_.round_trip(limit)) return {};
  return formats.modes();
}

std::string describe_cameras(const std::vector<ListedCamera>& cameras) {
  std::string text;
  for (const ListedCamera& camera : cameras) {
    if (camera.is_ours) continue;
    text += (text.empty() ? "there is pipewire:" : ", pipewire:") + camera.name;
    if (!camera.description.empty() && camera.description != camera.name)
      text += " (" + camera.description + ")";
  }
  return text.empty() ? "PipeWire knows no camera" : text;
}

}  // namespace equalux::pipewire
