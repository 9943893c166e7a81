#include "pipelines/gstreamer/decode/picture_decoder.h"

namespace equalux::gst {

std::unique_ptr<PictureDecoder> make_gpu_decoder(const std::string&, int, const FormatPredicate&) {
  return nullptr;
}

}  // namespace equalux::gst
