#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pipelines/live/camera_mode.h"
#include "pipelines/opencv/camera.h"
#include "pipelines/v4l2/v4l2_access.h"

/// What the kernel says of cameras, asked without OpenCV, which tells no error from another.
namespace equalux {

/// Opens node N once to see that it can be used, and returns what it offers (only sizes listed
/// one by one; empty where the driver takes any). Throws as CameraSource::open does.
[[nodiscard]] std::vector<CameraMode> check_camera(const CameraOptions& options);

/// What a node offers, only sizes listed one by one.
[[nodiscard]] std::vector<CameraMode> list_modes(const V4l2Access& node);

/// One line that says what choose_mode() chose, and why.
[[nodiscard]] std::string explain_mode(const std::vector<CameraMode>& modes,
                                       const CameraMode& chosen);

/// Sets the controls that the options name, in order. Throws as set_control() and check_camera()
/// do.
void set_controls(const CameraOptions& options);

/// The mode to ask for, of those that OpenCV turns into BGR or into frames as they are; see
/// camera_mode.h.
[[nodiscard]] CameraMode choose_mode(const std::vector<CameraMode>& modes,
                                     const CameraOptions& options);

/// "camera:0 (/dev/video0, Integrated Camera)" and so on, or "no camera is plugged in".
[[nodiscard]] std::string describe_cameras(const std::vector<CameraInfo>& cameras);

}  // namespace equalux
