#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "pipelines/core/source.h"

/// `pipewire:NAME` as an input: a camera that PipeWire knows, by whatever driver.
namespace equalux {

struct PipewireSourceOptions {
  std::string camera;  ///< its name, or what programs list it as; empty = the default camera
  int width = 0;       ///< pixels; 0 = the largest up to 1920x1080 that reaches the frame rate
  int height = 0;      ///< pixels; 0 with width 0
  Rational fps{0, 1};  ///< frames a second; 0/1 = 30 where the camera has it
  /// Decodes a JPEG to a bgr picture of its size; false where it is none. Null = cameras are not
  /// asked for JPEGs.
  bool (*decode_jpeg)(std::span<const std::uint8_t> jpeg, const ImageView& bgr) = nullptr;
  /// The name of the camera that was found, which is looked for the next time; sources that share
  /// it wait for the same camera.
  std::shared_ptr<std::string> found = std::make_shared<std::string>();
  /// A camera that gives no frame for so long has stalled.
  std::chrono::milliseconds deadline{5000};
};

/// A live source of that camera's frames: as they are where the filters take them, and as BGR or
/// another RGB otherwise. Each is copied as it comes, so that the camera has its memory back; of
/// frames that come faster than read() takes them the newest wins, and all that came to nothing, or
/// that the camera's own count misses, stand in dropped_before. Timestamps are those of the camera
/// where it tells them by the monotonic clock, and of arrival otherwise; the first is 0.
///
/// open() throws Error(no_input) where there is no such camera, Error(unavailable) where no daemon
/// or session manager runs or the camera gives no frames that are known, Error(usage) for a size
/// that it does not have. What this process makes itself is no camera here. read() throws
/// Error(bad_input) where the camera stalls, goes away or changes its frames, or the daemon goes.
[[nodiscard]] std::unique_ptr<Source> make_pipewire_source(const PipewireSourceOptions& options);

}  // namespace equalux
