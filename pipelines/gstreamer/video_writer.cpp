#include "video_writer.h"

#ifdef EQUALUX_HAVE_LIBAV

namespace equalux::gst {

std::unique_ptr<ContainerWriter> make_video_writer(const ContainerWriterOptions& options) {
  return make_container_writer(options);
}

}  // namespace equalux::gst

#endif
