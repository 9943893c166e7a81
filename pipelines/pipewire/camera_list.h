#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <pipewire/extensions/metadata.h>

#include "pipelines/live/camera_mode.h"
#include "pipelines/pipewire/connection.h"
#include "pipelines/pipewire/registry.h"

/// The cameras of a PipeWire daemon.
namespace equalux::pipewire {

struct ListedCamera {
  std::uint32_t id = 0;
  std::string name;         ///< as after `pipewire:`
  std::string description;  ///< as programs list it
  std::string serial;       ///< unique at this daemon, for ever; empty where the daemon is old
  bool is_ours = false;     ///< made by this process
};

/// List of cameras, kept up to date. Made, used and destroyed with the loop's lock held.
class CameraList {
 public:
  /// `removed` is called in the loop's thread with a camera that is gone.
  explicit CameraList(Connection& connection,
                      std::function<void(std::uint32_t id)> removed = nullptr);
  ~CameraList();
  CameraList(const CameraList&) = delete;
  CameraList& operator=(const CameraList&) = delete;

  /// Waits until all cameras have been reported. Returns false where the daemon does not answer in
  /// time, or is gone.
  [[nodiscard]] bool fill(std::chrono::milliseconds limit);

  /// Cameras by their ids.
  [[nodiscard]] std::vector<ListedCamera> cameras() const;
  /// Finds the camera of that name, or else of that description.
  [[nodiscard]] std::optional<ListedCamera> find(const std::string& name) const;
  /// Returns the session manager's default camera, or else the one that it would choose; never one
  /// that this process makes.
  [[nodiscard]] std::optional<ListedCamera> usual() const;
  /// Name of the program that connects programs with cameras: "WirePlumber"; empty = none runs.
  [[nodiscard]] const std::string& session_manager() const { return session_manager_; }

  /// Returns the known formats, sizes and rates that a camera offers; only sizes listed one by one,
  /// and otherwise its preferred one.
  [[nodiscard]] std::vector<CameraMode> modes(const ListedCamera& camera,
                                              std::chrono::milliseconds limit);

 private:
  struct Entry {
    ListedCamera camera;
    std::uint32_t client = 0;
    int priority = 0;
  };
  void on_added(const Object& object);
  void on_removed(std::uint32_t id);
  void on_metadata(const char* key, const char* value);
  [[nodiscard]] ListedCamera completed(const Entry& entry) const;

  Connection& connection_;
  const std::function<void(std::uint32_t)> removed_;
  std::map<std::uint32_t, Entry> cameras_;
  std::map<std::uint32_t, std::string> client_processes_;
  std::string session_manager_;
  std::string default_;  // a name
  std::uint32_t metadata_id_ = 0;
  pw_proxy* metadata_ = nullptr;
  spa_hook metadata_listener_{};
  pw_metadata_events metadata_events_{};
  std::optional<Registry> registry_;  // last, because its callbacks use the other members
};

/// Describes cameras as in "there is pipewire:cam (Integrated Camera)" and so on, or "PipeWire
/// knows no camera".
[[nodiscard]] std::string describe_cameras(const std::vector<ListedCamera>& cameras);

}  // namespace equalux::pipewire
