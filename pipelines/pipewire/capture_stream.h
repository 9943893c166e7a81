#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pipelines/core/frame.h"
#include "pipelines/pipewire/camera_list.h"
#include "pipelines/pipewire/connection.h"
#include "pipelines/pipewire/formats.h"

/// Frames of another program's camera.
namespace equalux::pipewire {

/// The newest frame, in memory that returns to the camera after the call.
struct TakenFrame {
  ConstImageView image;                ///< unless frames are JPEGs
  std::span<const std::uint8_t> jpeg;  ///< if frames are JPEGs
  Clock::time_point taken;             ///< by the camera's own time, if it tells that
  std::uint64_t lost_before = 0;       ///< frames since the previous one that could not be used
};

/// A stream that a camera fills, which exists as long as this object and its connection. Made, used
/// and destroyed with the loop's lock held.
class CaptureStream {
 public:
  /// Asks `camera` for one of `wishes`, the best first. `taken`, and `changed`, which announces
  /// news of agreed() or failure(), are called in the loop's thread and must not destroy the
  /// stream. YCbCr without a matrix and range gets those of `usual`. `name` is for messages. Throws
  /// Error(unavailable).
  CaptureStream(const Connection& connection, const std::string& name, const ListedCamera& camera,
                const std::vector<FormatWish>& wishes, const ImageDesc& usual,
                std::function<void(const TakenFrame&)> taken, std::function<void()> changed);
  ~CaptureStream();
  CaptureStream(const CaptureStream&) = delete;
  CaptureStream& operator=(const CaptureStream&) = delete;

  /// Format of all frames; nothing before it is negotiated.
  [[nodiscard]] const std::optional<VideoFormat>& agreed() const { return agreed_; }
  /// Why no more frames will come; empty where nothing is wrong.
  [[nodiscard]] const std::string& failure() const { return failure_; }
  /// Why the last frame could not be used; empty where all could.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }

 private:
  struct Mapping {
    void* start = nullptr;
    std::size_t bytes = 0;
    std::size_t into = 0;  ///< offset of the buffer in it
  };
  void fail(const std::string& why);
  void on_state(pw_stream_state state, const char* error);
  void on_format(const spa_pod* format);
  void add_buffer(pw_buffer* buffer);
  void remove_buffer(pw_buffer* buffer);
  void process();
  void note_gap(const pw_buffer& buffer, Clock::time_point arrived);
  /// Fills `blocks` and returns those that exist.
  [[nodiscard]] std::span<const Block> blocks_of(const pw_buffer& buffer,
                                                 std::array<Block, kMaxPlanes>& blocks) const;
  [[nodiscard]] bool give(const pw_buffer& buffer);

  const std::string name_;
  const ImageDesc usual_;
  const std::function<void(const TakenFrame&)> taken_;
  const std::function<void()> changed_;
  pw_stream* stream_ = nullptr;
  spa_hook listener_{};
  pw_stream_events events_{};
  std::map<const spa_data*, Mapping> mappings_;  // of memory that libpipewire does not map itself
  std::optional<VideoFormat> agreed_;
  std::string failure_;
  std::string trouble_;
  std::uint64_t lost_ = 0;
  std::optional<std::uint64_t> last_number_;
  Clock::time_point last_taken_;
};

}  // namespace equalux::pipewire
