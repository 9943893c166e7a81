#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <equalux/image.h>

#include "pipelines/pipewire/connection.h"
#include "pipelines/pipewire/formats.h"

/// A program that reads from a camera of PipeWire.
namespace equalux::test {

struct ReadFrame {
  std::uint64_t number = 0;  ///< as the camera counts them
  std::int64_t time_ns = 0;  ///< when the camera had it, of the monotonic clock
  double latency_ms = 0;     ///< from then to now
  std::string bytes;         ///< planes behind one another, tight
};

enum class ReaderHabit {
  usual,
  holds,   ///< it keeps the memory it gets, and gives none back
  counts,  ///< it keeps no frame, and counts them
};

/// Reads from when it is made until it goes.
class FrameReader {
 public:
  /// From the node of that name. Without a format any that the camera offers first; `rate` 0 =
  /// any.
  explicit FrameReader(const std::string& camera, std::optional<PixelFormat> format = std::nullopt,
                       std::uint32_t rate = 0, ReaderHabit habit = ReaderHabit::usual);
  ~FrameReader();
  FrameReader(const FrameReader&) = delete;
  FrameReader& operator=(const FrameReader&) = delete;

  /// The frames since it came, once there are so many, or those that came in time.
  [[nodiscard]] std::vector<ReadFrame> frames(
      std::size_t count, std::chrono::milliseconds limit = std::chrono::seconds(15));
  /// How many came so far.
  [[nodiscard]] std::uint64_t count();
  /// The last one's number, as the camera counts them, and how many numbers between the first and
  /// the last one did not come.
  [[nodiscard]] std::uint64_t last_number();
  [[nodiscard]] std::uint64_t missed();
  /// What was agreed on.
  [[nodiscard]] std::optional<pipewire::VideoFormat> format();
  /// What PipeWire said is wrong; empty where nothing is.
  [[nodiscard]] std::string failure();

 private:
  void on_format(const spa_pod* format);
  void take();

  pipewire::Loop loop_{"reader"};
  const ReaderHabit habit_;
  std::optional<pipewire::Connection> connection_;
  pw_stream* stream_ = nullptr;
  spa_hook listener_{};
  pw_stream_events events_{};

  std::mutex mutex_;  // guards the rest
  std::condition_variable changed_;
  std::optional<pipewire::VideoFormat> format_;
  std::vector<ReadFrame> frames_;
  std::uint64_t count_ = 0;
  std::uint64_t last_number_ = 0;
  std::uint64_t missed_ = 0;
  std::string failure_;
};

}  // namespace equalux::test
