#include "pipelines/opencv/modules.h"
#include "pipelines/opencv/still.h"

extern "C" EQUALUX_EXPORT const void* equalux_module(std::string_view version,
                                                     equalux::Logger& log) {
  static const equalux::StillCodec codec = equalux::opencv_still_codec();
  static const equalux::StillsFunctions functions{.codec = &codec,
                                                  .decode_jpeg = equalux::decode_jpeg,
                                                  .draw_caption = equalux::draw_caption,
                                                  .jpeg_of = equalux::jpeg_of,
                                                  .tones_of = equalux::tones_of};
  return equalux::module_entry(version, log, &functions);
}
