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

/// The cameras of a daemon.
namespace equalux::pipewire {

struct ListedCamera {
  std::uint32_t id = 0;
  std::string name;         ///< as after `pipewire:`
  std::string description;  ///< as programs list it
  std::string serial;       ///< no other object of this daemon ever has it; empty where it is old
  bool is_ours = false;     ///< this process makes it
};

/// What there is, kept true while it lives. Made, used and destroyed with the loop's lock held.
class CameraList {
 public:
  /// `removed` is called in the loop's thread with what has gone.
  explicit CameraList(Connection& connection,
                      std::function<void(std::uint32_t id)> removed = nullptr);
  ~CameraList();
  CameraList(const CameraList&) = delete;
  CameraList& operator=(const CameraList&) = delete;

  /// Waits until all that there is has been told. False where the daemon does not answer in time,
  /// or is gone.
  [[nodiscard]] bool fill(std::chrono::milliseconds limit);

  /// By their ids.
  [[nodiscard]] std::vector<ListedCamera> cameras() const;
  /// The camera of that name, or else of that description.
  [[nodiscard]] std::optional<ListedCamera> find(const std::string& name) const;
  /// What the session manager says is the default, or else the one that it would take: never one
  /// that this process makes.
  [[nodiscard]] std::optional<ListedCamera> usual() const;
  /// What connects programs with cameras: "WirePlumber"; empty = none runs.
  [[nodiscard]] const std::string& session_manager() const { return session_manager_; }

  /// The formats, sizes and rates that a camera offers, of those that are known here; only sizes
  /// listed one by one, and otherwise the one that it says is usual.
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
  std::optional<Registry> registry_;  // last: it calls the above
};

/// "there is pipewire:cam (Integrated Camera)" and so on, or "PipeWire knows no camera".
[[nodiscard]] std::string describe_cameras(const std::vector<ListedCamera>& cameras);

}  // namespace equalux::pipewire
