#include "pipelines/v4l2/v4l2_nodes.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <equalux/error.h>
#include <linux/videodev2.h>

#include "pipelines/v4l2/v4l2_controls.h"
#include "src/common/system_error.h"

namespace equalux {
namespace {

namespace fs = std::filesystem;

/// Returns true for a node that captures: one physical camera has several nodes, and device_caps
/// describes this one.
bool can_capture(const V4l2Access& node) {
  v4l2_capability capability{};
  if (node.ask(VIDIOC_QUERYCAP, &capability) != 0) return false;
  const std::uint32_t caps = (capability.capabilities & V4L2_CAP_DEVICE_CAPS) != 0
                                 ? capability.device_caps
                                 : capability.capabilities;
  return (caps & (V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_VIDEO_CAPTURE_MPLANE)) != 0 &&
         (caps & V4L2_CAP_STREAMING) != 0;
}

double fastest(const V4l2Access& node, std::uint32_t format, std::uint32_t width,
               std::uint32_t height) {
  double fps = 0;
  v4l2_frmivalenum interval{};
  interval.pixel_format = format;
  interval.width = width;
  interval.height = height;
  for (; node.ask(VIDIOC_ENUM_FRAMEINTERVALS, &interval) == 0; ++interval.index) {
    const v4l2_fract period =
        interval.type == V4L2_FRMIVAL_TYPE_DISCRETE ? interval.discrete : interval.stepwise.min;
    if (period.numerator > 0) fps = std::max(fps, 1.0 * period.denominator / period.numerator);
    if (interval.type != V4L2_FRMIVAL_TYPE_DISCRETE) break;
  }
  return fps;
}

/// Returns a rank, less is better; formats that OpenCV does not convert to BGR are excluded.
int compression(std::uint32_t format) {
  switch (format) {
    case fourcc('Y', 'U', 'Y', 'V'):
    case fourcc('U', 'Y', 'V', 'Y'):
    case fourcc('N', 'V', '1', '2'):
    case fourcc('G', 'R', 'E', 'Y'):
      return 0;
    case fourcc('B', 'G', 'R', '3'):
    case fourcc('R', 'G', 'B', '3'):
      return 1;
    case fourcc('M', 'J', 'P', 'G'):
    case fourcc('J', 'P', 'E', 'G'):
      return 2;
    default:
      return -1;
  }
}

std::string name_of(int number) {
  return "camera:" + std::to_string(number);
}

[[noreturn]] void throw_not_opened(const CameraOptions& options, const std::string& node,
                                   int error) {
  const std::string name = name_of(options.number) + ": " + node;
  if (error == ENOENT || error == ENXIO || error == ENODEV)
    throw Error(ExitCode::no_input, name + " does not exist; " + describe_cameras(list_cameras()));
  if (error == EACCES || error == EPERM)
    throw Error(ExitCode::unavailable,
                name +
                    " may not be opened; add yourself to its group with 'sudo usermod -aG "
                    "video $USER' and log in again");
  if (error == EBUSY)
    throw Error(ExitCode::unavailable,
                name + " is in use by another program; close that one first");
  throw Error(ExitCode::unavailable, name + " cannot be opened: " + system_error_text(error));
}

}  // namespace

std::vector<CameraMode> list_modes(const V4l2Access& node) {
  std::vector<CameraMode> modes;
  v4l2_fmtdesc format{};
  format.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
  for (; node.ask(VIDIOC_ENUM_FMT, &format) == 0; ++format.index) {
    v4l2_frmsizeenum size{};
    size.pixel_format = format.pixelformat;
    for (; node.ask(VIDIOC_ENUM_FRAMESIZES, &size) == 0; ++size.index) {
      if (size.type != V4L2_FRMSIZE_TYPE_DISCRETE) break;
      modes.push_back(
          {.fourcc = format.pixelformat,
           .width = static_cast<int>(size.discrete.width),
           .height = static_cast<int>(size.discrete.height),
           .fps = fastest(node, format.pixelformat, size.discrete.width, size.discrete.height)});
    }
  }
  return modes;
}

std::vector<CameraInfo> list_cameras(const std::string& device_folder,
                                     const std::string& class_folder) {
  std::vector<CameraInfo> cameras;
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator(device_folder, missing)) {
    const std::string file = entry.path().filename().string();
    if (!file.starts_with("video") || file.size() < 6 || file.size() > 9 ||
        !std::all_of(file.begin() + 5, file.end(), [](char c) { return c >= '0' && c <= '9'; }))
      continue;
    CameraInfo camera;
    camera.number = std::atoi(file.c_str() + 5);
    camera.node = entry.path().string();
    std::ifstream name(fs::path(class_folder) / file / "name");
    std::getline(name, camera.name);
    const V4l2Node node(camera.node);
    if (node.error() != 0)
      camera.trouble = system_error_text(node.error());
    else
      camera.captures = can_capture(node);
    cameras.push_back(std::move(camera));
  }
  std::sort(cameras.begin(), cameras.end(),
            [](const CameraInfo& a, const CameraInfo& b) { return a.number < b.number; });
  return cameras;
}

std::string describe_cameras(const std::vector<CameraInfo>& cameras) {
  std::string text;
  for (const CameraInfo& camera : cameras) {
    if (!camera.captures && camera.trouble.empty()) continue;
    text += (text.empty() ? "there is " : ", ") + name_of(camera.number) + " (" + camera.node +
            (camera.name.empty() ? "" : ", " + camera.name) + ")";
  }
  return text.empty() ? "no camera is plugged in" : text;
}

std::vector<CameraMode> check_camera(const CameraOptions& options) {
  if (options.number < 0 || options.number > 255)
    throw Error(ExitCode::usage, name_of(options.number) + ": cameras are numbered 0 to 255");
  const std::string path = "/dev/video" + std::to_string(options.number);
  const V4l2Node node(path);
  if (node.error() != 0) throw_not_opened(options, path, node.error());
  if (!can_capture(node))
    throw Error(ExitCode::unavailable, name_of(options.number) + ": " + path +
                                           " gives no pictures; " +
                                           describe_cameras(list_cameras()));
  // Requesting no buffers changes nothing, and is refused where another program has some.
  v4l2_requestbuffers none{};
  none.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
  none.memory = V4L2_MEMORY_MMAP;
  if (node.ask(VIDIOC_REQBUFS, &none) == EBUSY) throw_not_opened(options, path, EBUSY);
  return list_modes(node);
}

CameraMode choose_mode(const std::vector<CameraMode>& modes, const CameraOptions& options) {
  return choose_mode(modes, {options.width, options.height, options.fps}, compression,
                     name_of(options.number));
}

std::string explain_mode(const std::vector<CameraMode>& modes, const CameraMode& chosen) {
  return explain_mode(modes, chosen, compression);
}

void set_controls(const CameraOptions& options) {
  if (options.controls.empty()) return;
  const std::string path = "/dev/video" + std::to_string(options.number);
  const V4l2Node node(path);
  if (node.error() != 0) throw_not_opened(options, path, node.error());
  for (const auto& [name, value] : options.controls)
    set_control(node, name_of(options.number), name, value);
}

}  // namespace equalux
