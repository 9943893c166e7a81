#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "pipelines/core/source.h"

/// `pipewire:NAME` as an input: a camera that PipeWire knows, of any driver.
namespace equalux {

struct PipewireSourceOptions {
  std::string camera;  ///< its name or its description; empty = the default camera
  int width = 0;       ///< pixels; 0 = the largest up to 1920x1080 that reaches the frame rate
  int height = 0;      ///< pixels; 0 with width 0
  Rational fps{0, 1};  ///< frames per second; 0/1 = 30 if the camera has it
  /// Decodes a JPEG to a bgr picture of its size; false where it is none. Null = JPEGs are not
  /// requested.
  bool (*decode_jpeg)(std::span<const std::uint8_t> jpeg, const ImageView& bgr) = nullptr;
  /// Name of the camera that was found, which is looked for the next time; sources that share it
  /// wait for the same camera.
  std::shared_ptr<std::string> found = std::make_shared<std::string>();
  /// Time after which a camera that gives no frame counts as stalled.
  std::chrono::milliseconds deadline{5000};
};

/// Makes a live source of a camera's frames: as they are if the filters take them, and as BGR or
/// another RGB otherwise. Each frame is copied on arrival, so that the camera gets its memory back.
/// If frames come faster than read() takes them, the newest is kept; those, frames that could not
/// be used, and frames missing in the camera's own count are counted in dropped_before. Timestamps
/// are the camera's if it uses the monotonic clock, and times of arrival otherwise; the first is 0.
///
/// open() throws Error(no_input) where there is no such camera, Error(unavailable) where no daemon
/// or session manager runs or the camera gives no known format, Error(usage) for a size that it
/// does not have. Cameras that this process makes are not found. read() throws Error(bad_input)
/// where the camera stalls, goes away or changes its frames, or the daemon goes.
[[nodiscard]] std::unique_ptr<Source> make_pipewire_source(const PipewireSourceOptions& options);

}  // namespace equalux
