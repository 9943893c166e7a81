#include "pipelines/opencv/modules.h"

extern "C" EQUALUX_EXPORT const void* equalux_module(std::string_view version,
                                                     equalux::Logger& log) {
  static const equalux::CameraFunctions functions{.make_camera_source =
                                                      equalux::make_camera_source};
  return equalux::module_entry(version, log, &functions);
}
