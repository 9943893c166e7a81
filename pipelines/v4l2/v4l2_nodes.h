#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pipelines/opencv/camera.h"
#include "pipelines/v4l2/v4l2_access.h"

/// What the kernel says of cameras, asked without OpenCV, which tells no error from another.
namespace equalux {

/// A format, size and rate that a camera offers.
struct CameraMode {
  std::uint32_t fourcc = 0;  ///< as V4L2 has it: 'Y' | 'U' << 8 | 'Y' << 16 | 'V' << 24
  int width = 0;             ///< pixels
  int height = 0;            ///< pixels
  double fps = 0;            ///< the fastest at that size; 0 = unknown
};

constexpr std::uint32_t fourcc(char a, char b, char c, char d) {
  return static_cast<std::uint32_t>(static_cast<unsigned char>(a)) |
         static_cast<std::uint32_t>(static_cast<unsigned char>(b)) << 8 |
         static_cast<std::uint32_t>(static_cast<unsigned char>(c)) << 16 |
         static_cast<std::uint32_t>(static_cast<unsigned char>(d)) << 24;
}

/// Opens node N once to see that it can be used, and returns what it offers (only sizes listed
/// one by one; empty where the driver takes any). Throws as CameraSource::open does.
[[nodiscard]] std::vector<CameraMode> check_camera(const CameraOptions& options);

/// What a node offers, only sizes listed one by one.
[[nodiscard]] std::vector<CameraMode> list_modes(const V4l2Access& node);

/// "MJPG", "YUYV"
[[nodiscard]] std::string fourcc_text(std::uint32_t code);

/// One line that says what was chosen of the modes and why: "MJPG 1280x720 at up to 30 fps: ...".
[[nodiscard]] std::string explain_mode(const std::vector<CameraMode>& modes,
                                       const CameraMode& chosen);

/// Sets the controls that the options name, in order. Throws as set_control() and check_camera()
/// do.
void set_controls(const CameraOptions& options);

/// The mode to ask for: one that reaches the wanted rate (30 where none is wanted), then the
/// largest (up to 1920x1080 where no size is wanted), then the least compressed. A mode of fourcc
/// 0 leaves the choice to the driver. Throws Error(usage) where no mode has the wanted size.
[[nodiscard]] CameraMode choose_mode(const std::vector<CameraMode>& modes,
                                     const CameraOptions& options);

/// "camera:0 (/dev/video0, Integrated Camera)" and so on, or "no camera is plugged in".
[[nodiscard]] std::string describe_cameras(const std::vector<CameraInfo>& cameras);

}  // namespace equalux
