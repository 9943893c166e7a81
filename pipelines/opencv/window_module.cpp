#include "pipelines/opencv/modules.h"
#include "pipelines/opencv/still.h"

extern "C" EQUALUX_EXPORT const void* equalux_module(std::string_view version,
                                                     equalux::Logger& log) {
  static const equalux::WindowFunctions functions{.make_window_sink = equalux::make_window_sink,
                                                  .open_display = equalux::open_display};
  // Needed for key w; the stills are a separate module here, too.
  static const bool registered = (equalux::register_opencv_stills(), true);
  static_cast<void>(registered);
  return equalux::module_entry(version, log, &functions);
}
