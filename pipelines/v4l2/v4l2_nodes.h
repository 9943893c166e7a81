#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pipelines/live/camera_mode.h"
#include "pipelines/opencv/camera.h"
#include "pipelines/v4l2/v4l2_access.h"

/// Facts about cameras from the kernel, without OpenCV, which does not distinguish errors.
namespace equalux {

/// Opens node N once to check that it can be used, and returns what it offers (only sizes listed
/// one by one; empty where the driver takes any). Throws as CameraSource::open does.
[[nodiscard]] std::vector<CameraMode> check_camera(const CameraOptions& options);

/// Lists what a node offers, only sizes listed one by one.
[[nodiscard]] std::vector<CameraMode> list_modes(const V4l2Access& node);

/// Explains in one line what choose_mode() chose, and why.
[[nodiscard]] std::string explain_mode(const std::vector<CameraMode>& modes,
                                       const CameraMode& chosen);

/// Sets the controls that the options name, in order. Throws as set_control() and check_camera()
/// do.
void set_controls(const CameraOptions& options);

/// Chooses a mode, of those that OpenCV converts to BGR or passes on as they are; see
/// camera_mode.h.
[[nodiscard]] CameraMode choose_mode(const std::vector<CameraMode>& modes,
                                     const CameraOptions& options);

/// Describes cameras as in "camera:0 (/dev/video0, Integrated Camera)" and so on, or "no camera is
/// plugged in".
[[nodiscard]] std::string describe_cameras(const std::vector<CameraInfo>& cameras);

}  // namespace equalux
