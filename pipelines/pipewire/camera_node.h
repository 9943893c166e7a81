#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "pipelines/core/frame.h"
#include "pipelines/pipewire/connection.h"
#include "pipelines/pipewire/formats.h"
#include "pipelines/pipewire/registry.h"

/// A camera that other programs read from.
namespace equalux::pipewire {

struct ReaderCounts {
  std::uint64_t readers = 0;    ///< that have come
  std::uint64_t frames = 0;     ///< that were given
  std::uint64_t not_taken = 0;  ///< readers held all buffers
};

/// A node of class Video/Source, which exists as long as this object and its connection. Made, used
/// and destroyed with the loop's lock held.
class CameraNode {
 public:
  /// Frames will come as `format`; readers may ask for other formats of its size. `there` is called
  /// in the loop's thread when others see the node; it must not destroy it. `counts` and `is_read`,
  /// which tells whether somebody takes frames, must outlive it. Throws Error(unavailable).
  CameraNode(const Loop& loop, const Connection& connection, const std::string& name,
             const VideoFormat& format, ReaderCounts& counts, std::atomic<bool>& is_read,
             std::function<void()> there);
  ~CameraNode();
  CameraNode(const CameraNode&) = delete;
  CameraNode& operator=(const CameraNode&) = delete;

  /// Returns true where others see the node.
  [[nodiscard]] bool is_there() const { return is_there_; }
  /// Why the node does not exist; empty where nothing is wrong.
  [[nodiscard]] const std::string& failure() const { return failure_; }

  /// Gives all readers a frame, converted if they asked for another format. `time_ns` is when it
  /// was taken, on the monotonic clock. Never waits.
  void give(const Frame& frame, std::int64_t time_ns);

 private:
  void on_state(pw_stream_state state, const char* error);
  void on_format(const spa_pod* format);
  void on_object(const Object& object);
  [[nodiscard]] bool is_due(std::int64_t time_ns);
  [[nodiscard]] pw_buffer* free_buffer();

  const Loop& loop_;
  const std::string name_;
  const VideoFormat format_;
  ReaderCounts& counts_;
  std::atomic<bool>& is_read_;
  const std::function<void()> there_;
  pw_stream* stream_ = nullptr;
  spa_hook listener_{};
  pw_stream_events events_{};
  std::optional<Registry> registry_;
  std::set<std::uint32_t> links_;       // to readers
  std::optional<VideoFormat> agreed_;   // with the readers
  std::optional<std::int64_t> due_ns_;  // time of the next frame, if readers asked for fewer
  bool is_there_ = false;
  std::string failure_;
};

}  // namespace equalux::pipewire
