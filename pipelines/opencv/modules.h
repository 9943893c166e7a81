#pragma once

#include "pipelines/files/still.h"
#include "pipelines/modules/module.h"
#include "pipelines/opencv/camera.h"
#include "pipelines/opencv/caption.h"
#include "pipelines/opencv/display/live_picture.h"
#include "pipelines/opencv/display/window.h"
#include "pipelines/opencv/display/window_display.h"
#include "pipelines/opencv/still.h"

/// Functions of this folder that the program calls. OpenCV's libraries take very different times to
/// load, so there are three modules.
namespace equalux {

struct StillsFunctions {
  const StillCodec* codec;
  decltype(&equalux::decode_jpeg) decode_jpeg;
  decltype(&equalux::draw_caption) draw_caption;
  decltype(&equalux::jpeg_of) jpeg_of;
  decltype(&equalux::tones_of) tones_of;
};

struct CameraFunctions {
  std::unique_ptr<Source> (*make_camera_source)(const CameraOptions& options);
};

struct WindowFunctions {
  decltype(&equalux::make_window_sink) make_window_sink;
  decltype(&equalux::open_display) open_display;
};

}  // namespace equalux
