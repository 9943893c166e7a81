#include "pipelines/opencv/modules.h"

/// Functions that call the modules of cameras and of the window, which the first call loads.
namespace equalux {

std::unique_ptr<Source> make_camera_source(const CameraOptions& options) {
  return functions_of<CameraFunctions>(kCameraModule).make_camera_source(options);
}

std::unique_ptr<Sink> make_window_sink(const WindowOptions& options) {
  return functions_of<WindowFunctions>(kWindowModule).make_window_sink(options);
}

std::unique_ptr<DisplayWatch> open_display() {
  return functions_of<WindowFunctions>(kWindowModule).open_display();
}

}  // namespace equalux
